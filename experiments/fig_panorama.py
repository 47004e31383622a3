"""How a panorama is counted: an object in its cylinder, its panorama, and both turned. Draws, and measures nothing.

    python experiments/fig_panorama.py

Writes ``docs/figures/panorama.png``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import trimesh
from matplotlib.axes import Axes

from ringconv.render import panorama, portrait

FIGURE = Path(__file__).parent.parent / "docs" / "figures" / "panorama.png"
WIDTH, TURN = 100, 20


def mug() -> trimesh.Trimesh:
    """Something with a handle, by which one sees how far it was turned."""
    ring = trimesh.creation.torus(0.55, 0.12, major_sections=48, minor_sections=24)
    ring.apply_transform(trimesh.transformations.rotation_matrix(np.pi / 2, (1, 0, 0)))
    return trimesh.util.concatenate(
        [trimesh.creation.annulus(0.85, 1, 2, sections=96), ring.apply_translation((1.1, 0, 0.1))]
    )


def draw(mesh: trimesh.Trimesh, left: Axes, right: Axes, title: str, told: str) -> None:
    """A portrait, and the panorama with its conventions written on it."""
    left.imshow(portrait(mesh, 300, azimuth=10, elevation=35).numpy(), cmap="gray", vmin=0, vmax=1)
    left.set(title=title, xticks=[], yticks=[])
    depth, hit = panorama(mesh, 48, WIDTH, ("depth", "hit")).numpy()
    shown = right.imshow(np.where(hit > 0, depth, np.nan), cmap="viridis_r", vmin=0, vmax=1, aspect="auto")
    right.set(title=told, ylabel="row i (0 is the top)", xlabel="column j: azimuth 2π(j + ½) / W")
    plt.colorbar(shown, ax=right, label="0 wall … 1 axis", pad=0.01)


def main() -> None:
    """Draw."""
    argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0]).parse_args()
    figure, panels = plt.subplots(2, 2, figsize=(9.5, 5.2), width_ratios=(1, 2.4), layout="constrained")
    mesh = mug()
    draw(mesh, *panels[0], "an object, its handle along x", "its panorama: depth")
    turn = trimesh.transformations.rotation_matrix(2 * np.pi * TURN / WIDTH, (0, 0, 1))
    draw(mesh.apply_transform(turn), *panels[1], f"turned by 2π · {TURN} / {WIDTH}", f"rolled by {TURN} columns")
    FIGURE.parent.mkdir(exist_ok=True)
    figure.savefig(FIGURE, dpi=80)
    print(FIGURE)


if __name__ == "__main__":
    main()
