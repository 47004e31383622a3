"""``ringconv convert``: an existing model, seam-free."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer


def convert(
    model: Annotated[str, typer.Argument(help="Folder of a run, or module.path:callable.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to write; check and export read it.")],
    input: Annotated[str | None, typer.Option(help="Channels x rows x columns, as 3x256x512.")] = None,
    weights: Annotated[Path | None, typer.Option(help="Weights to load, as safetensors.")] = None,
    include: Annotated[list[str] | None, typer.Option(help="Names to convert, as 'encoder.*'.  [default: all]")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="Names to leave.")] = None,
    height: Annotated[str | None, typer.Option(help="Another rule for the rows of paddings: symmetric, ...")] = None,
    functions: Annotated[bool, typer.Option(help="Also what the forward calls itself: F.pad, F.interpolate.")] = True,
    exact: Annotated[bool, typer.Option("--exact", help="Exact at every roll, by nn.Canonical.")] = False,
) -> int:
    """Make a model seam-free, say what was done, and check the result.

    OUT holds the weights, which did not change, and how to make the model again. The status is 1 if it still breaks.

    Example: ringconv convert mypackage.networks:segmenter seamless --input 3x256x512
    """
    from safetensors.torch import save_file

    from ..symmetry import check
    from ._model import CONVERTED, WEIGHTS, convert_model, example, load_model
    from .main import refuse

    options: dict[str, Any] = {"include": include, "exclude": exclude, "height": height, "functions": functions}
    try:
        loaded, shape = load_model(model, weights)
        images = example(input, shape)
        converted, report = convert_model(loaded, options)
        found = check(converted, images)
        if exact and found.stride is None:
            refuse(f"--exact needs a model that some roll leaves intact, but {found.first}")
        tensors = {name: value.clone().contiguous() for name, value in converted.state_dict().items()}
        out.mkdir(parents=True, exist_ok=True)
        save_file(tensors, out / WEIGHTS)
    except (ValueError, TypeError, OSError, RuntimeError, ModuleNotFoundError) as error:
        refuse(str(error))
    source = str(Path(model).resolve()) if Path(model).is_dir() else model
    told = {"model": source, "input": list(images.shape[1:]), **options, "exact": found.stride if exact else None}
    told |= {"symmetry": found.symmetry, "stride": found.stride, "report": report.to_dict()["entries"]}
    (out / CONVERTED).write_text(json.dumps(told, indent=2) + "\n")
    print(report)
    print(f"{out}: {found}")
    return 0 if found.stride is not None else 1
