"""The modules without parameters: thin over the functions, options checked when they are made."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import ringconv as rc
from ringconv.functional import ring_avg_pool2d, ring_interpolate, ring_max_pool2d

CASES: list[tuple[nn.Module, Callable[[Tensor], Tensor]]] = [
    (rc.nn.RingMaxPool2d(2), lambda x: ring_max_pool2d(x, 2)),
    (
        rc.nn.RingMaxPool2d((2, 3), 1, (1, 0), 2, height="zeros"),
        lambda x: ring_max_pool2d(x, (2, 3), 1, (1, 0), 2, height="zeros"),
    ),
    (rc.nn.RingAvgPool2d(3, (1, 2)), lambda x: ring_avg_pool2d(x, 3, (1, 2))),
    (rc.nn.RingAvgPool2d(4, 2, 1, height="reflect"), lambda x: ring_avg_pool2d(x, 4, 2, 1, height="reflect")),
    (rc.nn.RingUpsample(scale_factor=2), lambda x: ring_interpolate(x, scale_factor=2)),
    (
        rc.nn.RingUpsample((5, 16), mode="bicubic", height="reflect"),
        lambda x: ring_interpolate(x, (5, 16), mode="bicubic", height="reflect"),
    ),
]


@pytest.mark.parametrize(("layer", "function"), CASES, ids=[repr(layer) for layer, _ in CASES])
def test_modules_are_their_functions(layer: nn.Module, function: Callable[[Tensor], Tensor]) -> None:
    x = torch.randn(2, 3, 6, 12)
    assert torch.equal(layer(x), function(x))
    assert torch.equal(copy.deepcopy(layer)(x[0]), function(x[0]))
    assert not list(layer.state_dict())


def test_repr_names_the_options() -> None:
    assert repr(CASES[1][0]) == (
        "RingMaxPool2d(kernel_size=(2, 3), stride=(1, 1), padding=(1, 0), height='zeros', dilation=(2, 2))"
    )
    assert repr(CASES[3][0]) == "RingAvgPool2d(kernel_size=(4, 4), stride=(2, 2), padding=(1, 1), height='reflect')"
    assert repr(CASES[4][0]) == "RingUpsample(scale_factor=2, mode='nearest', height='symmetric')"
    assert repr(CASES[5][0]) == "RingUpsample(size=(5, 16), mode='bicubic', height='reflect')"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rc.nn.RingMaxPool2d(0), "RingMaxPool2d: kernel_size=0 must be"),
        (lambda: rc.nn.RingMaxPool2d(2, dilation=0), "RingMaxPool2d: dilation=0 must be"),
        (lambda: rc.nn.RingAvgPool2d(2, 0), "RingAvgPool2d: stride=0 must be"),
        (lambda: rc.nn.RingAvgPool2d(2, height="wrap"), "RingAvgPool2d: height='wrap' is not one of"),
        (lambda: rc.nn.RingUpsample(), "RingUpsample: give size or scale_factor"),
        (lambda: rc.nn.RingUpsample(4, 2.0), "RingUpsample: give size or scale_factor"),
        (lambda: rc.nn.RingUpsample(scale_factor=2, mode="linear"), "RingUpsample: mode='linear' is not one of"),
        (lambda: rc.nn.RingUpsample(scale_factor=2, height="valid"), "RingUpsample: height='valid' is not one of"),
    ],
)
def test_bad_options_are_refused_at_construction(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_a_bad_scale_is_refused_at_construction() -> None:
    with pytest.raises(ValueError, match="scale_factor=-1 must be"):
        rc.nn.RingUpsample(scale_factor=-1)
