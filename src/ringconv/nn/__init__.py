"""Layers for images on a cylinder."""

from .conv import CCL, RingConv2d, RingConvTranspose2d
from .pool import RingAvgPool2d, RingMaxPool2d
from .resample import RingUpsample

__all__ = ["CCL", "RingAvgPool2d", "RingConv2d", "RingConvTranspose2d", "RingMaxPool2d", "RingUpsample"]
