"""``ringconv check``: what breaks the symmetry of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def check(
    model: Annotated[str, typer.Argument(help="Folder of a run or of a converted model, or module.path:callable.")],
    input: Annotated[str | None, typer.Option(help="Channels x rows x columns, as 3x256x512.")] = None,
    weights: Annotated[Path | None, typer.Option(help="Weights to load, as safetensors.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw the error along the azimuth: .png, .svg or .pdf.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
) -> int:
    """Turn a noise image, compare every layer, and name the first that breaks and why.

    The status is 0 for a sound model and 1 for a broken one.

    Example: ringconv check mypackage.networks:segmenter --input 3x256x512
    """
    from rich.console import Console

    from ..symmetry import check as examine
    from ._model import example, load_model
    from .main import refuse

    try:
        loaded, shape = load_model(model, weights)
        report = examine(loaded, example(input, shape))
        if picture is not None:
            report.picture(picture)
    except (ValueError, TypeError, OSError, RuntimeError, ModuleNotFoundError) as error:
        refuse(str(error))
    if as_json:
        print(report.to_json())
    else:
        Console().print(report.table())
    return 0 if report.stride is not None else 1
