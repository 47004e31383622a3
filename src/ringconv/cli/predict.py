"""``ringconv predict``: the classes of images."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

FORMATS = ("csv", "jsonl")


def predict(
    folder: Annotated[Path, typer.Argument(help="Folder of a run.")],
    images: Annotated[list[Path], typer.Argument(help="Image files of any size.")],
    form: Annotated[str, typer.Option("--format", help="csv, or jsonl for one JSON object per line.")] = "csv",
) -> int:
    """Name the class of every image, and how probable it is; 1 at the end if an image could not be read.

    Example: ringconv predict runs/panoramas *.jpg --format jsonl
    """
    from .._checks import one_of

    one_of("predict", "format", form, FORMATS)
    table = csv.writer(sys.stdout, lineterminator="\n")
    if form == "csv":
        table.writerow(("image", "class", "probability"))
    unread = 0
    for path, found in answers(folder, images):
        if isinstance(found, str):
            print(f"ringconv: {found}", file=sys.stderr)
            unread += 1
        elif form == "csv":
            table.writerow((path, *found.values()))
        else:
            print(json.dumps({"image": str(path), **found}))
    return 1 if unread else 0


def answers(folder: Path, images: list[Path]) -> Iterator[tuple[Path, dict[str, Any] | str]]:
    """Class and probability of each image, or why it could not be read."""
    import torch

    from ..data import read_resized
    from ._classify import settings, trained

    told = settings(folder)
    model = trained(folder, told)
    for path in images:
        try:
            image = read_resized(path, tuple(told["shape"]))
        except ValueError as error:
            yield path, str(error)
            continue
        image = ((image + 1) / 2 - told["mean"]) / told["std"]
        with torch.inference_mode():
            probability, best = model(image.unsqueeze(0)).softmax(1)[0].max(0)
        yield path, {"class": told["classes"][int(best)], "probability": round(probability.item(), 6)}
