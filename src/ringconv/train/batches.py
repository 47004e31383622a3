"""Which samples a step sees: drawn anew in every epoch, by seed and epoch alone, whatever happened before."""

from __future__ import annotations

import random
from collections.abc import Sized
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from .recipe import Recipe

Batch = list[int]


def count(data: Dataset[Any]) -> int:
    """The number of samples of a data set, which must know it."""
    if not isinstance(data, Sized):
        raise TypeError(f"fit: a data set must have a length and an order, got {type(data).__name__}")
    return len(data)


def steps_per_epoch(samples: int, recipe: Recipe) -> int:
    """Full batches in an epoch; at least one."""
    if samples < recipe.batch_size:
        raise ValueError(f"fit: batch_size={recipe.batch_size} is more than the {samples} training samples")
    return samples // recipe.batch_size


def shuffled_batches(samples: int, recipe: Recipe, epoch: int, rank: int = 0, world: int = 1) -> list[Batch]:
    """What one of ``world`` processes computes in an epoch: ``accumulate`` parts for every step, in order.

    The samples of a step do not depend on how many processes share them, nor on how many parts they come in.
    """
    parts = world * recipe.accumulate
    if recipe.batch_size % parts:
        raise ValueError(
            f"fit: batch_size={recipe.batch_size} must be a multiple of devices · accumulate = "
            f"{world} · {recipe.accumulate}"
        )
    draw = torch.Generator().manual_seed(stream(recipe.seed, epoch))
    order = torch.randperm(samples, generator=draw)[: steps_per_epoch(samples, recipe) * recipe.batch_size]
    shares = order.view(-1, recipe.accumulate, world, recipe.batch_size // parts)
    batches: list[Batch] = shares[:, :, rank].flatten(0, 1).tolist()
    return batches


def batches_in_order(samples: int, batch_size: int, rank: int = 0, world: int = 1) -> list[Batch]:
    """Every ``world``-th sample, in order, in batches."""
    mine = range(rank, samples, world)
    return [list(mine[first : first + batch_size]) for first in range(0, len(mine), batch_size)]


def loader(data: Dataset[Any], batches: list[Batch], workers: int = 0) -> DataLoader[Any]:
    """The batches as tensors, read by ``workers`` processes besides this one."""
    return DataLoader(data, batch_sampler=batches, num_workers=workers)


def seed_everything(recipe: Recipe, epoch: int, rank: int = 0) -> None:
    """Start every generator afresh, so that an epoch draws the same numbers wherever the run began."""
    seed = stream(recipe.seed, epoch, rank + 1)
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002  data sets may draw from it


def stream(*parts: int) -> int:
    """A seed for every tuple of numbers, unrelated to those of its neighbours."""
    return int(np.random.SeedSequence(parts).generate_state(1, np.uint64)[0] >> np.uint64(1))
