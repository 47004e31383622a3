"""A signal beyond its ends: every boundary rule as a short list of slices, and the adjoint of each.

The rules carry NumPy's names (``numpy.pad``) and reach as far as asked: an extension longer than the signal wraps or
reflects as often as needed. The ring's wrap-around is the rule ``circular`` along W.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from ..spectral import layout_of

RULES = ("symmetric", "zeros", "replicate", "reflect", "circular")


def extend(x: Tensor, dim: int, before: int, after: int, rule: str) -> Tensor:
    """``x`` with ``before`` and ``after`` more samples along ``dim`` (negative), by the boundary rule."""
    if before == after == 0:
        return x
    if rule == "zeros":
        return F.pad(x, (0, 0) * (-dim - 1) + (before, after))
    n = x.shape[dim]
    head = [_read(x, dim, block) for block in _blocks_before(n, before, rule)]
    tail = [_read(x, dim, block) for block in _blocks_after(n, after, rule)]
    return torch.cat([*reversed(head), x, *tail], dim)


def fill(y: Tensor, dim: int, before: int, after: int, rule: str) -> None:
    """Write the ends of ``y`` along ``dim``: those by which :func:`extend` would extend what lies between them."""
    n = y.shape[dim] - before - after
    if rule == "zeros":
        y.narrow(dim, 0, before).zero_()
        y.narrow(dim, before + n, after).zero_()
        return
    x = y.narrow(dim, before, n)
    for place, block in _placed_blocks(n, before, after, rule):
        y.narrow(dim, place, block.length).copy_(_read(x, dim, block))


def fold(y: Tensor, dim: int, before: int, after: int, rule: str) -> Tensor:
    """The adjoint of :func:`extend`: each added sample is added back to the one that it was copied from."""
    if before == after == 0:
        return y
    return _fold_onto(y.narrow(dim, before, y.shape[dim] - before - after).clone(), y, dim, before, after, rule)


def fold_(y: Tensor, dim: int, before: int, after: int, rule: str) -> Tensor:
    """:func:`fold` in the memory of ``y``, of which it returns a view."""
    return _fold_onto(y.narrow(dim, before, y.shape[dim] - before - after), y, dim, before, after, rule)


def _fold_onto(x: Tensor, y: Tensor, dim: int, before: int, after: int, rule: str) -> Tensor:
    if rule != "zeros":
        for place, block in _placed_blocks(x.shape[dim], before, after, rule):
            _give_back(x, dim, block, y.narrow(dim, place, block.length))
    return x


class _Block(NamedTuple):
    """``length`` samples from ``start`` on: read forwards (step 1), backwards (−1), or one of them repeated (0)."""

    start: int
    length: int
    step: int


def _blocks_after(n: int, amount: int, rule: str) -> Iterator[_Block]:
    """What stands behind ``n`` samples, from their end outwards.

    The periodic rule repeats blocks of one period, the mirroring ones read them alternately backwards and forwards.
    """
    if rule == "replicate" or n == 1:
        if amount:
            yield _Block(n - 1, amount, 0)
        return
    period = n - 1 if rule == "reflect" else n
    step = 1 if rule == "circular" else -1
    while amount > 0:
        length = min(amount, period)
        yield _Block(n - period if step == 1 else period - length, length, step)
        amount -= length
        step = step if rule == "circular" else -step


def _blocks_before(n: int, amount: int, rule: str) -> Iterator[_Block]:
    """What stands before ``n`` samples, from their start outwards: the mirror image of what stands behind."""
    for start, length, step in _blocks_after(n, amount, rule):
        yield _Block(n - start - (length if step else 1), length, step)


def _placed_blocks(n: int, before: int, after: int, rule: str) -> Iterator[tuple[int, _Block]]:
    """The blocks of both ends, each with the place in the extended signal at which it begins."""
    place = before
    for block in _blocks_before(n, before, rule):
        place -= block.length
        yield place, block
    place = before + n
    for block in _blocks_after(n, after, rule):
        yield place, block
        place += block.length


def _read(x: Tensor, dim: int, block: _Block) -> Tensor:
    if block.step == 0:
        edge = x.narrow(dim, block.start, 1)
        return layout_of(x, edge.expand([block.length if d == x.ndim + dim else -1 for d in range(x.ndim)]))
    piece = x.narrow(dim, block.start, block.length)
    return piece if block.step == 1 else piece.flip(dim)


def _give_back(out: Tensor, dim: int, block: _Block, part: Tensor) -> None:
    if block.step == 0:
        out.narrow(dim, block.start, 1).add_(part.sum(dim, keepdim=True))
    else:
        out.narrow(dim, block.start, block.length).add_(part if block.step == 1 else part.flip(dim))
