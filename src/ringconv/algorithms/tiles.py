"""Correlation tile by tile: the overlap-save method with matrices for transforms. Any device, any dtype.

Pays for kernels of more than a few taps and channels enough to fill a matrix product. With the matrices of
:mod:`ringconv.spectral.tiles`, for tiles of one batch::

    points of x  (tile, point, C)     = rows · columns · samples
    product      (point, tile, O)     = points of x  @  spectrum (point, C, O)
    y            (tile, places, O)    = columns' · rows' · product

Every step is linear in each operand. The gradient to x runs the same steps with the matrices transposed, in the other
order, and adds the tiles where they overlap; the gradient to the kernels multiplies points of x with points of y.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from ..spectral.tiles import half_samples, half_spectrum, planes_of_images, planes_of_kernels, samples_of_planes
from .extend import extend
from .geometry import Geometry
from .plan import Plan


class Axis(NamedTuple):
    """What is read and written along one axis: tiles of so many samples, so far apart, and the matrices between."""

    read: int
    read_hop: int
    write: int
    write_hop: int
    into: Tensor
    back: Tensor

    @property
    def transposed(self) -> Axis:
        """The axis of the adjoint."""
        return Axis(self.write, self.write_hop, self.read, self.read_hop, self.back.mT, self.into.mT)


class Tiling(NamedTuple):
    """Both axes of a plan, on the device and in the dtype of the images."""

    plan: Plan
    rows: Axis
    columns: Axis

    @property
    def transposed(self) -> Tiling:
        """The tiling of the adjoint."""
        return Tiling(self.plan, self.rows.transposed, self.columns.transposed)


def tiling(p: Plan, at: Geometry, like: Tensor) -> Tiling:
    """The matrices of a plan."""
    of = {"dtype": like.dtype, "device": like.device}
    rows, columns = p
    return Tiling(
        p,
        Axis(
            rows.n,
            rows.hop,
            rows.outputs,
            rows.outputs,
            planes_of_images(rows.n, rows.n, **of),
            samples_of_planes(rows.n, rows.outputs, at.stride[0], **of),
        ),
        Axis(
            columns.n,
            columns.hop,
            columns.outputs,
            columns.outputs,
            half_spectrum(columns.n, columns.n, 1, 0, **of),
            half_samples(columns.n, columns.outputs, at.stride[1], **of),
        ),
    )


def correlate(x: Tensor, weight: Tensor, at: Geometry, groups: int, p: Plan, points: Tensor | None = None) -> Tensor:
    """``(B, C, H, W)`` with ``(O, C/groups, k_h, k_w)`` to ``(B, O, *at.out_size)``, in torch's own operators.

    ``points`` is the spectrum of the kernels, where it is at hand.
    """
    t = tiling(p, at, x)
    points = spectrum(weight, at, groups, p) if points is None else points
    tiles = _wide(x, at, p).unfold(-2, t.rows.read, t.rows.read_hop).unfold(-2, t.columns.read, t.columns.read_hop)
    half = (tiles @ t.columns.into.mT).unflatten(-1, (2, -1)).flatten(-3, -2)
    images = (t.rows.into @ half).flatten(-2).unflatten(1, (groups, -1)).permute(5, 1, 0, 3, 4, 2)
    product = images.flatten(2, 4) @ points
    product = product.unflatten(2, images.shape[2:5]).permute(2, 1, 5, 3, 4, 0).flatten(1, 2)
    half = t.rows.back @ product.unflatten(-1, (t.rows.back.shape[1], -1))
    y: Tensor = half.unflatten(-2, (-1, 2)).flatten(-2) @ t.columns.back.mT
    rows, columns = at.out_size
    return y.transpose(-3, -2).flatten(-4, -3).flatten(-2)[..., :rows, :columns]


def _wide(x: Tensor, at: Geometry, p: Plan) -> Tensor:
    """What the tiles read: the image extended by its rules, and by zeros where the last tile reads on."""
    left, right = margins(at, p)
    x = extend(extend(x, -2, at.top, at.below, at.rule), -1, left, right, "circular")
    return extend(x, -2, 0, p.rows.samples - x.shape[-2], "zeros")


def margins(at: Geometry, p: Plan) -> tuple[int, int]:
    """Columns that tiles read to the left and to the right of the ring."""
    left = 0 if p.columns.whole else at.left
    return left, p.columns.samples - left - at.size[1]


def spectrum(weight: Tensor, at: Geometry, groups: int, p: Plan, out: Tensor | None = None) -> Tensor:
    """``(O, C/groups, k_h, k_w)`` to ``(point, group, C/groups, O/groups)``.

    Differentiable, unless it is written to ``out``.
    """
    rows, columns = _kernel_matrices(weight, at, p)
    by_group = weight.unflatten(0, (groups, -1)).permute(4, 3, 0, 2, 1)
    channels = by_group.shape[2:]
    half = columns @ by_group.flatten(1)
    half = half.view(2, -1, at.kernel[0], channels.numel()).permute(2, 0, 1, 3)
    return torch.mm(rows, half.reshape(2 * at.kernel[0], -1), out=out).view(-1, *channels)


def spectrum_adjoint(points: Tensor, at: Geometry, p: Plan) -> Tensor:
    """The adjoint of :func:`spectrum`."""
    rows, columns = _kernel_matrices(points, at, p)
    _, groups, channels, outputs = points.shape
    half = rows.mT @ points.view(rows.shape[0], -1)
    half = half.view(at.kernel[0], 2, -1, groups * channels * outputs).permute(1, 2, 0, 3)
    taps = columns.mT @ half.reshape(columns.shape[0], -1)
    return taps.view(at.kernel[1], at.kernel[0], groups, channels, outputs).permute(2, 4, 3, 1, 0).flatten(0, 1)


def _kernel_matrices(like: Tensor, at: Geometry, p: Plan) -> tuple[Tensor, Tensor]:
    of = {"dtype": like.dtype, "device": like.device}
    start = -at.left if p.columns.whole else 0
    return (
        planes_of_kernels(p.rows.n, at.kernel[0], at.dilation[0], 0, **of),
        half_spectrum(p.columns.n, at.kernel[1], at.dilation[1], start, **of),
    )
