"""MNIST, from the four files of its publishers."""

from __future__ import annotations

import math
import struct

import numpy as np
import torch
from torch import Tensor

from .. import _checks
from ._files import PathLike, Source
from ._images import Images

MNIST = Source("MNIST", "mnist", "https://ossci-datasets.s3.amazonaws.com/mnist/ (or any mirror of yann.lecun.com)")
CLASSES = tuple("0123456789")
MEAN, STD = 0.1307, 0.3081

# By split: samples, then the files with images and labels, with the checksums of their unpacked content.
SPLITS: dict[str, tuple[int, tuple[str, str], tuple[str, str]]] = {
    "train": (
        60_000,
        ("train-images-idx3-ubyte", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
        ("train-labels-idx1-ubyte", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
    ),
    "test": (
        10_000,
        ("t10k-images-idx3-ubyte", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
        ("t10k-labels-idx1-ubyte", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"),
    ),
}


def mnist(split: str = "train", root: PathLike | None = None) -> Images:
    """Handwritten digits, 28 x 28, ten classes: 60,000 to train with, 10,000 to test with.

    The files lie in ``mnist/`` below the root, packed by gzip or not, and are verified by checksum. Pixels have mean
    0 and deviation 1, as the paper's released code scales them.

    Args:
        split: ``"train"`` or ``"test"``.
        root: the folder that holds the data sets; ``RINGCONV_DATA`` or ``~/.cache/ringconv`` where it is ``None``.
    """
    samples, images, labels = SPLITS[_checks.one_of("mnist", "split", split, SPLITS)]
    pixels = _idx(*images, (samples, 28, 28), root)
    return Images(pixels.unsqueeze(1), _idx(*labels, (samples,), root), CLASSES, MEAN, STD)


def _idx(file: str, sha256: str, shape: tuple[int, ...], root: PathLike | None) -> Tensor:
    """The bytes of an idx file: two zeros, 8 for bytes, the number of axes, their lengths as big-endian, the data."""
    path, content = MNIST.locate(file, root), MNIST.read(file, root)
    header = bytes([0, 0, 8, len(shape)]) + struct.pack(f">{len(shape)}I", *shape)
    if not content.startswith(header):
        raise MNIST.damaged(path, f"has no idx header of {' x '.join(map(str, shape))} bytes")
    if len(content) != len(header) + math.prod(shape):
        raise MNIST.damaged(path, f"has {len(content):,} bytes, not the {len(header) + math.prod(shape):,} announced")
    MNIST.verify(path, content, sha256)
    return torch.from_numpy(np.frombuffer(content, np.uint8, offset=len(header)).reshape(shape).copy())
