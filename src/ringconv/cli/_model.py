"""MODEL on the command line: a training run, what ``ringconv convert`` wrote, or ``module.path:callable``."""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

CONVERTED, WEIGHTS = "convert.json", "weights.safetensors"


def load_model(name: str, weights: Path | None = None) -> tuple[nn.Module, tuple[int, ...] | None]:
    """The model in evaluation mode, and the ``(C, H, W)`` that its folder says it takes."""
    folder = Path(name)
    if (folder / CONVERTED).exists():
        model, shape = _converted(folder)
    elif folder.is_dir():
        from ._classify import settings, trained

        told = settings(folder)
        model, shape = trained(folder, told), tuple(told["shape"])
    else:
        model, shape = _called(name), None
    if weights is not None:
        from safetensors.torch import load_file

        model.load_state_dict(load_file(weights))
    return model.eval(), shape


def convert_model(model: nn.Module, options: dict[str, Any]) -> tuple[nn.Module, Any]:
    """The model with its modules and its functions seam-free, and the report."""
    from ..convert import convert, seamless

    names = {name: options[name] for name in ("include", "exclude") if options[name]}
    model, report = convert(model, height=options["height"], **names)
    return (seamless(model, height=options["height"]) if options["functions"] else model), report


def example(size: str | None, shape: tuple[int, ...] | None) -> Tensor:
    """Two images of noise, of the size given as ``CxHxW`` or else of the one that the folder knows."""
    if size is not None:
        numbers = re.fullmatch(r"(\d+)x(\d+)x(\d+)", size)
        if not numbers:
            raise ValueError(f"--input={size!r} must be channels x rows x columns, as 3x256x512")
        shape = tuple(map(int, numbers.groups()))
    if shape is None:
        raise ValueError("--input is missing: channels x rows x columns, as 3x256x512")
    return torch.randn(2, *shape, generator=torch.Generator().manual_seed(0))


def _called(name: str) -> nn.Module:
    path, _, attribute = name.partition(":")
    if not attribute:
        raise ValueError(f"MODEL={name!r} is neither a folder nor module.path:callable")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)  # as `python -m` has it
    try:
        make = getattr(importlib.import_module(path), attribute)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"MODEL={name!r}: {error}") from error
    model = make()
    if not isinstance(model, nn.Module):
        raise ValueError(f"MODEL={name!r} returned {type(model).__name__}, not a torch.nn.Module")
    return model


def _converted(folder: Path) -> tuple[nn.Module, tuple[int, ...]]:
    from safetensors.torch import load_file

    from ..nn import Canonical

    told = json.loads((folder / CONVERTED).read_text())
    model, _ = convert_model(load_model(told["model"])[0], told)
    model.load_state_dict(load_file(folder / WEIGHTS))
    if told["exact"] is not None:
        model = Canonical(model, told["exact"], output=told["symmetry"])
    return model, tuple(told["input"])
