"""How an image is cut into tiles for the spectral algorithm: what each cut costs, and which costs least.

Tiles overlap by what a kernel reaches, so small ones waste; the transform of a tile is a matrix product, and the
spectrum of the kernels has a point for every sample of a tile, so large ones are slow and leave the caches. Around
the ring one tile may be the whole ring, which overlaps nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from operator import index
from typing import NamedTuple

import torch

from .geometry import Geometry

OPERATION = 1 / 150e9
"""Seconds for one multiplication or addition of a matrix product."""
BYTE = 1 / 15e9
"""Seconds for one byte that goes to memory or comes from it."""
LONGEST = 256
"""Samples of the longest tile: beyond it the matrices lose to the FFT."""
FEWEST = 16
"""Channels, of input and output in each group, below which the products between channels are too small to pay."""
PASS = 64 * 2**20
"""Bytes of the points of the images that go through all steps together."""
MOST = 1024
"""Plans that are remembered."""


class Side(NamedTuple):
    """The tiles along one axis: ``tiles`` of ``n`` samples for ``outputs`` places each, ``hop`` samples apart.

    A ring that is one tile (``whole``) wraps by itself; other tiles read a signal that has been extended.
    """

    n: int
    tiles: int
    outputs: int
    hop: int
    whole: bool

    @property
    def samples(self) -> int:
        """Samples that all tiles together read."""
        return (self.tiles - 1) * self.hop + self.n


class Plan(NamedTuple):
    """The tiles along the height and around the ring."""

    rows: Side
    columns: Side

    @property
    def points(self) -> int:
        """Real points of a tile, all three planes."""
        return 3 * self.rows.n * (self.columns.n // 2 + 1)


_plans: dict[tuple[Geometry, int, int, int], Plan | None] = {}


def plan(at: Geometry, channels: int, outputs: int, groups: int) -> Plan | None:
    """The cheapest tiles; ``None`` where the transform of the whole image is the better one."""
    if min(channels, outputs) < FEWEST * groups or at.reach[1] >= at.size[1]:
        return None
    if torch.compiler.is_compiling():
        # Tiles have one size: `index` makes a trace with a size left open settle on this one.
        return _cheapest(replace(at, size=(index(at.size[0]), index(at.size[1]))), channels, outputs, groups)
    key = at, channels, outputs, groups
    if key not in _plans:
        if len(_plans) >= MOST:
            _plans.clear()
        _plans[key] = _cheapest(*key)
    return _plans[key]


def _cheapest(at: Geometry, channels: int, outputs: int, groups: int) -> Plan | None:
    rows, columns, ring = sides(at)
    best, least = None, math.inf
    for candidate in (Plan(r, c) for r in rows for c in (*columns, *ring)):
        took = seconds(candidate, at, channels, outputs, groups)
        if took < least:
            best, least = candidate, took
    return best


def sides(at: Geometry) -> tuple[list[Side], list[Side], list[Side]]:
    """The cuts of the height, those of the ring, and the ring as one tile if it is not too long for that."""
    rows, columns = (_sides(*axis) for axis in zip(at.out_size, at.stride, at.reach, strict=True))
    ring = Side(at.size[1], 1, at.out_size[1], at.size[1], True)
    return list(rows), list(columns), [ring] if ring.n <= LONGEST else []


def _sides(places: int, stride: int, reach: int) -> Iterator[Side]:
    """Every even cut of ``places`` outputs into tiles of one size."""
    before = 0
    for count in range(1, places + 1):
        outputs = -(-places // count)
        n = outputs * stride + reach
        if outputs != before and n <= LONGEST and count * outputs - places < outputs:
            yield Side(n, count, outputs, outputs * stride, False)
        if outputs * stride < reach // 2:
            return
        before = outputs


def seconds(p: Plan, at: Geometry, channels: int, outputs: int, groups: int, images: int = 8) -> float:
    """What the matrix products of a batch, and their way through memory, take by the model."""
    rows, columns = p
    half = columns.n // 2 + 1
    tiles = images * rows.tiles * columns.tiles
    into = images * rows.samples * columns.tiles * columns.n * 2 * half + tiles * p.points * 2 * rows.n
    back = tiles * (p.points * 2 * rows.outputs + rows.outputs * columns.outputs * 2 * half)
    kernels = p.points * channels * outputs // groups
    operations = 2 * (into * channels + back * outputs + kernels * (tiles + 2 * at.kernel[0]))
    floats = 2 * tiles * p.points * (channels + outputs) + kernels * (
        1 + 4 * tiles * p.points * max(channels, outputs) / PASS
    )
    return operations * OPERATION + 4 * floats * BYTE
