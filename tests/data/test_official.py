"""MNIST, CIFAR-10 and the digits: read as published, refused as anything else."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
import torch

from ringconv.data import cifar10, digits, mnist
from ringconv.data._images import Images
from ringconv.data.cifar import RECORD

from .small import idx, lay_out_cifar, lay_out_mnist

IMAGES = "mnist/train-images-idx3-ubyte"
LABELS = "mnist/train-labels-idx1-ubyte"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    lay_out_mnist(tmp_path, monkeypatch)
    lay_out_cifar(tmp_path, monkeypatch)
    monkeypatch.setenv("RINGCONV_DATA", str(tmp_path))
    return tmp_path


def test_mnist_is_the_files_bytes(root: Path) -> None:
    data = mnist("train")
    raw = np.frombuffer((root / IMAGES).read_bytes(), np.uint8, offset=16).reshape(12, 28, 28)
    labels = np.frombuffer((root / LABELS).read_bytes(), np.uint8, offset=8)
    assert (len(data), data.shape, data.classes) == (12, (1, 28, 28), tuple("0123456789"))
    for i, (image, label) in enumerate(data):  # type: ignore[arg-type]
        assert torch.allclose(image[0] * 0.3081 + 0.1307, torch.tensor(raw[i] / 255, dtype=torch.float32), atol=1e-6)
        assert label == labels[i]
        if i == 11:
            break
    assert not torch.equal(mnist("test").images, data.images)


def test_mnist_packed_is_the_same(root: Path, tmp_path: Path) -> None:
    plain = mnist()
    for path in (root / "mnist").iterdir():
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert torch.equal(mnist(root=root).images, plain.images)


def test_cifar_is_the_files_records(root: Path) -> None:
    data = cifar10("train")
    assert (len(data), data.shape, len(data.classes)) == (30, (3, 32, 32), 10)
    record = np.frombuffer((root / "cifar-10-batches-bin/data_batch_2.bin").read_bytes(), np.uint8)[:RECORD]
    image, label = data[6]
    assert label == record[0]
    assert torch.allclose(
        image[2, 1, 0] * 0.5 + 0.5, torch.tensor(record[1 + 2 * 1024 + 32] / 255, dtype=torch.float32)
    )
    assert len(cifar10("test", root)) == 6


def test_digits_lie_on_a_ring() -> None:
    train, test = digits("train"), digits("test")
    assert (len(train), len(test), train.shape) == (1500, 297, (1, 8, 16))
    image, label = train[0]
    assert label == 0
    assert image.max() <= 1
    assert image[..., :4].count_nonzero() == image[..., 12:].count_nonzero() == 0
    assert image[..., 4:12].count_nonzero() > 10


@pytest.mark.parametrize("load", [mnist, cifar10, digits])
def test_another_split_is_refused(load: object) -> None:
    with pytest.raises(ValueError, match="split='dev' is not one of 'train', 'test'"):
        load("dev")  # type: ignore[operator]


def test_what_is_missing_is_named(root: Path) -> None:
    (root / LABELS).unlink()
    with pytest.raises(FileNotFoundError, match=r"MNIST: .*train-labels-idx1-ubyte is not there; get it from https://"):
        mnist()
    with pytest.raises(FileNotFoundError, match=r"CIFAR-10: .*data_batch_1.bin is not there; get it from https://"):
        cifar10(root=root / "nowhere")


HARM = {
    "truncated": (lambda c: c[:-1], r"has 9,423 bytes, not the 9,424 announced"),
    "too long": (lambda c: c + b"\0", r"has 9,425 bytes, not the 9,424 announced"),
    "empty": (lambda c: b"", r"has no idx header of 12 x 28 x 28 bytes"),
    "another magic": (lambda c: b"\0\0\x0d" + c[3:], r"has no idx header of 12 x 28 x 28 bytes"),
    "another shape": (lambda c: idx(np.zeros((12, 27, 28), np.uint8)), r"has no idx header"),
    "another pixel": (lambda c: c[:-1] + bytes([c[-1] ^ 1]), r"has the SHA-256 checksum"),
}


@pytest.mark.parametrize("harm", HARM)
def test_a_damaged_mnist_is_refused(root: Path, harm: str) -> None:
    change, message = HARM[harm]
    path = root / IMAGES
    path.write_bytes(change(path.read_bytes()))  # type: ignore[no-untyped-call]
    with pytest.raises(ValueError, match=rf"^MNIST: {path} {message}.*; get it again from https://"):
        mnist()


def test_swapped_files_are_refused(root: Path) -> None:
    (root / IMAGES).rename(root / "spare")
    (root / LABELS).rename(root / IMAGES)
    with pytest.raises(ValueError, match="has no idx header"):
        mnist()
    (root / "spare").rename(root / IMAGES)
    (root / IMAGES.replace("train", "t10k")).replace(root / IMAGES)
    with pytest.raises(ValueError, match="SHA-256"):
        mnist()
    batches = root / "cifar-10-batches-bin"
    (batches / "data_batch_2.bin").replace(batches / "data_batch_1.bin")
    with pytest.raises(ValueError, match=r"CIFAR-10: .*data_batch_1.bin has the SHA-256 checksum"):
        cifar10()


def test_a_damaged_cifar_is_refused(root: Path) -> None:
    path = root / "cifar-10-batches-bin/data_batch_3.bin"
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(ValueError, match=r"has 18,431 bytes, not the 18,438 of 6 images"):
        cifar10()


def test_images_and_labels_must_fit() -> None:
    pixels = torch.zeros(2, 1, 3, 3, dtype=torch.uint8)
    with pytest.raises(ValueError, match=r"got torch.uint8 of shape \(2, 1, 3, 3\) and \(3,\) labels"):
        Images(pixels, torch.zeros(3), "ab")
    with pytest.raises(ValueError, match=r"got torch.float32"):
        Images(pixels.float(), torch.zeros(2), "ab")
    with pytest.raises(ValueError, match=r"labels must lie in 0 … 1, one for each of the 2 classes, got 0 … 2"):
        Images(pixels, torch.tensor([0, 2]), "ab")


def test_a_split_is_without_overlap_and_drawn_by_seed() -> None:
    data = Images(torch.arange(20, dtype=torch.uint8).view(20, 1, 1, 1), torch.zeros(20), "a")
    train, held_out = data.split(5)
    assert len(held_out) == 5
    assert sorted([*train.images.flatten().tolist(), *held_out.images.flatten().tolist()]) == list(range(20))
    assert torch.equal(data.split(5)[1].images, held_out.images)
    assert not torch.equal(data.split(5, seed=1)[1].images, held_out.images)
    with pytest.raises(ValueError, match="held_out=20 must lie in 1 … 19 of 20 samples"):
        data.split(20)


def test_reading_many_is_reading_each(root: Path) -> None:
    data = mnist()
    for (image, label), i in zip(data.__getitems__([3, 0, 3]), [3, 0, 3], strict=True):
        assert torch.equal(image, data[i][0])
        assert label == data[i][1]
