"""Choices that a roll of the input can move but never change: sums that no roll reorders, and ties that only symmetry
leaves.

A choice between columns commutes with rolls only if rounding takes no part in it. Within a column samples are added
in one fixed order; around the ring they are added as whole numbers, whose sum no order changes; and columns of equal
score are told apart by a key of the whole ring as it is seen from each. Columns that still tie see the same image.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..spectral import table, widen

# Of a whole number. Squares of differences between two, summed over 2^20 samples, are still exact in float64.
_BITS = 15
_FAINTEST = 1e-30
_BASE = 0x1E3779B97F4A7C15  # odd, and else arbitrary: another would break ties in another way


def row_sums(x: Tensor) -> Tensor:
    """Sums over the rows of ``(B, C, H, W)``, each row with a weight of its own near 1: ``(B, C, W)``.

    One row is added to another, never a column to a column: every column is rounded alike, wherever it stands. The
    weights tell apart what differs in the order of its rows alone.
    """
    x = widen(x.detach())
    x = x * _weights(x.shape[-2], dtype=x.dtype, device=x.device)
    while (rows := x.shape[-2]) > 1:
        half = rows // 2
        folded = x[..., :half, :] + x[..., half : 2 * half, :]
        x = torch.cat([folded, x[..., -1:, :]], -2) if rows % 2 else folded
    return x.squeeze(-2)


def heaviest(sums: Tensor) -> Tensor:
    """The column around which most of the weight ``(B, C, W)`` lies, ``(B,)``.

    The weight around a column is that of two running windows of a quarter of the ring, one after the other: it
    depends on many columns, and noise seldom moves the largest.
    """
    columns = row_sums(sums.unsqueeze(1)).squeeze(1)
    return _best(_running_twice(_whole(columns), sums.shape[-1] // 4), columns)


def steepest(sums: Tensor, stride: int) -> Tensor:
    """The component p of ``(B, C, W)`` with the largest steps: the squares of ``x[p + ms] − x[p + ms − 1]``, summed
    over channels and m; ``(B,)``."""
    whole = _whole(sums)
    steps = (whole - whole.roll(1, -1)).square().sum(1)
    score = steps.unflatten(-1, (-1, stride)).sum(-2)
    columns = row_sums(sums.unsqueeze(1)).squeeze(1)
    return _best(score.repeat(1, columns.shape[-1] // stride), columns) % stride


def _whole(sums: Tensor) -> Tensor:
    """Whole numbers in float64, in units of the image's own largest sum over 2^15."""
    largest = torch.linalg.vector_norm(sums, math.inf, tuple(range(1, sums.ndim)), keepdim=True)
    whole: Tensor = (sums * (2**_BITS / largest.clamp(min=_FAINTEST))).round().double()
    return whole


def _best(score: Tensor, columns: Tensor) -> Tensor:
    """The column of the highest score; those that tie go by what the ring looks like from them."""
    tied = score == score.amax(-1, keepdim=True)
    return torch.where(tied, ring_keys(columns), torch.iinfo(torch.int64).min).argmax(-1)


def ring_keys(columns: Tensor) -> Tensor:
    r"""A key of the ring ``(B, W)`` as seen from each column r, :math:`\sum_j c_{r + j} B^j` modulo 2^64, where c are
    the mixed bits of ``columns``.

    Two columns have the same key if the ring looks the same from both; otherwise by an accident of chance near 2^-64.
    """
    width = columns.shape[-1]
    bits = columns.double().view(torch.int64)
    # A product modulo 2^64 carries a difference upwards alone: what differs in the sign must differ below too.
    terms = (bits ^ (bits >> 32)) * _powers(width, dtype=torch.int64, device=columns.device)[0]
    sums = terms.cumsum(-1)
    # From r to the end, and from there, B^W further on, to r; then back by B^r.
    keys = torch.add(sums[..., -1:], sums - terms, alpha=_signed(pow(_BASE, width, 2**64) - 1))
    return keys * _powers(width, dtype=torch.int64, device=columns.device)[1]


def _running_twice(x: Tensor, window: int) -> Tensor:
    """Sums of whole numbers over ``window`` columns around the ring, and of these once more; shifted by a constant."""
    if window == 0:
        return x
    width = x.shape[-1]
    sums = torch.cat([x, x[..., : 2 * window]], -1).cumsum(-1).cumsum(-1)
    ends = sums[..., 2 * window :] + sums[..., :width]
    return torch.sub(ends, sums[..., window : window + width], alpha=2)


@table
def _weights(rows: int) -> NDArray[np.float64]:
    """Between 1 and 1.5, ``(rows, 1)``, no two alike: multiples of the golden ratio without their whole parts."""
    return 1 + np.arange(rows)[:, None] * ((5**0.5 - 1) / 2) % 1 / 2


@table
def _powers(count: int) -> NDArray[np.int64]:
    """The powers of the base and those of its inverse, modulo 2^64: ``(2, count)``."""
    both = [[pow(base, i, 2**64) for i in range(count)] for base in (_BASE, pow(_BASE, -1, 2**64))]
    return np.array(both, dtype=np.uint64).astype(np.int64)


def _signed(value: int) -> int:
    """A number modulo 2^64 as int64 holds it."""
    return (value + 2**63) % 2**64 - 2**63
