"""Five kinds of solids, no two of a kind alike: a small collection in any layout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import trimesh

Make = Callable[[np.random.Generator], trimesh.Trimesh]


def _between(draw: np.random.Generator, low: float, high: float) -> float:
    return float(draw.uniform(low, high))


def _frustum(draw: np.random.Generator) -> trimesh.Trimesh:
    sides = int(draw.integers(3, 5))
    angle = np.arange(sides) * 2 * np.pi / sides
    ring = np.stack([np.cos(angle), np.sin(angle)], 1)
    rings = [np.c_[scale * ring, np.full(sides, z)] for scale, z in ((1, 0), (_between(draw, 0.1, 0.4), 1.5))]
    return trimesh.convex.convex_hull(np.concatenate(rings))


SHAPES: dict[str, Make] = {
    "ball": lambda draw: trimesh.creation.icosphere(2, _between(draw, 0.5, 1)),
    "box": lambda draw: trimesh.creation.box(draw.uniform(0.6, 1, 3)),
    "cone": lambda draw: trimesh.creation.cone(_between(draw, 0.4, 0.8), _between(draw, 0.8, 1.6), sections=24),
    "frustum": _frustum,
    "ring": lambda draw: trimesh.creation.torus(1, _between(draw, 0.2, 0.4), major_sections=24, minor_sections=12),
}


def write_shapes(root: Path, train: int, test: int) -> Path:
    """``CLASS/{train,test}/NUMBER.off``, each solid turned about z and leaning a little."""
    for name, make in SHAPES.items():
        for number in range(train + test):
            draw = np.random.default_rng([number, *name.encode()])
            mesh = make(draw)
            mesh.apply_transform(trimesh.transformations.euler_matrix(*draw.uniform(-0.2, 0.2, 2), draw.uniform(0, 6)))
            path = root / name / ("train" if number < train else "test") / f"{number:03d}.off"
            path.parent.mkdir(parents=True, exist_ok=True)
            mesh.export(path)
    return root
