"""Any network on the ring made exact at every shift: turn the image to its own origin, run, turn the result back."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from .. import _checks
from ..functional import ring_origin, ring_roll

OUTPUTS = ("auto", "equivariant", "invariant", "angle")


class Canonical(nn.Module):
    r"""A network made exactly equivariant, or invariant, to every roll, for the cost of two rolls of image and output.

    .. math:: y = L_r\, f(L_{-r}\, x), \qquad r = \mathrm{ring\_origin}(x)

    The network sees the same image, to the last bit, however it was rolled; so its output is the same to the last
    bit, whatever computes it. Without this, a network of total stride s commutes with multiples of s alone. A plain
    network of ring layers has no seam in the turned image; a network whose ring layers are exact by themselves
    (``stride=1``, or ``PolyphaseDown``) stays the same function, and what this settles is rounding alone.

    Args:
        model: from ``(B, C, H, W)`` to any output with the batch first.
        stride: its total stride around the ring, which must divide W: a ring cut into uneven steps is none.
        output: ``"equivariant"`` where the output's last axis is the ring: it is rolled back. With W / t columns it
            is rolled by ``⌊r / t⌋``: the coarse grid itself lies at the phase that was chosen, and so the output
            turns by whole columns of its own. ``"invariant"`` where no axis is: left as it is. ``"angle"`` where it
            is a heading in degrees: turned back modulo 360. ``"auto"`` takes three or four axes for equivariant.

    Shape:
        The input has a batch: ``(B, C, H, W)``. The output is the model's.

    >>> from ringconv.nn import GlobalPool, RingConv2d
    >>> model = Canonical(nn.Sequential(RingConv2d(3, 8, 3, 2), nn.ReLU(), RingConv2d(8, 5, 3, 2), GlobalPool()), 4)
    >>> x = torch.randn(2, 3, 8, 12)
    >>> all(torch.equal(model(x.roll(k, -1)), model(x)) for k in range(12))
    True
    """

    def __init__(self, model: nn.Module, stride: int, *, output: str = "auto") -> None:
        super().__init__()
        where = type(self).__name__
        self.model = model
        self.stride = _checks.integer(where, "stride", stride)
        self.output = _checks.one_of(where, "output", output, OUTPUTS)

    def forward(self, input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The model's output for ``input`` and whatever else it takes."""
        where = type(self).__name__
        if _checks.image(where, input)[1]:
            raise ValueError(f"{where}: input must be (B, C, H, W), got shape {tuple(input.shape)}")
        width = input.shape[-1]
        _checks.ring_stride(where, width, self.stride)
        origin = ring_origin(input)
        y: Tensor = self.model(ring_roll(input, -origin), *args, **kwargs)
        if self.output == "angle":
            return _turned(y, origin, width)
        if self.output == "equivariant" or (self.output == "auto" and y.ndim in (3, 4)):
            self._check_output(y, width)
            return ring_roll(y, torch.div(origin * y.shape[-1], width, rounding_mode="floor"))
        return y

    def _check_output(self, y: Tensor, width: int) -> None:
        if y.shape[-1] * self.stride % width:
            raise ValueError(
                f"{type(self).__name__}: an output {tuple(y.shape)} of a ring of W={width} samples and stride="
                f"{self.stride} must have a multiple of {width // self.stride} columns; say output='invariant' if its "
                "last axis is no ring"
            )

    def extra_repr(self) -> str:
        """The arguments."""
        return f"stride={self.stride}, output={self.output!r}"


def _turned(degrees: Tensor, origin: Tensor, width: int) -> Tensor:
    """``(B, ...)`` degrees, further by ``origin`` columns."""
    columns = origin.view(-1, *(1,) * (degrees.ndim - 1)).to(degrees.dtype)
    return (degrees + columns * (360 / width)) % 360
