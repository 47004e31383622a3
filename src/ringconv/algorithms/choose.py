"""Which algorithm computes a correlation. All are the same function; they differ in time and memory."""

from __future__ import annotations

from torch import Tensor

from .._checks import one_of
from . import direct, spectral
from .geometry import Geometry

CORRELATE = {"direct": direct.correlate, "spectral": spectral.correlate}
ALGORITHMS = ("auto", *CORRELATE)


def correlate(
    x: Tensor, weight: Tensor, bias: Tensor | None, at: Geometry, groups: int, algorithm: str = "auto"
) -> Tensor:
    """``(B, C, H, W)`` with ``(O, C/groups, k_h, k_w)`` to ``(B, O, *at.out_size)``, by the algorithm named."""
    one_of("ring_conv2d", "algorithm", algorithm, ALGORITHMS)
    if algorithm == "auto":
        algorithm = choose(at)
    return CORRELATE[algorithm](x, weight, bias, at, groups)


def choose(at: Geometry) -> str:
    """``spectral`` for kernels of so many taps that their sum costs more than the transforms, else ``direct``."""
    taps = at.kernel[0] * at.kernel[1]
    return "spectral" if taps > 400 * at.stride[0] * at.stride[1] else "direct"
