"""The cylinder that is fitted to an object: the narrowest, and only one."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringconv.render import Cylinder, fit_cylinder


def narrowest(points: Any) -> float:
    """Over all circles across two points and through three, the smallest that holds them all."""
    best = np.inf
    for pair in combinations(points, 2):
        centre = sum(pair) / 2
        radius = max(np.hypot(*(points - centre).T))
        best = min(best, radius)
    for a, b, c in combinations(points, 3):
        system = 2 * np.array([b - a, c - a])
        if abs(np.linalg.det(system)) > 1e-12:
            centre = np.linalg.solve(system, [b @ b - a @ a, c @ c - a @ a])
            best = min(best, max(np.hypot(*(points - centre).T)))
    return float(best)


@given(st.integers(2, 9), st.integers(0, 10**6))
def test_no_narrower_cylinder_holds_the_points(n: int, seed: int) -> None:
    points = np.random.default_rng(seed).integers(-3, 4, (n, 3)).astype(float)
    points[:2] = [[0, 0, 0], [1, 0, 1]]
    found = fit_cylinder(points)
    assert found.radius == pytest.approx(narrowest(points[:, :2]), rel=1e-9)
    assert max(np.hypot(*(points[:, :2] - found.centre).T)) <= found.radius * (1 + 1e-9)
    assert (found.bottom, found.top) == (points[:, 2].min(), points[:, 2].max())


def test_many_points_on_one_circle() -> None:
    for n in (3, 4, 100, 5000):
        angle = np.arange(n) * 2 * np.pi / n + 0.1
        points = np.stack([3 + 2 * np.cos(angle), 5 + 2 * np.sin(angle), angle], 1)
        found = fit_cylinder(points)
        assert (*found.centre, found.radius) == pytest.approx((3, 5, 2), rel=1e-12)


def test_uniform_is_as_high_as_wide_and_holds_the_tight_one() -> None:
    points = np.random.default_rng(0).normal(size=(50, 3)) * (1, 1, 5)
    for stretched in (points, points * (9, 9, 1)):
        tight, uniform = fit_cylinder(stretched), fit_cylinder(stretched, "uniform")
        assert uniform.top - uniform.bottom == pytest.approx(2 * uniform.radius)
        assert uniform.radius == max(tight.radius, (tight.top - tight.bottom) / 2)
        assert uniform.bottom + uniform.top == pytest.approx(tight.bottom + tight.top)
        assert uniform.centre == tight.centre


def test_unit_puts_the_wall_at_one() -> None:
    cylinder = Cylinder(2, 1, 5, (3, 4))
    assert cylinder.unit(np.array([[5.0, 4, 5], [3, 2, 1]])).tolist() == [[1, 0, 1], [0, -1, -1]]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((0, 0, 1), "radius=0 must be above 0"),
        ((1, 1, 1), "top=1 must be above bottom=1"),
        ((1, 0, np.inf), "finite"),
        ((1, 0, 1, (np.nan, 0)), "finite"),
    ],
)
def test_bad_cylinders_are_named(values: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Cylinder(*values)


def test_an_unknown_fit_is_named() -> None:
    with pytest.raises(ValueError, match="fit='best' is not one of 'tight', 'uniform'"):
        fit_cylinder(np.eye(3), "best")
