"""Every s-th column of a ring, counted from a column that turns with the image.

A ring of W samples has s polyphase components, the columns p, p + s, p + 2s, … for p = 0 … s − 1. Rolling the image
by one column turns each component into the next. A stride keeps component 0, whatever it has become; keeping the
component that the image itself points at commutes with every roll.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .. import _checks
from ._geometry import Size
from ._winner import heaviest, row_sums, steepest
from .resample import MODES, ring_interpolate
from .rotate import ring_roll

Phase = int | Tensor
MODES_UP = ("zeros", *MODES)


def ring_origin(input: Tensor) -> Tensor:
    """The column that each image takes for its own first: the one around which most of its weight lies.

    Rolling the input by k adds k to it, modulo W, without exception: within a column samples are added in one fixed
    order, around the ring as whole numbers, and columns that tie are told apart by what the ring looks like from
    them. Only an image that repeats itself around the ring has several such columns; rolled to any of them it is the
    same image, to the last bit. The weight is the sum over channels and rows in two running windows of a quarter of
    the ring, one after the other.

    Args:
        input: images ``(B, C, H, W)``, or one ``(C, H, W)``.

    Returns:
        Integers ``(B,)``, or one without B. No gradient passes through a choice.

    >>> x = torch.randn(3, 8, 12)
    >>> origin = ring_origin(x)
    >>> all(ring_origin(x.roll(k, -1)) == (origin + k) % 12 for k in range(12))
    True
    """
    x, unbatched = _checks.image("ring_origin", input)
    origin = heaviest(row_sums(x))
    return origin.squeeze(0) if unbatched else origin


def ring_phase(input: Tensor, stride: int) -> Tensor:
    r"""The polyphase component that each image points at, 0 … stride − 1: the one with the largest steps.

    .. math::
        p = \arg\max_p \sum_{c, m} (r_{c,\,p + ms} - r_{c,\,p + ms - 1})^2,
        \qquad r_{c,j} = \sum_i x_{c,i,j}

    Rolling the input by k adds k to it, modulo the stride; it is as exact as :func:`ring_origin`. Sums over rows,
    and squares, make it the choice that noise moved least of those that were tried.

    Args:
        input: images ``(B, C, H, W)``, or one ``(C, H, W)``. W must be a multiple of the stride.
        stride: s, around the ring.

    Returns:
        Integers ``(B,)``, or one without B. No gradient passes through a choice.

    >>> x = torch.randn(3, 8, 12)
    >>> phase = ring_phase(x, 4)
    >>> all(ring_phase(x.roll(k, -1), 4) == (phase + k) % 4 for k in range(12))
    True
    """
    where = "ring_phase"
    x, unbatched = _checks.image(where, input)
    _checks.ring_stride(where, x.shape[-1], _checks.integer(where, "stride", stride))
    phase = steepest(row_sums(x), stride)
    return phase.squeeze(0) if unbatched else phase


def polyphase_down(input: Tensor, stride: Size, phase: Phase) -> Tensor:
    """Keep the columns ``phase``, ``phase + s_w``, … and every s_h-th row.

    Args:
        input: images ``(B, C, H, W)``, or one ``(C, H, W)``. W must be a multiple of its stride.
        stride: ``s`` or ``(s_h, s_w)``.
        phase: 0 … s_w − 1 for all, or integers ``(B,)`` with one for each sample, as of :func:`ring_phase`.

    Returns:
        ``(B, C, ⌈H / s_h⌉, W / s_w)``, or without B where the input had none.

    >>> polyphase_down(torch.arange(6.0).view(1, 1, 6), (1, 3), 2)
    tensor([[[2., 5.]]])
    """
    where = "polyphase_down"
    _checks.image(where, input)
    s_h, s_w = _checks.pair(where, "stride", stride)
    _checks.ring_stride(where, input.shape[-1], s_w)
    _check_phase(where, phase, s_w)
    if isinstance(phase, int):
        return input[..., ::s_h, phase::s_w]
    return ring_roll(input[..., ::s_h, :], -phase)[..., ::s_w]


def polyphase_up(input: Tensor, stride: Size, phase: Phase, mode: str = "zeros") -> Tensor:
    """Put samples back on a grid that is s times as fine, at the phase that they were taken from.

    With ``mode="zeros"`` this is the adjoint of :func:`polyphase_down` and undoes it where that kept something. The
    other modes fill the grid by :func:`ring_interpolate` and then turn it by the phase.

    Args:
        input: images ``(B, C, H, W)``, or one ``(C, H, W)``.
        stride: ``s`` or ``(s_h, s_w)``.
        phase: 0 … s_w − 1 for all, or integers ``(B,)`` with one for each sample.
        mode: ``"zeros"``, ``"nearest"``, ``"bilinear"`` or ``"bicubic"``.

    Returns:
        ``(B, C, s_h · H, s_w · W)``, or without B where the input had none.

    >>> polyphase_up(torch.tensor([[[2.0, 5.0]]]), (1, 3), 2)
    tensor([[[0., 0., 2., 0., 0., 5.]]])
    """
    where = "polyphase_up"
    _checks.image(where, input)
    s_h, s_w = _checks.pair(where, "stride", stride)
    _check_phase(where, phase, s_w)
    if _checks.one_of(where, "mode", mode, MODES_UP) == "zeros":
        cells = torch.nn.functional.pad(input[..., :, None, :, None], (0, s_w - 1, 0, 0, 0, s_h - 1))
        fine = cells.flatten(-2).flatten(-3, -2)
    else:
        fine = ring_interpolate(input, scale_factor=(float(s_h), float(s_w)), mode=mode)
    return ring_roll(fine, phase)


def _check_phase(where: str, phase: Phase, stride: int) -> None:
    if not isinstance(phase, Tensor) and _checks.integer(where, "phase", phase, 0) >= stride:
        raise ValueError(f"{where}: phase={phase} must be less than the ring's stride {stride}")
