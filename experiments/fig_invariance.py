"""Accuracy against rotation and against vertical translation, for the networks of the classification table.

    python experiments/fig_invariance.py --data mnist            minutes
    python experiments/fig_invariance.py --data mnist --smoke    seconds: untrained networks, noise, nothing written

The networks are those that ``experiments/table_classification.py`` trained on upright images with seed 0 and left
under ``runs/``; those not trained yet are left out. Rotations are rolls of the whole test set. Translations move it
down (or up) as the paper's released code does: rows that leave are lost, rows that enter are zero, which is the mean
of the normalised images. Writes ``results/fig_invariance_DATA.json``.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import torch
from _classification import TASKS, VARIANTS, Run, noise
from _results import write
from torch import Tensor, nn

from ringconv.data import Images, shift_rows
from ringconv.train import checkpoint, outputs


def main() -> None:
    """Measure every network there is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", choices=TASKS, required=True)
    parser.add_argument("--images", type=int, help="test images to use (default: all)")
    parser.add_argument("--smoke", action="store_true", help="untrained networks, a few images of noise")
    args = parser.parse_args()
    task = noise(TASKS[args.data]) if args.smoke else TASKS[args.data]
    images = task.load("test")
    images = images.subset(torch.arange(len(images))[: args.images])
    height, width = images.shape[1:]
    rolls, shifts = ((0, 1), (-1, 0)) if args.smoke else (range(width), range(1 - height, height))
    curves: dict[str, Any] = {}
    for variant in VARIANTS:
        run = Run(args.data, variant, "plain", 0)
        model = run.network()
        if not args.smoke:
            if checkpoint.epochs(run.folder) < run.recipe.epochs:
                print(f"{run.name} is not trained; left out", file=sys.stderr)
                continue
            model.load_state_dict(checkpoint.weights(run.folder))
        curves[variant] = {
            "rolls": [accuracy(model, images, roll=roll) for roll in rolls],
            "shifts": [accuracy(model, images, shift=shift) for shift in shifts],
        }
        print(f"{variant:<14}{min(curves[variant]['rolls']):.2f} % at the worst roll")
    if not args.smoke:
        data = {"data": args.data, "images": len(images), "rolls": [*rolls], "shifts": [*shifts], "curves": curves}
        print(write(f"fig_invariance_{args.data}", data))


def accuracy(model: nn.Module, images: Images, roll: int = 0, shift: int = 0) -> float:
    """Per cent right when all images are rolled and moved down alike."""

    def move(x: Tensor) -> Tensor:
        return shift_rows(x.roll(roll, -1), shift)

    return (outputs(model, images, transform=move).argmax(1) == images.labels).sum().item() * 100 / len(images)


if __name__ == "__main__":
    main()
