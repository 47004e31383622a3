"""Operators on the cylinder, as functions of tensors. The modules of :mod:`ringconv.nn` are thin over these."""

from .conv import ring_conv2d, ring_conv_transpose2d
from .pad import ring_pad
from .polyphase import polyphase_down, polyphase_up, ring_origin, ring_phase
from .pool import ring_avg_pool2d, ring_max_pool2d
from .register import Roll, estimate_roll, expected_roll, ring_correlation, soft_roll
from .resample import ring_interpolate
from .rotate import ring_roll, rotate

__all__ = [
    "Roll",
    "estimate_roll",
    "expected_roll",
    "polyphase_down",
    "polyphase_up",
    "ring_avg_pool2d",
    "ring_conv2d",
    "ring_conv_transpose2d",
    "ring_correlation",
    "ring_interpolate",
    "ring_max_pool2d",
    "ring_origin",
    "ring_pad",
    "ring_phase",
    "ring_roll",
    "rotate",
    "soft_roll",
]
