"""From a caller's arguments to the :class:`Geometry` of one window over one image, with every check on the way."""

from __future__ import annotations

from .. import _checks
from ..algorithms import RULES, Geometry

Size = int | tuple[int, int]
Padding = str | int | tuple[int, int]
HEIGHTS = (*RULES, "valid")


def geometry(
    where: str,
    size: tuple[int, int],
    kernel: Size,
    stride: Size,
    padding: Padding,
    dilation: Size,
    height: str,
) -> Geometry:
    """The geometry of windows of ``kernel`` taps over an image of ``size``, or an error in the name of ``where``."""
    kernel = _checks.pair(where, "kernel_size", kernel)
    stride = _checks.pair(where, "stride", stride)
    dilation = _checks.pair(where, "dilation", dilation)
    _checks.ring_stride(where, size[1], stride[1])
    top, bottom = height_pads(where, padding, height, dilation[0] * (kernel[0] - 1))
    at = Geometry(size, kernel, stride, dilation, top, bottom, height)
    if at.rows < 1:
        raise ValueError(
            f"{where}: a kernel that spans {at.reach[0] + 1} rows does not fit {size[0]} rows with {top} added above "
            f"and {bottom} below (height={height!r}); use padding='same' or a smaller kernel"
        )
    return at


def check_height(where: str, padding: Padding, height: str) -> str | tuple[int, int]:
    """``padding`` as ``"same"`` or ``(top, bottom)``, if it goes with the height rule."""
    _checks.one_of(where, "height", height, HEIGHTS)
    pads = _checks.height_padding(where, padding)
    if height == "valid" and pads not in (None, (0, 0)):
        raise ValueError(f"{where}: height='valid' adds no rows, but padding={padding!r}; leave padding out")
    return "same" if pads is None else pads


def height_pads(where: str, padding: Padding, height: str, reach: int) -> tuple[int, int]:
    """Rows added above and below for a kernel that reaches over ``reach + 1`` rows."""
    pads = check_height(where, padding, height)
    if height == "valid":
        return 0, 0
    return (reach // 2, reach - reach // 2) if isinstance(pads, str) else pads
