"""Pooling windows that reach across the seam, as modules."""

from __future__ import annotations

from torch import Tensor, nn

from .. import _checks
from ..functional import ring_avg_pool2d, ring_max_pool2d
from ..functional._geometry import Padding, Size, check_height
from .polyphase import PHASES, settle


class _RingPool(nn.Module):
    def __init__(self, kernel_size: Size, stride: Size | None, padding: Padding, height: str, phase: str) -> None:
        super().__init__()
        where = type(self).__name__
        self.kernel_size = _checks.pair(where, "kernel_size", kernel_size)
        self.stride = self.kernel_size if stride is None else _checks.pair(where, "stride", stride)
        self.padding = check_height(where, padding, height)
        self.height = height
        self.phase = _checks.one_of(where, "phase", phase, PHASES)

    def extra_repr(self) -> str:
        """The arguments."""
        text = f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding!r}, height={self.height!r}"
        return text if self.phase == "fixed" else f"{text}, phase={self.phase!r}"


class RingMaxPool2d(_RingPool):
    """The largest value of every window on the cylinder: :func:`ringconv.functional.ring_max_pool2d` as a module.

    Args:
        kernel_size: ``k`` or ``(k_h, k_w)``.
        stride: ``s`` or ``(s_h, s_w)``; the kernel's size where none is given. s_w must divide the width.
        padding: rows added above and below: ``"same"`` (H rows become ⌈H / s_h⌉), a number, or ``(top, bottom)``.
        dilation: ``d`` or ``(d_h, d_w)``.
        height: what the added rows hold, as for :class:`RingConv2d`.
        phase: ``"adaptive"`` makes the stride exact at every shift, as for :class:`RingConv2d`.

    Shape:
        ``(B, C, H, W)`` to ``(B, C, H_out, W / s_w)``, or both without B.
    """

    def __init__(
        self,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Padding = "same",
        dilation: Size = 1,
        *,
        height: str = "symmetric",
        phase: str = "fixed",
    ) -> None:
        super().__init__(kernel_size, stride, padding, height, phase)
        self.dilation = _checks.pair(type(self).__name__, "dilation", dilation)

    def forward(self, input: Tensor) -> Tensor:
        """``(B, C, H, W)`` to ``(B, C, H_out, W / s_w)``."""
        x = settle(input, self.stride[1], self.phase)
        return ring_max_pool2d(x, self.kernel_size, self.stride, self.padding, self.dilation, height=self.height)

    def extra_repr(self) -> str:
        """The arguments."""
        return super().extra_repr() + (f", dilation={self.dilation}" if self.dilation != (1, 1) else "")


class RingAvgPool2d(_RingPool):
    """The mean of every window on the cylinder: :func:`ringconv.functional.ring_avg_pool2d` as a module.

    Arguments and shapes are those of :class:`RingMaxPool2d`, without dilation.
    """

    def __init__(
        self,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Padding = "same",
        *,
        height: str = "symmetric",
        phase: str = "fixed",
    ) -> None:
        super().__init__(kernel_size, stride, padding, height, phase)

    def forward(self, input: Tensor) -> Tensor:
        """``(B, C, H, W)`` to ``(B, C, H_out, W / s_w)``."""
        x = settle(input, self.stride[1], self.phase)
        return ring_avg_pool2d(x, self.kernel_size, self.stride, self.padding, height=self.height)
