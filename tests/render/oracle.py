"""What rays meet, slowly and in double precision: triangle by triangle, and from the equations of four solids."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Meet = Callable[[Array, Array], list[float]]  # origin and direction to the distances at which a surface is met


def picture(meet: Meet, height: int, width: int, radius: float, bottom: float, top: float) -> dict[str, Array]:
    """``depth``, ``last``, ``hit`` and ``count`` by the definition, one ray at a time, about the z axis."""
    planes = {name: np.zeros((height, width)) for name in ("hit", "count")}
    planes |= {name: np.ones((height, width)) for name in ("depth", "last")}
    for i, j in product(range(height), range(width)):
        azimuth = 2 * np.pi * (j + 0.5) / width
        inwards = -np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
        wall = np.array([0.0, 0.0, top - (i + 0.5) * (top - bottom) / height]) - radius * inwards
        depths = sorted(t / radius for t in meet(wall, inwards) if 0 <= t <= radius)
        if depths:
            planes["hit"][i, j], planes["count"][i, j] = 1, len(depths)
            planes["depth"][i, j], planes["last"][i, j] = depths[0], depths[-1]
    return planes


def triangles(vertices: Any, faces: Any) -> Meet:
    """Each triangle by itself: the plane, then the three edges."""
    corners = np.asarray(vertices, np.float64)[np.asarray(faces)]

    def meet(origin: Array, direction: Array) -> list[float]:
        found = []
        for a, b, c in corners:
            normal = np.cross(b - a, c - a)
            if (slope := normal @ direction) == 0:
                continue
            t = normal @ (a - origin) / slope
            p = origin + t * direction
            if all(np.cross(v - u, p - u) @ normal >= 0 for u, v in ((a, b), (b, c), (c, a))):
                found.append(float(t))
        return found

    return meet


def turned(meet: Meet, rotation: Array, shift: Array) -> Meet:
    """The solid turned about the origin, then shifted."""
    return lambda origin, direction: meet(rotation.T @ (origin - shift), rotation.T @ direction)


def box(sides: Array) -> Meet:
    """A box centred at the origin, by its three pairs of planes."""

    def meet(origin: Array, direction: Array) -> list[float]:
        with np.errstate(divide="ignore"):
            bounds = (np.array([[-0.5], [0.5]]) * sides - origin) / direction
        near, far = bounds.min(0).max(), bounds.max(0).min()
        return [float(near), float(far)] if near < far else []

    return meet


def sphere(radius: float) -> Meet:
    def meet(origin: Array, direction: Array) -> list[float]:
        return _real([direction @ direction, 2 * origin @ direction, origin @ origin - radius**2])

    return meet


def rod(radius: float, length: float) -> Meet:
    """A closed cylinder along z, centred at the origin."""

    def meet(origin: Array, direction: Array) -> list[float]:
        o, d = origin[:2], direction[:2]
        wall = [t for t in _real([d @ d, 2 * o @ d, o @ o - radius**2]) if _within(origin, direction, t)]
        caps = [(s * length / 2 - origin[2]) / direction[2] for s in (-1, 1)] if direction[2] else []
        return wall + [t for t in caps if np.hypot(*(o + t * d)) <= radius]

    def _within(origin: Array, direction: Array, t: float) -> bool:
        return bool(abs(origin[2] + t * direction[2]) <= length / 2)

    return meet


def torus(major: float, minor: float) -> Meet:
    """A ring about z: (x² + y² + z² + R² − r²)² = 4 R² (x² + y²)."""

    def meet(origin: Array, direction: Array) -> list[float]:
        squared = np.array([direction @ direction, 2 * origin @ direction, origin @ origin])
        flat = np.array([direction[:2] @ direction[:2], 2 * origin[:2] @ direction[:2], origin[:2] @ origin[:2]])
        left = np.polyadd(squared, [major**2 - minor**2])
        return _real(np.polysub(np.polymul(left, left), 4 * major**2 * flat))

    return meet


def _real(polynomial: Any) -> list[float]:
    return [float(root.real) for root in np.roots(polynomial) if abs(root.imag) < 1e-7]
