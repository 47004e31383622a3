"""What a ring says in the end: numbers that no roll changes, or an angle that turns with it."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from .. import _checks

POOLS = ("mean", "max", "both")


class RowMaxPool(nn.Module):
    """The largest value around the ring in every row and channel: the read-out of the paper's panoramas.

    Invariant to every roll, to the last bit. Keeps the rows apart: what follows knows what stands above what.

    Shape:
        ``(B, C, H, W)`` to ``(B, C, H)``, or both without B.

    >>> RowMaxPool()(torch.tensor([[[0.0, 3.0, 1.0], [5.0, 0.0, 4.0]]]))
    tensor([[3., 5.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """``(B, C, H, W)`` to ``(B, C, H)``."""
        _checks.image(type(self).__name__, input)
        return input.amax(-1)


class GlobalPool(nn.Module):
    """The mean or the largest value of every channel, or both: takes any height and any width.

    Invariant to every roll: the largest value to the last bit, the mean to rounding.

    Args:
        pool: ``"mean"``, ``"max"``, or ``"both"`` for C means and then C largest values.

    Shape:
        ``(B, C, H, W)`` to ``(B, C)``, or ``(B, 2C)`` for both; all without B where the input has none.

    >>> GlobalPool("both")(torch.tensor([[[0.0, 3.0, 3.0]]]))
    tensor([2., 3.])
    """

    def __init__(self, pool: str = "mean") -> None:
        super().__init__()
        self.pool = _checks.one_of(type(self).__name__, "pool", pool, POOLS)

    def forward(self, input: Tensor) -> Tensor:
        """``(B, C, H, W)`` to ``(B, C)`` or ``(B, 2C)``."""
        _checks.image(type(self).__name__, input)
        pools = {"mean": [input.mean((-2, -1))], "max": [input.amax((-2, -1))]}
        return torch.cat(pools["mean"] + pools["max"], -1) if self.pool == "both" else pools[self.pool][0]

    def extra_repr(self) -> str:
        """The arguments."""
        return f"pool={self.pool!r}"


class AngularReadout(nn.Module):
    r"""A heading from scores around the ring, in degrees: the circular mean of their softmax.

    .. math::
        \alpha_c = \arg \sum_j \mathrm{softmax}_j(\beta\, \bar x_{c,j})\; e^{2 \pi i j / W},
        \qquad \bar x_{c,j} = \tfrac1H \textstyle\sum_i x_{c,i,j}

    Rolling the input by k adds :math:`360\, k / W` degrees, modulo 360. Column 0 is at 0°, and angles grow with the
    columns, as those of :func:`ringconv.rotate` do. Every score takes part, and so every one gets a gradient; an
    angle falls between columns as it may. Scores whose mean has no direction, such as equal ones, give an angle
    without meaning.

    Args:
        sharpness: β. Large values point at the largest score, small ones at the mean direction of all.

    Shape:
        ``(B, C, H, W)`` to ``(B, C)`` angles in [0, 360), or both without B.

    >>> AngularReadout(100.0)(torch.eye(8)[[2]].unsqueeze(0)).round()
    tensor([90.])
    """

    def __init__(self, sharpness: float = 1.0) -> None:
        super().__init__()
        if not isinstance(sharpness, (int, float)) or not 0 < sharpness < math.inf:
            raise ValueError(f"{type(self).__name__}: sharpness={sharpness!r} must be a positive number")
        self.sharpness = float(sharpness)

    def forward(self, input: Tensor) -> Tensor:
        """``(B, C, H, W)`` to ``(B, C)``."""
        _checks.image(type(self).__name__, input)
        width = input.shape[-1]
        share = (input.mean(-2) * self.sharpness).softmax(-1)
        angles = torch.arange(width, dtype=share.dtype, device=share.device) * (2 * math.pi / width)
        radians = torch.atan2((share * angles.sin()).sum(-1), (share * angles.cos()).sum(-1))
        degrees = torch.rad2deg(radians) % 360
        # A negative angle that rounds to a full turn is no angle in [0, 360).
        return torch.where(degrees < 360, degrees, degrees - 360)

    def extra_repr(self) -> str:
        """The arguments."""
        return f"sharpness={self.sharpness}"
