"""What people have, converted: broken before, sound after, unchanged away from the seam, and the same when restored."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import ringconv as rc

from ..helpers import same
from ..zoo import ZOO, Animal

ANIMALS = pytest.mark.parametrize("animal", ZOO.values(), ids=list(ZOO))


def seamless(model: nn.Module) -> nn.Module:
    return rc.seamless(rc.convert(model)[0])


@torch.no_grad()
def turned(animal: Animal, model: nn.Module, x: Tensor, rolls: list[int]) -> float:
    """The largest error at these rolls, relative to the largest output."""
    y = model(x)
    error = 0.0
    for k in rolls:
        expected = y if animal.symmetry == "invariant" else y.roll(k * y.shape[-1] // x.shape[-1], -1)
        error = max(error, ((model(x.roll(k, -1)) - expected).abs().max() / y.abs().max()).item())
    return error


@ANIMALS
def test_broken_before_and_sound_at_every_multiple_of_its_stride(animal: Animal) -> None:
    model, x = animal.model(), animal.x(32)
    rolls = list(range(0, 32, animal.stride))
    assert turned(animal, model, x, rolls) > 1e-3
    model = seamless(model)
    assert turned(animal, model, x, rolls) <= 1e-5
    report = rc.check(model, x)
    assert (report.symmetry, report.stride, report.first) == (animal.symmetry, animal.stride, None)


@ANIMALS
def test_exact_at_every_roll(animal: Animal) -> None:
    x = animal.x(32)
    model, _ = rc.convert(rc.seamless(animal.model()), exact=True, input=x)
    with torch.no_grad():
        y = model(x)
        for k in range(32):
            turned = model(x.roll(k, -1))
            coarse = 32 // y.shape[-1] if animal.symmetry == "equivariant" and y.shape[-1] < 32 else 1
            if animal.symmetry == "invariant":
                same(turned, y)
            elif k % coarse == 0:
                same(turned, y.roll(k * y.shape[-1] // 32, -1))
            else:  # between two columns of a coarse output: whole columns of its own, one way or the other
                steps = k // coarse, k // coarse + 1
                assert any(torch.equal(turned, y.roll(step, -1)) for step in steps)


@ANIMALS
def test_far_from_the_seam_nothing_changes(animal: Animal) -> None:
    """In every submodule's output, in the middle of a wide ring; what pools the whole image is made to say nothing."""
    model, x = animal.model().double(), animal.x(512).double()

    def outputs() -> dict[str, Tensor]:
        found, hooks = {}, []
        for name, module in model.named_modules():
            if isinstance(module, nn.AdaptiveAvgPool2d):
                hooks.append(module.register_forward_hook(lambda module, args, y: torch.ones_like(y)))
            else:
                hooks.append(module.register_forward_hook(lambda _, args, y, name=name: found.update({name: y})))
        with torch.no_grad():
            model(x)
        for hook in hooks:
            hook.remove()
        return {name: y for name, y in found.items() if y.ndim == 4 and y.shape[-1] >= 64}

    before = outputs()
    model = seamless(model)
    after = outputs()
    assert before.keys() == after.keys()
    assert len(before) >= 1
    for name, y in before.items():
        middle = slice(y.shape[-1] * 3 // 8, y.shape[-1] * 5 // 8)
        assert after[name].shape == y.shape, name
        assert (after[name] - y)[..., middle].abs().max() <= 1e-12 * y.abs().max(), name


@ANIMALS
def test_restored_to_the_last_bit(animal: Animal) -> None:
    model, x = animal.model(), animal.x(32)
    classes = [type(module) for module in model.modules()]
    state = {name: id(value) for name, value in model.state_dict(keep_vars=True).items()}
    attributes = [set(module.__dict__) for module in model.modules()]
    y = model(x)
    converted = seamless(model)
    assert converted is model
    assert {name: id(value) for name, value in model.state_dict(keep_vars=True).items()} == state
    assert not torch.equal(model(x), y)
    assert rc.restore(model) is model
    assert [type(module) for module in model.modules()] == classes
    assert [set(module.__dict__) for module in model.modules()] == attributes
    same(model(x), y)


@ANIMALS
def test_gradients_turn_too(animal: Animal) -> None:
    """The gradient of a loss that no roll changes turns with the input."""
    model, x = seamless(animal.model()), animal.x(32)

    def gradient(x: Tensor) -> Tensor:
        x = x.clone().requires_grad_()
        (g,) = torch.autograd.grad(model(x).square().sum(), x)
        return g

    g = gradient(x)
    error = (gradient(x.roll(16, -1)) - g.roll(16, -1)).abs().max() / g.abs().max()
    assert error <= 1e-4
