"""Transforms on the cylinder: real FFT around the ring, cosine and sine transforms along the height."""

from .dct import dct2, dct3, dst2, dst3
from .fft import fft_rows, ifft_rows, irfft, layout_of, rfft, widen
from .tables import table

__all__ = [
    "dct2",
    "dct3",
    "dst2",
    "dst3",
    "fft_rows",
    "ifft_rows",
    "irfft",
    "layout_of",
    "rfft",
    "table",
    "widen",
]
