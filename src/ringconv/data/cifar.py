"""CIFAR-10, from the six files of its official binary version."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from .. import _checks
from ._files import PathLike, Source
from ._images import Images

CIFAR10 = Source(
    "CIFAR-10", "cifar-10-batches-bin", "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz (unpacked)"
)
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
SIDE, SAMPLES = 32, 10_000
RECORD = 1 + 3 * SIDE * SIDE  # a label, then the red, the green and the blue plane

# By split: its files, with the checksums of their content.
SPLITS: dict[str, dict[str, str]] = {
    "train": {
        "data_batch_1.bin": "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
        "data_batch_2.bin": "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
        "data_batch_3.bin": "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
        "data_batch_4.bin": "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
        "data_batch_5.bin": "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
    },
    "test": {"test_batch.bin": "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"},
}


def cifar10(split: str = "train", root: PathLike | None = None) -> Images:
    """Small photographs, 32 x 32 in three colours, ten classes: 50,000 to train with, 10,000 to test with.

    The files lie in ``cifar-10-batches-bin/`` below the root and are verified by checksum. Pixels lie in [−1, 1], as
    the paper's released code scales them.

    Args:
        split: ``"train"`` or ``"test"``.
        root: the folder that holds the data sets; ``RINGCONV_DATA`` or ``~/.cache/ringconv`` where it is ``None``.
    """
    files = SPLITS[_checks.one_of("cifar10", "split", split, SPLITS)]
    records = torch.cat([_records(file, sha256, root) for file, sha256 in files.items()])
    return Images(records[:, 1:].reshape(-1, 3, SIDE, SIDE), records[:, 0], CLASSES)


def _records(file: str, sha256: str, root: PathLike | None) -> Tensor:
    path, content = CIFAR10.locate(file, root), CIFAR10.read(file, root)
    if len(content) != SAMPLES * RECORD:
        raise CIFAR10.damaged(path, f"has {len(content):,} bytes, not the {SAMPLES * RECORD:,} of {SAMPLES:,} images")
    CIFAR10.verify(path, content, sha256)
    return torch.from_numpy(np.frombuffer(content, np.uint8).reshape(SAMPLES, RECORD).copy())
