"""Correlation by fused tile transforms in the native engine: float32 on a CPU, half types through float32.

Pays from 3×3 kernels up, and the more the larger the kernel: a tile is transformed, multiplied and transformed back
without leaving the processor's caches. A kernel may have up to 64 taps a side.

The correlation, its adjoint and its weight gradient are the three partial derivatives of one trilinear form,

    T(x, w, y) = ⟨y, A(w) x⟩,

and so there is one operator, ``ringconv::derivative``: it takes two of (x, w, y) and returns the derivative by the
third. Its own derivatives are the operator again, to any order.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .._checks import autocast_dtype
from ..spectral import layout_of
from . import _engine
from .extend import RULES
from .geometry import Geometry
from .spectra import Spectra

_DTYPES = (torch.float32, torch.bfloat16, torch.float16)
_RULES = (*RULES, "valid")


def correlate(
    x: Tensor, weight: Tensor, bias: Tensor | None, at: Geometry, groups: int, spectra: Spectra | None = None
) -> Tensor:
    """``(B, C, H, W)`` with ``(O, C/groups, k_h, k_w)`` to ``(B, O, *at.out_size)``."""
    dtype = autocast_dtype(x) or x.dtype
    wide = weight.float()
    spectrum = None
    if spectra is not None:
        plan = _plan(_engine.FORWARD, x.shape[0], x.shape[1], weight.shape[0], groups, at)
        spectrum = spectra.of(weight, (at, plan.facts.tile), lambda: plan.filter(wide.detach()))
    bias = None if bias is None else bias.float()
    y: Tensor = _derivative(x.float(), wide, None, bias, spectrum, _numbers(at), groups)
    return layout_of(x, y).to(dtype)


def correlate_adjoint(y: Tensor, weight: Tensor, bias: Tensor | None, at: Geometry, groups: int) -> Tensor:
    """The adjoint of :func:`correlate`: ``(B, O, *at.out_size)`` to ``(B, C, *at.size)``, plus ``bias`` (C,)."""
    dtype = autocast_dtype(y) or y.dtype
    x: Tensor = _derivative(None, weight.float(), y.float(), None, None, _numbers(at), groups)
    x = x if bias is None else x + bias.float().view(-1, 1, 1)
    return layout_of(y, x).to(dtype)


def obstacle(x: Tensor, at: Geometry) -> str | None:
    """Why the engine cannot compute this correlation, or ``None`` if it can."""
    if _engine.library() is None:
        return "this installation has no native engine; `ringconv doctor` tells more"
    if x.device.type != "cpu" or x.dtype not in _DTYPES:
        return f"it computes float32, bfloat16 and float16 on a CPU, not {x.dtype} on {x.device.type}"
    if torch._C._are_functorch_transforms_active() or torch.autograd.forward_ad._current_level >= 0:
        return "it has reverse-mode derivatives only; torch.func transforms and forward mode need another algorithm"
    if not _fits(at):
        return f"a kernel of {at.kernel[0]} × {at.kernel[1]} taps fits none of its tiles"
    return None


def possible(device: str, dtype: torch.dtype, at: Geometry) -> bool:
    """Whether the engine is there and can compute this, derivatives aside."""
    return device == "cpu" and dtype in _DTYPES and _fits(at) and _engine.library() is not None


def predict(batch: int, channels: int, out_channels: int, at: Geometry, groups: int, threads: int) -> float:
    """Nanoseconds that the engine expects to take."""
    plan = _engine.plan(_engine.FORWARD, batch, channels, out_channels, groups, at, threads)
    return float(plan.facts.nanoseconds)


def _fits(at: Geometry) -> bool:
    """Whether the taps of one phase of the stride go into the largest tile."""
    taps = [k if s == 1 else -(-(r + 1) // s) for k, s, r in zip(at.kernel, at.stride, at.reach, strict=True)]
    return max(taps) <= _engine.LARGEST_TILE


def _plan(direction: int, batch: int, channels: int, out_channels: int, groups: int, at: Geometry) -> _engine.Plan:
    return _engine.plan(direction, batch, channels, out_channels, groups, at, torch.get_num_threads())


def _numbers(at: Geometry) -> list[int]:
    """A geometry as an operator's argument."""
    return [*at.size, *at.kernel, *at.stride, *at.dilation, at.top, at.bottom, _RULES.index(at.rule)]


def _geometry(numbers: list[int]) -> Geometry:
    height, width, k_h, k_w, s_h, s_w, d_h, d_w, top, bottom, rule = numbers
    return Geometry((height, width), (k_h, k_w), (s_h, s_w), (d_h, d_w), top, bottom, _RULES[rule])


def _sizes(x: Tensor | None, weight: Tensor | None, y: Tensor | None, groups: int) -> tuple[int, int, int]:
    """Batch and both numbers of channels, from the two tensors that are there."""
    batch = next(image.shape[0] for image in (x, y) if image is not None)
    channels = weight.shape[1] * groups if x is None else x.shape[1]  # type: ignore[union-attr]
    out_channels = weight.shape[0] if y is None else y.shape[1]  # type: ignore[union-attr]
    return batch, channels, out_channels


def _empty(x: Tensor | None, weight: Tensor | None, y: Tensor | None, at: Geometry, groups: int) -> Tensor:
    """Memory for the one that is missing: images with their channels last, a weight as torch has it."""
    batch, channels, out_channels = _sizes(x, weight, y, groups)
    if weight is None:
        shape: tuple[int, ...] = (out_channels, channels // groups, *at.kernel)
        layout = torch.contiguous_format
    else:
        shape = (batch, channels, *at.size) if x is None else (batch, out_channels, *at.out_size)
        layout = torch.channels_last
    return torch.empty(shape, memory_format=layout)


def _derivative_cpu(
    x: Tensor | None,
    weight: Tensor | None,
    y: Tensor | None,
    bias: Tensor | None,
    spectrum: Tensor | None,
    numbers: list[int],
    groups: int,
) -> Tensor:
    at = _geometry(numbers)
    result = _empty(x, weight, y, at, groups)
    direction = _engine.INPUT_GRADIENT if x is None else _engine.WEIGHT_GRADIENT if weight is None else _engine.FORWARD
    plan = _plan(direction, *_sizes(x, weight, y, groups), groups, at)
    x, y = (image if image is None else image.contiguous(memory_format=torch.channels_last) for image in (x, y))
    if weight is None:
        plan.weight_gradient(x, y, result)
    elif spectrum is None:
        plan.run(y if x is None else x, weight, bias, result)
    else:
        plan.apply(y if x is None else x, spectrum, bias, result)
    return result


def _derivative_fake(
    x: Tensor | None,
    weight: Tensor | None,
    y: Tensor | None,
    bias: Tensor | None,
    spectrum: Tensor | None,
    numbers: list[int],
    groups: int,
) -> Tensor:
    return _empty(x, weight, y, _geometry(numbers), groups)


def _remember(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs[:3])
    ctx.numbers, ctx.groups = inputs[5:]


def _backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    """The gradient takes the place of the result; each operand in turn is the one that is missing."""
    operands = [grad if operand is None else operand for operand in ctx.saved_tensors]
    grads: list[Tensor | None] = [None] * 7
    for i in range(3):
        if ctx.needs_input_grad[i]:
            others: list[Tensor | None] = [None if j == i else operand for j, operand in enumerate(operands)]
            grads[i] = _derivative(*others, None, None, ctx.numbers, ctx.groups)
    if ctx.needs_input_grad[3]:
        grads[3] = grad.sum((0, 2, 3))
    return tuple(grads)


_library = torch.library.Library("ringconv", "FRAGMENT")
_library.define(
    "derivative(Tensor? x, Tensor? weight, Tensor? y, Tensor? bias, Tensor? spectrum, SymInt[] numbers, int groups)"
    " -> Tensor"
)
_library.impl("derivative", _derivative_cpu, "CPU")
torch.library.register_fake("ringconv::derivative", _derivative_fake, lib=_library)
torch.library.register_autograd("ringconv::derivative", _backward, setup_context=_remember, lib=_library)
_derivative = torch.ops.ringconv.derivative.default
