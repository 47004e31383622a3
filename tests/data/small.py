"""Small files in the official formats, and the tables of the loaders made to expect them."""

from __future__ import annotations

import gzip
import hashlib
import importlib
import struct
from pathlib import Path

import numpy as np
import pytest

# The modules, not the functions of the same names.
cifar, mnist = (importlib.import_module(f"ringconv.data.{name}") for name in ("cifar", "mnist"))


def idx(data: np.ndarray) -> bytes:
    return bytes([0, 0, 8, data.ndim]) + struct.pack(f">{data.ndim}I", *data.shape) + data.tobytes()


def lay_out_mnist(root: Path, monkeypatch: pytest.MonkeyPatch, samples: int = 12, packed: bool = False) -> None:
    """MNIST's four files with ``samples`` images each, learnable: the label is the number of bright rows."""
    draw = np.random.default_rng(0)
    (root / "mnist").mkdir()
    table = {}
    for split, (_, (images, _), (labels, _)) in mnist.SPLITS.items():
        y = draw.integers(10, size=samples).astype(np.uint8)
        x = draw.integers(60, size=(samples, 28, 28)).astype(np.uint8)
        for image, label in zip(x, y, strict=True):
            image[: 2 * label + 2] += 150
        contents = {images: idx(x), labels: idx(y)}
        for name, content in contents.items():
            path = root / "mnist" / (f"{name}.gz" if packed else name)
            path.write_bytes(gzip.compress(content, mtime=0) if packed else content)
        sums = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
        table[split] = (samples, (images, sums[images]), (labels, sums[labels]))
    monkeypatch.setattr(mnist, "SPLITS", table)


def lay_out_cifar(root: Path, monkeypatch: pytest.MonkeyPatch, samples: int = 6) -> None:
    """CIFAR-10's six files with ``samples`` images each."""
    draw = np.random.default_rng(0)
    (root / "cifar-10-batches-bin").mkdir()
    table: dict[str, dict[str, str]] = {}
    for split, files in cifar.SPLITS.items():
        table[split] = {}
        for name in files:
            records = draw.integers(256, size=(samples, cifar.RECORD)).astype(np.uint8)
            records[:, 0] = draw.integers(10, size=samples)
            (root / "cifar-10-batches-bin" / name).write_bytes(records.tobytes())
            table[split][name] = hashlib.sha256(records.tobytes()).hexdigest()
    monkeypatch.setattr(cifar, "SPLITS", table)
    monkeypatch.setattr(cifar, "SAMPLES", samples)
