"""Data sets turned around the ring, each sample by a roll of its own: R-MNIST, R-CIFAR-10 and their like."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from .. import _checks


class Rolled(Dataset[tuple[Any, ...]]):
    r"""A data set of ``(image, target, …)`` as one of ``(turned image, target, roll, …)``.

    .. math:: y[\ldots, (j + r_i) \bmod W] = x_i[\ldots, j], \qquad r_i \in \{0, g, 2g, \ldots\} < W

    Every sample has a roll of its own, drawn with equal chance from the multiples of the step g, by ``seed`` and the
    sample's place alone: made once, this is a fixed test set. As training data it draws other rolls in every epoch,
    when the loop calls :meth:`set_epoch`.

    Args:
        data: a map-style data set of images ``(..., W)`` with their targets, all of one width.
        seed: of the rolls.
        step: g, in columns; must divide the width.

    >>> from torch.utils.data import TensorDataset
    >>> image, target, roll = Rolled(TensorDataset(torch.arange(4.0).view(1, 1, 4), torch.tensor([7])))[0]
    >>> torch.equal(image, torch.arange(4.0).view(1, 4).roll(roll, -1))
    True
    """

    def __init__(self, data: Dataset[Any], seed: int = 0, step: int = 1) -> None:
        where = type(self).__name__
        self.data, self.seed = data, _checks.integer(where, "seed", seed, 0)
        self.step = _checks.integer(where, "step", step)
        self.width = _checks.ring(where, data[0][0])
        if self.width % step:
            raise ValueError(f"{where}: step={step} must divide the width {self.width}")
        self.set_epoch(0)

    def set_epoch(self, epoch: int) -> None:
        """Draw the rolls of another epoch, and let the data set below do so too."""
        if hasattr(self.data, "set_epoch"):
            self.data.set_epoch(epoch)
        draw = np.random.default_rng((self.seed, epoch))
        self.rolls: list[int] = (draw.integers(self.width // self.step, size=len(self)) * self.step).tolist()

    def __len__(self) -> int:
        return len(cast(Sized, self.data))

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        return self._turned(self.data[index], index)

    def __getitems__(self, indices: list[int]) -> list[tuple[Any, ...]]:
        read = getattr(self.data, "__getitems__", None)
        items = read(indices) if read else [self.data[i] for i in indices]
        return [self._turned(item, i) for item, i in zip(items, indices, strict=True)]

    def _turned(self, item: tuple[Any, ...], index: int) -> tuple[Any, ...]:
        image, target, *rest = item
        roll = self.rolls[index]
        return image.roll(roll, -1), target, roll, *rest


def shift_rows(images: Tensor, rows: int) -> Tensor:
    """Images moved down (up, if ``rows`` is negative): rows that leave are lost, those that enter are zero.

    The vertical translation of the paper's released code, which sets the entering rows of its normalised images to 0.

    Args:
        images: ``(..., H, W)``.
        rows: how far, of any size.

    >>> shift_rows(torch.tensor([[1.0], [2.0], [3.0]]), 1).flatten()
    tensor([0., 1., 2.])
    """
    height = images.shape[-2]
    _checks.integer("shift_rows", "rows", rows, None)
    moved = torch.zeros_like(images)
    if abs(rows) < height:
        kept = height - abs(rows)
        moved.narrow(-2, max(rows, 0), kept).copy_(images.narrow(-2, max(-rows, 0), kept))
    return moved
