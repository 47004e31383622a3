"""The cylinder that looks at an object: given, or fitted so that it turns with the object."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _checks

Array = npt.NDArray[Any]
FITS = ("tight", "uniform")
# A point this far outside the circle, relative to its radius, lies on it: the circle itself is rounded.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Cylinder:
    """An upright cylinder: its axis passes through ``centre``, its wall stands from ``bottom`` to ``top``.

    Args:
        radius: of the wall.
        bottom, top: heights at which the wall begins and ends.
        centre: x and y of the axis.
    """

    radius: float
    bottom: float
    top: float
    centre: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, (self.radius, self.bottom, self.top, *self.centre))):
            raise ValueError(f"Cylinder: {self} must have finite numbers alone")
        if self.radius <= 0:
            raise ValueError(f"Cylinder: radius={self.radius!r} must be above 0")
        if self.top <= self.bottom:
            raise ValueError(f"Cylinder: top={self.top!r} must be above bottom={self.bottom!r}")

    def unit(self, points: Array) -> Array:
        """``(N, 3)`` points where the wall has radius 1 and stands from −1 to 1."""
        middle = (self.bottom + self.top) / 2
        return (points - (*self.centre, middle)) * self.scale

    @property
    def scale(self) -> Array:
        """What :meth:`unit` multiplies x, y and z by."""
        return np.array([1 / self.radius, 1 / self.radius, 2 / (self.top - self.bottom)])


def fit_cylinder(points: Array, fit: str = "tight") -> Cylinder:
    """The narrowest upright cylinder around ``(N, 3)`` points: seen from above, the smallest circle around them.

    That circle is unique, and so the cylinder turns with the points and does not depend on how a surface is cut into
    triangles, as a mean of vertices would.

    Args:
        points: x, y and z, upwards; finite.
        fit: ``"tight"`` takes the smallest radius and height, each by itself; ``"uniform"`` makes the height twice
            the radius, large enough for both: objects keep their proportions, and flat ones fill few rows.

    >>> fit_cylinder(np.array([[1.0, 0.0, 0.0], [3.0, 0.0, 5.0]]))
    Cylinder(radius=1.0, bottom=0.0, top=5.0, centre=(2.0, 0.0))
    """
    where = "fit_cylinder"
    _checks.one_of(where, "fit", fit, FITS)
    x, y, radius = _smallest_circle(points[:, :2])
    bottom, top = float(points[:, 2].min()), float(points[:, 2].max())
    if fit == "uniform":
        middle, half = (bottom + top) / 2, max(radius, (top - bottom) / 2)
        radius, bottom, top = half, middle - half, middle + half
    if radius == 0 or top == bottom:
        shape = "a vertical line" if radius == 0 else "flat"
        raise ValueError(f"{where}: the object is {shape}, which no cylinder fits; give cylinder=Cylinder(...)")
    return Cylinder(radius, bottom, top, (x, y))


def _smallest_circle(points: Array) -> tuple[float, float, float]:
    """x, y and radius: take in the farthest point outside until there is none; the radius grows every time."""
    support = [points[0]]
    while True:
        x, y, radius = circle = _circle(support)
        distances = np.hypot(points[:, 0] - x, points[:, 1] - y)
        farthest = int(distances.argmax())
        if distances[farthest] <= radius * (1 + _ROUNDING):
            return circle
        support, grown = _support([*support, points[farthest]])
        if grown <= radius:  # no wider circle than one that was left already: what lies outside is rounding
            return x, y, float(distances[farthest])


def _support(points: list[Array]) -> tuple[list[Array], float]:
    """Of up to four points, the two or three whose circle holds them all, and its radius."""
    found = []
    for chosen in itertools.chain(itertools.combinations(points, 2), itertools.combinations(points, 3)):
        x, y, radius = _circle(list(chosen))
        if all(math.hypot(p[0] - x, p[1] - y) <= radius * (1 + _ROUNDING) for p in points):
            found.append((radius, list(chosen)))
    radius, support = min(found, key=lambda pair: pair[0])
    return support, radius


def _circle(points: list[Array]) -> tuple[float, float, float]:
    """The circle through one point, across two, or through three; with no radius to speak of if they are in line."""
    ax, ay = map(float, points[0])
    if len(points) == 1:
        return ax, ay, 0.0
    bx, by = float(points[1][0]) - ax, float(points[1][1]) - ay
    if len(points) == 2:
        return ax + bx / 2, ay + by / 2, math.hypot(bx, by) / 2
    cx, cy = float(points[2][0]) - ax, float(points[2][1]) - ay
    twice = 2 * (bx * cy - by * cx)
    if twice == 0:
        return ax, ay, -1.0
    b, c = bx * bx + by * by, cx * cx + cy * cy
    x, y = (cy * b - by * c) / twice, (bx * c - cx * b) / twice
    return ax + x, ay + y, math.hypot(x, y)
