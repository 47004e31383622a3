"""What each algorithm would take: operations counted, times what one of them costs (:data:`RATES`)."""

from __future__ import annotations

import math
from dataclasses import astuple
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .._checks import autocast_dtype
from ..spectral import channels_lie_last
from . import native
from . import plan as tiles
from .geometry import Geometry

CANDIDATES = ("direct", "spectral", "native")


class Case(NamedTuple):
    """All that the time of a correlation depends on."""

    device: str
    dtype: torch.dtype
    channels_last: bool
    training: bool
    threads: int
    batch: int
    channels: int
    out_channels: int
    groups: int
    at: Geometry

    @classmethod
    def of(cls, x: Tensor, weight: Tensor, at: Geometry, groups: int) -> Case:
        """The case of one call; ``x`` may as well be what the adjoint is given."""
        dtype = autocast_dtype(x) or x.dtype
        last = channels_lie_last(x)
        training = torch.is_grad_enabled() and (x.requires_grad or weight.requires_grad)
        shape = x.shape[0], weight.shape[1] * groups, weight.shape[0]
        return cls(x.device.type, dtype, last, training, torch.get_num_threads(), *shape, groups, at)

    @property
    def pixels(self) -> int:
        """Pixels of all results."""
        return self.batch * math.prod(self.at.out_size)

    @property
    def depthwise(self) -> bool:
        """Whether every channel is on its own."""
        return self.groups == self.channels == self.out_channels

    def as_json(self) -> list[Any]:
        """The case as plain values, alike for alike cases."""
        *fields, at = self
        return [str(field) if isinstance(field, torch.dtype) else field for field in fields] + list(astuple(at))


class Rates(NamedTuple):
    """Nanoseconds on one thread."""

    call: float  # the operators around the arithmetic
    product: float  # a multiplication and addition of the vendor's convolution, of full vectors of channels
    depthwise: float  # the same where each channel is on its own
    byte: float  # of a copy through memory
    butterfly: float  # of the vendor's FFT: a real sample, per doubling of the transform
    spectrum: float  # a complex multiplication and addition of spectra


# Estimates for a server core of 2024 with AVX-512, not fitted. Only their ratios choose; other devices are taken to
# have the same ratios, and ringconv.autotune measures instead.
RATES = {
    torch.float32: Rates(30e3, 0.008, 0.06, 0.15, 0.5, 0.035),
    torch.float64: Rates(30e3, 0.016, 0.12, 0.15, 0.8, 0.07),
    torch.bfloat16: Rates(30e3, 0.005, 0.06, 0.15, 0.7, 0.035),
}


def predict(case: Case) -> dict[str, float]:
    """Nanoseconds of a forward pass by each algorithm that can compute the case."""
    rates = RATES.get(case.dtype, RATES[torch.bfloat16])
    predicted = {"direct": _direct(case, rates), "spectral": _spectral(case, rates)}
    if native.possible(case.device, case.dtype, case.at):
        predicted["native"] = _native(case, rates)
    return predicted


def _direct(case: Case, rates: Rates) -> float:
    taps = math.prod(case.at.kernel) * case.pixels
    if case.depthwise:
        return rates.call + taps * case.channels * rates.depthwise / case.threads
    # Vectors of output channels are filled up with zeros; few input channels cost as if they were a quarter vector.
    inputs = max(case.channels // case.groups, 4)
    outputs = -(-case.out_channels // case.groups // 16) * 16 * case.groups
    copied = _bytes(case, case.channels, case.at.size)
    return rates.call + (taps * inputs * outputs * rates.product + copied * rates.byte) / case.threads


def _spectral(case: Case, rates: Rates) -> float:
    cut = tiles.plan(case.at, case.channels, case.out_channels, case.groups)
    if cut is not None:
        shape = case.at, case.channels, case.out_channels, case.groups, case.batch
        return 3 * rates.call + 2e9 * tiles.seconds(cut, *shape) / case.threads
    rows, width = case.at.size[0] + case.at.reach[0], case.at.size[1]
    doublings = math.log2(max(2, rows * width))
    images = case.batch * (case.channels + case.out_channels)
    kernels = case.out_channels * case.channels // case.groups
    transforms = (images + kernels) * rows * width * doublings * rates.butterfly
    products = (case.batch + 1) * kernels * rows * (width // 2 + 1) * rates.spectrum
    return 3 * rates.call + (transforms + products) / case.threads


def _native(case: Case, rates: Rates) -> float:
    shape = case.batch, case.channels, case.out_channels
    copied = 0 if case.channels_last and case.dtype == torch.float32 else 2
    copies = copied * _bytes(case, case.channels + case.out_channels, case.at.size) * rates.byte / case.threads
    return rates.call + copies + native.predict(*shape, case.at, case.groups, case.threads)


def _bytes(case: Case, channels: int, size: tuple[int, int]) -> int:
    return 4 * case.batch * channels * math.prod(size)
