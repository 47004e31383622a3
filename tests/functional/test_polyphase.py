"""Choices that rolls move and never change: on noise, on images that tie, and against the formulas."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from ringconv.functional import polyphase_down, polyphase_up, ring_interpolate, ring_origin, ring_phase
from ringconv.functional._winner import ring_keys

from ..helpers import check_compiled, check_derivatives, check_exported, check_vmap, same, scripts


def binary() -> Tensor:
    """Black and white, of which many columns and many images tie."""
    return torch.randint(0, 2, (200, 1, 3, 12)).float()


def deltas() -> Tensor:
    """Two pixels that differ in their row or their sign alone, half a ring apart or side by side."""
    x = torch.zeros(4, 2, 4, 12)
    x[0, 0, 0, 0] = x[0, 0, 2, 6] = 1
    x[1, 0, 1, 3] = x[1, 1, 1, 9] = 1
    x[2, 0, 0, 4] = x[2, 0, 0, 5] = 1
    x[3, 0, 0, 2] = 1
    x[3, 0, 0, 8] = -1
    return x


IMAGES = {
    "noise": lambda: torch.randn(50, 3, 5, 12),
    "float64": lambda: torch.randn(50, 2, 6, 12, dtype=torch.float64),
    "half": lambda: torch.randn(50, 2, 6, 12, dtype=torch.bfloat16),
    "bright": lambda: 1e30 * (1 + torch.rand(50, 1, 4, 12)),
    "faint": lambda: 1e-42 * torch.randn(50, 1, 4, 12),
    "black and white": binary,
    "two pixels": deltas,
    "almost periodic": lambda: torch.randn(50, 1, 4, 3).repeat(1, 1, 1, 4) + 1e-7 * torch.randn(50, 1, 4, 12),
}
each_image = pytest.mark.parametrize("make", IMAGES.values(), ids=IMAGES.keys())


@each_image
def test_a_roll_by_k_adds_k(make):
    x = make()
    origin, phases = ring_origin(x), {s: ring_phase(x, s) for s in (1, 2, 3, 4, 6, 12)}
    for k in range(1, 12):
        rolled = x.roll(k, -1)
        turned = torch.stack([image.roll(-int(c), -1) for image, c in zip(rolled, ring_origin(rolled), strict=True)])
        # An image that repeats itself has several origins, and is the same image seen from each.
        same(turned, torch.stack([image.roll(-int(c), -1) for image, c in zip(x, origin, strict=True)]))
        for s, phase in phases.items():
            alike = torch.stack([(image == image.roll(s_, -1)).all() for s_ in (1, 2, 3, 4, 6) for image in x])
            unique = ~alike.view(5, -1).any(0)
            same(ring_phase(rolled, s)[unique], ((phase + k) % s)[unique])


@pytest.mark.parametrize("period", [1, 2, 3, 4, 6])
def test_an_image_with_a_symmetry_keeps_its_components_up_to_it(period):
    x = torch.randn(6, 2, 4, period).repeat(1, 1, 1, 12 // period)
    kept = polyphase_down(x, (1, 3), ring_phase(x, 3))
    for k in range(12):
        rolled = x.roll(k, -1)
        again = polyphase_down(rolled, (1, 3), ring_phase(rolled, 3))
        for one, other in zip(kept, again, strict=True):
            assert any(torch.equal(one.roll(m, -1), other) for m in range(4))


def test_the_phase_is_the_one_with_the_largest_steps():
    x = torch.randn(40, 3, 5, 12, dtype=torch.float64)
    weights = 1 + torch.arange(5, dtype=torch.float64) * ((5**0.5 - 1) / 2) % 1 / 2
    sums = (x * weights[:, None]).sum(-2)
    steps = [sum((sums[..., j] - sums[..., j - 1]) ** 2 for j in range(p, 12, 4)).sum(-1) for p in range(4)]
    assert torch.equal(ring_phase(x, 4), torch.stack(steps).argmax(0))


def test_the_origin_lies_in_the_heavy_half():
    x = torch.zeros(8, 1, 3, 16)
    for b in range(8):
        x[b, :, :, [(2 * b + m) % 16 for m in range(3)]] = 1
    assert torch.equal((ring_origin(x) - ring_origin(x)[0]) % 16, torch.arange(8) * 2)
    distance = (ring_origin(x)[0] - 1 + 8) % 16 - 8
    assert abs(distance) <= 8


def test_keys_tell_orders_apart():
    ring = torch.tensor([[0.0, 1.0, 1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]])
    keys = ring_keys(ring)
    assert [key.unique().numel() for key in keys] == [6, 2]
    assert ring_keys(torch.tensor([[1.0, 0.0, -1.0, 0.0]])).unique().numel() == 4
    same(ring_keys(ring.roll(2, -1)), keys.roll(2, -1))


@pytest.mark.parametrize("stride", [(1, 2), (2, 3), (3, 4), 1])
def test_down_and_up_are_slices_and_adjoint(stride):
    s_h, s_w = stride if isinstance(stride, tuple) else (stride, stride)
    x = torch.randn(s_w, 2, 6, 12, dtype=torch.float64)
    phase = torch.arange(s_w)
    down = polyphase_down(x, stride, phase)
    for p in range(s_w):
        same(down[p], x[p, :, ::s_h, p::s_w])
        same(polyphase_down(x, stride, p)[p], down[p])
        same(polyphase_up(down, stride, p)[p], polyphase_up(down, stride, phase)[p])
    y = torch.randn_like(down)
    up = polyphase_up(y, stride, phase)
    assert torch.allclose((down * y).sum(), (x * up).sum(), rtol=1e-12)
    same(polyphase_down(up, stride, phase), y)
    same(polyphase_up(y[0], stride, 0), up[0])


def test_up_fills_and_turns():
    x = torch.randn(2, 3, 4, 6)
    filled = ring_interpolate(x, scale_factor=(2.0, 3.0), mode="bilinear")
    up = polyphase_up(x, (2, 3), torch.tensor([2, 1]), "bilinear")
    same(up, torch.stack([filled[0].roll(2, -1), filled[1].roll(1, -1)]))


def test_one_image_without_a_batch_and_none_at_all():
    x = torch.randn(3, 2, 4, 12)
    assert ring_phase(x[1], 3) == ring_phase(x, 3)[1]
    assert ring_origin(x[1]) == ring_origin(x)[1]
    assert ring_phase(x[:0], 3).shape == ring_origin(x[:0]).shape == (0,)
    assert ring_origin(torch.zeros(1, 1, 1, 1)) == 0


def test_gradients_pass_what_is_kept_and_not_the_choice():
    x, phase = torch.randn(2, 2, 4, 6, dtype=torch.float64), torch.tensor([1, 0])
    check_derivatives(lambda x: polyphase_down(x, 2, phase), x)
    check_derivatives(lambda x: polyphase_up(x, 2, phase, "bilinear"), x)
    check_derivatives(lambda x: polyphase_down(x, 2, ring_phase(x, 2)), x)
    assert not ring_phase(x.requires_grad_(), 2).requires_grad


@scripts
def test_compiled_exported_and_mapped():
    x = torch.randn(4, 2, 5, 12)
    check_compiled(ring_origin, x)
    check_exported(lambda x: ring_phase(x, 4), x)
    check_vmap(lambda x: polyphase_down(x, (1, 2), ring_phase(x, 2)), torch.stack([x, x.roll(1, -1)]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: ring_phase(x, 5), "ring_phase: a ring of W=12 samples cannot take stride s=5.*10 and 15"),
        (lambda x: ring_phase(x, 0), "ring_phase: stride=0 must be an integer of at least 1"),
        (lambda x: ring_origin(x[0, 0]), r"ring_origin: input must be \(B, C, H, W\) or \(C, H, W\)"),
        (lambda x: polyphase_down(x, 5, 0), "polyphase_down: a ring of W=12"),
        (lambda x: polyphase_down(x, 2, 2), "polyphase_down: phase=2 must be less than the ring's stride 2"),
        (lambda x: polyphase_up(x, 2, -1), "polyphase_up: phase=-1 must be an integer of at least 0"),
        (lambda x: polyphase_up(x, 2, 0, "linear"), "polyphase_up: mode='linear' is not one of 'zeros', 'nearest'"),
    ],
)
def test_bad_input_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call(torch.randn(2, 1, 4, 12))
