"""Which samples a step sees."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

import pytest

from ringconv.train import Recipe
from ringconv.train.batches import batches_in_order, count, shuffled_batches, stream

RECIPE = Recipe(batch_size=24)


def steps(world: int, accumulate: int, epoch: int = 0) -> list[set[int]]:
    """The samples of each step, over all processes and parts."""
    recipe = replace(RECIPE, accumulate=accumulate)
    shares = [shuffled_batches(100, recipe, epoch, rank, world) for rank in range(world)]
    parts = [list(chain(*together)) for together in zip(*shares, strict=True)]
    assert all(len(part) == 24 // accumulate for part in parts)
    return [set().union(*parts[first : first + accumulate]) for first in range(0, len(parts), accumulate)]


def test_an_epoch_sees_no_sample_twice_and_only_full_batches() -> None:
    seen = list(chain(*shuffled_batches(100, RECIPE, 0)))
    assert len(seen) == len(set(seen)) == 96
    assert max(seen) < 100


@pytest.mark.parametrize("world", [1, 2, 3])
@pytest.mark.parametrize("accumulate", [1, 2, 4])
def test_a_step_is_the_same_however_it_is_shared_and_split(world: int, accumulate: int) -> None:
    expected = [set(batch) for batch in shuffled_batches(100, RECIPE, 0)]
    assert steps(world, accumulate) == expected


def test_the_order_is_that_of_seed_and_epoch() -> None:
    orders = [shuffled_batches(100, replace(RECIPE, seed=seed), epoch) for seed in (0, 1) for epoch in (0, 1)]
    assert len({str(order) for order in orders}) == 4
    assert shuffled_batches(100, RECIPE, 0) == orders[0]
    assert len({stream(a, b) for a in range(50) for b in range(50)}) == 2500


@pytest.mark.parametrize("world", [1, 2, 3])
def test_testing_sees_every_sample_once(world: int) -> None:
    shares = [batches_in_order(11, 4, rank, world) for rank in range(world)]
    assert sorted(i for share in shares for batch in share for i in batch) == list(range(11))
    assert all(len(batch) <= 4 for share in shares for batch in share)


def test_what_cannot_be_shared_is_refused() -> None:
    with pytest.raises(ValueError, match=r"batch_size=24 must be a multiple of devices · accumulate = 5 · 1"):
        shuffled_batches(100, RECIPE, 0, world=5)
    with pytest.raises(ValueError, match="batch_size=24 is more than the 11 training samples"):
        shuffled_batches(11, RECIPE, 0)

    with pytest.raises(TypeError, match="a data set must have a length and an order, got object"):
        count(object())  # type: ignore[arg-type]
