"""Training images mirrored and moved at random, each sample and each epoch in its own way."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any, cast

import numpy as np
from torch.utils.data import Dataset

from .. import _checks
from .rolled import shift_rows


class Augmented(Dataset[tuple[Any, ...]]):
    """A data set of ``(image, target, …)`` with its images mirrored and shifted up or down.

    Both keep the image on its cylinder: the mirror turns the ring's direction round, the shift loses rows and lets
    zeros in. (A turn around the ring is :class:`Rolled`, which goes around this.) What happens to a sample is drawn
    by ``seed``, epoch and its place alone.

    Args:
        data: a map-style data set of images ``(..., H, W)`` with their targets.
        seed: of the draws.
        mirror: whether every second image, on average, is mirrored left to right.
        rows: the largest shift up or down; all up to it are equally likely.
    """

    def __init__(self, data: Dataset[Any], seed: int = 0, *, mirror: bool = True, rows: int = 0) -> None:
        where = type(self).__name__
        self.data, self.mirror = data, mirror
        self.seed = _checks.integer(where, "seed", seed, 0)
        self.rows = _checks.integer(where, "rows", rows, 0)
        self.set_epoch(0)

    def set_epoch(self, epoch: int) -> None:
        """Draw anew for another epoch, and let the data set below do so too."""
        if hasattr(self.data, "set_epoch"):
            self.data.set_epoch(epoch)
        draw = np.random.default_rng((self.seed, epoch))
        self.mirrored: list[bool] = (draw.random(len(self)) < (0.5 if self.mirror else 0)).tolist()
        self.shifts: list[int] = draw.integers(-self.rows, self.rows, size=len(self), endpoint=True).tolist()

    def __len__(self) -> int:
        return len(cast(Sized, self.data))

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        image, *rest = self.data[index]
        image = image.flip(-1) if self.mirrored[index] else image
        return shift_rows(image, self.shifts[index]) if self.shifts[index] else image, *rest
