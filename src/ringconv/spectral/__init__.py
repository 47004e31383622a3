"""Transforms on the cylinder: real FFT around the ring, cosine and sine transforms along the height."""

from .dct import dct2, dct3, dst2, dst3
from .fft import irfft, rfft, widen

__all__ = ["dct2", "dct3", "dst2", "dst3", "irfft", "rfft", "widen"]
