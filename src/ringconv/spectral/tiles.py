"""Correlation of a tile of samples as three real matrices and products between them: no FFT, any length, any dtype.

A tile of n × n' samples is transformed along the ring first, from real samples to half a spectrum, then along the
height, from complex numbers to complex numbers; a kernel likewise. The product of X = a + ib with the conjugate
spectrum c + id of the kernel takes three real multiplications (Gauss),

    P₁ = c (a + b),   P₂ = (d − c) a,   P₃ = (c + d) b,   Re = P₁ − P₃,   Im = P₁ + P₂,

whose sums are linear and so are part of the height's matrices: images and kernels become three planes of real points,
planes are multiplied, and three planes become samples. Each function is the matrix of one step. Samples are at
``start + step · (0, …, count − 1)``; where real and imaginary parts stand in one dimension with others, along the ring
it is ``(part, frequency)`` and along the height ``(sample, part)``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .tables import table

Matrix = NDArray[np.float64]


def _waves(n: int, frequencies: int, count: int, step: int, start: int) -> tuple[Matrix, Matrix]:
    """cos and sin of 2πfp/n, ``(frequencies, count)``; whole turns are taken off first, in whole numbers."""
    turns = np.arange(frequencies)[:, None] * (start + step * np.arange(count))[None] % n
    angles = turns * (2 * math.pi / n)
    return np.cos(angles), np.sin(angles)


@table
def half_spectrum(n: int, count: int, step: int, start: int) -> Matrix:
    """Real samples to ``(part, frequency)``: ``(2 (n // 2 + 1), count)``."""
    cos, sin = _waves(n, n // 2 + 1, count, step, start)
    return np.concatenate([cos, -sin])


@table
def half_samples(n: int, count: int, step: int) -> Matrix:
    """``(part, frequency)`` to the real samples that they are the spectrum of: ``(count, 2 (n // 2 + 1))``."""
    cos, sin = _waves(n, n // 2 + 1, count, step, 0)
    twice = np.where(2 * np.arange(n // 2 + 1) % n, 2.0, 1.0)[:, None] / n
    return np.concatenate([cos * twice, -sin * twice]).T


@table
def planes_of_images(n: int, count: int) -> Matrix:
    """``(sample, part)`` to the planes a + b, a, b of the spectrum: ``(3n, 2 count)``."""
    cos, sin = _waves(n, n, count, 1, 0)
    real, imaginary = np.stack([cos, sin], -1), np.stack([-sin, cos], -1)
    return np.concatenate([real + imaginary, real, imaginary]).reshape(3 * n, 2 * count)


@table
def planes_of_kernels(n: int, count: int, step: int, start: int) -> Matrix:
    """``(sample, part)`` to the planes c, d − c, c + d of the conjugate spectrum: ``(3n, 2 count)``."""
    cos, sin = _waves(n, n, count, step, start)
    real, imaginary = np.stack([cos, sin], -1), np.stack([sin, -cos], -1)
    return np.concatenate([real, imaginary - real, real + imaginary]).reshape(3 * n, 2 * count)


@table
def samples_of_planes(n: int, count: int, step: int) -> Matrix:
    """The planes P₁, P₂, P₃ of a product to ``(sample, part)``: ``(2 count, 3n)``."""
    cos, sin = _waves(n, n, count, step, 0)
    real, imaginary = np.stack([cos, sin], -1), np.stack([-sin, cos], -1)
    planes = np.concatenate([real + imaginary, imaginary, -real]) / n
    return planes.reshape(3 * n, 2 * count).T
