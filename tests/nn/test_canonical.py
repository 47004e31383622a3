"""Any network, the same to the last bit at every roll: whatever computes it, and with what it must refuse."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from ringconv.functional import ring_origin, ring_roll
from ringconv.nn import AngularReadout, Canonical, GlobalPool, PolyphaseUp, RingConv2d, RingMaxPool2d
from ringconv.paper import TorusCCL

from ..helpers import check_compiled, check_derivatives, check_exported, close, same, scripts


def body(algorithm: str = "direct") -> nn.Sequential:
    first, second = RingConv2d(2, 4, 3, 2, algorithm=algorithm), RingConv2d(4, 5, 3, algorithm=algorithm)
    return nn.Sequential(first, nn.ReLU(), RingMaxPool2d((1, 2)), second)


class Dense(nn.Module):
    """Down by 4 and up again, at fixed phases: commutes with multiples of 4 alone."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.up = body(), PolyphaseUp((2, 4), mode="bilinear")

    def forward(self, x):
        return self.up(self.body(x), 0)


@pytest.mark.parametrize("algorithm", ["direct", "spectral"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_invariant_to_the_last_bit(algorithm, dtype):
    plain = nn.Sequential(body(algorithm), GlobalPool("both")).to(dtype)
    model, x = Canonical(plain, 4), torch.randn(5, 2, 6, 24, dtype=dtype)
    y = model(x)
    for k in range(1, 24):
        same(model(x.roll(k, -1)), y)
    assert not torch.allclose(plain(x.roll(1, -1)), plain(x), atol=1e-3)


def test_equivariant_to_the_last_bit():
    plain, x = Dense(), torch.randn(5, 2, 6, 24)
    model = Canonical(plain, 4)
    for k in range(1, 24):
        same(model(x.roll(k, -1)), model(x).roll(k, -1))
    assert not torch.allclose(plain(x.roll(1, -1)), plain(x).roll(1, -1), atol=1e-3)


def test_even_where_an_fft_rounds_every_column_differently():
    model, x = Canonical(TorusCCL(2, 3, 5), 1), torch.randn(5, 2, 6, 20)
    for k in range(1, 20):
        same(model(x.roll(k, -1)), model(x).roll(k, -1))


def test_rolls_differ_from_sample_to_sample():
    model, x, k = Canonical(Dense(), 4), torch.randn(12, 2, 6, 24), torch.arange(12)
    same(model(ring_roll(x, k)), ring_roll(model(x), k))


def test_a_coarse_output_turns_by_whole_columns_of_its_own():
    model, x = Canonical(body(), 4), torch.randn(5, 2, 6, 24)
    origin, y = ring_origin(x), model(x)
    for k in range(24):
        coarse = (origin + k) % 24 // 4 - origin // 4
        same(model(x.roll(k, -1)), ring_roll(y, coarse))


def test_a_heading_turns_with_the_image():
    model = Canonical(nn.Sequential(body().double(), AngularReadout(3.0)), 4, output="angle")
    x = torch.randn(5, 2, 6, 24, dtype=torch.float64)
    for k in range(24):
        off = (model(x.roll(k, -1)) - model(x) - 15 * k + 180) % 360 - 180
        assert off.abs().max() < 1e-10
    assert ((model(x) >= 0) & (model(x) < 360)).all()


@pytest.mark.parametrize("period", [1, 2, 3, 4, 6, 8, 12])
def test_an_image_with_a_symmetry_is_right_up_to_it(period):
    x = torch.randn(3, 2, 6, period).repeat(1, 1, 1, 24 // period)
    invariant, dense = Canonical(nn.Sequential(body("spectral"), GlobalPool()), 4), Canonical(Dense(), 4)
    y, z = invariant(x), dense(x)
    for k in range(24):
        same(invariant(x.roll(k, -1)), y)
        for one, other in zip(z, dense(x.roll(k, -1)), strict=True):
            assert any(torch.equal(one.roll(k + m, -1), other) for m in range(0, 24, period))


def test_what_is_equivariant_already_stays_the_same_function():
    layer, x = RingConv2d(2, 3, 5).double(), torch.randn(4, 2, 6, 12, dtype=torch.float64)
    close(Canonical(layer, 1)(x), layer(x))


def test_outputs_of_other_kinds_and_other_arguments():
    class Scale(nn.Module):
        def forward(self, x, by, *, plus):
            return x * by + plus

    x = torch.randn(2, 1, 3, 8)
    close(Canonical(Scale(), 1)(x, 2.0, plus=1.0), 2 * x + 1)
    flat = Canonical(nn.Flatten(2), 1, output="invariant")
    same(flat(x.roll(3, -1)), flat(x))


def test_gradients_reach_everything():
    model, x = Canonical(Dense().double(), 4), torch.randn(2, 2, 6, 12, dtype=torch.float64)
    check_derivatives(model, x, second=False)
    model(x).square().sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model.parameters())


@scripts
def test_compiled_exported_and_cast():
    model, x = Canonical(nn.Sequential(body(), GlobalPool()), 4).requires_grad_(False), torch.randn(4, 2, 6, 12)
    check_compiled(model, x, tolerance=1e-6)
    check_exported(model, x, 1e-6)
    with torch.autocast("cpu", torch.bfloat16):
        y = model(x)
        assert y.dtype == torch.bfloat16
        same(model(x.roll(5, -1)), y)


def test_bad_input_by_name():
    with pytest.raises(ValueError, match="Canonical: stride=0 must be"):
        Canonical(nn.Identity(), 0)
    with pytest.raises(ValueError, match="Canonical: output='dense' is not one of 'auto', 'equivariant'"):
        Canonical(nn.Identity(), 1, output="dense")
    model = Canonical(nn.Identity(), 4)
    with pytest.raises(ValueError, match=r"Canonical: a ring of W=10 samples cannot take stride s=4.*8 and 12"):
        model(torch.zeros(1, 1, 2, 10))
    with pytest.raises(ValueError, match=r"Canonical: input must be \(B, C, H, W\), got shape \(1, 2, 12\)"):
        model(torch.zeros(1, 2, 12))
    with pytest.raises(ValueError, match=r"an output \(2, 6, 7\) of a ring of W=24 .*multiple of 6 columns"):
        Canonical(nn.Sequential(nn.Flatten(2), nn.Linear(24, 42), nn.Unflatten(2, (6, 7)), nn.Flatten(0, 1)), 4)(
            torch.zeros(2, 1, 1, 24)
        )
    assert repr(model).splitlines()[1].strip() == "stride=4, output='auto'"
