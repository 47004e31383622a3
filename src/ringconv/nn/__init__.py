"""Layers for images on a cylinder."""

from .canonical import Canonical
from .conv import CCL, RingConv2d, RingConvTranspose2d
from .polyphase import PolyphaseDown, PolyphaseUp
from .pool import RingAvgPool2d, RingMaxPool2d
from .readout import AngularReadout, GlobalPool, RowMaxPool
from .resample import RingUpsample

__all__ = [
    "CCL",
    "AngularReadout",
    "Canonical",
    "GlobalPool",
    "PolyphaseDown",
    "PolyphaseUp",
    "RingAvgPool2d",
    "RingConv2d",
    "RingConvTranspose2d",
    "RingMaxPool2d",
    "RingUpsample",
    "RowMaxPool",
]
