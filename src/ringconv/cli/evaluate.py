"""``ringconv eval``: the accuracy of a trained classifier, upright, turned and shifted."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

ACTIONS = ("rolls", "shifts")


def evaluate(
    folder: Annotated[Path, typer.Argument(help="Folder of a run.")],
    data: Annotated[
        str | None, typer.Option(help="A data set, or a folder to test on. [default: the test set of the run's data]")
    ] = None,
    rolls: Annotated[str, typer.Option(help="Columns to turn by: all, or a list such as 0,1,8.")] = "0",
    shifts: Annotated[str, typer.Option(help="Rows to move down by: all, or a list such as 0,-1,1.")] = "0",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the curves into this file (svg, png, pdf).")] = None,
) -> None:
    """Measure the accuracy on test images at every turn around the ring and every shift along the height.

    Example: ringconv eval runs/digits --rolls all --shifts all
    """
    found = measure(folder, data, rolls, shifts)
    if plot is not None:
        _draw(found, plot)
    if as_json:
        print(json.dumps(found, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    for action in ACTIONS:
        curve = found[action]
        table = Table(action[:-1], "accuracy")
        for amount, accuracy in curve.items():
            table.add_row(str(amount), f"{100 * accuracy:.2f} %")
        table.add_section()
        table.add_row("lowest", f"{100 * min(curve.values()):.2f} %")
        table.add_row("mean", f"{100 * sum(curve.values()) / len(curve):.2f} %")
        Console().print(table)


def measure(folder: Path, data: str | None, rolls: str, shifts: str) -> dict[str, Any]:
    """Accuracy by the number of columns and of rows, on all test images."""
    from torchmetrics.classification import MulticlassAccuracy

    from ..data import shift_rows
    from ..train import evaluate as score
    from ._classify import SETS, open_data, settings, trained

    told = settings(folder)
    if data is None and told["data"] not in SETS:
        raise ValueError(f"eval: the run was trained on the folder {told['data']!r}; name one to test on by --data")
    images = open_data(data or told["data"], "test", tuple(told["shape"]), told["classes"])
    if images.shape != tuple(told["shape"]):
        raise ValueError(f"eval: images of {data} are {images.shape}, the run's are {tuple(told['shape'])}")
    model, metrics = trained(folder, told), {"accuracy": MulticlassAccuracy(len(told["classes"]), average="micro")}
    _, height, width = told["shape"]

    def accuracies(name: str, text: str, every: range, move: Callable[..., Any]) -> dict[int, float]:
        return {
            amount: score(model, images, metrics, transform=partial(move, amount))["accuracy"]
            for amount in _amounts(name, text, every)
        }

    turned = accuracies("rolls", rolls, range(width), lambda by, x: x.roll(by, -1))
    moved = accuracies("shifts", shifts, range(1 - height, height), lambda by, x: shift_rows(x, by))
    return {"run": str(folder), "data": data or told["data"], "images": len(images), "rolls": turned, "shifts": moved}


def _amounts(name: str, text: str, every: range) -> list[int]:
    if text == "all":
        return list(every)
    try:
        return [int(word) for word in text.split(",")]
    except ValueError:
        raise ValueError(f"eval: {name}={text!r} must be 'all' or numbers such as 0,1,8") from None


def _draw(found: dict[str, Any], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.4), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for panel, action, label in zip(panels, ACTIONS, ("turned by columns", "moved down by rows"), strict=True):
        curve = sorted(found[action].items())
        panel.plot([amount for amount, _ in curve], [100 * accuracy for _, accuracy in curve], ".-")
        panel.set(xlabel=label, ylim=(0, 101))
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("accuracy, per cent")
    figure.savefig(path)
