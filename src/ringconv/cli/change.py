"""``ringconv change``: what changed between two panoramas of one place."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

RED = (0.9, 0.1, 0.1)
TINT = 0.45


def change(
    t0: Annotated[Path, typer.Argument(metavar="T0", help="The panorama before, or a folder of them.")],
    t1: Annotated[Path, typer.Argument(metavar="T1", help="The panorama after, or a folder with the same names.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for masks and overlays.")] = Path("changes"),
    weights: Annotated[
        Path | None, typer.Option(help="Weights of one's own; default: those that come with ringconv.")
    ] = None,
    threshold: Annotated[
        float, typer.Option(min=0, max=1, help="Mark what changed with more than this probability.")
    ] = 0.4,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a pair instead of a line.")] = False,
) -> None:
    """Mark what changed in the first of two panoramas, whatever their headings.

    Writes NAME_mask.png and NAME_overlay.png for every pair. Where some pairs cannot be read the others are done,
    and the status is 1.

    Example: ringconv change before.jpg after.jpg --out changes
    """
    import torch

    from ..models import ChangeDetector
    from ._images import of_one_size, read, write

    detector = ChangeDetector.load(weights) if weights else ChangeDetector.load()
    pairs = list(_pairs(t0, t1))
    failures: list[ValueError] = []
    for first, second in pairs:
        try:
            before, after = of_one_size(first, read(first), second, read(second))
        except ValueError as error:
            failures.append(error)
            continue
        found = detector(before, after)
        mask = found.probability > threshold
        red = torch.tensor(RED).view(3, 1, 1)
        write(out / f"{first.stem}_mask.png", mask.float())
        write(out / f"{first.stem}_overlay.png", torch.where(mask, (1 - TINT) * before + TINT * red, before))
        share = float(mask.float().mean())
        if as_json:
            summary = {"name": first.stem, "changed": share, "degrees": found.degrees, "confidence": found.confidence}
            print(json.dumps(summary))
        else:
            print(
                f"{first.stem}: {100 * share:.1f} % changed, view after to be turned by {found.degrees:.1f} degrees "
                f"(confidence {found.confidence:.2f})"
            )
    if len(failures) == len(pairs):
        raise failures[0]
    for failure in failures:
        print(f"ringconv: {failure}", file=sys.stderr)
    if failures:
        raise typer.Exit(1)


def _pairs(t0: Path, t1: Path) -> Iterator[tuple[Path, Path]]:
    """The files to compare: the two themselves, or those of one name in two folders."""
    from ..data.change import image_files

    if t0.is_dir() != t1.is_dir():
        raise ValueError(f"{t0} and {t1} must be two images or two folders")
    if not t0.is_dir():
        yield t0, t1
        return
    after = {path.stem: path for path in image_files(t1)}
    before = image_files(t0)
    if not before:
        raise ValueError(f"{t0} holds no images")
    for path in before:
        if path.stem not in after:
            raise ValueError(f"{t1} holds no image named {path.stem}")
        yield path, after[path.stem]
