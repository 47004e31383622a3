"""The operators of the library as slow, obvious loops over their formulas, in float64.

Nothing here shares an idea with the library: no padding, no transform, no table. A sample beyond a boundary is found
by its index alone, :func:`source`, one at a time.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Pair = tuple[int, int]


def source(i: int, n: int, rule: str) -> int | None:
    """Which of ``n`` samples stands at place ``i``, inside or outside; ``None`` where a zero does."""
    if rule in ("zeros", "valid"):
        return i if 0 <= i < n else None
    if rule == "replicate":
        return min(max(i, 0), n - 1)
    if rule == "circular":
        return i % n
    if rule == "symmetric":
        return min(i % (2 * n), 2 * n - 1 - i % (2 * n))
    if n == 1:
        return 0
    return min(i % (2 * n - 2), 2 * n - 2 - i % (2 * n - 2))


def paddings(kernel: int, dilation: int, padding: str | int | Pair, height: str) -> Pair:
    """The rows ``(top, bottom)`` that a caller's ``padding`` stands for."""
    if height == "valid":
        return 0, 0
    if padding == "same":
        reach = dilation * (kernel - 1)
        return reach // 2, reach - reach // 2
    return (padding, padding) if isinstance(padding, int) else padding


def windows(size: Pair, kernel: Pair, stride: Pair, dilation: Pair, padding: str | int | Pair, height: str):
    """For each output place ``(i, j)``, the ``(u, v, row, column)`` of what its window reads."""
    (H, W), (K_h, K_w), (s_h, s_w), (d_h, d_w) = size, kernel, stride, dilation
    top, bottom = paddings(K_h, d_h, padding, height)
    left = d_w * (K_w - 1) // 2
    places = {}
    for i in range((H + top + bottom - d_h * (K_h - 1) - 1) // s_h + 1):
        for j in range(W // s_w):
            places[i, j] = [
                (u, v, source(i * s_h + u * d_h - top, H, height), (j * s_w + v * d_w - left) % W)
                for u in range(K_h)
                for v in range(K_w)
            ]
    return places


def out_size(places: dict[Pair, object]) -> Pair:
    """How many rows and columns of output places there are."""
    last_i, last_j = max(places)
    return last_i + 1, last_j + 1


def correlate(
    x: Array,
    w: Array,
    bias: Array | None = None,
    stride: Pair = (1, 1),
    padding: str | int | Pair = "same",
    dilation: Pair = (1, 1),
    groups: int = 1,
    height: str = "symmetric",
) -> Array:
    """y[b,o,i,j] = bias[o] + Σ_{c,u,v} w[o,c,u,v] · x̃[b, c, i·s_h + u·d_h − p_h, (j·s_w + v·d_w − p_w) mod W]."""
    outs, channels = w.shape[:2]
    places = windows(x.shape[2:], w.shape[2:], stride, dilation, padding, height)
    y = np.zeros((x.shape[0], outs, *out_size(places)))
    for o in range(outs):
        group = o // (outs // groups)
        seen = x[:, group * channels : (group + 1) * channels]
        for (i, j), reads in places.items():
            for u, v, row, column in reads:
                if row is not None:
                    y[:, o, i, j] += seen[:, :, row, column] @ w[o, :, u, v]
            if bias is not None:
                y[:, o, i, j] += bias[o]
    return y


def correlate_adjoint(y: Array, w: Array, size: Pair, **geometry) -> Array:
    """The transpose of the dense matrix of :func:`correlate` on images of ``size``, which maps them to those of y."""
    shape = (w.shape[1] * geometry.get("groups", 1), *size)
    units = np.eye(int(np.prod(shape))).reshape(-1, *shape)
    matrix = correlate(units, w, **geometry).reshape(len(units), -1)
    return (y.reshape(len(y), matrix.shape[1]) @ matrix.T).reshape(len(y), *shape)


def pool(reduce, x: Array, kernel: Pair, stride: Pair, padding="same", dilation: Pair = (1, 1), height="symmetric"):
    """``reduce`` (a function of a list of arrays) over every window, where a row of zeros reads 0."""
    places = windows(x.shape[2:], kernel, stride, dilation, padding, height)
    y = np.zeros((*x.shape[:2], *out_size(places)))
    for (i, j), reads in places.items():
        y[:, :, i, j] = reduce([0 * x[:, :, 0, 0] if r is None else x[:, :, r, c] for _, _, r, c in reads])
    return y


def _keys(t: Fraction) -> Fraction:
    """Keys' cubic kernel, a = −3/4, by the two polynomials of his paper."""
    a, t = Fraction(-3, 4), abs(t)
    if t <= 1:
        return (a + 2) * t**3 - (a + 3) * t**2 + 1
    return a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a if t < 2 else Fraction(0)


def _tent(t: Fraction) -> Fraction:
    return max(Fraction(0), 1 - abs(t))


def interpolate_line(x: Array, n_out: int, mode: str, rule: str) -> Array:
    """``n_out`` samples along the last axis, at (j + ½) n / n_out − ½, or ⌊j n / n_out⌋ for ``nearest``."""
    n = x.shape[-1]
    y = np.zeros((*x.shape[:-1], n_out))
    for j in range(n_out):
        if mode == "nearest":
            y[..., j] = x[..., j * n // n_out]
            continue
        at = Fraction(2 * j + 1, 2) * n / n_out - Fraction(1, 2)
        for i in range(floor(at) - 2, floor(at) + 4):
            weight = float((_tent if mode == "bilinear" else _keys)(at - i))
            place = source(i, n, rule)
            if place is not None:
                y[..., j] += weight * x[..., place]
    return y


def interpolate(x: Array, size: Pair, mode: str, height: str) -> Array:
    """:func:`interpolate_line` around the ring, then along the height."""
    y = interpolate_line(x, size[1], mode, "circular")
    return interpolate_line(y.swapaxes(-1, -2), size[0], mode, height).swapaxes(-1, -2)


def rotate(x: Array, degrees: float) -> Array:
    """The trigonometric interpolant through the samples of the last axis, read ``degrees`` further back."""
    n = x.shape[-1]
    angle = np.deg2rad(degrees)
    y = np.zeros(x.shape)
    for j in range(n):
        for i in range(n):
            phase = 2 * np.pi * (j - i) / n - angle
            dirichlet = 1 + 2 * sum(np.cos(k * phase) for k in range(1, (n - 1) // 2 + 1))
            # The harmonic (−1)^i of an even ring is real in every phase: cos(n/2 φ) between the samples.
            dirichlet += np.cos(np.pi * i) * np.cos(n / 2 * (2 * np.pi * j / n - angle)) * (n % 2 == 0)
            y[..., j] += x[..., i] * dirichlet / n
    return y


def correlation_around(a: Array, b: Array) -> Array:
    """``(B, C, H, W)`` twice to ``(B, W)``: entry t is the sum of products of ``a`` and ``b`` rolled by t columns."""
    scores = np.zeros((a.shape[0], a.shape[-1]))
    for t in range(a.shape[-1]):
        for j in range(a.shape[-1]):
            scores[:, t] += (a[..., j] * b[..., (j - t) % a.shape[-1]]).sum((1, 2))
    return scores
