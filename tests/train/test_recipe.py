"""The settings: what they refuse, and the schedule."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from ringconv.train import Recipe


@pytest.mark.parametrize("steps", [5, 40, 1001])
def test_one_cycle_is_torchs_own(steps: int) -> None:
    recipe = Recipe(learning_rate=0.3)
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    reference = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.3, total_steps=steps)
    for step in range(steps):
        assert recipe.rate(step, steps) == pytest.approx(reference.get_last_lr()[0], rel=1e-9)
        optimizer.step()
        if step < steps - 1:
            reference.step()


@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_the_shortest_cycles_have_a_rate(steps: int) -> None:
    rates = [Recipe(learning_rate=1.0).rate(step, steps) for step in range(steps)]
    assert all(0 < rate <= 1 for rate in rates)
    assert rates[-1] == pytest.approx(4e-6)


def test_a_constant_rate_stays() -> None:
    recipe = Recipe(learning_rate=1e-3, schedule="constant")
    assert {recipe.rate(step, 9) for step in range(9)} == {1e-3}


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"epochs": 0}, "epochs=0 must be an integer of at least 1"),
        ({"batch_size": 2.5}, "batch_size=2.5 must be an integer of at least 1"),
        ({"learning_rate": 0}, "learning_rate=0 must be a number above 0"),
        ({"learning_rate": float("nan")}, "learning_rate=nan must be a number above 0"),
        ({"learning_rate": "fast"}, "learning_rate='fast' must be a number above 0"),
        ({"weight_decay": -1e-4}, "weight_decay=-0.0001 must be a number of at least 0"),
        ({"clip": 0.0}, "clip=0.0 must be a number above 0"),
        ({"schedule": "cosine"}, "schedule='cosine' is not one of 'one-cycle', 'constant'"),
        ({"precision": "half"}, "precision='half' is not one of 'float32', 'bfloat16'"),
        ({"batch_size": 64, "accumulate": 3}, "accumulate=3 must divide batch_size=64"),
        ({"seed": -1}, "seed=-1 must be an integer of at least 0"),
    ],
)
def test_bad_settings_are_refused_by_name(setting: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=r"^Recipe: ") as error:
        Recipe(**setting)
    assert str(error.value) == f"Recipe: {message}"
