"""Read-outs: invariant, or turning with the ring."""

from __future__ import annotations

import math

import pytest
import torch

from ringconv.nn import AngularReadout, GlobalPool, RowMaxPool

from ..helpers import check_compiled, check_derivatives, close, same, scripts


def test_pools_are_what_they_say():
    x = torch.randn(2, 3, 4, 5)
    same(RowMaxPool()(x), x.max(-1).values)
    same(GlobalPool("max")(x), x.flatten(2).max(-1).values)
    close(GlobalPool()(x), x.flatten(2).mean(-1), 1e-6)
    same(GlobalPool("both")(x), torch.cat([GlobalPool()(x), GlobalPool("max")(x)], 1))
    for pool in (RowMaxPool(), GlobalPool("both"), AngularReadout()):
        close(pool(x[0]), pool(x)[0], 1e-6)


def test_every_roll_leaves_the_pools():
    x = torch.randn(2, 3, 4, 9, dtype=torch.float64)
    for k in range(9):
        same(RowMaxPool()(x.roll(k, -1)), RowMaxPool()(x))
        same(GlobalPool("max")(x.roll(k, -1)), GlobalPool("max")(x))
        close(GlobalPool()(x.roll(k, -1)), GlobalPool()(x))


def difference(a, b):
    return ((a - b + 180) % 360 - 180).abs().max().item()


@pytest.mark.parametrize("width", [1, 2, 7, 16])
def test_every_roll_turns_the_angle(width):
    x, readout = torch.randn(3, 2, 4, width, dtype=torch.float64), AngularReadout(2.0)
    assert readout(x).shape == (3, 2)
    for k in range(width):
        assert difference(readout(x.roll(k, -1)), readout(x) + 360 * k / width) < 1e-9
        assert ((readout(x) >= 0) & (readout(x) < 360)).all()


def test_the_angle_of_a_wave_lies_between_columns():
    angles = torch.arange(32, dtype=torch.float64) * (2 * math.pi / 32)
    for heading in (0.0, 10.0, 123.4, 359.9):
        x = (angles - math.radians(heading)).cos().expand(1, 1, 3, 32)
        assert difference(AngularReadout(5.0)(x), torch.tensor(heading, dtype=torch.float64)) < 1e-6


def test_a_full_turn_is_none():
    x = torch.tensor([1.0, 2.0, 2.0 + 1e-7]).roll(-1).view(1, 1, 1, 3)
    for dtype in (torch.float32, torch.float64):
        assert (AngularReadout(50.0)(x.to(dtype)) < 360).all()


def test_gradients_reach_every_score():
    x, readout = torch.randn(2, 2, 3, 6, dtype=torch.float64), AngularReadout(2.0)
    check_derivatives(lambda x: torch.deg2rad(readout(x)).sin(), x)
    x.requires_grad_()
    readout(x).sum().backward()
    assert (x.grad != 0).all()


@scripts
def test_compiled():
    for readout in (RowMaxPool(), GlobalPool("both"), AngularReadout()):
        check_compiled(readout, torch.randn(2, 3, 4, 8))


def test_bad_options_by_name():
    with pytest.raises(ValueError, match="GlobalPool: pool='sum' is not one of 'mean', 'max', 'both'"):
        GlobalPool("sum")
    for value in (0, -1.0, math.inf, "much"):
        with pytest.raises(ValueError, match=r"AngularReadout: sharpness=.* must be a positive number"):
            AngularReadout(value)
    for readout in (RowMaxPool(), GlobalPool(), AngularReadout()):
        with pytest.raises(ValueError, match=r"input must be \(B, C, H, W\)"):
            readout(torch.zeros(2, 3))
    assert repr(GlobalPool("both")) == "GlobalPool(pool='both')"
    assert repr(AngularReadout()) == "AngularReadout(sharpness=1.0)"
