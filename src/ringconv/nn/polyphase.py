"""Strides that are exact at every shift: the phase is the image's own, and known to whoever needs it."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from .. import _checks
from ..algorithms import RULES
from ..functional import polyphase_down, polyphase_up, ring_conv2d, ring_phase, ring_roll
from ..functional._geometry import Size
from ..functional.polyphase import MODES_UP, Phase

PHASES = ("fixed", "adaptive")


def settle(input: Tensor, stride: int, phase: str) -> Tensor:
    """``input`` turned so that a plain stride keeps the phase that each image points at; as it is if that is fixed.

    What a layer of stride s makes of an image turned by −p is what it makes of it with stride 1, columns p, p + s, …:
    the choice costs one roll, and none of the work at the columns that are dropped.
    """
    return ring_roll(input, -ring_phase(input, stride)) if phase == "adaptive" and stride > 1 else input


class PolyphaseDown(nn.Module):
    """Keep every s-th column, counted from one that turns with the image: a stride that is exact at every shift.

    Stands behind a convolution, pool or blur of stride 1. Rolling the input by k rolls the output by
    ``(k + p − p') / s`` columns, a whole number, where p and p' are the phases chosen before and after: what was
    kept is kept again. ``PolyphaseUp`` at the same phase makes that a roll by k.

    The phase is :func:`ringconv.functional.ring_phase`, for each sample. A parallel branch takes the same one::

        phase = down.choose(x)
        y = down(x, phase) + down(shortcut(x), phase)

    Args:
        stride: ``s`` or ``(s_h, s_w)``; rows are kept from the first on.
        blur: taps of a binomial low-pass around the ring and along the height, before samples are dropped: 1 for
            none, 3 for (1, 2, 1) / 4. Exactness does not need it; between grid points it trades detail for symmetry.
        phase: ``"adaptive"``, or ``"fixed"`` for phase 0, the plain stride.
        height: what the blur reads beyond the first and last row.

    Shape:
        ``(B, C, H, W)`` to ``(B, C, ⌈H / s_h⌉, W / s_w)``, or both without B.

    >>> down, up = PolyphaseDown(2), PolyphaseUp(2)
    >>> def f(x):
    ...     phase = down.choose(x)
    ...     return up(down(x, phase), phase)
    >>> x = torch.randn(4, 3, 8, 12)
    >>> all(torch.equal(f(x.roll(k, -1)), f(x).roll(k, -1)) for k in range(12))
    True
    """

    def __init__(self, stride: Size, *, blur: int = 1, phase: str = "adaptive", height: str = "symmetric") -> None:
        super().__init__()
        where = type(self).__name__
        self.stride = _checks.pair(where, "stride", stride)
        self.blur = _checks.integer(where, "blur", blur)
        self.phase = _checks.one_of(where, "phase", phase, PHASES)
        self.height = _checks.one_of(where, "height", height, RULES)
        self.register_buffer("taps", _binomial(blur), persistent=False)

    taps: Tensor

    def choose(self, input: Tensor) -> Phase:
        """The phase of each sample, ``(B,)``; 0 where the phase is fixed."""
        return ring_phase(input, self.stride[1]) if self.phase == "adaptive" else 0

    def forward(self, input: Tensor, phase: Phase | None = None) -> Tensor:
        """``(B, C, H, W)`` to ``(B, C, ⌈H / s_h⌉, W / s_w)``, at ``phase`` or at the one that ``choose`` gives."""
        if phase is None:
            phase = self.choose(input)
        return polyphase_down(self._blurred(input), self.stride, phase)

    def _blurred(self, x: Tensor) -> Tensor:
        if self.blur == 1:
            return x
        kernel = self.taps.to(x.dtype).expand(x.shape[-3], 1, -1, -1)
        return ring_conv2d(x, kernel, groups=x.shape[-3], height=self.height)

    def extra_repr(self) -> str:
        """The arguments."""
        return f"stride={self.stride}, blur={self.blur}, phase={self.phase!r}, height={self.height!r}"


class PolyphaseUp(nn.Module):
    """Put samples back at the phase that they were taken from: :func:`ringconv.functional.polyphase_up` as a module.

    A decoder that upsamples with the phases of its encoder commutes with every roll.

    Args:
        stride: ``s`` or ``(s_h, s_w)``.
        mode: what fills the new columns and rows: ``"zeros"``, ``"nearest"``, ``"bilinear"`` or ``"bicubic"``.

    Shape:
        ``(B, C, H, W)`` to ``(B, C, s_h · H, s_w · W)``, or both without B.
    """

    def __init__(self, stride: Size, *, mode: str = "zeros") -> None:
        super().__init__()
        where = type(self).__name__
        self.stride = _checks.pair(where, "stride", stride)
        self.mode = _checks.one_of(where, "mode", mode, MODES_UP)

    def forward(self, input: Tensor, phase: Phase) -> Tensor:
        """``(B, C, H, W)`` and the encoder's phase, ``(B,)`` or one for all, to ``(B, C, s_h · H, s_w · W)``."""
        return polyphase_up(input, self.stride, phase, self.mode)

    def extra_repr(self) -> str:
        """The arguments."""
        return f"stride={self.stride}, mode={self.mode!r}"


def _binomial(taps: int) -> Tensor:
    row = torch.tensor([float(math.comb(taps - 1, i)) for i in range(taps)])
    return torch.outer(row, row) / 4.0 ** (taps - 1)
