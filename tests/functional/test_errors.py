"""Bad input by name: every error says which function, which argument, its value, and what would work."""

import math
import re

import pytest
import torch

from ringconv.functional import (
    ring_avg_pool2d,
    ring_conv2d,
    ring_conv_transpose2d,
    ring_interpolate,
    ring_max_pool2d,
    ring_pad,
    ring_roll,
    rotate,
)

X, W = torch.zeros(1, 4, 5, 6), torch.zeros(8, 4, 3, 3)
T = torch.zeros(4, 8, 3, 3)

BAD = [
    # the input
    (ring_conv2d, ([1.0], W), {}, "input must be a torch.Tensor, got list"),
    (ring_conv2d, (X.int(), W), {}, "input must be of a real floating-point dtype, got torch.int32"),
    (ring_pad, (X.cfloat(), 1), {}, "input must be of a real floating-point dtype, got torch.complex64"),
    (ring_pad, (X[0, 0], 1), {}, "input must be (B, C, H, W) or (C, H, W), got shape (5, 6)"),
    (ring_max_pool2d, (X[..., :0], 2), {}, "input has no pixels, got shape (1, 4, 5, 0)"),
    # the kernel and its channels
    (ring_conv2d, (X, None), {}, "weight must be a torch.Tensor, got NoneType"),
    (ring_conv2d, (X, W.double()), {}, "input is torch.float32 but weight is torch.float64"),
    (ring_conv2d, (X, W, W[:, 0, 0, 0].double()), {}, "input is torch.float32 but bias is torch.float64"),
    (ring_conv2d, (X, W, [0.0] * 8), {}, "bias must be a torch.Tensor, got list"),
    (ring_conv2d, (X, W[0]), {}, "weight must be 4-D and not empty, got shape (4, 3, 3)"),
    (
        ring_conv2d,
        (X, W[:, :3]),
        {},
        "input (1, 4, 5, 6) has 4 channels, but weight (8, 3, 3, 3) with groups=1 takes 3",
    ),
    (ring_conv2d, (X, W[:7, :2]), {"groups": 2}, "groups must divide 7"),
    (ring_conv2d, (X, W), {"groups": 0}, "groups=0 must be an integer of at least 1"),
    (ring_conv2d, (X, W, W[:7, 0, 0, 0]), {}, "bias must be of shape (8,), got (7,)"),
    (
        ring_conv_transpose2d,
        (X, W),
        {},
        "input (1, 4, 5, 6) has 4 channels, but weight (8, 4, 3, 3) with groups=1 takes 8",
    ),
    (ring_conv_transpose2d, (X, T, T[0, :7, 0, 0]), {}, "bias must be of shape (8,), got (7,)"),
    # numbers and pairs
    (ring_conv2d, (X, W), {"stride": 0}, "stride=0 must be an integer of at least 1"),
    (ring_conv2d, (X, W), {"stride": (1, 2.0)}, "stride=2.0 must be an integer of at least 1"),
    (ring_conv2d, (X, W), {"stride": True}, "stride=True must be an integer of at least 1"),
    (ring_conv2d, (X, W), {"dilation": (1, 2, 3)}, "dilation=(1, 2, 3) must be an integer or a pair (height, width)"),
    (ring_avg_pool2d, (X, "3"), {}, "kernel_size='3' must be an integer of at least 1"),
    # the ring
    (ring_conv2d, (X, W), {"stride": 4}, "a ring of W=6 samples cannot take stride s=4"),
    (ring_conv2d, (X, W), {"stride": 4}, "the nearest widths that work: 4 and 8"),
    (ring_max_pool2d, (X, 7), {}, "the nearest widths that work: 7"),
    # the height
    (
        ring_conv2d,
        (X, W),
        {"height": "wrap"},
        "height='wrap' is not one of 'symmetric', 'zeros', 'replicate', 'reflect', ",
    ),
    (ring_conv2d, (X, W), {"padding": "valid"}, "padding='valid' is not one of 'same'"),
    (ring_conv2d, (X, W), {"padding": -1}, "padding=-1 must be an integer of at least 0"),
    (ring_conv2d, (X, W), {"padding": (1, 1, 1)}, "a pair (top, bottom): it speaks of the height alone"),
    (ring_conv2d, (X, W), {"padding": 1, "height": "valid"}, "height='valid' adds no rows, but padding=1"),
    (ring_conv2d, (X, W), {"dilation": (4, 1), "padding": 1}, "a kernel that spans 9 rows does not fit 5 rows"),
    (
        ring_conv_transpose2d,
        (X[..., :1, :], T),
        {"padding": 2},
        "padding=(2, 2) leaves no rows of an input of height 1",
    ),
    (ring_conv_transpose2d, (X, T), {"stride": 2, "output_padding": 2}, "output_padding=2 must be less than"),
    (
        ring_conv_transpose2d,
        (X, T),
        {"output_padding": (0, 0)},
        "output_padding=(0, 0) must be an integer of at least 0",
    ),
    (ring_conv_transpose2d, (X, T), {"height": "same"}, "height='same' is not one of"),
    # how to compute
    (ring_conv2d, (X, W), {"algorithm": "fft"}, "algorithm='fft' is not one of 'auto', 'direct', 'spectral'"),
    # padding
    (ring_pad, (X, (1, 2, 3)), {}, "pad=(1, 2, 3) must be a number, (left, right) or (left, right, top, bottom)"),
    (ring_pad, (X, 1.5), {}, "pad=1.5 must be an integer of at least 0"),
    (ring_pad, (X, (1, -2)), {}, "pad=-2 must be an integer of at least 0"),
    (ring_pad, (X, 1), {"height": "valid"}, "height='valid' is not one of"),
    # resampling
    (ring_interpolate, (X,), {}, "give size or scale_factor, got size=None and scale_factor=None"),
    (ring_interpolate, (X, 4, 2), {}, "give size or scale_factor, got size=4 and scale_factor=2"),
    (ring_interpolate, (X, 0), {}, "size=0 must be an integer of at least 1"),
    (ring_interpolate, (X,), {"scale_factor": -1}, "scale_factor=-1 must be a positive number or a pair of them"),
    (ring_interpolate, (X,), {"scale_factor": math.inf}, "scale_factor=inf must be a positive number"),
    (ring_interpolate, (X,), {"scale_factor": (1, 2, 3)}, "scale_factor=(1, 2, 3) must be a positive number"),
    (ring_interpolate, (X,), {"scale_factor": 0.1}, "scale_factor=0.1 leaves nothing of an image of (5, 6)"),
    (ring_interpolate, (X, 4), {"mode": "area"}, "mode='area' is not one of 'nearest', 'bilinear', 'bicubic'"),
    (ring_interpolate, (X, 4), {"height": "valid"}, "height='valid' is not one of"),
    # turning
    (rotate, (X.int(), 90), {}, "input must be of a real floating-point dtype, got torch.int32"),
    (rotate, (X[..., :0], 90), {}, "input must be (..., W) with a W of at least 1, got shape (1, 4, 5, 0)"),
    (rotate, (X, math.nan), {}, "degrees=nan must be a finite number or a tensor"),
    (rotate, (X, "90"), {}, "degrees='90' must be a finite number or a tensor"),
    (rotate, (X, torch.zeros(2)), {}, "degrees of shape (2,) must be one number or one for each of the 1 samples"),
    (rotate, (X, torch.zeros(1, dtype=torch.cfloat)), {}, "degrees must be real numbers, got torch.complex64"),
    (ring_roll, (torch.tensor(1.0), 1), {}, "input must be (..., W) with a W of at least 1, got shape ()"),
    (ring_roll, (None, 1), {}, "input must be a torch.Tensor, got NoneType"),
    (ring_roll, (X, 1.0), {}, "shifts=1.0 must be an integer"),
    (ring_roll, (X, torch.zeros(1)), {}, "shifts must be integers, got torch.float32; use rotate"),
    (
        ring_roll,
        (X, torch.zeros(2).long()),
        {},
        "shifts of shape (2,) must be one number or one for each of the 1 samples",
    ),
]


@pytest.mark.parametrize(("function", "args", "kwargs", "message"), BAD, ids=[f"{b[0].__name__}: {b[3]}" for b in BAD])
def test_refuses_by_name(function, args, kwargs, message):
    with pytest.raises((TypeError, ValueError), match=rf"^{function.__name__}: .*{re.escape(message)}"):
        function(*args, **kwargs)
