"""Models for other runtimes: :func:`export_onnx`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from . import _checks
from .symmetry.check import nominal_stride

WIDTHS = ("auto", "open", "fixed")


class Exported(NamedTuple):
    """What was written: the file, whether its width is open and by which step, and the largest relative error."""

    path: Path
    width_step: int | None
    error: float


@torch.no_grad()
def export_onnx(
    model: nn.Module,
    input: Tensor,
    path: str | os.PathLike[str],
    *,
    width: str = "auto",
    tolerance: float = 1e-5,
) -> Exported:
    """Write a model as ONNX, once onnxruntime has said the same as torch.

    The ring's wrap-around becomes slices and concatenations, which every runtime has; ``Pad`` in mode ``wrap``, which
    most lack, does not occur. The batch is open; the width is open in steps of the model's total stride where nothing
    in the model holds it fast. The file is compared with torch on the input, on its rolls, and on another batch and
    width where these are open; if they differ, none is left.

    Takes onnx, onnxscript and onnxruntime: the extra ``export``.

    Args:
        model: a ring network, or one that went through :func:`ringconv.convert` or :func:`ringconv.seamless`. It is
            exported in evaluation mode.
        input: an example, ``(B, C, H, W)``; the height stays fixed.
        path: the file to write.
        width: ``"open"``, ``"fixed"``, or ``"auto"``: open if possible.
        tolerance: the largest difference allowed, relative to the largest output.

    Returns:
        The path, the step of the open width (``None`` if fixed), and the error found: an :class:`Exported`.
    """
    where = "export_onnx"
    x, unbatched = _checks.image(where, input)
    _checks.one_of(where, "width", width, WIDTHS)
    if unbatched or x.shape[0] == 0:
        raise ValueError(f"{where}: input must be (B, C, H, W), got shape {tuple(input.shape)}")
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        step = None if width == "fixed" else nominal_stride(model, x)
        program, step = _program(model, x, step, width)
        written = _write(program, Path(path))
        try:
            error = _parity(model, x, step, written)
            if not error <= tolerance:
                raise RuntimeError(
                    f"{where}: onnxruntime and torch differ by {error:.1e} of the largest output, more than "
                    f"tolerance={tolerance:.0e}; nothing was written"
                )
            written.replace(path)
        finally:
            written.unlink(missing_ok=True)
    finally:
        for module, training in modes.items():
            module.training = training
    return Exported(Path(path), step, error)


def _program(model: nn.Module, x: Tensor, step: int | None, width: str) -> tuple[Any, int | None]:
    """The exported program, and the step of its width if that could be left open."""
    batch = torch.export.Dim("batch", min=1)
    x = x if x.shape[0] > 1 else torch.cat([x, x])  # a size of 1 would be taken for fixed
    if step is not None:
        turns = torch.export.Dim("width" if step == 1 else "turns", min=max(2, 16 // step), max=2**16)
        try:
            return torch.export.export(model, (x,), dynamic_shapes=({0: batch, 3: step * turns},)), step
        except Exception as reason:
            if width == "open":
                raise ValueError(
                    f"export_onnx: width='open' in steps of {step}, but the model holds it fast: {_first_line(reason)}"
                ) from reason
    return torch.export.export(model, (x,), dynamic_shapes=({0: batch},)), None


def _first_line(reason: Exception) -> str:
    return next((line.strip() for line in str(reason).splitlines() if line.strip()), type(reason).__name__)


def _write(program: Any, path: Path) -> Path:
    """The program as an ONNX file beside ``path``."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    exported: Any = torch.onnx.export(program, (), dynamo=True, verbose=False)
    exported.save(partial)
    return partial


def _parity(model: nn.Module, x: Tensor, step: int | None, path: Path) -> float:
    """The largest difference between onnxruntime and torch, relative to the largest output."""
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (name,) = (argument.name for argument in session.get_inputs())
    tries = [x, x.roll(x.shape[-1] // 2, -1), torch.cat([x, -x])]
    if step is not None:
        tries.append(torch.cat([x, x.flip(-1)], -1))
    error = 0.0
    for images in tries:
        expected = [y.cpu().numpy() for y in tree_leaves(model(images)) if isinstance(y, Tensor)]
        for y, z in zip(session.run(None, {name: images.cpu().numpy()}), expected, strict=True):
            error = max(error, float(np.abs(y - z).max() / max(np.abs(z).max(), 1e-30)))
    return error
