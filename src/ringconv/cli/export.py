"""``ringconv export``: a model as ONNX."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def export(
    model: Annotated[str, typer.Argument(metavar="DIR", help="Folder of a run or of a converted model, or a MODEL.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The .onnx file to write.")],
    input: Annotated[str | None, typer.Option(help="Channels x rows x columns, as 3x256x512.")] = None,
    weights: Annotated[Path | None, typer.Option(help="Weights to load, as safetensors.")] = None,
    width: Annotated[str, typer.Option(help="open, fixed, or auto: open if possible.")] = "auto",
) -> None:
    """Write a model as ONNX with an open batch, compared with torch before it is left.

    Example: ringconv export seamless seamless.onnx
    """
    from ..export import export_onnx
    from ._model import example, load_model
    from .main import refuse

    try:
        loaded, shape = load_model(model, weights)
        done = export_onnx(loaded, example(input, shape), out, width=width)
    except (ValueError, TypeError, OSError, RuntimeError, ModuleNotFoundError) as error:
        refuse(str(error))
    columns = "fixed" if done.width_step is None else f"any multiple of {done.width_step}"
    print(f"{done.path}: batch any, width {columns}; differs from torch by {done.error:.1e}")
