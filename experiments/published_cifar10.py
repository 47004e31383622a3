"""The paper's released CIFAR-10 weights: do they run as published, and what do they score when the images are rolled?

    python experiments/published_cifar10.py --weights DIR

DIR holds ``cifar10_ccl.pt``, ``cifar10_cnn.pt`` and ``cifar10_expected.npz`` (the log-probabilities that the released
code gives, in float64, for the first 64 test images). The test images are ``cifar-10-batches-bin/test_batch.bin`` of
the official binary version, under ``~/.cache/ringconv`` or ``RINGCONV_DATA``. Writes
``experiments/results/published_cifar10.json``.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from _results import write
from torch import Tensor, nn

from ringconv.paper import load_published

OPERATORS = ("ccl", "cnn")
ROLLS = (0, 1, 2, 4, 8, 16)
TOLERANCE = {"float64": 1e-9, "float32": 1e-4}
BATCH = 200
BYTES = 3072


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weights", type=Path, required=True, metavar="DIR", help="the released weights and outputs")
    weights = parser.parse_args().weights
    images, labels = test_images()
    data: dict[str, Any] = {
        "images": len(images),
        "pixels": "scaled to [-1, 1] in float32",
        "precision": "float32",
        "tolerance": TOLERANCE,
        "networks": {},
    }
    agree = True
    for operator in OPERATORS:
        network = load_published(weights / f"cifar10_{operator}.pt", operator)
        expected = torch.from_numpy(np.load(weights / "cifar10_expected.npz")[operator])
        errors = {name: difference(network, images, expected, name) for name in TOLERANCE}
        print(f"{operator}: largest difference from the released code {errors}", file=sys.stderr)
        agree &= all(errors[name] <= bound for name, bound in TOLERANCE.items())
        data["networks"][operator] = {
            "parameters": sum(p.numel() for p in network.parameters()),
            "largest_difference": errors,
            "accuracy": {str(roll): accuracy(network.float(), images, labels, roll, operator) for roll in ROLLS},
        }
    print(write("published_cifar10", {**data, "agree": agree}), file=sys.stderr)
    return 0 if agree else 1


def test_images() -> tuple[Tensor, Tensor]:
    """``(10000, 3, 32, 32)`` in [−1, 1] and ``(10000,)``."""
    root = Path(os.environ.get("RINGCONV_DATA", Path.home() / ".cache/ringconv"))
    path = root / "cifar-10-batches-bin/test_batch.bin"
    if not path.exists() or path.stat().st_size != 10_000 * (1 + BYTES):
        raise SystemExit(f"{path}: not the test batch of the binary version of CIFAR-10; set RINGCONV_DATA")
    records = torch.from_numpy(np.fromfile(path, np.uint8).reshape(-1, 1 + BYTES))
    # In float32, as the released code scales them: its float64 outputs are those of these rounded pixels.
    return records[:, 1:].reshape(-1, 3, 32, 32).float() / 255 * 2 - 1, records[:, 0].long()


@torch.inference_mode()
def difference(network: nn.Module, images: Tensor, expected: Tensor, dtype: str) -> float:
    """The largest difference of any log-probability, computed in ``dtype``."""
    wide = getattr(torch, dtype)
    return float((network.to(wide)(images[: len(expected)].to(wide)).double() - expected).abs().max())


@torch.inference_mode()
def accuracy(network: nn.Module, images: Tensor, labels: Tensor, roll: int, name: str) -> float:
    """Per cent of the images, rolled by ``roll`` columns, that the network names rightly."""
    correct, start = 0, time.monotonic()
    for batch, truth in zip(images.split(BATCH), labels.split(BATCH), strict=True):
        correct += int((network(batch.roll(roll, -1)).argmax(-1) == truth).sum())
    percent = 100 * correct / len(images)
    print(f"{name}, rolled by {roll}: {percent:.2f} % ({time.monotonic() - start:.0f} s)", file=sys.stderr)
    return percent


if __name__ == "__main__":
    sys.exit(main())
