"""Resampling on the cylinder, as a module."""

from __future__ import annotations

from torch import Tensor, nn

from .. import _checks
from ..algorithms import RULES
from ..functional import ring_interpolate
from ..functional.resample import MODES, check_goal


class RingUpsample(nn.Module):
    """Another size, reading across the seam: :func:`ringconv.functional.ring_interpolate` as a module.

    Args:
        size: ``n`` or ``(n_h, n_w)``; this or ``scale_factor``.
        scale_factor: ``f`` or ``(f_h, f_w)``; the size becomes ``⌊f · n⌋``.
        mode: ``"nearest"``, ``"bilinear"`` or ``"bicubic"``.
        height: what stands beyond the first and last row.

    Shape:
        ``(B, C, H, W)`` to ``(B, C, *size)``, or both without B.
    """

    def __init__(
        self,
        size: int | tuple[int, int] | None = None,
        scale_factor: float | tuple[float, float] | None = None,
        mode: str = "nearest",
        *,
        height: str = "symmetric",
    ) -> None:
        super().__init__()
        where = type(self).__name__
        self.size, _ = check_goal(where, size, scale_factor)
        self.scale_factor = scale_factor
        self.mode = _checks.one_of(where, "mode", mode, MODES)
        self.height = _checks.one_of(where, "height", height, RULES)

    def forward(self, input: Tensor) -> Tensor:
        """``(B, C, H, W)`` to ``(B, C, *size)``."""
        return ring_interpolate(input, self.size, self.scale_factor, self.mode, height=self.height)

    def extra_repr(self) -> str:
        """The arguments."""
        goal = f"size={self.size}" if self.scale_factor is None else f"scale_factor={self.scale_factor}"
        return f"{goal}, mode={self.mode!r}, height={self.height!r}"
