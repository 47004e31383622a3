"""Correlation as a product of spectra of whole images: FFT around the ring, DCT and DST along the height. Any device.

Pays for kernels about as large as the ring, or larger: the time does not depend on the kernel's size.

Around the ring the correlation theorem holds as it stands. Along the height the ``symmetric`` rule is the one that
the cosine transform implies: with X = DCT-II(x), θ_n = πn/H and taps g[m] at offsets m,

    y[i] = Σ_n c_n X_n (E_n cos(θ_n(i + ½)) + O_n sin(θ_n(i + ½))),
    E_n = Σ_m g[m] cos(θ_n m),   O_n = −Σ_m g[m] sin(θ_n m),

an inverse DCT-II of X·E plus an inverse DST-II of X·O, for a kernel of any length. ``circular`` is a second FFT, and
every other rule is extended first and then read where a second FFT does not wrap.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..spectral import dct2, dct3, dst3, fft_rows, ifft_rows, irfft, rfft, rfft_rounded_once, table
from .extend import extend
from .geometry import Geometry


def correlate(x: Tensor, weight: Tensor, at: Geometry, groups: int, kernel: Tensor | None = None) -> Tensor:
    """``(B, C, H, W)`` with ``(O, C/groups, k_h, k_w)`` to ``(B, O, *at.out_size)``.

    ``kernel`` is the spectrum of the kernels, where it is at hand.
    """
    kernel = spectrum(weight, at) if kernel is None else kernel
    transform = _by_cosines if _has_cosines(at) else _by_two_ffts
    return transform(x, kernel, at, groups)[..., :: at.stride[0], :: at.stride[1]]


def spectrum(weight: Tensor, at: Geometry) -> Tensor:
    """``(O, C/groups, k_h, k_w)`` to its conjugate spectrum ``(s, O, C/groups, n, q)``: cosines and sines, s = 2, or
    one of two FFTs, s = 1."""
    if _has_cosines(at):
        waves = _waves(at.kernel[0], at.dilation[0], at.top, at.size[0], dtype=weight.dtype, device=weight.device)
        taps = torch.einsum("sun,ocuv->socnv", waves, weight)
        return rfft(_placed(taps, -1, at.dilation[1], at.left, at.size[1])).conj()
    top, height = (at.top, at.size[0]) if _is_torus(at) else (0, at.size[0] + at.top + at.bottom)
    taps = _placed(weight, -2, at.dilation[0], top, height)
    return fft_rows(rfft(_placed(taps, -1, at.dilation[1], at.left, at.size[1]))).conj().unsqueeze(0)


def _has_cosines(at: Geometry) -> bool:
    """``symmetric``, as long as the result is no taller than the image: beyond it the series is not the operator."""
    return at.rule == "symmetric" and at.rows <= at.size[0]


def _is_torus(at: Geometry) -> bool:
    return at.rule == "circular" and at.rows <= at.size[0]


def _by_cosines(x: Tensor, kernel: Tensor, at: Geometry, groups: int) -> Tensor:
    height, width = at.size
    even, odd = irfft(_product(rfft_rounded_once(dct2(x, -2)), kernel, groups), width).unbind(0)
    # The constant has no sine: the sines begin one frequency later than the cosines.
    odd = torch.cat([odd[..., 1:, :], torch.zeros_like(odd[..., :1, :])], -2)
    y = (dct3(even, -2) + dst3(odd, -2)) / (2 * height)
    return y[..., : at.rows, :]


def _by_two_ffts(x: Tensor, kernel: Tensor, at: Geometry, groups: int) -> Tensor:
    """``circular`` on the torus as it is; any other rule extended first, and read where the torus does not wrap."""
    if not _is_torus(at):
        x = extend(x, -2, at.top, at.bottom, at.rule)
    product = _product(fft_rows(rfft_rounded_once(x)), kernel, groups).squeeze(0)
    return irfft(ifft_rows(product), at.size[1])[..., : at.rows, :]


@table
def _waves(taps: int, dilation: int, before: int, n: int) -> NDArray[np.float64]:
    """cos and −sin of θ_n m for every tap m and frequency n, ``(2, taps, n)``."""
    offsets = np.arange(taps) * dilation - before
    angles = (offsets[:, None] * np.arange(n) % (2 * n)) * (math.pi / n)
    return np.stack([np.cos(angles), -np.sin(angles)])


@table
def _places(taps: int, dilation: int, before: int, n: int) -> NDArray[np.int64]:
    return (np.arange(taps) * dilation - before) % n


def _placed(weight: Tensor, dim: int, dilation: int, before: int, n: int) -> Tensor:
    """The taps along ``dim`` at their places on a circle of ``n`` samples; taps that meet there add up."""
    places = _places(weight.shape[dim], dilation, before, n, dtype=torch.int64, device=weight.device)
    shape = list(weight.shape)
    shape[dim] = n
    return weight.new_zeros(shape).index_add(dim, places, weight)


def _product(x: Tensor, kernel: Tensor, groups: int) -> Tensor:
    """Sum over input channels at each frequency: ``(B, C, n, q)`` with ``(s, O, C/groups, n, q)`` to
    ``(s, B, O, n, q)``."""
    x = x.unflatten(1, (groups, -1))
    kernel = kernel.unflatten(1, (groups, -1))
    return torch.einsum("bgcnq,sgocnq->sbgonq", x, kernel).flatten(2, 3)
