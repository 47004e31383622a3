"""Correlation as a product of spectra. Any device, any dtype.

Pays for large kernels. Two ways lead there: tiles, whose transforms are matrix products, where a tile is larger than
the kernel and there are channels to fill the matrices (:mod:`.tiles`); and the transform of the whole image, FFT
around the ring and DCT along the height, for everything else (:mod:`.whole`). Half types are computed in float32.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .._checks import autocast_dtype
from ..spectral import layout_of, widen
from . import passes, tiles, whole
from .eager import eager
from .geometry import Geometry
from .plan import Plan, plan


def correlate(
    x: Tensor, weight: Tensor, bias: Tensor | None, at: Geometry, groups: int, spectrum: Tensor | None = None
) -> Tensor:
    """``(B, C, H, W)`` with ``(O, C/groups, k_h, k_w)`` to ``(B, O, *at.out_size)``.

    ``spectrum`` is what :func:`spectrum` makes of ``weight`` for this geometry, where it has been kept.
    """
    dtype = autocast_dtype(x)
    if dtype is not None:
        with torch.autocast(x.device.type, enabled=False):
            bias = None if bias is None else bias.to(dtype)
            return correlate(x.to(dtype), weight.to(dtype), bias, at, groups, spectrum)
    p = _plan(weight, at, groups)
    wide_x, wide_weight, wide_bias = widen(x), widen(weight), None if bias is None else widen(bias)
    alone = eager(x, weight, bias)
    if p is not None and alone and x.numel():
        return passes.correlate(wide_x, wide_weight, wide_bias, at, groups, p, spectrum).to(x.dtype)
    if not alone or (torch.is_grad_enabled() and weight.requires_grad):
        spectrum = None  # of which the gradient would not find the way to the weight
    if p is not None:
        y = tiles.correlate(wide_x, wide_weight, at, groups, p, spectrum)
    else:
        y = whole.correlate(wide_x, wide_weight, at, groups, spectrum)
    if wide_bias is not None:
        y = y + wide_bias.view(-1, 1, 1)
    return layout_of(x, y.to(x.dtype))


def spectrum(weight: Tensor, at: Geometry, groups: int) -> Tensor:
    """What :func:`correlate` makes of the kernels for images of one size, whatever their batch: to be kept."""
    p = _plan(weight, at, groups)
    if p is not None:
        return tiles.spectrum(widen(weight), at, groups, p)
    return whole.spectrum(widen(weight), at)


def _plan(weight: Tensor, at: Geometry, groups: int) -> Plan | None:
    return plan(at, weight.shape[1] * groups, weight.shape[0], groups)
