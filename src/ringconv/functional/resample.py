"""Resampling images on the cylinder: periodic around the ring, by the height rule along the height."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .. import _checks
from ..algorithms import RULES, extend
from ..spectral import layout_of, table, widen

MODES = ("nearest", "bilinear", "bicubic")
_TAPS = {"nearest": 1, "bilinear": 2, "bicubic": 4}


def ring_interpolate(
    input: Tensor,
    size: int | tuple[int, int] | None = None,
    scale_factor: float | tuple[float, float] | None = None,
    mode: str = "nearest",
    *,
    height: str = "symmetric",
) -> Tensor:
    r"""Resample images to another size, reading across the seam.

    Sample j of ``n_out`` stands at :math:`(j + ½)\, n_{in} / n_{out} − ½` among the ``n_in`` (half-pixel centres, as
    :func:`torch.nn.functional.interpolate` with ``align_corners=False``); ``"nearest"`` reads
    :math:`\lfloor j\, n_{in} / n_{out} \rfloor`, as torch's does. Positions are computed in whole numbers, so that
    upsampling a rolled ring is the rolled upsampled ring to the last bit: a roll by k becomes one by
    ``k · n_out / n_in`` wherever that is whole.

    Args:
        input: images ``(B, C, H, W)`` or ``(C, H, W)``.
        size: ``n`` or ``(n_h, n_w)``; this or ``scale_factor``.
        scale_factor: ``f`` or ``(f_h, f_w)``; the size becomes ``⌊f · n⌋``.
        mode: ``"nearest"``, ``"bilinear"`` or ``"bicubic"`` (a = −0.75, as torch's).
        height: what stands beyond the first and last row. ``"symmetric"`` and ``"replicate"`` are the same for
            ``"bilinear"``; ``"replicate"`` is what torch does.

    Returns:
        ``(B, C, *size)``, or without B where the input had none.

    >>> ring_interpolate(torch.tensor([[[0.0, 8.0]]]), (1, 4), mode="bilinear")
    tensor([[[2., 2., 6., 6.]]])
    """
    where = "ring_interpolate"
    x, unbatched = _checks.image(where, input)
    _checks.one_of(where, "mode", mode, MODES)
    _checks.one_of(where, "height", height, RULES)
    goal, factors = check_goal(where, size, scale_factor)
    rows, columns = goal or (math.floor(n * f) for n, f in zip(x.shape[-2:], factors, strict=True))
    if not rows or not columns:
        raise ValueError(f"{where}: scale_factor={scale_factor!r} leaves nothing of an image of {tuple(x.shape[-2:])}")
    y = _resample(widen(x), -1, columns, mode, "circular")
    y = _resample(y, -2, rows, mode, height).to(x.dtype)
    y = x.clone() if y is x else layout_of(x, y)
    return y.squeeze(0) if unbatched else y


def check_goal(
    where: str, size: int | tuple[int, int] | None, scale_factor: float | tuple[float, float] | None
) -> tuple[tuple[int, int] | None, tuple[float, ...]]:
    """The size asked for as ``(n_h, n_w)``, or ``None`` and the factors ``(f_h, f_w)``."""
    if (size is None) == (scale_factor is None):
        raise ValueError(f"{where}: give size or scale_factor, got size={size!r} and scale_factor={scale_factor!r}")
    if size is not None:
        return _checks.pair(where, "size", size), ()
    factors: tuple[Any, ...] = tuple(scale_factor) if isinstance(scale_factor, (tuple, list)) else (scale_factor,) * 2
    if len(factors) != 2 or not all(isinstance(f, (int, float)) and 0 < f < math.inf for f in factors):
        raise ValueError(f"{where}: scale_factor={scale_factor!r} must be a positive number or a pair of them")
    return None, factors


def _resample(x: Tensor, dim: int, n_out: int, mode: str, rule: str) -> Tensor:
    n_in, taps = x.shape[dim], _TAPS[mode]
    if n_in == n_out:
        return x
    sizes = n_in, n_out, taps
    read = _positions(*sizes, dtype=torch.int64, device=x.device)
    x = extend(x, dim, *_margins(*sizes), rule)
    if taps == 1:
        return x.index_select(dim, read[0])
    weights = _weights(*sizes, dtype=x.dtype, device=x.device).unflatten(-1, (-1, *(1,) * (-dim - 1)))
    y: Tensor = x.index_select(dim, read[0]) * weights[0]
    for t in range(1, taps):
        y = y + x.index_select(dim, read[t]) * weights[t]
    return y


def _position(j: Any, n_in: int, n_out: int, taps: int) -> tuple[Any, Any]:
    """The position of output sample j (a number or an array) as its whole part and ``2 n_out`` times the rest."""
    if taps == 1:
        return j * n_in // n_out, 0
    numerator = (2 * j + 1) * n_in - n_out
    return numerator // (2 * n_out), numerator % (2 * n_out)


def _margins(n_in: int, n_out: int, taps: int) -> tuple[int, int]:
    """Samples that are read before the first and after the last of the ``n_in``."""
    lead = (taps - 1) // 2
    first, last = (_position(j, n_in, n_out, taps)[0] - lead for j in (0, n_out - 1))
    return max(0, -first), max(0, last + taps - n_in)


@table
def _positions(n_in: int, n_out: int, taps: int) -> NDArray[np.int64]:
    """Which samples of the extended signal each output sample reads, ``(taps, n_out)``."""
    whole, _ = _position(np.arange(n_out), n_in, n_out, taps)
    before, _ = _margins(n_in, n_out, taps)
    first: NDArray[np.int64] = whole - (taps - 1) // 2 + before
    return first + np.arange(taps)[:, None]


@table
def _weights(n_in: int, n_out: int, taps: int) -> NDArray[np.float64]:
    """The weight of each sample read, ``(taps, n_out)``."""
    t = _position(np.arange(n_out), n_in, n_out, taps)[1] / (2 * n_out)
    return np.stack([1 - t, t] if taps == 2 else [_cubic(t + 1), _cubic(t), _cubic(1 - t), _cubic(2 - t)])


def _cubic(t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Keys' kernel with a = −0.75 at distance t."""
    a = -0.75
    near = ((a + 2) * t - (a + 3)) * t * t + 1
    far = a * (((t - 5) * t + 8) * t - 4)
    return np.where(t <= 1, near, far)
