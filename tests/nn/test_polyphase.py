"""Exact strides as modules, and the same by one option of the layers that have one."""

from __future__ import annotations

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from ringconv.functional import ring_phase
from ringconv.nn import PolyphaseDown, PolyphaseUp, RingAvgPool2d, RingConv2d, RingMaxPool2d

from ..helpers import check_compiled, check_exported, close, same, scripts

LAYERS = {
    "convolution": lambda **phase: RingConv2d(2, 3, 3, (2, 4), **phase),
    "even kernel": lambda **phase: RingConv2d(2, 3, 4, 2, bias=False, **phase),
    "max-pool": lambda **phase: RingMaxPool2d(2, **phase),
    "overlapping max-pool": lambda **phase: RingMaxPool2d(3, 2, **phase),
    "average": lambda **phase: RingAvgPool2d((1, 3), (1, 3), **phase),
    "blur": lambda **phase: PolyphaseDown(2, blur=3, **{"phase": "fixed", **phase}),
}
each_layer = pytest.mark.parametrize("make", LAYERS.values(), ids=LAYERS.keys())


def rolls_alike(one, other):
    return any(torch.allclose(one.roll(m, -1), other, rtol=0, atol=1e-12) for m in range(one.shape[-1]))


@each_layer
def test_adaptive_strides_follow_every_roll_and_plain_ones_do_not(make):
    torch.manual_seed(1)
    exact, plain = make(phase="adaptive").double(), make().double()
    plain.load_state_dict(exact.state_dict())
    x = torch.randn(3, 2, 6, 24, dtype=torch.float64)
    y, z = exact(x), plain(x)
    for k in range(1, 24):
        assert all(rolls_alike(a, b) for a, b in zip(y, exact(x.roll(k, -1)), strict=True))
    assert not all(rolls_alike(a, b) for a, b in zip(z, plain(x.roll(1, -1)), strict=True))
    assert y.shape == z.shape


def test_the_option_is_the_dense_layer_and_a_choice_of_columns():
    x = torch.randn(4, 2, 6, 12, dtype=torch.float64)
    strided, dense = RingConv2d(2, 3, 3, 2, phase="adaptive").double(), RingConv2d(2, 3, 3).double()
    dense.load_state_dict(strided.state_dict())
    down = PolyphaseDown(2)
    close(strided(x), down(dense(x), ring_phase(x, 2)))
    same(RingMaxPool2d(2, phase="adaptive")(x), down(RingMaxPool2d(2, 1, (0, 1))(x), down.choose(x)))


def test_a_block_with_a_shortcut_and_a_decoder():
    down, up = PolyphaseDown(2), PolyphaseUp(2, mode="bilinear")
    inner, shortcut = RingConv2d(2, 4, 3).double(), RingConv2d(2, 4, 1).double()
    x = torch.randn(5, 2, 6, 12, dtype=torch.float64)

    def block(x):
        phase = down.choose(x)
        return up(F.relu(down(inner(x), phase) + down(shortcut(x), phase)), phase)

    for k in range(12):
        close(block(x.roll(k, -1)), block(x).roll(k, -1))
    assert len(down.choose(x).unique()) == 2


def test_the_choice_of_each_sample_is_its_own():
    down, x = PolyphaseDown(4), torch.randn(16, 2, 6, 12)
    together = down(x)
    same(together, torch.stack([down(image) for image in x]))
    assert len(down.choose(x).unique()) > 1


def test_blur_is_binomial():
    x = torch.zeros(1, 1, 5, 8)
    x[0, 0, 2, 3] = 16
    down = PolyphaseDown(1, blur=3, phase="fixed")
    same(down(x)[0, 0, 1:4, 2:5], torch.tensor([[1.0, 2, 1], [2, 4, 2], [1, 2, 1]]))
    assert down(x).sum() == 16
    assert not down.state_dict()


def test_fixed_is_phase_zero():
    x = torch.randn(2, 1, 4, 6)
    same(PolyphaseDown((1, 2), phase="fixed")(x), x[..., ::2])
    assert PolyphaseDown(2, phase="fixed").choose(x) == 0


@each_layer
def test_gradients_reach_everything(make):
    layer, x = make(phase="adaptive"), torch.randn(3, 2, 6, 24, requires_grad=True)
    layer(x).square().sum().backward()
    assert x.grad.isfinite().all()
    assert x.grad.abs().sum((1, 2, 3)).gt(0).all()
    assert all(p.grad.isfinite().all() for p in layer.parameters())
    same(copy.deepcopy(layer)(x), layer(x))


@scripts
def test_compiled_exported_and_cast():
    layer, x = RingConv2d(2, 3, 3, 2, phase="adaptive").requires_grad_(False), torch.randn(3, 2, 6, 24)
    check_compiled(layer, x, x[:2], tolerance=1e-6)
    check_exported(layer, x, 1e-6)
    with torch.autocast("cpu", torch.bfloat16):
        assert layer(x).dtype == torch.bfloat16
        cast = layer(x).float()
    close(cast, layer(x), 0.02)


def test_repr_says_what_is_unusual():
    assert repr(RingConv2d(1, 1, 3, 2, phase="adaptive")).endswith("stride=(2, 2), phase='adaptive')")
    assert repr(RingMaxPool2d(2, phase="adaptive")).endswith("height='symmetric', phase='adaptive')")
    assert repr(PolyphaseDown(2)) == "PolyphaseDown(stride=(2, 2), blur=1, phase='adaptive', height='symmetric')"
    assert repr(PolyphaseUp((1, 2))) == "PolyphaseUp(stride=(1, 2), mode='zeros')"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PolyphaseDown(0), "PolyphaseDown: stride=0 must be"),
        (lambda: PolyphaseDown(2, blur=0), "PolyphaseDown: blur=0 must be"),
        (lambda: PolyphaseDown(2, phase="best"), "PolyphaseDown: phase='best' is not one of 'fixed', 'adaptive'"),
        (lambda: PolyphaseDown(2, height="valid"), "PolyphaseDown: height='valid' is not one of"),
        (lambda: PolyphaseUp(2, mode="linear"), "PolyphaseUp: mode='linear' is not one of"),
        (lambda: RingMaxPool2d(2, phase="best"), "RingMaxPool2d: phase='best' is not one of"),
        (lambda: RingAvgPool2d(2, phase=1), "RingAvgPool2d: phase=1 is not one of"),
        (lambda: RingConv2d(1, 1, 3, phase=0), "RingConv2d: phase=0 is not one of"),
        (lambda: PolyphaseDown(2)(torch.zeros(1, 2, 9)), "a ring of W=9 samples cannot take stride s=2"),
    ],
)
def test_bad_options_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_network_learns_with_samples_of_different_phases():
    torch.manual_seed(0)
    x = torch.randn(32, 1, 4, 12)
    target = x.amax((1, 2, 3))[:, None]
    net = nn.Sequential(
        RingConv2d(1, 8, 3, 2, phase="adaptive"), nn.ReLU(), RingMaxPool2d(2, phase="adaptive"), nn.Flatten()
    )
    net.append(nn.Linear(8 * 3, 1))
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    losses = []
    for _ in range(100):
        optimizer.zero_grad()
        loss = F.mse_loss(net(x), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]
