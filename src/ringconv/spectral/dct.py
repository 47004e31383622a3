"""Cosine and sine transforms along the height, as SciPy defines them without normalisation.

With N samples x along ``dim``::

    dct2   X[n] = 2 Σ_i x[i] cos(π n (i + ½) / N)
    dct3   x[i] = X[0] + 2 Σ_{n≥1} X[n] cos(π n (i + ½) / N)
    dst2   X[n] = 2 Σ_i x[i] sin(π (n + 1) (i + ½) / N)
    dst3   x[i] = (−1)^i X[N−1] + 2 Σ_{n<N−1} X[n] sin(π (n + 1) (i + ½) / N)

Type III inverts type II up to the factor 2N. Each comes in two forms that compute the same function:
``form="fft"``, N log N, half types in float32, and ``form="matrix"``, one real matrix product in the input's own dtype,
which exports to runtimes without an FFT and is the faster one for short sides.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .._checks import one_of
from .fft import irfft, rfft, widen
from .tables import table

FORMS = ("fft", "matrix")


def dct2(x: Tensor, dim: int = -1, *, form: str = "fft") -> Tensor:
    """DCT-II along ``dim``: ``X[n] = 2 Σ_i x[i] cos(π n (i + ½) / N)``. Real in, real out, same shape.

    >>> dct2(torch.tensor([1.0, 1.0, 1.0]), form="matrix").round(decimals=4)
    tensor([6., 0., 0.])
    """
    return _along("dct2", x, dim, form, cosines, _dct2_fft)


def dct3(x: Tensor, dim: int = -1, *, form: str = "fft") -> Tensor:
    """DCT-III along ``dim``, the inverse of :func:`dct2` times 2N. Real in, real out, same shape."""
    return _along("dct3", x, dim, form, inverse_cosines, _dct3_fft)


def dst2(x: Tensor, dim: int = -1, *, form: str = "fft") -> Tensor:
    """DST-II along ``dim``: ``X[n] = 2 Σ_i x[i] sin(π (n + 1) (i + ½) / N)``. Real in, real out, same shape."""
    return _along("dst2", x, dim, form, sines, _dst2_fft)


def dst3(x: Tensor, dim: int = -1, *, form: str = "fft") -> Tensor:
    """DST-III along ``dim``, the inverse of :func:`dst2` times 2N. Real in, real out, same shape."""
    return _along("dst3", x, dim, form, inverse_sines, _dst3_fft)


def _along(
    where: str,
    x: Tensor,
    dim: int,
    form: str,
    matrix: Callable[..., Tensor],
    fft: Callable[[Tensor], Tensor],
) -> Tensor:
    one_of(where, "form", form, FORMS)
    if not x.is_floating_point():
        raise TypeError(f"{where}: x must be of a real floating-point dtype, got {x.dtype}")
    if x.shape[dim] == 0:
        raise ValueError(f"{where}: x of shape {tuple(x.shape)} has no samples along dim={dim}")
    x = x.movedim(dim, -1)
    if form == "fft":
        return fft(widen(x)).to(x.dtype).movedim(-1, dim)
    return (x @ matrix(x.shape[-1], dtype=x.dtype, device=x.device).mT).movedim(-1, dim)


def _angles(turns: NDArray[np.int64], n: int) -> NDArray[np.float64]:
    """π · turns / 2n, reduced by whole turns first: as exact at n = 10,000 as at n = 8."""
    return (turns % (4 * n)).astype(np.float64) * (math.pi / (2 * n))


@table
def cosines(n: int) -> NDArray[np.float64]:
    """The DCT-II matrix, ``(n, n)``: row by frequency, column by sample."""
    k, i = np.arange(n)[:, None], np.arange(n)[None]
    return 2 * np.cos(_angles(k * (2 * i + 1), n))


@table
def inverse_cosines(n: int) -> NDArray[np.float64]:
    """The DCT-III matrix, ``(n, n)``: row by sample, column by frequency."""
    i, k = np.arange(n)[:, None], np.arange(n)[None]
    matrix = 2 * np.cos(_angles(k * (2 * i + 1), n))
    matrix[:, 0] = 1.0
    return matrix


@table
def sines(n: int) -> NDArray[np.float64]:
    """The DST-II matrix, ``(n, n)``: row by frequency, column by sample."""
    k, i = np.arange(1, n + 1)[:, None], np.arange(n)[None]
    return 2 * np.sin(_angles(k * (2 * i + 1), n))


@table
def inverse_sines(n: int) -> NDArray[np.float64]:
    """The DST-III matrix, ``(n, n)``: row by sample, column by frequency."""
    i, k = np.arange(n)[:, None], np.arange(1, n + 1)[None]
    matrix = 2 * np.sin(_angles(k * (2 * i + 1), n))
    matrix[:, -1] /= 2
    return matrix


@table
def _quarter_cosines(n: int) -> NDArray[np.float64]:
    return 2 * np.cos(_angles(np.arange(n // 2 + 1), n))


@table
def _quarter_sines(n: int) -> NDArray[np.float64]:
    return 2 * np.sin(_angles(np.arange(n // 2 + 1), n))


@table
def _alternating(n: int) -> NDArray[np.float64]:
    return np.where(np.arange(n) % 2, -1.0, 1.0)


def _signs(x: Tensor) -> Tensor:
    return _alternating(x.shape[-1], dtype=x.dtype, device=x.device)


def _dct2_fft(x: Tensor) -> Tensor:
    """One real FFT of length N: the even samples forward, then the odd ones backward (Makhoul, 1980)."""
    n = x.shape[-1]
    spectrum = rfft(torch.cat([x[..., ::2], x[..., 1::2].flip(-1)], -1))
    cos, sin = (make(n, dtype=x.dtype, device=x.device) for make in (_quarter_cosines, _quarter_sines))
    low = spectrum.real * cos + spectrum.imag * sin
    high = spectrum.real * sin - spectrum.imag * cos
    return torch.cat([low, high[..., 1 : (n + 1) // 2].flip(-1)], -1)


def _dct3_fft(x: Tensor) -> Tensor:
    """:func:`_dct2_fft` run backwards, times 2N."""
    n = x.shape[-1]
    low = x[..., : n // 2 + 1]
    high = torch.cat([torch.zeros_like(x[..., :1]), x[..., n - n // 2 :].flip(-1)], -1)
    cos, sin = (make(n, dtype=x.dtype, device=x.device) for make in (_quarter_cosines, _quarter_sines))
    samples = irfft(torch.complex(low * cos + high * sin, low * sin - high * cos), n) * (n / 2)
    even, odd = samples[..., : n - n // 2], samples[..., n - n // 2 :].flip(-1)
    pairs = torch.stack([even[..., : n // 2], odd], -1).flatten(-2)
    return torch.cat([pairs, even[..., n // 2 :]], -1)


def _dst2_fft(x: Tensor) -> Tensor:
    """A sine transform is the cosine transform of the sign-alternated samples, read backwards."""
    return _dct2_fft(x * _signs(x)).flip(-1)


def _dst3_fft(x: Tensor) -> Tensor:
    return _dct3_fft(x.flip(-1)) * _signs(x)
