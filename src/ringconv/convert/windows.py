"""torch's own functions with the seam closed: the same arguments, the same height, the width a ring.

Each takes what the function of its name takes and leaves the height to torch. Along the width it hands torch the
columns that the windows read, wrapped around, and no padding: one copy of the image, and none where no window crosses
the seam. Window j starts where it always did, so that whatever does not touch the seam keeps its value; there are
``W / s`` of them, so that a ring neither shrinks nor grows.

Padding in the width is remembered on the tensor as its *margin*: columns beyond the ring, on the left and right, that
the windows of the next layer may use.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from .. import _checks
from ..algorithms import extend
from ..algorithms import fold as fold_back

Numbers = int | Sequence[int]
RULES = {"zeros": "zeros", "constant": "zeros", "reflect": "reflect", "replicate": "replicate", "circular": "circular"}


class Margin(NamedTuple):
    """Columns of a tensor that repeat those of its ring, on its left and its right."""

    left: int = 0
    right: int = 0


def margin_of(x: Tensor) -> Margin:
    """The margin that :func:`pad` left on ``x``."""
    found: Margin = getattr(x, "_ringconv_margin", Margin())
    return found


def with_margin(x: Tensor, margin: Margin) -> Tensor:
    """``x``, its margin noted."""
    x._ringconv_margin = margin  # type: ignore[attr-defined]
    return x


def ring_width(x: Tensor) -> int:
    """Columns of the ring in ``x``, without the margin."""
    return x.shape[-1] - sum(margin_of(x))


def columns(x: Tensor, left: int, right: int) -> Tensor:
    """``x`` from ``left`` columns before its ring to ``right`` behind it; negative numbers leave columns out."""
    before, after = margin_of(x)
    if (left, right) == (before, after):
        return x
    ring = x.narrow(-1, before, x.shape[-1] - before - after)
    y = extend(ring, -1, max(left, 0), max(right, 0), "circular")
    return y[..., max(-left, 0) : y.shape[-1] + min(right, 0)]


def around(where: str, x: Tensor, left: int, reach: int, stride: int, exact: bool = False) -> Tensor:
    """The columns that windows of ``reach + 1`` read, the first of them from ``left`` before the ring on.

    Surplus columns that no window can reach are left in place, unless ``exact``: rounding a size up would use them.
    """
    width = ring_width(x)
    _checks.ring_stride(where, width, stride)
    left += margin_of(x).left
    surplus = stride - 1 - reach + left
    return columns(x, left, -surplus if exact or surplus < 0 or surplus >= stride else 0)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Numbers = 1,
    padding: str | Numbers = 0,
    dilation: Numbers = 1,
    groups: int = 1,
    *,
    mode: str = "zeros",
    height: str | None = None,
) -> Tensor:
    """:func:`torch.nn.functional.conv2d`; ``mode`` is the ``padding_mode`` of a Conv2d, ``height`` a rule instead."""
    (s_h, s_w), (d_h, d_w) = _pair(stride), _pair(dilation)
    reach = d_h * (weight.shape[-2] - 1), d_w * (weight.shape[-1] - 1)
    (top, bottom), (left, _) = _both_sides(padding, reach)
    x = around("conv2d", input, left, reach[1], s_w)
    x, rows = _rows(x, top, bottom, RULES[mode] if height is None else height)
    return F.conv2d(x, weight, bias, (s_h, s_w), (rows, 0), (d_h, d_w), groups)


def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Numbers = 1,
    padding: Numbers = 0,
    output_padding: Numbers = 0,
    groups: int = 1,
    dilation: Numbers = 1,
) -> Tensor:
    """:func:`torch.nn.functional.conv_transpose2d`: a ring of W becomes one of ``s·W``.

    Output i gathers the inputs j with ``j·s + v·d − p = i``: from ``−a`` to ``W − 1 + b``. All of them are there once
    the ring is extended by a and b, and what is computed beyond ``s·W`` columns is cropped.
    """
    (s_h, s), (p_h, p), (d_h, d_w) = _pair(stride), _pair(padding), _pair(dilation)
    reach = d_w * (weight.shape[-1] - 1)
    width = ring_width(input) * s
    p += margin_of(input).left * s
    a, b = max((reach - p) // s, 0), -(-p // s)
    before = a * s + p
    after = (b - 1) * s + reach + 1 - p
    crop = max(min(before, after), 0)
    x = columns(input, a, b)
    added = _pair(output_padding)[0], max(-after, 0)
    y = F.conv_transpose2d(x, weight, bias, (s_h, s), (p_h, crop), added, groups, (d_h, d_w))
    return y if y.shape[-1] == width else y.narrow(-1, before - crop, width)


def max_pool2d(
    input: Tensor,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    dilation: Numbers = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
    *,
    height: str | None = None,
) -> Tensor | tuple[Tensor, Tensor]:
    """:func:`torch.nn.functional.max_pool2d`; indices are those of the ring."""
    (k_h, k_w), (s_h, s_w), (p_h, p_w), (d_h, d_w) = _windows(kernel_size, stride, padding, dilation)
    x = around("max_pool2d", input, p_w, d_w * (k_w - 1), s_w, exact=ceil_mode)
    x, rows = (x, p_h) if height is None else _rows(x, p_h, p_h, height)
    arguments: Any = ((k_h, k_w), (s_h, s_w), (rows, 0), (d_h, d_w), ceil_mode)
    if not return_indices:
        largest: Tensor = F.max_pool2d(x, *arguments)
        return largest
    if height not in (None, "zeros") and p_h:
        raise ValueError(f"max_pool2d: height={height!r} gives rows that no index names; use height=None")
    y, indices = F.max_pool2d(x, *arguments, return_indices=True)
    width, left = ring_width(input), p_w + margin_of(input).left
    row, column = indices // x.shape[-1], indices % x.shape[-1]
    return y, row * width + (column - left) % width


def max_pool2d_with_indices(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """:func:`torch.nn.functional.max_pool2d_with_indices`."""
    found: Any = max_pool2d(*args[:6], **{**kwargs, "return_indices": True})
    y, indices = found
    return y, indices


def avg_pool2d(
    input: Tensor,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    height: str | None = None,
) -> Tensor:
    """:func:`torch.nn.functional.avg_pool2d`; ``count_include_pad`` is left with the height alone."""
    (k_h, k_w), (s_h, s_w), (p_h, p_w), _ = _windows(kernel_size, stride, padding, 1)
    x = around("avg_pool2d", input, p_w, k_w - 1, s_w, exact=ceil_mode)
    x, rows = (x, p_h) if height is None else _rows(x, p_h, p_h, height)
    return F.avg_pool2d(x, (k_h, k_w), (s_h, s_w), (rows, 0), ceil_mode, count_include_pad, divisor_override)


def lp_pool2d(
    input: Tensor, norm_type: float, kernel_size: Numbers, stride: Numbers | None = None, ceil_mode: bool = False
) -> Tensor:
    """:func:`torch.nn.functional.lp_pool2d`."""
    (k_h, k_w), (s_h, s_w), _, _ = _windows(kernel_size, stride, 0, 1)
    x = around("lp_pool2d", input, 0, k_w - 1, s_w, exact=ceil_mode)
    return F.lp_pool2d(x, norm_type, (k_h, k_w), (s_h, s_w), ceil_mode)


def unfold(
    input: Tensor, kernel_size: Numbers, dilation: Numbers = 1, padding: Numbers = 0, stride: Numbers = 1
) -> Tensor:
    """:func:`torch.nn.functional.unfold`: W / s windows in each row of windows."""
    (k_h, k_w), (s_h, s_w), (p_h, p_w), (d_h, d_w) = _windows(kernel_size, stride, padding, dilation)
    x = around("unfold", input, p_w, d_w * (k_w - 1), s_w)
    return F.unfold(x, (k_h, k_w), (d_h, d_w), (p_h, 0), (s_h, s_w))


def fold(
    input: Tensor,
    output_size: Numbers,
    kernel_size: Numbers,
    dilation: Numbers = 1,
    padding: Numbers = 0,
    stride: Numbers = 1,
) -> Tensor:
    """:func:`torch.nn.functional.fold`, the adjoint of :func:`unfold`."""
    rows, width = _pair(output_size)
    (k_h, k_w), (s_h, s_w), (p_h, left), (d_h, d_w) = _windows(kernel_size, stride, padding, dilation)
    _checks.ring_stride("fold", width, s_w)
    reach = d_w * (k_w - 1)
    size = rows, width - s_w + reach + 1
    y = F.fold(input, size, (k_h, k_w), (d_h, d_w), (p_h, 0), (s_h, s_w))
    after = size[1] - width - left
    return fold_back(F.pad(y, (0, max(-after, 0))), -1, left, max(after, 0), "circular")


def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None, *, height: str | None = None
) -> Tensor:
    """:func:`torch.nn.functional.pad`: columns that wrap, whatever ``mode`` says; rows as ever.

    What is added becomes the margin. What is cut off is not: cutting moves the ring's first column and no more.
    """
    before, after, *rest = pad
    if (before == after == 0 and height is None) or input.ndim not in (3, 4):
        return with_margin(F.pad(input, pad, mode, value), margin_of(input))
    left, right = margin_of(input).left + before, margin_of(input).right + after
    if left < 0:
        input = columns(input, 0, 0).roll(left, -1)
        left, right = 0, right + left
    margin = Margin(left, max(right, 0))
    y = columns(input, *margin)
    if any(rest):
        y = F.pad(y, (0, 0, *rest), mode, value) if height is None else extend(y, -2, rest[0], rest[1], height)
    return with_margin(y, margin)


def interpolate(
    input: Tensor,
    size: Numbers | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """:func:`torch.nn.functional.interpolate`, reading across the seam.

    ``"nearest"`` and ``"area"`` never do and are torch's. ``align_corners=True`` stretches the ends of the image to
    those of the result, which no ring has: the height keeps it, the width gets half-pixel centres.
    """
    options: dict[str, Any] = {"mode": mode, "antialias": antialias}
    if mode not in ("bilinear", "bicubic"):
        return F.interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)
    rows, width = input.shape[-2], ring_width(input)
    if size is not None:
        goal = _pair(size)
        at_once = not align_corners
    else:
        factors: Any = scale_factor if isinstance(scale_factor, Sequence) else (scale_factor,) * 2
        f_h, f_w = map(float, factors)
        goal = _scaled(rows, f_h), _scaled(width, f_w)
        at_once = not align_corners and (f_h.is_integer() or bool(recompute_scale_factor))
    step, ratio = _period(width, goal[1])
    need = (2 if mode == "bilinear" else 3) * (max(1, math.ceil(width / goal[1])) if antialias else 1)
    periods = -(-need // step)
    wide = columns(input, periods * step, periods * step)
    new = goal[0] if at_once else rows, goal[1] + 2 * periods * ratio
    y = F.interpolate(wide, new, align_corners=False, **options).narrow(-1, periods * ratio, goal[1])
    if at_once:
        return y
    if size is not None:
        return F.interpolate(y, goal, align_corners=align_corners, **options)
    return F.interpolate(
        y,
        scale_factor=(f_h, 1.0),
        align_corners=align_corners,
        recompute_scale_factor=recompute_scale_factor,
        **options,
    )


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """:func:`torch.nn.functional.grid_sample`: positions beyond the left and right borders come in again."""
    width, more = ring_width(input), 2 if mode == "bicubic" else 1
    wide = columns(input, more, more)
    x, y = grid.unbind(-1)
    position = (x + 1) / 2 * (width - 1) if align_corners else ((x + 1) * width - 1) / 2
    position = torch.remainder(position, width) + more
    last = wide.shape[-1] - 1
    x = 2 * position / last - 1 if align_corners else (2 * position + 1) / (last + 1) - 1
    return F.grid_sample(wide, torch.stack([x, y], -1), mode, padding_mode, align_corners)


def _period(n_in: int, n_out: int) -> tuple[int, int]:
    """The fewest samples, of input and of output, after which positions repeat."""
    if n_out % n_in == 0:
        return 1, n_out // n_in
    if n_in % n_out == 0:
        return n_in // n_out, 1
    common = math.gcd(n_in, n_out)
    return n_in // common, n_out // common


def _scaled(n: int, factor: float) -> int:
    return n * int(factor) if factor.is_integer() else math.floor(n * factor)


def _pair(value: Numbers) -> tuple[int, int]:
    if not isinstance(value, Sequence):
        return value, value
    return (value[0], value[-1])


def _windows(
    kernel: Numbers, stride: Numbers | None, padding: Numbers, dilation: Numbers
) -> tuple[tuple[int, int], ...]:
    """Kernel, stride (the kernel's where there is none), padding and dilation as pairs."""
    strides = kernel if stride is None or stride == [] else stride
    return _pair(kernel), _pair(strides), _pair(padding), _pair(dilation)


def _both_sides(padding: str | Numbers, reach: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    """``(top, bottom), (left, right)``; torch's ``"same"`` puts an odd sample at the end."""
    if isinstance(padding, str):
        return tuple((r // 2, r - r // 2) if padding == "same" else (0, 0) for r in reach)
    return tuple((p, p) for p in _pair(padding))


def _rows(x: Tensor, top: int, bottom: int, rule: str) -> tuple[Tensor, int]:
    """``x`` with its rows added, or the number of rows of zeros that the vendor is to add on both sides."""
    if rule == "zeros" and top == bottom:
        return x, top
    return extend(x, -2, top, bottom, rule), 0
