"""What the recommended networks are made of."""

from __future__ import annotations

from torch import nn

from ..nn import PolyphaseDown, RingConv2d, RingMaxPool2d


def stage(in_channels: int, out_channels: int, height: str) -> nn.Sequential:
    """Two 3 x 3 layers, each with batch normalisation and ReLU."""
    layers: list[nn.Module] = []
    for channels in (in_channels, out_channels):
        layers += [RingConv2d(channels, out_channels, 3, bias=False, height=height)]
        layers += [nn.BatchNorm2d(out_channels), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers)


def max_pool(kernel: int, blur: int, height: str) -> nn.Module:
    """A max-pool of stride 2; with a blur of more than one tap, dense and low-passed before samples are dropped."""
    if blur == 1:
        return RingMaxPool2d(kernel, 2, height=height)
    down = PolyphaseDown(2, blur=blur, phase="fixed", height=height)
    return nn.Sequential(RingMaxPool2d(kernel, 1, height=height), down)
