"""The vendor's convolution with the cylinder's wrap-around done around it. Any device, any dtype.

Pays for small kernels. A roll of the input rolls the result to the last bit wherever the vendor's own kernel sums
in the same order at every column.

The padded image of a large one lives in borrowed memory, for as long as the convolution takes. What autograd keeps
is the image itself: its backward pads again, which costs a twentieth of the convolution, and folds the border of the
vendor's gradient in place. A small image is padded by torch's own operators: there the calls cost more than the bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .._checks import autocast_dtype
from ..spectral import channels_lie_last, layout_of
from .eager import eager
from .extend import extend, fill, fold, fold_
from .geometry import Geometry
from .scratch import borrowed, without_gaps

SMALL = 2 * 2**20
"""Bytes of an image below which nothing is gained by saving memory."""

Gradients = tuple[Tensor | None, Tensor | None, Tensor | None, None, None]


def correlate(x: Tensor, weight: Tensor, bias: Tensor | None, at: Geometry, groups: int) -> Tensor:
    """``(B, C, H, W)`` with ``(O, C/groups, k_h, k_w)`` to ``(B, O, *at.out_size)``."""
    if not (eager(x, weight, bias) and _pays(x, at)):
        return F.conv2d(surround(x, at), weight, bias, at.stride, 0, at.dilation, groups)
    y: Tensor = _Correlation.apply(*_autocast(x, weight, bias), at, groups)  # type: ignore[no-untyped-call]
    return y


def correlate_adjoint(y: Tensor, weight: Tensor, bias: Tensor | None, at: Geometry, groups: int) -> Tensor:
    """The adjoint of :func:`correlate`: ``(B, O, *at.out_size)`` to ``(B, C, *at.size)``, plus ``bias`` (C,)."""
    if eager(y, weight, bias) and _pays(y, at):
        x: Tensor = _Adjoint.apply(*_autocast(y, weight, bias), at, groups)  # type: ignore[no-untyped-call]
        return x
    x = _unwrap(F.conv_transpose2d(y, weight, None, at.stride, 0, _unread(at), groups, at.dilation), at)
    return x if bias is None else x + bias.to(x.dtype).view(-1, 1, 1)


def surround(x: Tensor, at: Geometry) -> Tensor:
    """``x`` with the rows and columns that a window of this geometry reads beyond its borders."""
    return extend(extend(x, -2, at.top, at.below, at.rule), -1, at.left, at.right, "circular")


class _Correlation(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, at: Geometry, groups: int) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.biased, ctx.at, ctx.groups = bias is not None, at, groups
        with _surrounded(x, weight, at) as wide:
            return F.conv2d(wide, weight, bias, at.stride, 0, at.dilation, groups)

    @staticmethod
    def backward(ctx: Any, y: Tensor) -> Gradients:
        x, weight = ctx.saved_tensors
        with _surrounded(x, weight, ctx.at) as wide:
            to_x, to_weight, to_bias = _vendor_gradients(ctx, y, wide, weight, transposed=False)
        return None if to_x is None else _unwrap(to_x, ctx.at, like=x), to_weight, to_bias, None, None


class _Adjoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, y: Tensor, weight: Tensor, bias: Tensor | None, at: Geometry, groups: int) -> Tensor:
        ctx.save_for_backward(y, weight)
        ctx.biased, ctx.at, ctx.groups = bias is not None, at, groups
        wide = F.conv_transpose2d(y, weight, None, at.stride, 0, _unread(at), groups, at.dilation)
        x = _unwrap(wide, at, like=y)
        return x if bias is None else x.add_(bias.to(x.dtype).view(-1, 1, 1))

    @staticmethod
    def backward(ctx: Any, x: Tensor) -> Gradients:
        y, weight = ctx.saved_tensors
        with _surrounded(x, weight, ctx.at) as wide:
            to_y, to_weight, _ = _vendor_gradients(ctx, wide, y, weight, transposed=True)
        return to_y, to_weight, x.sum((0, 2, 3)) if ctx.biased else None, None, None


def _vendor_gradients(
    ctx: Any, y: Tensor, x: Tensor, weight: Tensor, *, transposed: bool
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Of the vendor's convolution of ``x``, or its transpose: what is asked for of the gradients to x, weight, bias."""
    at, (to_x, to_weight, to_bias) = ctx.at, ctx.needs_input_grad[:3]
    unread = _unread(at) if transposed else (0, 0)
    wanted = to_x, to_weight, to_bias and not transposed
    biases = [weight.shape[0]] if ctx.biased else None
    gradients: tuple[Tensor | None, Tensor | None, Tensor | None] = torch.ops.aten.convolution_backward(
        y, x, weight, biases, at.stride, (0, 0), at.dilation, transposed, unread, ctx.groups, wanted
    )
    return gradients


@contextmanager
def _surrounded(x: Tensor, weight: Tensor, at: Geometry) -> Iterator[Tensor]:
    """:func:`surround` in borrowed memory, unless the result is to be differentiated or looked at."""
    if not _alone(x):
        yield surround(x, at)
        return
    (height, width), rows, columns = at.size, at.top + at.below, at.left + at.right
    shape = *x.shape[:2], height + rows, width + columns
    with borrowed(shape, like=x, last=channels_lie_last(x) or channels_lie_last(weight)) as wide:
        middle = wide.narrow(-2, at.top, height)
        middle.narrow(-1, at.left, width).copy_(x)
        fill(middle, -1, at.left, at.right, "circular")
        fill(wide, -2, at.top, at.below, at.rule)
        yield wide


def _unwrap(wide: Tensor, at: Geometry, like: Tensor | None = None) -> Tensor:
    """The adjoint of :func:`surround`; in place, and in the layout of ``like``, where nobody needs ``wide`` again."""
    if like is None or not _alone(wide):
        return fold(fold(wide, -1, at.left, at.right, "circular"), -2, at.top, at.below, at.rule)
    x = fold_(fold_(wide, -1, at.left, at.right, "circular"), -2, at.top, at.below, at.rule)
    return layout_of(like, without_gaps(x, wide))


def _alone(x: Tensor) -> bool:
    return not torch.is_grad_enabled() and eager(x)


def _pays(x: Tensor, at: Geometry) -> bool:
    wraps = at.left or at.right or at.top or at.below
    return bool(wraps) and x.numel() * x.element_size() >= SMALL


def _unread(at: Geometry) -> tuple[int, int]:
    """What the stride leaves out is read by no position and gets zeros: first of the extension, then of the image."""
    return at.unread[0] - (at.bottom - at.below), at.unread[1] - (at.reach[1] - at.left - at.right)


def _autocast(x: Tensor, weight: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor, Tensor | None]:
    """The operands in the dtype in which autocast would have the vendor compute."""
    dtype = autocast_dtype(x)
    if dtype is None:
        return x, weight, bias
    return x.to(dtype), weight.to(dtype), None if bias is None else bias.to(dtype)
