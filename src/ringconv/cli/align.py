"""``ringconv align``: turn one panorama to the heading of another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

METHODS = ("edges", "phase", "network")


def align(
    a: Annotated[Path, typer.Argument(metavar="A", help="The panorama whose heading counts.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="The panorama to turn, of the same size.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where to write B turned; default: B-aligned.png here.")
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help=f"What is correlated ({', '.join(METHODS)}): network is trained on streets, the others on nothing."
        ),
    ] = "edges",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a line.")] = False,
) -> None:
    """Turn panorama B to the heading of panorama A, and say by how much.

    Example: ringconv align before.jpg after.jpg --out after-turned.png
    """
    from .. import _checks
    from ..functional import estimate_roll, ring_roll
    from ..models import ChangeDetector
    from ._images import of_one_size, read, write

    _checks.one_of("align", "--method", method, METHODS)
    one, two = of_one_size(a, read(a), b, read(b))
    if method == "network":
        found = ChangeDetector.load()(one, two)
        degrees, confidence = found.degrees, found.confidence
    else:
        roll = estimate_roll(one, two, phase=method == "phase")
        degrees, confidence = float(roll.degrees), float(roll.confidence)
    out = out or Path(f"{b.stem}-aligned.png")
    write(out, ring_roll(two, round(degrees * two.shape[-1] / 360)))
    if as_json:
        print(json.dumps({"degrees": degrees, "confidence": confidence, "out": str(out)}))
    else:
        print(f"{b} turned by {degrees:.2f} degrees lies over {a} (confidence {confidence:.2f}): {out}")
