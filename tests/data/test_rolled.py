"""Data sets turned, shifted and mirrored: by how much is fixed by seed, epoch and place."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from ringconv.data import Augmented, Images, Rolled, shift_rows

PIXELS = torch.arange(40 * 2 * 3 * 8).remainder(251).to(torch.uint8).view(40, 2, 3, 8)
DATA = Images(PIXELS, torch.arange(40), [str(i) for i in range(40)])


def items(data: Any) -> list[Any]:
    return [data[i] for i in range(len(data))]


def test_every_image_is_turned_by_the_roll_that_is_returned() -> None:
    for (image, label, roll), (plain, truth) in zip(items(Rolled(DATA)), items(DATA), strict=True):
        assert torch.equal(image, plain.roll(roll, -1))
        assert label == truth


def test_every_roll_is_as_likely_and_all_are_multiples_of_the_step() -> None:
    data = TensorDataset(torch.zeros(8000, 1, 8), torch.zeros(8000))
    counts = Counter(Rolled(data).rolls)
    assert sorted(counts) == list(range(8))
    assert all(850 < count < 1150 for count in counts.values())
    assert sorted(Counter(Rolled(data, step=4).rolls)) == [0, 4]


def test_the_rolls_are_those_of_seed_and_epoch() -> None:
    data = Rolled(DATA)
    first = data.rolls
    assert Rolled(DATA).rolls == first
    assert Rolled(DATA, seed=1).rolls != first
    data.set_epoch(1)
    assert data.rolls != first
    data.set_epoch(0)
    assert data.rolls == first


@pytest.mark.parametrize("data", [DATA, TensorDataset(PIXELS.float(), torch.arange(40), torch.arange(40) * 2)])
def test_a_loader_gives_what_the_samples_are(data: Any) -> None:
    rolled = Rolled(data)
    image, label, roll, *rest = next(iter(DataLoader(rolled, batch_size=40)))
    assert torch.equal(image, torch.stack([rolled[i][0] for i in range(40)]))
    assert (label.tolist(), roll.tolist()) == (list(range(40)), rolled.rolls)
    assert all(torch.equal(more, label * 2) for more in rest)


def test_a_step_that_does_not_divide_the_ring_is_refused() -> None:
    with pytest.raises(ValueError, match="step=3 must divide the width 8"):
        Rolled(DATA, step=3)


@pytest.mark.parametrize("rows", [-9, -3, -2, -1, 0, 1, 2, 3, 9])
def test_rows_leave_and_zeros_enter(rows: int) -> None:
    x = torch.rand(2, 3, 4) + 1
    y = shift_rows(x, rows)
    for i in range(3):
        expected = x[:, i - rows] if 0 <= i - rows < 3 else torch.zeros(2, 4)
        assert torch.equal(y[:, i], expected)


def test_augmented_images_are_mirrored_and_moved_as_drawn() -> None:
    data = Augmented(DATA, rows=1)
    for i, (image, label) in enumerate(items(data)):
        plain = DATA[i][0].flip(-1) if data.mirrored[i] else DATA[i][0]
        assert torch.equal(image, shift_rows(plain, data.shifts[i]))
        assert label == i
    assert 8 < sum(data.mirrored) < 32
    assert set(data.shifts) == {-1, 0, 1}
    assert not any(Augmented(DATA, mirror=False).mirrored)


def test_an_epoch_reaches_the_data_below() -> None:
    inner = Augmented(DATA, rows=2)
    before = inner.mirrored, inner.shifts
    outer = Rolled(inner)
    outer.set_epoch(3)
    assert (inner.mirrored, inner.shifts) != before
    Augmented(outer).set_epoch(0)
    assert (inner.mirrored, inner.shifts) == before
