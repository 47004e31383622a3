"""Transforms on the cylinder: real FFT around the ring, cosine and sine transforms along the height."""

from .dct import dct2, dct3, dst2, dst3
from .fft import channels_lie_last, fft_rows, ifft_rows, irfft, layout_of, rfft, rfft_rounded_once, widen
from .tables import table

__all__ = [
    "channels_lie_last",
    "dct2",
    "dct3",
    "dst2",
    "dst3",
    "fft_rows",
    "ifft_rows",
    "irfft",
    "layout_of",
    "rfft",
    "rfft_rounded_once",
    "table",
    "widen",
]
