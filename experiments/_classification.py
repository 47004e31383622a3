"""What the classification experiments share: the tasks, the variants, and where a run lies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import Dataset

from ringconv.data import Augmented, Images, Rolled, cifar10, mnist
from ringconv.models import RingClassifier
from ringconv.nn import RingConv2d
from ringconv.paper import CIFAR10Net, DCTProductCCL, MNISTNet, TorusCCL
from ringconv.train import Recipe

RUNS = Path(__file__).parent.parent / "runs" / "table_classification"
TRAININGS = ("plain", "rolled")
# Of the rolls of the test set, of the held-out images, and of what is held out: the same for every run.
TEST_SEED, VALIDATION_SEED, SPLIT_SEED = 1, 2, 0


@dataclass(frozen=True)
class Task:
    """A data set with the paper's network for it, and how both are trained: the same for every variant.

    Attributes:
        load: the data set, by split.
        paper: the paper's network, of a layer.
        recipe: how the paper's network is trained.
        recommended: how our model is trained.
        held_out: images of the training set that are watched and never trained on.
        rows, mirror: how training images are moved.
        smoothing: of the labels.
    """

    load: Callable[[str], Images]
    paper: Callable[..., nn.Module]
    recipe: Recipe
    recommended: Recipe
    held_out: int
    rows: int = 0
    mirror: bool = False
    smoothing: float = 0.0

    def data(self, training: str, seed: int) -> tuple[Dataset[Any], dict[str, Dataset[Any]]]:
        """Training data and validation data, the latter plain and rolled."""
        train, held_out = self.load("train").split(self.held_out, SPLIT_SEED)
        data: Dataset[Any] = train
        if self.rows or self.mirror:
            data = Augmented(data, seed, mirror=self.mirror, rows=self.rows)
        if training == "rolled":
            data = Rolled(data, seed)
        return data, {"valid": held_out, "rolled": Rolled(held_out, VALIDATION_SEED)}

    def loss(self, output: Tensor, target: Tensor) -> Tensor:
        """Cross-entropy of logits, or of the paper's log-probabilities, which it leaves as they are."""
        return F.cross_entropy(output, target, label_smoothing=self.smoothing)


TASKS = {
    "mnist": Task(
        load=mnist,
        paper=MNISTNet,
        recipe=Recipe(epochs=25, batch_size=64, learning_rate=1e-2),
        recommended=Recipe(epochs=6, batch_size=128, learning_rate=5e-3, weight_decay=1e-2),
        held_out=5000,
    ),
    "cifar10": Task(
        load=cifar10,
        paper=CIFAR10Net,
        recipe=Recipe(
            epochs=15,
            batch_size=64,
            learning_rate=1e-3,
            weight_decay=0.05,
            clip=1.0,
            precision="bfloat16",
            channels_last=True,
        ),
        recommended=Recipe(epochs=15, batch_size=64, learning_rate=5e-3, weight_decay=0.05, precision="bfloat16"),
        held_out=2500,
        rows=4,
        mirror=True,
        smoothing=0.05,
    ),
}

# Everything but "recommended" is the paper's network, with the same parameters.
VARIANTS: dict[str, dict[str, Any]] = {
    "ccl-exact": {"layer": RingConv2d, "exact": "polyphase"},
    "ccl": {"layer": RingConv2d},
    "conv": {"layer": nn.Conv2d},
    # Zeros above and below, the width wrapped: what F.pad(mode="circular") and a Conv2d give.
    "circular-pad": {"layer": partial(RingConv2d, height="zeros")},
    "recommended": {},
    "torus": {"layer": TorusCCL},
    "dct-product": {"layer": DCTProductCCL},
}


@dataclass(frozen=True)
class Run:
    """One cell of the table, before it is filled."""

    data: str
    variant: str
    training: str
    seed: int
    epochs: int | None = None

    @property
    def task(self) -> Task:
        return TASKS[self.data]

    @property
    def name(self) -> str:
        name = f"{self.data}-{self.variant}-{self.training}-{self.seed}"
        return name if self.epochs is None else f"{name}-{self.epochs}-epochs"

    @property
    def folder(self) -> Path:
        """Where its weights and its log lie."""
        return RUNS / self.name

    @property
    def recipe(self) -> Recipe:
        recipe = self.task.recommended if self.variant == "recommended" else self.task.recipe
        changes = {"seed": self.seed} | ({} if self.epochs is None else {"epochs": self.epochs})
        return replace(recipe, **changes)

    def network(self) -> nn.Module:
        """The network before training: of one seed, every variant of the paper's starts with the same weights."""
        torch.manual_seed(self.seed)
        if self.variant == "recommended":
            return RingClassifier(in_channels=3 if self.data == "cifar10" else 1)
        return self.task.paper(**VARIANTS[self.variant])


def noise(task: Task) -> Task:
    """The task with a few images of noise in place of the data."""
    shape = (3, 20, 20) if task.mirror else (1, 20, 20)

    def load(split: str) -> Images:
        images = torch.randint(256, (24 if split == "train" else 1, *shape)).to(torch.uint8)
        return Images(images, torch.randint(10, (len(images),)), "0123456789")

    small, ours = (replace(recipe, batch_size=8) for recipe in (task.recipe, task.recommended))
    return replace(task, load=load, recipe=small, recommended=ours, held_out=16)
