"""A folder of images: any size and kind becomes the ring, and what is no image is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from ringconv.data import ImageFolder, read_resized


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, shade in {"dark": 20, "light": 220}.items():
        (tmp_path / name).mkdir()
        for i, size in enumerate([(16, 8), (40, 10), (7, 31)]):
            suffix = ("png", "jpg", "PNG")[i]
            Image.new("RGB", size, (shade, shade, shade)).save(tmp_path / name / f"{i}.{suffix}")
    (tmp_path / "dark" / "notes.txt").write_text("no image")
    (tmp_path / ".hidden").mkdir()
    return tmp_path


@pytest.mark.parametrize("channels", [1, 3])
def test_images_of_any_size_in_classes_by_name(root: Path, channels: int) -> None:
    data = ImageFolder(root, (8, 16), channels)
    assert (data.classes, len(data), data.shape) == (("dark", "light"), 6, (channels, 8, 16))
    for i in range(6):
        image, label = data[i]
        assert label == i // 3
        assert torch.allclose(image, torch.full((channels, 8, 16), [20, 220][label] / 127.5 - 1), atol=0.02)


def test_classes_of_the_training_data_are_kept(root: Path) -> None:
    assert ImageFolder(root, (8, 16), classes=["light", "new", "dark"])[0][1] == 2
    with pytest.raises(ValueError, match="holds the folder 'light', which is none of the classes 'dark', 'grey'"):
        ImageFolder(root, (8, 16), classes=["dark", "grey"])


def test_what_is_no_such_folder_is_refused(root: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"root='.*nowhere' is no folder; it must hold one for each class"):
        ImageFolder(root / "nowhere", (8, 16))
    with pytest.raises(ValueError, match=r"holds no images: it must hold CLASS/\*.png, \*.jpg, \*.jpeg"):
        ImageFolder(root / ".hidden", (8, 16))
    with pytest.raises(ValueError, match="channels=2 must be 1 or 3"):
        ImageFolder(root, (8, 16), channels=2)
    with pytest.raises(ValueError, match="size"):
        ImageFolder(root, (0, 16))


def test_the_picture_keeps_its_orientation(tmp_path: Path) -> None:
    pixels = np.zeros((4, 6, 3), np.uint8)
    pixels[0, :, 0], pixels[:, 5, 2] = 255, 255
    Image.fromarray(pixels).save(tmp_path / "a.png")
    assert torch.equal(read_resized(tmp_path / "a.png", (3, 4, 6)), torch.tensor(pixels).permute(2, 0, 1) / 127.5 - 1)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16", "I"])
def test_every_kind_of_picture_is_read(tmp_path: Path, mode: str) -> None:
    white = Image.fromarray(np.full((5, 7), 65535, np.uint16)) if mode.startswith("I") else Image.new("L", (7, 5), 255)
    suffix = "tif" if mode in ("CMYK", "I") else "png"
    (white.convert(mode) if white.mode != mode else white).save(tmp_path / f"white.{suffix}")
    assert torch.equal(read_resized(tmp_path / f"white.{suffix}", (3, 8, 8)), torch.ones(3, 8, 8))


def test_what_is_transparent_stands_on_black(tmp_path: Path) -> None:
    Image.new("RGBA", (4, 4), (255, 255, 255, 0)).save(tmp_path / "clear.png")
    assert torch.equal(read_resized(tmp_path / "clear.png", (1, 2, 2)), -torch.ones(1, 2, 2))


@pytest.mark.parametrize("harm", ["text", "truncated", "empty", "missing"])
def test_what_cannot_be_read_is_named(tmp_path: Path, harm: str) -> None:
    path = tmp_path / "broken.png"
    Image.effect_noise((64, 64), 50).save(path)
    whole = path.read_bytes()
    path.write_bytes({"text": b"no image", "truncated": whole[: len(whole) // 2], "empty": b"", "missing": b""}[harm])
    if harm == "missing":
        path.unlink()
    with pytest.raises(ValueError, match=r"read_resized: '.*broken.png' is no image that can be read"):
        read_resized(path, (3, 8, 8))
