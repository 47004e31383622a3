"""Where a kernel looks: the sizes and offsets of one correlation on the cylinder."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Geometry:
    """One correlation of a ``(kernel)`` with images of ``size``; all pairs are ``(height, width)``.

    Output row i reads the extended rows ``i·s + u·d − top``, output column j the columns ``(j·s + v·d − left) mod W``.
    ``rule`` says what stands above row 0 and below row H − 1.
    """

    size: tuple[int, int]
    kernel: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    top: int
    bottom: int
    rule: str

    @property
    def reach(self) -> tuple[int, int]:
        """Samples from a kernel's first tap to its last."""
        return self.dilation[0] * (self.kernel[0] - 1), self.dilation[1] * (self.kernel[1] - 1)

    @property
    def left(self) -> int:
        """Columns that the kernel sees to the left of its place: it is centred on the ring."""
        return self.reach[1] // 2

    @property
    def right(self) -> int:
        """Columns beyond the last one that the kernel reads; a stride may stop short of some."""
        return max(0, self.reach[1] - self.left - self.unread[1])

    @property
    def below(self) -> int:
        """Rows beyond the last one that the kernel reads; a stride may stop short of some."""
        return max(0, self.bottom - self.unread[0])

    @property
    def unread(self) -> tuple[int, int]:
        """Rows and columns, of all that the kernel could reach, that its last position leaves out."""
        return (self.rows - 1) % self.stride[0], self.stride[1] - 1

    @property
    def rows(self) -> int:
        """Rows at which the kernel can stand, before the stride."""
        return self.size[0] + self.top + self.bottom - self.reach[0]

    @property
    def out_size(self) -> tuple[int, int]:
        """Height and width of the result."""
        return (self.rows - 1) // self.stride[0] + 1, self.size[1] // self.stride[1]
