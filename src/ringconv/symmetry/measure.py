"""How one intermediate result answers a turned input: the symmetry that fits it best, and what is missing to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Answer:
    """What a result does when the input turns.

    ``symmetry`` is ``"equivariant"``, ``"invariant"`` or ``"neither"``; ``error`` is the largest deviation relative
    to the largest value; ``width`` the samples of its ring, where it has one; ``flat`` says that the ring shares its
    axis with something else, as after ``flatten``; ``profile`` is the error in each column.
    """

    symmetry: str
    error: float
    width: int | None = None
    flat: bool = False
    profile: tuple[float, ...] = ()


@dataclass(frozen=True)
class _Reading:
    """One way to see a result ``(B, ...)``: ``at`` has (axis, samples of the ring) for every axis that turns."""

    at: tuple[tuple[int, int], ...] = ()
    flat: bool = False
    repeats: bool = False


def answer(joint: Tensor, rolls: tuple[int, ...], width: int, widths: set[int], tolerance: float) -> Answer | None:
    """The answer of ``joint``, the results for the input and for each of its rolls, stacked along the batch.

    Readings are tried from the likely to the unlikely, and if none fits, the first with a ring tells the error: the
    ring as the last axis; no ring left; the ring elsewhere, alone or flattened with other axes; as rows and columns of
    a matrix; wrapped beyond its ends. ``widths`` are those of rings seen before. ``None`` where the result has no
    batch to compare.
    """
    if joint.ndim == 0 or joint.shape[0] == 0 or joint.shape[0] % (len(rolls) + 1) or joint.numel() == 0:
        return None
    parts = joint.detach().reshape(len(rolls) + 1, -1, *joint.shape[1:])
    parts = parts if parts.dtype in (torch.float32, torch.float64) else _real(parts)
    likely: Answer | None = None
    for reading in _readings(parts[0], rolls, width, widths):
        found = _answer(parts, reading, rolls, width)
        if found.error <= tolerance:
            return found
        if likely is None or (likely.width is None and reading.at and not found.error >= likely.error):
            likely = found
    assert likely is not None  # there is always the reading without a ring
    return Answer("neither", likely.error, likely.width, likely.flat, likely.profile)


def _readings(y: Tensor, rolls: tuple[int, ...], width: int, widths: set[int]) -> Iterator[_Reading]:
    def turns(n: int) -> bool:
        return n > 1 and all(k * n % width == 0 for k in rolls)

    last, rings = y.ndim - 1, sorted((w for w in widths if turns(w)), reverse=True)
    if y.ndim > 2 and turns(y.shape[-1]):
        yield _Reading(((last, y.shape[-1]),))
    yield _Reading()
    for axis in reversed(range(1, y.ndim)):
        if (axis < last or y.ndim == 2) and turns(y.shape[axis]):
            yield _Reading(((axis, y.shape[axis]),))
    for w in rings:
        for axis in reversed(range(y.ndim)):
            if y.shape[axis] > w and y.shape[axis] % w == 0:
                yield _Reading(((axis, w),), flat=True)
        if y.ndim > 2 and y.shape[-1] == y.shape[-2] and y.shape[-1] % w == 0:
            yield _Reading(((last - 1, w), (last, w)), flat=True)
        if w < y.shape[-1] <= 3 * w:
            yield _Reading(((last, w),), repeats=True)


def _answer(parts: Tensor, reading: _Reading, rolls: tuple[int, ...], width: int) -> Answer:
    scale = _largest(parts[0]) or 1e-30
    error = 0.0
    profile: tuple[float, ...] = ()
    if reading.repeats:
        w = reading.at[0][1]
        error = _largest(_difference(parts[..., w:], parts[..., :-w])) / scale
        parts = parts[..., :w]
    for turned, k in zip(parts[1:], rolls, strict=True):
        difference = _difference(_turn(turned, reading, -k, width), parts[0])
        error = max(error, _largest(difference) / scale)
        profile = profile or _profile(difference, reading, scale)
    ring = reading.at[0][1] if reading.at else None
    return Answer("equivariant" if reading.at else "invariant", error, ring, reading.flat, profile)


def _turn(y: Tensor, reading: _Reading, k: int, width: int) -> Tensor:
    for axis, w in reading.at:
        y = y.unflatten(axis, (-1, w)).roll(k * w // width, axis + 1).flatten(axis, axis + 1)
    return y


def _profile(difference: Tensor, reading: _Reading, scale: float) -> tuple[float, ...]:
    """The largest error in each column of the ring, in the frame of the input that was not turned."""
    if len(reading.at) != 1 or reading.flat:
        return ()
    return tuple((difference.movedim(reading.at[0][0], 0).flatten(1).amax(1) / scale).tolist())


def _difference(a: Tensor, b: Tensor) -> Tensor:
    """|a − b|, and 0 where both are the same infinity."""
    return torch.where(a == b, torch.zeros((), dtype=a.dtype, device=a.device), (a - b).abs())


def _largest(y: Tensor) -> float:
    finite = y.abs()
    finite = torch.where(finite.isinf(), torch.zeros_like(finite), finite) if finite.isinf().any() else finite
    return finite.max().item()


def _real(y: Tensor) -> Tensor:
    return torch.view_as_real(y).flatten(-2) if y.is_complex() else y.float()
