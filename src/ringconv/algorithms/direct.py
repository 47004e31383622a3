"""The vendor's convolution with the cylinder's wrap-around done around it. Any device, any dtype.

Pays for small kernels. A roll of the input rolls the result to the last bit wherever the vendor's own kernel sums
in the same order at every column.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from .extend import extend, fold
from .geometry import Geometry


def correlate(x: Tensor, weight: Tensor, bias: Tensor | None, at: Geometry, groups: int) -> Tensor:
    """``(B, C, H, W)`` with ``(O, C/groups, k_h, k_w)`` to ``(B, O, *at.out_size)``."""
    return F.conv2d(surround(x, at), weight, bias, at.stride, 0, at.dilation, groups)


def correlate_adjoint(y: Tensor, weight: Tensor, bias: Tensor | None, at: Geometry, groups: int) -> Tensor:
    """The adjoint of :func:`correlate`: ``(B, O, *at.out_size)`` to ``(B, C, *at.size)``, plus ``bias`` (C,)."""
    # What the stride leaves out is read by no position and gets zeros: first of the extension, then of the image.
    unread = (
        at.unread[0] - (at.bottom - at.below),
        at.unread[1] - (at.reach[1] - at.left - at.right),
    )
    x = F.conv_transpose2d(y, weight, None, at.stride, 0, unread, groups, at.dilation)
    x = fold(x, -1, at.left, at.right, "circular")
    x = fold(x, -2, at.top, at.below, at.rule)
    return x if bias is None else x + bias.to(x.dtype).view(-1, 1, 1)


def surround(x: Tensor, at: Geometry) -> Tensor:
    """``x`` with the rows and columns that a window of this geometry reads beyond its borders."""
    return extend(extend(x, -2, at.top, at.below, at.rule), -1, at.left, at.right, "circular")
