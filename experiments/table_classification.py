"""The paper's classification table: plain and rolled MNIST and CIFAR-10, one network, six ways to build its layers.

    python experiments/table_classification.py --data mnist      every run that has no result yet: hours on one core
    python experiments/table_classification.py --data cifar10 --variants conv ccl-exact --seeds 0
    python experiments/table_classification.py --data mnist --smoke          seconds, on noise, nothing written

Every variant of the paper's network has the same parameters, starts with the same weights and is trained by the same
recipe; ``recommended`` is this library's model. ``plain`` is trained on upright images, ``rolled`` on images that are
turned anew in every epoch. Part of the training set is held out and watched; nothing is chosen by the test set, and
the weights of the last epoch are those tested. A run writes ``results/table_classification/RUN.json`` when it is
through; killed and started again, it goes on from its last epoch under ``runs/``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from _classification import TASKS, TEST_SEED, TRAININGS, VARIANTS, Run, noise
from _results import RESULTS, write
from torch import Tensor, nn
from torchmetrics.classification import MulticlassAccuracy

from ringconv.data import Images, Rolled
from ringconv.train import fit, outputs

FOLDER = "table_classification"


def main() -> None:
    """Go through all runs asked for, those without a result."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", choices=TASKS, required=True)
    parser.add_argument("--variants", choices=VARIANTS, nargs="+", default=list(VARIANTS))
    parser.add_argument("--training", choices=TRAININGS, nargs="+", default=list(TRAININGS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--epochs", type=int, help="a smaller budget than the recipe's, which the run's name then says")
    parser.add_argument("--smoke", action="store_true", help="one epoch of each variant on noise, nothing written")
    args = parser.parse_args()
    runs = [
        Run(args.data, variant, training, seed, args.epochs)
        for seed in args.seeds
        for variant in args.variants
        for training in args.training
    ]
    if args.smoke:
        TASKS[args.data] = noise(TASKS[args.data])
        with tempfile.TemporaryDirectory() as folder:
            for run in [run for run in runs if (run.training, run.seed) == (args.training[0], args.seeds[0])]:
                small = replace(run, epochs=1)
                print(small.name, measure(small, Path(folder) / small.name, rolls=2)["accuracy"])
        return
    for i, run in enumerate(runs, 1):
        if not (RESULTS / FOLDER / f"{run.name}.json").exists():
            print(f"{i}/{len(runs)} {run.name}", file=sys.stderr)
            print(write(f"{FOLDER}/{run.name}", measure(run, run.folder)), file=sys.stderr)


def measure(run: Run, folder: Path, rolls: int | None = None) -> dict[str, Any]:
    """Train a network, or go on where that was interrupted, and test it at every roll."""
    model, task = run.network(), run.task
    train, validation = task.data(run.training, run.seed)
    metrics = {"accuracy": MulticlassAccuracy(10, average="micro")}
    notes = {"data": run.data, "variant": run.variant, "training": run.training}
    history = fit(model, train, validation, task.loss, metrics, recipe=run.recipe, out=folder, notes=notes)
    return {
        **notes,
        "seed": run.seed,
        "recipe": asdict(run.recipe),
        "augmentation": {"rows": task.rows, "mirror": task.mirror, "label_smoothing": task.smoothing},
        "parameters": sum(p.numel() for p in model.parameters()),
        "held_out": task.held_out,
        "training_seconds": sum(row["seconds"] for row in history),
        **test(model.eval(), task.load("test"), rolls),
        "history": history,
    }


def test(model: nn.Module, images: Images, rolls: int | None) -> dict[str, Any]:
    """Per cent right: upright, each image rolled by a draw of its own, and all rolled alike, at every roll.

    ``changed`` counts the images that are not given one and the same class at every roll. ``rolls`` is how many
    there are, or ``None`` for all.
    """
    classes = torch.stack([decide(model, images, roll) for roll in range(rolls or images.shape[-1])])
    rolled = outputs(model, Rolled(images, TEST_SEED)).argmax(1)
    right = (classes == images.labels).sum(1).double() * 100 / len(images)
    return {
        "accuracy": {
            "plain": right[0].item(),
            "rolled": (rolled == images.labels).sum().item() * 100 / len(images),
            "at_every_roll": right.tolist(),
        },
        "images": len(images),
        "changed": int((classes != classes[0]).any(0).sum()),
    }


def decide(model: nn.Module, images: Images, roll: int) -> Tensor:
    """The classes of all images, rolled by ``roll`` columns."""
    return outputs(model, images, transform=partial(torch.roll, shifts=roll, dims=-1)).argmax(1)


if __name__ == "__main__":
    main()
