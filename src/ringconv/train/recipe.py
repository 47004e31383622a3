"""What a training run does, in numbers: two runs of one recipe, model and data are the same run."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .. import _checks

SCHEDULES = ("one-cycle", "constant")
PRECISIONS = ("float32", "bfloat16")

# The shape of one cycle, as torch.optim.lr_scheduler.OneCycleLR has it by default.
_RISE, _START, _END = 0.3, 1 / 25, 1 / 25e4


@dataclass(frozen=True, kw_only=True)
class Recipe:
    r"""The settings of a training run, checked when they are made.

    Args:
        epochs: passes over the training data.
        batch_size: samples in a step of the optimiser, over all devices and accumulated parts together. Samples that
            do not fill a batch wait for another epoch, whose order differs.
        learning_rate: of Adam: the highest one, if the schedule changes it.
        schedule: ``"one-cycle"`` rises over 30 % of all steps from 1/25 of the learning rate and falls to 4e-6 of it,
            both as a cosine; ``"constant"`` stays.
        weight_decay: decoupled, of parameters with two or more dimensions: biases and scales keep their size.
        clip: largest norm of the gradient, or ``None`` for any.
        precision: of what the model computes: ``"float32"`` or ``"bfloat16"`` by autocast, parameters in float32.
        accumulate: parts that a batch is computed in, one after the other: less memory, the same gradient.
        channels_last: whether images and kernels lie with their channels last in memory.
        seed: of the order of samples and whatever else is drawn while training.

    >>> Recipe(epochs=3, learning_rate=1e-3, schedule="constant").rate(0, 100)
    0.001
    """

    epochs: int = 25
    batch_size: int = 64
    learning_rate: float = 3e-3
    schedule: str = "one-cycle"
    weight_decay: float = 0.0
    clip: float | None = None
    precision: str = "float32"
    accumulate: int = 1
    channels_last: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        where = "Recipe"
        for name in ("epochs", "batch_size", "accumulate"):
            _checks.integer(where, name, getattr(self, name))
        _checks.integer(where, "seed", self.seed, 0)
        _checks.number(where, "learning_rate", self.learning_rate, above=True)
        _checks.number(where, "weight_decay", self.weight_decay)
        if self.clip is not None:
            _checks.number(where, "clip", self.clip, above=True)
        _checks.one_of(where, "schedule", self.schedule, SCHEDULES)
        _checks.one_of(where, "precision", self.precision, PRECISIONS)
        if self.batch_size % self.accumulate:
            raise ValueError(f"{where}: accumulate={self.accumulate} must divide batch_size={self.batch_size}")

    def rate(self, step: int, steps: int) -> float:
        """The learning rate of step 0 … ``steps − 1``."""
        if self.schedule == "constant":
            return self.learning_rate
        peak = _RISE * steps - 1
        if step <= peak:
            return self.learning_rate * _cosine(_START, 1.0, step / peak)
        return self.learning_rate * _cosine(1.0, _END, (step - peak) / (steps - 1 - peak))


def _cosine(start: float, end: float, way: float) -> float:
    """From ``start`` to ``end`` along half a cosine."""
    return end + (start - end) * (1 + math.cos(math.pi * way)) / 2
