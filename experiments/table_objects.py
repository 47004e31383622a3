"""The paper's classification of 3D objects by their panoramas, upright and turned.

    ringconv render ~/.cache/ringconv/ldraw ~/.cache/ringconv/ldraw-panoramas
    python experiments/table_objects.py

Every network is trained on objects as they stand and on turned ones, and tested on both. Each run, of one network,
one training and one seed, writes ``experiments/results/table_objects/NETWORK-TRAINING-SEED.json``; those that are
there are left alone, and one that was interrupted goes on after its last epoch. ``experiments/render.py`` draws the
table. Another collection is one argument: ``--data`` names what ``ringconv render`` made of it.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
import trimesh
from _results import RESULTS, write
from torch import nn
from torchmetrics.classification import MulticlassAccuracy

from ringconv.data import Panoramas, Rolled, data_root
from ringconv.models import RingClassifier
from ringconv.nn import RingConv2d
from ringconv.paper import PanoramaNet
from ringconv.render import Rendering
from ringconv.train import Recipe, fit, outputs

CHANNELS = (16, 16, 32, 32)
Build = Callable[[int, int], nn.Module]  # from classes and rows


def paper(layer: Callable[..., nn.Module], exact: str | None = None) -> Build:
    return lambda classes, height: PanoramaNet(layer, 1, classes, height, CHANNELS, exact=exact)


NETWORKS: dict[str, Build] = {
    "conv2d": paper(nn.Conv2d),
    "exact-ccl": paper(RingConv2d, "polyphase"),
    "ccl": paper(RingConv2d),
    "circular-padding": paper(partial(nn.Conv2d, padding="same", padding_mode="circular")),
    "recommended": lambda classes, height: RingClassifier(1, classes),
}
TRAININGS = ("upright", "rolled")


def run(name: str, training: str, seed: int, data: Path, recipe: Recipe, folder: Path) -> dict[str, Any]:
    """Train one network, and say what it makes of the test objects, upright and turned."""
    # Nearness: 0, which is also what a planar layer pads with, where a ray meets nothing.
    train, test = (Panoramas(data, split, mean=1, std=-1) for split in ("train", "test"))
    torch.manual_seed(seed)
    model = NETWORKS[name](len(train.classes), train.shape[1])
    metrics = {"accuracy": MulticlassAccuracy(len(train.classes), average="micro")}
    notes = {"network": name, "training": training, "data": data.name}
    started = time.monotonic()
    rows = fit(
        model,
        Rolled(train, seed) if training == "rolled" else train,
        test,
        F.cross_entropy,  # of logits, and of log-probabilities the same: their softmax is themselves
        metrics,
        recipe=recipe,
        out=folder,
        notes=notes,
    )
    upright, rolled = outputs(model, test), outputs(model, Rolled(test))
    correct = {
        "upright": int((upright.argmax(1) == test.labels).sum()),
        "rolled": int((rolled.argmax(1) == test.labels).sum()),
    }
    return {
        **notes,
        "seed": seed,
        "recipe": asdict(recipe),
        "parameters": sum(p.numel() for p in model.parameters()),
        "panoramas": {"train": len(train), "test": len(test), "classes": len(train.classes), **train.options},
        "train_seconds": round(sum(row["seconds"] for row in rows), 1),
        "session_seconds": round(time.monotonic() - started, 1),
        "correct": correct,
        "accuracy": {kind: 100 * count / len(test) for kind, count in correct.items()},
        "objects_named_otherwise": int((upright.argmax(1) != rolled.argmax(1)).sum()),
        "largest_difference": float((upright - rolled).abs().max()),
        "last_epoch": rows[-1],
    }


def five_shapes(root: Path) -> Path:
    """A collection that needs no download: solids of five kinds, 8 to train with and 4 to test with."""
    draw = torch.Generator().manual_seed(0)

    def size() -> float:
        return float(torch.rand((), generator=draw)) / 2 + 0.5

    makers = {
        "ball": lambda: trimesh.creation.icosphere(2, size()),
        "box": lambda: trimesh.creation.box((size(), size(), size())),
        "cone": lambda: trimesh.creation.cone(size(), size()),
        "ring": lambda: trimesh.creation.torus(1, size() / 2),
        "rod": lambda: trimesh.creation.capsule(2 * size(), size()),
    }
    for (name, make), number in itertools.product(makers.items(), range(12)):
        path = root / "meshes" / name / ("train" if number < 8 else "test") / f"{number}.off"
        path.parent.mkdir(parents=True, exist_ok=True)
        make().export(path)
    rendering = Rendering(root / "meshes", root / "panoramas")
    rendering.start()
    list(rendering.run(jobs=1))
    rendering.finish()
    return root / "panoramas"


def main() -> None:
    """Run what has no result yet."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", default="ldraw-panoramas", metavar="FOLDER", help="what `ringconv render` made")
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS), help="default: all")
    parser.add_argument("--trainings", nargs="+", choices=TRAININGS, default=list(TRAININGS), help="default: both")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2], help="default: 0 1 2")
    parser.add_argument("--epochs", type=int, default=12, help="passes over the training objects (default: 12)")
    parser.add_argument("--smoke", action="store_true", help="one epoch on five shapes made here, nothing written")
    args = parser.parse_args()
    if args.smoke:
        with tempfile.TemporaryDirectory() as folder:
            data = five_shapes(Path(folder))
            recipe = Recipe(epochs=1, batch_size=20)
            for name in args.networks:
                found = run(name, "rolled", 0, data, recipe, Path(folder, name))
                print(f"{name:<18} {found['accuracy']}")
        return
    data = data_root() / args.data
    (RESULTS / "table_objects").mkdir(parents=True, exist_ok=True)
    for seed, training, name in itertools.product(args.seeds, args.trainings, args.networks):
        run_name = f"{data.name}-{name}-{training}-{seed}"
        if (RESULTS / "table_objects" / f"{run_name}.json").exists():
            continue
        folder = data_root() / "runs" / "table_objects" / run_name
        recipe = Recipe(epochs=args.epochs, batch_size=32, weight_decay=1e-2, seed=seed)
        result = run(name, training, seed, data, recipe, folder)
        print(write(f"table_objects/{run_name}", result), result["accuracy"], file=sys.stderr)


if __name__ == "__main__":
    main()
