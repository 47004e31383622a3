"""One correlation written in every way that people write it, and in ours: each a function of ``(x, weight)``.

Peers know nothing of the ``symmetric`` height rule: those that pad take ``reflect``, one row off and as fast.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from ringconv import algorithms, nn
from ringconv.functional import ring_conv2d

Run = Callable[[Tensor, Tensor], Tensor]


class Entry(NamedTuple):
    """One correlation: ``batch`` images ``(channels, *size)`` by kernels of ``kernel`` × ``kernel``."""

    batch: int
    channels: int
    out_channels: int
    size: tuple[int, int]
    kernel: int
    groups: int = 1

    @property
    def name(self) -> str:
        """Short, for tables."""
        kind = ", depthwise" if self.groups > 1 else ""
        return f"{self.batch} x {self.channels} x {self.size[0]} x {self.size[1]}, k = {self.kernel}{kind}"

    def inputs(self) -> tuple[Tensor, Tensor]:
        """``(x, weight)``, channels first."""
        draw = torch.Generator().manual_seed(0)
        shape = self.out_channels, self.channels // self.groups, self.kernel, self.kernel
        x = torch.randn(self.batch, self.channels, *self.size, generator=draw)
        return x, torch.randn(shape, generator=draw) / (shape[1] * self.kernel**2) ** 0.5


def channels_last(t: Tensor) -> Tensor:
    """The layout that the vendor's convolution likes best."""
    return t.contiguous(memory_format=torch.channels_last)


def peers(entry: Entry) -> dict[str, Run]:
    """What one would write instead."""
    k, groups = entry.kernel, entry.groups
    before, after = (k - 1) // 2, k // 2

    def pad_and_conv(x: Tensor, weight: Tensor) -> Tensor:
        x = F.pad(x, (before, after, 0, 0), mode="circular")
        return F.conv2d(F.pad(x, (0, 0, before, after), mode="reflect"), weight, groups=groups)

    def pad_and_conv_last(x: Tensor, weight: Tensor) -> Tensor:
        return pad_and_conv(channels_last(x), channels_last(weight))

    def zeros(x: Tensor, weight: Tensor) -> Tensor:
        return F.conv2d(x, channels_last(weight), padding=k // 2, groups=groups)

    found: dict[str, Run] = {"F.pad": pad_and_conv, "F.pad, channels_last": pad_and_conv_last, "zeros": zeros}
    try:
        from fft_conv_pytorch import fft_conv
    except ImportError:
        return found

    def fft_conv_pytorch(x: Tensor, weight: Tensor) -> Tensor:
        x = F.pad(x, (before, after, 0, 0), mode="circular")
        y: Tensor = fft_conv(F.pad(x, (0, 0, before, after), mode="reflect"), weight, groups=groups)
        return y

    return {**found, "fft-conv-pytorch": fft_conv_pytorch}


def released(x: Tensor, weight: Tensor) -> Tensor:
    """The formula of the paper's released layer: every batch, output and input channel in one broadcast product."""
    spectra = torch.fft.fft2(x).unsqueeze(1) * torch.fft.fft2(weight, s=x.shape[-2:]).unsqueeze(0)
    return torch.fft.ifft2(spectra.sum(2)).real


def ours(entry: Entry) -> dict[str, Run]:
    """Every algorithm that there is here for this entry, and what ``auto`` makes of them."""

    def by(algorithm: str) -> Run:
        return lambda x, weight: ring_conv2d(x, weight, groups=entry.groups, algorithm=algorithm)

    names = [name for name in algorithms.ALGORITHMS if name != "native" or algorithms.instruction_set()]
    return {name: by(name) for name in names}


def cached(entry: Entry, weight: Tensor) -> Run:
    """A layer in eval mode, which keeps its kernel's spectrum."""
    layer = nn.RingConv2d(entry.channels, entry.out_channels, entry.kernel, groups=entry.groups, bias=False).eval()
    layer.weight.data = weight
    return lambda x, _: layer(x)


def oracle(entry: Entry, x: Tensor, weight: Tensor) -> Tensor:
    """The result in float64, of the first image alone."""
    return ring_conv2d(x[:1].double(), weight.double(), groups=entry.groups, algorithm="direct")
