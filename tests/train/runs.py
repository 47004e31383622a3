"""A small training run, for this process and for others that are killed or share it."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import Dataset
from torchmetrics.classification import MulticlassAccuracy

from ringconv.train import Recipe, fit

RECIPE = Recipe(epochs=4, batch_size=8, learning_rate=1e-2, weight_decay=1e-2, clip=1.0)


class Stripes(Dataset[tuple[Tensor, int]]):
    """Noise with a bright row, whose number is the class; new noise in every epoch."""

    def __init__(self, samples: int = 100, seed: int = 0) -> None:
        self.samples, self.seed, self.epoch = samples, seed, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return self.samples

    def __getitem__(self, i: int) -> tuple[Tensor, int]:
        draw = torch.Generator().manual_seed(hash((self.seed, self.epoch, i)))
        image = torch.randn(1, 4, 6, generator=draw)
        image[:, i % 4] += 1
        return image, i % 4


def model(dropout: float = 0.2) -> nn.Module:
    torch.manual_seed(0)
    layers = [nn.Conv2d(1, 5, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Dropout(dropout), nn.Linear(120, 4)]
    return nn.Sequential(*layers)


def run(out: str | Path, recipe: Recipe = RECIPE, dropout: float = 0.2, **options: Any) -> list[dict[str, float]]:
    metrics = {"accuracy": MulticlassAccuracy(4, average="micro")}
    options = {"progress": False, "accelerator": "cpu", **options}
    net = options.pop("model", None) or model(dropout)
    return fit(net, Stripes(), Stripes(21, 1), F.cross_entropy, metrics, recipe=recipe, out=out, **options)


def run_slowly(out: str, seconds: float) -> None:
    """The same run, which takes some 0.6 s, in a process that kills itself after ``seconds``."""
    threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGKILL)).start()
    torch.set_num_threads(1)
    net = model()
    net.register_forward_hook(lambda *_: time.sleep(0.01))
    run(out, model=net)
    os._exit(0)


if __name__ == "__main__":
    torch.set_num_threads(1)
    run(sys.argv[1], dropout=0.0, devices=int(sys.argv[2]))
