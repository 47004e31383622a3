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
    x = extend(x, -2, at.top, at.bottom, at.rule)
    x = extend(x, -1, at.left, at.right, "circular")
    return F.conv2d(x, weight, bias, at.stride, 0, at.dilation, groups)


def correlate_adjoint(y: Tensor, weight: Tensor, bias: Tensor | None, at: Geometry, groups: int) -> Tensor:
    """The adjoint of :func:`correlate`: ``(B, O, *at.out_size)`` to ``(B, C, *at.size)``, plus ``bias`` (C,)."""
    # Extended samples that no kernel position reaches, because the stride steps over them.
    unread = (at.rows - 1) % at.stride[0], at.stride[1] - 1
    x = F.conv_transpose2d(y, weight, None, at.stride, 0, unread, groups, at.dilation)
    x = fold(x, -1, at.left, at.right, "circular")
    x = fold(x, -2, at.top, at.bottom, at.rule)
    return x if bias is None else x + bias.to(x.dtype).view(-1, 1, 1)
