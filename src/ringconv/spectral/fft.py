"""Fourier transforms of the cylinder. What backends do differently is settled here, once.

MKL refuses an empty batch, so its transform (which is empty too) is made without asking it. A transform along the
last dimension forgets a ``channels_last`` layout, which :func:`layout_of` gives back.
"""

from __future__ import annotations

import torch
from torch import Tensor


def widen(x: Tensor) -> Tensor:
    """``x`` in a precision that has an FFT: half types become float32, float32 and float64 stay."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def channels_lie_last(x: Tensor) -> bool:
    """Whether the channels (dimension 1) of images, or of kernels, are neighbours in memory."""
    return x.ndim == 4 and x.stride(1) == 1 < x.stride(-1)


def layout_of(x: Tensor, y: Tensor) -> Tensor:
    """``y`` without gaps in memory, and with its channels (dimension 1) last there if those of ``x`` are."""
    if channels_lie_last(x):
        return y.movedim(1, -1).contiguous().movedim(-1, 1)
    return y.contiguous()


def rfft(x: Tensor) -> Tensor:
    """Half spectrum of real samples around the ring: ``(..., W)`` to ``(..., W//2 + 1)``."""
    if x.numel() == 0:
        return torch.complex(x, x)[..., : x.shape[-1] // 2 + 1]
    spectrum: Tensor = torch.fft.rfft(x, dim=-1)
    return spectrum


def rfft_rounded_once(x: Tensor) -> Tensor:
    """:func:`rfft` in float64, rounded to complex64 at the end unless ``x`` is float64; off the CPU as it is.

    The rounding of this transform depends on where around the ring a sample stands: it is what a chain of spectral
    layers loses of its equivariance first.
    """
    if x.device.type != "cpu" or x.dtype == torch.float64:
        return rfft(x)
    return rfft(x.double()).to(torch.complex64)


def irfft(spectrum: Tensor, n: int) -> Tensor:
    """Real samples around a ring of ``n``: ``(..., n//2 + 1)`` to ``(..., n)``, the inverse of :func:`rfft`.

    The constant coefficient, and at even ``n`` the Nyquist coefficient, must be real: what a backend does with
    an imaginary part there differs (MKL and pocketfft drop it, cuFFT may not).
    """
    if spectrum.numel() == 0:
        return spectrum.real[..., :1].expand(*spectrum.shape[:-1], n)
    samples: Tensor = torch.fft.irfft(spectrum, n=n, dim=-1)
    return samples


def fft_rows(spectrum: Tensor) -> Tensor:
    """A second, complex transform along the height (dimension −2): the torus. Same shape."""
    return spectrum if spectrum.numel() == 0 else torch.fft.fft(spectrum, dim=-2)


def ifft_rows(spectrum: Tensor) -> Tensor:
    """The inverse of :func:`fft_rows`. Same shape."""
    return spectrum if spectrum.numel() == 0 else torch.fft.ifft(spectrum, dim=-2)
