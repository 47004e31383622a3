"""The tiles' matrix products in borrowed memory, some images at a time, and their gradients.

Batched products write where they are told to, into memory that the thread has touched before; what one step leaves
is where the next but one writes. Autograd keeps the image and the kernels, nothing transformed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..spectral import channels_lie_last
from . import tiles
from .eager import eager
from .extend import fill, fold_
from .geometry import Geometry
from .plan import PASS, Plan
from .scratch import borrowed
from .tiles import Tiling, margins, tiling


class _Task(NamedTuple):
    """One correlation by one plan."""

    at: Geometry
    groups: int
    plan: Plan


def correlate(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    at: Geometry,
    groups: int,
    p: Plan,
    points: Tensor | None = None,
) -> Tensor:
    """:func:`.tiles.correlate`, plus ``bias``, in the layout of ``x``."""
    task = _Task(at, groups, p)
    y: Tensor = _Correlation.apply(x, weight, bias, task, points)  # type: ignore[no-untyped-call]
    return y


class _Correlation(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, task: _Task, points: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.task = task
        return _forward(x, weight, bias, task, points)

    @staticmethod
    def backward(ctx: Any, y: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        to_x, to_weight, to_bias = ctx.needs_input_grad[:3]
        biases = y.sum((0, 2, 3)) if to_bias else None
        if torch.is_grad_enabled() or not eager(x, weight, y):
            return *_differentiable(x, weight, y, ctx.task, (to_x, to_weight)), biases, None, None
        images = _to_images(y, weight, x, ctx.task) if to_x else None
        kernels = _to_kernels(x, y, weight, ctx.task) if to_weight else None
        return images, kernels, biases, None, None


def _differentiable(
    x: Tensor, weight: Tensor, y: Tensor, task: _Task, wanted: tuple[bool, bool]
) -> tuple[Tensor | None, Tensor | None]:
    """The gradients as functions that have gradients themselves: those of the composition of torch's operators."""
    with torch.enable_grad():
        again = tiles.correlate(x, weight, *task)
        operands = [operand for operand, asked in zip((x, weight), wanted, strict=True) if asked]
        found = iter(torch.autograd.grad(again, operands, y, create_graph=True) if operands else ())
    to_x, to_weight = (next(found) if asked else None for asked in wanted)
    return to_x, to_weight


def _forward(x: Tensor, weight: Tensor, bias: Tensor | None, task: _Task, points: Tensor | None) -> Tensor:
    t, size = tiling(task.plan, task.at, x), _images(x, weight, task.plan)
    y = _empty_like(x, (len(x), len(weight), *task.at.out_size))
    first, second = _sizes(t, size, x.shape[1], len(weight))
    with _regions(x, first, second, 0 if points is not None else _kernels(weight, task)) as (one, two, kernels):
        if points is None:
            points = _spectrum(weight, task, kernels)
        for some, into in zip(x.split(size), y.split(size), strict=True):
            wide, rest = _wide(two, t, len(some), x.shape[1])
            _read(some, wide, task)
            product = _product(_points(wide, t, rest, one), points, two)
            _write(_samples(product, t, len(some), task.groups, one, two), into, bias)
    return y


def _to_images(y: Tensor, weight: Tensor, like: Tensor, task: _Task) -> Tensor:
    """The gradient to ``like``: the tiles' adjoints, added where the tiles overlap."""
    t, size = tiling(task.plan, task.at, y).transposed, _images(like, weight, task.plan)
    x = _empty_like(like, like.shape)
    first, second = _sizes(t, size, y.shape[1], x.shape[1])
    rows, columns = task.plan
    image = (rows.samples, columns.samples, x.shape[1])
    with _regions(y, first, second, _kernels(weight, task), size * math.prod(image)) as (one, two, kernels, three):
        points = _spectrum(weight, task, kernels).mT
        for some, into in zip(y.split(size), x.split(size), strict=True):
            wide, rest = _wide(two, t, len(some), y.shape[1])
            _lay(some, wide)
            product = _product(_points(wide, t, rest, one), points, two)
            image_grad = _shaped(three, len(some), *image).zero_()
            _add(_samples(product, t, len(some), task.groups, one, two), image_grad, t)
            _fold(image_grad, into, task)
    return x


def _to_kernels(x: Tensor, y: Tensor, weight: Tensor, task: _Task) -> Tensor:
    """The gradient to ``weight``: at every point, images of x times those of y, over all tiles."""
    t, size = tiling(task.plan, task.at, x), _images(x, weight, task.plan)
    back = t.transposed
    tiles_of_x, tiles_of_y = (_sizes(t, size, x.shape[1], 0), _sizes(back, size, y.shape[1], 0))
    second = max(tiles_of_x[1], tiles_of_y[1])
    with _regions(x, tiles_of_x[0], second, tiles_of_y[0], _kernels(weight, task)) as (one, two, three, kernels):
        product = kernels.zero_().view(-1, weight.shape[1], len(weight) // task.groups)
        for some, some_y in zip(x.split(size), y.split(size), strict=True):
            wide, rest = _wide(two, t, len(some), x.shape[1])
            _read(some, wide, task)
            points_of_x = _points(wide, t, rest, one)
            wide, rest = _wide(two, back, len(some), y.shape[1])
            _lay(some_y, wide)
            points_of_y = _points(wide, back, rest, three)
            by_point = _by_point(points_of_x, product.shape[1]), _by_point(points_of_y, product.shape[2])
            product.baddbmm_(by_point[0].mT, by_point[1])
        return tiles.spectrum_adjoint(product.view(-1, task.groups, *product.shape[1:]), task.at, task.plan)


def _points(wide: Tensor, t: Tiling, spare: Tensor, out: Tensor) -> Tensor:
    """Images ``(b, rows, columns, C)`` to ``(tile, point, C)``: tiles by row, by column, by image."""
    b, rows, _, channels = wide.shape
    down, around, both = t.plan.rows.tiles, t.plan.columns.tiles, len(t.columns.into)
    points = _shaped(out, down, around, b, len(t.rows.into), both // 2 * channels)
    half = _shaped(spare, b * rows, both, channels)
    lines, matrix = wide.flatten(0, 1), t.columns.into.expand(b * rows, -1, -1)
    for j in range(around):
        torch.bmm(matrix, lines.narrow(1, j * t.columns.read_hop, t.columns.read), out=half)
        parts = half.view(b, 2 * rows, -1)
        for i in range(down):
            seen = parts.narrow(1, 2 * i * t.rows.read_hop, 2 * t.rows.read)
            torch.bmm(t.rows.into.expand(b, -1, -1), seen, out=points[i, j])
    return points.view(down * around * b, -1, channels)


def _product(points: Tensor, kernels: Tensor, out: Tensor) -> Tensor:
    """``(tile, point, C)`` with ``(point, group, C/groups, O/groups)`` to ``(point and group, tile, O/groups)``."""
    by_point = _by_point(points, kernels.shape[-2])
    product = _shaped(out, len(by_point), by_point.shape[1], kernels.shape[-1])
    return torch.bmm(by_point, kernels.flatten(0, 1), out=product)


def _by_point(points: Tensor, channels: int) -> Tensor:
    """``(tile, point, C)`` as ``(point and group, tile, channels)``, where it stands."""
    return points.view(len(points), -1, channels).transpose(0, 1)


def _samples(product: Tensor, t: Tiling, b: int, groups: int, spare: Tensor, out: Tensor) -> Tensor:
    """``(point and group, tile, O/groups)`` to ``(sample, group, row, column, image, sample, O/groups)``."""
    _, tiles_, outputs = product.shape
    points, rows = t.rows.back.shape[1], t.rows.write
    half = _shaped(spare, 2 * rows, product.numel() // points)
    torch.mm(t.rows.back, product.view(points, -1), out=half)
    half = half.view(rows, -1, groups * tiles_, outputs)
    samples = _shaped(out, rows, groups * tiles_, t.columns.write, outputs)
    matrix = t.columns.back.expand(groups * tiles_, -1, -1)
    for row in range(rows):
        torch.bmm(matrix, half[row].transpose(0, 1), out=samples[row])
    return samples.view(rows, groups, t.plan.rows.tiles, t.plan.columns.tiles, b, t.columns.write, outputs)


def _read(x: Tensor, wide: Tensor, task: _Task) -> None:
    """Fill ``wide`` with what the tiles read: the image, beyond it what its rules say, and zeros below that."""
    at = task.at
    left, right = margins(at, task.plan)
    images = wide.movedim(-1, 1)
    middle = images.narrow(-2, at.top, at.size[0])
    middle.narrow(-1, left, at.size[1]).copy_(x)
    fill(middle, -1, left, right, "circular")
    used = at.top + at.size[0] + at.below
    fill(images.narrow(-2, 0, used), -2, at.top, at.below, at.rule)
    images.narrow(-2, used, images.shape[-2] - used).zero_()


def _fold(wide: Tensor, x: Tensor, task: _Task) -> None:
    """The adjoint of :func:`_read`; spoils ``wide``."""
    at = task.at
    left, right = margins(at, task.plan)
    images = wide.movedim(-1, 1).narrow(-2, 0, at.top + at.size[0] + at.below)
    x.copy_(fold_(fold_(images, -1, left, right, "circular"), -2, at.top, at.below, at.rule))


def _lay(y: Tensor, wide: Tensor) -> None:
    """Lay results out for the adjoint: zeros where tiles reach beyond them."""
    images, (rows, columns) = wide.movedim(-1, 1), y.shape[-2:]
    images[..., :rows, :columns].copy_(y)
    images[..., rows:, :].zero_()
    images[..., :rows, columns:].zero_()


def _tiles(samples: Tensor) -> Iterator[tuple[int, int, Tensor]]:
    """Row, column and ``(b, group, O/groups, rows, columns)`` of every tile."""
    for i, j in itertools.product(range(samples.shape[2]), range(samples.shape[3])):
        yield i, j, samples[:, :, i, j].permute(2, 1, 4, 0, 3)


def _write(samples: Tensor, y: Tensor, bias: Tensor | None) -> None:
    """Put the tiles where they belong, plus ``bias``; what they reach beyond the image is dropped."""
    groups, rows, columns = samples.shape[1], samples.shape[0], samples.shape[5]
    y = y.unflatten(1, (groups, -1))
    for i, j, tile in _tiles(samples):
        place = y[..., i * rows : (i + 1) * rows, j * columns : (j + 1) * columns]
        tile = tile[..., : place.shape[-2], : place.shape[-1]]
        if bias is None:
            place.copy_(tile)
        else:
            torch.add(tile, bias.view(groups, -1, 1, 1), out=place)


def _add(samples: Tensor, wide: Tensor, t: Tiling) -> None:
    """Add tiles up where they overlap."""
    images = wide.movedim(-1, 1).unflatten(1, (samples.shape[1], -1))
    for i, j, tile in _tiles(samples):
        place = images.narrow(-2, i * t.rows.write_hop, t.rows.write).narrow(
            -1, j * t.columns.write_hop, t.columns.write
        )
        place.add_(tile)


def _spectrum(weight: Tensor, task: _Task, out: Tensor) -> Tensor:
    return tiles.spectrum(weight, *task, out=out.view(3 * task.plan.rows.n, -1))


def _kernels(weight: Tensor, task: _Task) -> int:
    """Numbers in the spectrum of the kernels."""
    return task.plan.points * (weight.numel() // math.prod(task.at.kernel))


def _images(x: Tensor, weight: Tensor, p: Plan) -> int:
    """Images whose points fit a pass."""
    each = p.rows.tiles * p.columns.tiles * p.points * max(x.shape[1], len(weight)) * x.element_size()
    return max(1, min(len(x), PASS // each))


def _sizes(t: Tiling, b: int, channels: int, outputs: int) -> tuple[int, int]:
    """Numbers in the two regions that the steps of a pass write to in turn."""
    tiles_, points, half = b * t.plan.rows.tiles * t.plan.columns.tiles, t.plan.points, len(t.columns.into)
    rows, columns = _read_size(t)
    first = tiles_ * max(points * channels, t.rows.write * t.columns.back.shape[1] * outputs)
    second = max(b * rows * (columns + half) * channels, tiles_ * outputs * max(points, t.rows.write * t.columns.write))
    return first, second


def _read_size(t: Tiling) -> tuple[int, int]:
    (rows, columns), r, c = t.plan, t.rows, t.columns
    return (rows.tiles - 1) * r.read_hop + r.read, (columns.tiles - 1) * c.read_hop + c.read


def _wide(region: Tensor, t: Tiling, b: int, channels: int) -> tuple[Tensor, Tensor]:
    """Room for ``b`` images with all that the tiles read, ``(b, rows, columns, C)``, and what is left of the region."""
    shape = b, *_read_size(t), channels
    return _shaped(region, *shape), region[math.prod(shape) :]


def _shaped(region: Tensor, *shape: int) -> Tensor:
    return region[: math.prod(shape)].view(shape)


@contextmanager
def _regions(like: Tensor, *sizes: int) -> Iterator[tuple[Tensor, ...]]:
    """Borrowed memory for so many numbers each."""
    with borrowed((sum(sizes),), like) as memory:
        yield memory.split(sizes)


def _empty_like(x: Tensor, shape: torch.Size | tuple[int, ...]) -> Tensor:
    """Images of ``shape`` in the layout of ``x``."""
    layout = torch.channels_last if channels_lie_last(x) else torch.contiguous_format
    return torch.empty(shape, dtype=x.dtype, device=x.device, memory_format=layout)
