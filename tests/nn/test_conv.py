"""RingConv2d and RingConvTranspose2d: torch's parameters, our operators."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import torch
from torch import nn

import ringconv as rc
from ringconv.functional import ring_conv2d, ring_conv_transpose2d

PAIRS: list[tuple[type[nn.Module], type[nn.Module]]] = [
    (rc.nn.RingConv2d, nn.Conv2d),
    (rc.nn.RingConvTranspose2d, nn.ConvTranspose2d),
]


@pytest.mark.parametrize(("ring", "planar"), PAIRS)
@pytest.mark.parametrize(
    "arguments", [{}, {"bias": False}, {"groups": 2, "stride": (2, 1), "dilation": 2}, {"dtype": torch.float64}]
)
def test_parameters_are_those_of_torch(ring: Any, planar: Any, arguments: dict[str, Any]) -> None:
    torch.manual_seed(3)
    theirs = planar(4, 6, (3, 5), **arguments)
    torch.manual_seed(3)
    ours = ring(4, 6, (3, 5), **arguments)
    assert [(name, p.dtype) for name, p in ours.named_parameters()] == [
        (name, p.dtype) for name, p in theirs.named_parameters()
    ]
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize(("ring", "planar"), PAIRS)
def test_state_dicts_go_either_way(ring: Any, planar: Any) -> None:
    theirs, ours = planar(4, 6, 3), ring(4, 6, 3)
    ours.load_state_dict(theirs.state_dict())
    assert torch.equal(ours.weight, theirs.weight)
    nn.init.ones_(ours.weight)
    theirs.load_state_dict(ours.state_dict())
    assert torch.equal(theirs.weight, torch.ones_like(theirs.weight))


def test_conv_passes_every_option_on() -> None:
    layer = rc.nn.RingConv2d(4, 6, (3, 4), (1, 2), (2, 1), (2, 1), 2, height="reflect", algorithm="spectral")
    x = torch.randn(2, 4, 9, 8)
    expected = ring_conv2d(
        x, layer.weight, layer.bias, (1, 2), (2, 1), (2, 1), 2, height="reflect", algorithm="spectral"
    )
    assert torch.equal(layer(x), expected)
    assert not torch.equal(layer(x), ring_conv2d(x, layer.weight, layer.bias, (1, 2), (2, 1), (2, 1), 2))


def test_transpose_passes_every_option_on() -> None:
    layer = rc.nn.RingConvTranspose2d(4, 6, (3, 4), 2, (1, 0), 0, 2, True, (1, 2), height="zeros")
    y = torch.randn(2, 4, 5, 6)
    expected = ring_conv_transpose2d(y, layer.weight, layer.bias, 2, (1, 0), 0, 2, (1, 2), height="zeros")
    assert torch.equal(layer(y), expected)


def test_transpose_is_the_adjoint_of_the_layer() -> None:
    down = rc.nn.RingConv2d(3, 5, 4, stride=2, bias=False, dtype=torch.float64)
    up = rc.nn.RingConvTranspose2d(5, 3, 4, stride=2, bias=False, dtype=torch.float64)
    up.load_state_dict(down.state_dict())
    x, y = torch.randn(2, 3, 8, 12, dtype=torch.float64), torch.randn(2, 5, 4, 6, dtype=torch.float64)
    torch.testing.assert_close((down(x) * y).sum(), (x * up(y)).sum(), rtol=1e-12, atol=1e-12)


def test_ccl_is_the_same_class() -> None:
    assert rc.nn.CCL is rc.nn.RingConv2d


def test_every_roll_of_the_input_rolls_the_output() -> None:
    layer = rc.nn.RingConv2d(3, 8, 5)
    x = torch.randn(2, 3, 32, 64)
    for k in range(64):
        torch.testing.assert_close(layer(x.roll(k, -1)), layer(x).roll(k, -1), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("layer", "text"),
    [
        (rc.nn.RingConv2d(3, 8, 5), "RingConv2d(3, 8, kernel_size=(5, 5))"),
        (
            rc.nn.RingConv2d(4, 8, (3, 5), 2, 1, groups=2, bias=False, height="zeros", algorithm="direct"),
            "RingConv2d(4, 8, kernel_size=(3, 5), stride=(2, 2), padding=(1, 1), groups=2, height='zeros', "
            "algorithm='direct', bias=False)",
        ),
        (
            rc.nn.RingConvTranspose2d(4, 8, 3, output_padding=1, dilation=2),
            "RingConvTranspose2d(4, 8, kernel_size=(3, 3), dilation=(2, 2), output_padding=1)",
        ),
    ],
)
def test_repr_says_what_is_unusual(layer: nn.Module, text: str) -> None:
    assert repr(layer) == text


@pytest.mark.parametrize("ring", [ring for ring, _ in PAIRS])
def test_copies_compute_the_same(ring: Any) -> None:
    layer, x = ring(2, 2, 3, stride=2, height="reflect"), torch.randn(1, 2, 6, 8)
    for twin in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert torch.equal(twin(x), layer(x))
        assert twin.weight is not layer.weight


@pytest.mark.parametrize("ring", [ring for ring, _ in PAIRS])
def test_meta_device_and_moving(ring: Any) -> None:
    layer = ring(2, 4, 3, device="meta", dtype=torch.float64)
    assert layer(torch.empty(5, 2, 6, 8, device="meta", dtype=torch.float64)).shape == (5, 4, 6, 8)
    layer = layer.to_empty(device="cpu").float()
    layer.reset_parameters()
    assert layer(torch.randn(2, 6, 8)).dtype == torch.float32


@pytest.mark.parametrize("ring", [ring for ring, _ in PAIRS])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"in_channels": 0}, "in_channels=0 must be an integer of at least 1"),
        ({"out_channels": 2.0}, r"out_channels=2\.0 must be an integer"),
        ({"groups": 3}, "groups=3 must divide in_channels=4"),
        ({"kernel_size": (3, 3, 3)}, r"kernel_size=\(3, 3, 3\) must be an integer or a pair"),
        ({"kernel_size": 0}, "kernel_size=0 must be"),
        ({"stride": 0}, "stride=0 must be"),
        ({"dilation": -1}, "dilation=-1 must be"),
        ({"padding": "circular"}, "padding='circular' is not one of 'same'"),
        ({"padding": (1, 1, 1)}, ".*it speaks of the height alone"),
        ({"height": "wrap"}, "height='wrap' is not one of 'symmetric', 'zeros'"),
        ({"height": "valid", "padding": 1}, "height='valid' adds no rows, but padding=1"),
    ],
)
def test_bad_options_are_refused_at_construction(ring: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"{ring.__name__}: {message}"):
        ring(**{"in_channels": 4, "out_channels": 2, "kernel_size": 3, **arguments})


def test_each_layer_refuses_its_own_bad_options() -> None:
    with pytest.raises(ValueError, match="RingConv2d: algorithm='fft' is not one of 'auto', 'direct', 'spectral'"):
        rc.nn.RingConv2d(1, 1, 3, algorithm="fft")
    with pytest.raises(ValueError, match="RingConvTranspose2d: output_padding=-1 must be"):
        rc.nn.RingConvTranspose2d(1, 1, 3, output_padding=-1)


def test_bad_input_is_refused_at_the_call() -> None:
    layer = rc.nn.RingConv2d(3, 8, 3, stride=2)
    with pytest.raises(ValueError, match=r"input \(2, 4, 8, 8\) has 4 channels, but weight \(8, 3, 3, 3\)"):
        layer(torch.randn(2, 4, 8, 8))
    with pytest.raises(ValueError, match=r"a ring of W=9 samples cannot take stride s=2.*widths that work: 8 and 10"):
        layer(torch.randn(2, 3, 8, 9))
    with pytest.raises(TypeError, match=r"input is torch\.float64 but weight is torch\.float32"):
        layer(torch.randn(2, 3, 8, 8, dtype=torch.float64))
