"""Pooling windows that reach across the seam."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from .. import _checks
from ..algorithms import Geometry, surround
from ._geometry import Padding, Size, geometry


def ring_max_pool2d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = "same",
    dilation: Size = 1,
    *,
    height: str = "symmetric",
) -> Tensor:
    """The largest value of every window on the cylinder.

    Windows stand where the kernels of :func:`ring_conv2d` stand: a window of k starts ``d(k − 1) // 2`` before its
    place, so that one of 2 with stride 2 takes the pairs (0, 1), (2, 3), …, and one of 3 is centred. Rolling the
    input by a multiple of the stride rolls the result to the last bit.

    Args:
        input: images ``(B, C, H, W)`` or ``(C, H, W)``. W must be a multiple of its stride.
        kernel_size: ``k`` or ``(k_h, k_w)``.
        stride: ``s`` or ``(s_h, s_w)``; ``None`` takes the kernel's size.
        padding: rows added above and below: ``"same"`` (H rows become ⌈H / s_h⌉), a number, or ``(top, bottom)``.
        dilation: ``d`` or ``(d_h, d_w)``.
        height: what the added rows hold, as for :func:`ring_conv2d`.

    Returns:
        ``(B, C, H_out, W / s_w)``, or without B where the input had none.

    >>> import torch
    >>> ring_max_pool2d(torch.tensor([[[9.0, 1.0, 2.0, 3.0]]]), (1, 3), 1)
    tensor([[[9., 9., 3., 9.]]])
    """
    x, at, unbatched = _windows("ring_max_pool2d", input, kernel_size, stride, padding, dilation, height)
    y = F.max_pool2d(surround(x, at), at.kernel, at.stride, 0, at.dilation)
    return y.squeeze(0) if unbatched else y


def ring_avg_pool2d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = "same",
    *,
    height: str = "symmetric",
) -> Tensor:
    """The mean of every window on the cylinder. Arguments are those of :func:`ring_max_pool2d`.

    >>> import torch
    >>> ring_avg_pool2d(torch.tensor([[[9.0, 0.0, 3.0, 6.0]]]), (1, 3), 1)
    tensor([[[5., 4., 3., 6.]]])
    """
    x, at, unbatched = _windows("ring_avg_pool2d", input, kernel_size, stride, padding, 1, height)
    y = F.avg_pool2d(surround(x, at), at.kernel, at.stride)
    return y.squeeze(0) if unbatched else y


def _windows(
    where: str,
    input: Tensor,
    kernel_size: Size,
    stride: Size | None,
    padding: Padding,
    dilation: Size,
    height: str,
) -> tuple[Tensor, Geometry, bool]:
    x, unbatched = _checks.image(where, input)
    size = x.shape[-2], x.shape[-1]
    stride = kernel_size if stride is None else stride
    return x, geometry(where, size, kernel_size, stride, padding, dilation, height), unbatched
