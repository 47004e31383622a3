"""Pairs of panoramas: read as they lie, made smaller, turned, and split."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from ringconv.data import Pairs, folds, pair_folder, read_image, released_split, roll_views, shrink, tsunami
from ringconv.data.change import luminance

from ..helpers import close, same


def lay_out(folder: Path, count: int = 3, size: tuple[int, int] = (8, 16), seed: int = 0) -> dict[str, np.ndarray]:
    """A folder of pairs as TSUNAMI lies, PNG in place of JPEG where the pixels are to be compared."""
    draw = np.random.default_rng(seed)
    pixels = {part: draw.integers(0, 256, (count, *size, 3), dtype=np.uint8) for part in ("t0", "t1")}
    pixels["mask"] = draw.choice(np.array([0, 100, 127, 128, 255], np.uint8), (count, *size))
    for part, images in pixels.items():
        (folder / part).mkdir(parents=True)
        for i, image in enumerate(images):
            Image.fromarray(image).save(folder / part / f"{i:08}.png")
    return pixels


def test_a_folder_as_it_lies(tmp_path: Path) -> None:
    pixels = lay_out(tmp_path)
    pairs = pair_folder(tmp_path)
    assert len(pairs) == 3
    assert pairs.names == ("00000000", "00000001", "00000002")
    expected = np.stack([pixels["t0"], pixels["t1"]], 1).transpose(0, 1, 4, 2, 3)
    close(pairs.views, expected / 255, 1e-7)
    same(pairs.masks, torch.from_numpy(pixels["mask"] > 127))
    same(pairs.turns, torch.zeros(3, dtype=torch.int64))
    some = pairs.take(torch.tensor([2, 0]))
    assert some.names == ("00000002", "00000000")
    same(some.views, pairs.views[[2, 0]])
    same(some.masks, pairs.masks[[2, 0]])


@pytest.mark.parametrize("grey", [False, True])
def test_smaller_by_the_mean_of_every_block_or_by_its_first_pixel(tmp_path: Path, grey: bool) -> None:
    pixels = lay_out(tmp_path)
    whole = np.stack([pixels["t0"], pixels["t1"]], 1).transpose(0, 1, 4, 2, 3) / 255
    if grey:
        whole = (whole * np.array([0.299, 0.587, 0.114]).reshape(3, 1, 1)).sum(2, keepdims=True)
    white = (pixels["mask"] > 127).reshape(3, 4, 2, 4, 4).mean((2, 4)) >= 0.5
    area = pair_folder(tmp_path, (4, 4), grey=grey)
    close(area.views, whole.reshape(3, 2, -1, 4, 2, 4, 4).mean((4, 6)), 1e-6)
    same(area.masks, torch.from_numpy(white))
    first = pair_folder(tmp_path, (4, 4), reduce="subsample", grey=grey)
    close(first.views, whole[..., ::2, ::4], 1e-6)
    same(first.masks, torch.from_numpy(pixels["mask"][:, ::2, ::4] > 127))


def test_shrink_wants_whole_factors() -> None:
    with pytest.raises(ValueError, match=re.escape("size=(3, 4) must divide the images' 8 x 16")):
        shrink(torch.zeros(1, 8, 16), (3, 4))


def test_luminance_of_grey_is_grey() -> None:
    close(luminance(torch.full((2, 3, 2, 2), 0.5)), torch.full((2, 1, 2, 2), 0.5), 1e-6)


def test_jpeg_is_read(tmp_path: Path) -> None:
    Image.new("L", (6, 4), 77).save(tmp_path / "grey.JPG", "jpeg")
    same(read_image(tmp_path / "grey.JPG"), torch.full((3, 4, 6), 77, dtype=torch.uint8))


def test_every_view_is_turned_by_its_own_angle_and_the_mask_with_the_first() -> None:
    views = torch.rand(6, 2, 3, 4, 16)
    views[:, 1] = views[:, 0]
    masks = views[:, 0, 0] > 0.5
    pairs = Pairs(views, masks, tuple("abcdef"), torch.zeros(6, dtype=torch.int64))
    turned = roll_views(pairs)
    draws = np.random.RandomState(1).randint(0, 8, 12).reshape(6, 2)
    same(turned.turns, torch.from_numpy((draws[:, 0] - draws[:, 1]) % 16))
    assert len(set(turned.turns.tolist())) > 2
    for i in range(6):
        same(turned.views[i, 0], views[i, 0].roll(int(draws[i, 0]), -1))
        same(turned.masks[i], turned.views[i, 0, 0] > 0.5)
        same(turned.views[i, 1].roll(int(turned.turns[i]), -1), turned.views[i, 0])
    same(roll_views(turned, 2).turns, (turned.turns + roll_views(pairs, 2).turns) % 16)
    assert not torch.equal(roll_views(pairs, 2).views, turned.views)


def test_every_pair_is_held_out_once() -> None:
    splits = folds(23)
    assert len(splits) == 5
    same(torch.cat([held for _, held in splits]).sort().values, torch.arange(23))
    for train, held in splits:
        same(torch.cat([train, held]).sort().values, torch.arange(23))
    same(folds(23)[1][1], splits[1][1])
    assert not torch.equal(folds(23, seed=1)[1][1], splits[1][1])
    with pytest.raises(ValueError, match="count=24 must be from 2 to the number of pairs, 23"):
        folds(23, 24)


def test_the_released_split_is_torchs_first_permutation() -> None:
    train, held = released_split()
    torch.manual_seed(1)
    same(torch.cat([train, held]), torch.randperm(100))
    assert (len(train), len(held)) == (80, 20)


def test_tsunami_is_verified(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"TSUNAMI: .*tsunami is not there; get it from"):
        tsunami(tmp_path)
    lay_out(tmp_path / "tsunami")
    with pytest.raises(ValueError, match=r"t0 has 3 images, not 100; get it again"):
        tsunami(tmp_path)


def test_tsunami_at_the_papers_size(tmp_path: Path) -> None:
    lay_out(tmp_path / "tsunami", 100, (2, 4))
    with pytest.raises(ValueError, match="is of 2 x 4 pixels, not 224 x 1024"):
        tsunami(tmp_path, (28, 128))
    blank = Image.new("RGB", (1024, 224), (255, 0, 0))
    for path in (tmp_path / "tsunami").glob("*/*.png"):
        blank.save(path)
    pairs = tsunami(tmp_path, (28, 128), grey=True)
    assert pairs.views.shape == (100, 2, 1, 28, 128)
    assert pairs.masks.shape == (100, 28, 128)
    close(pairs.views[0, 0, 0, 0, :1], [0.299], 1e-6)
    assert not pairs.masks.any()


def test_bad_folders_by_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="t0 holds no images"):
        pair_folder(tmp_path)
    lay_out(tmp_path)
    with pytest.raises(ValueError, match="reduce='mean' is not one of 'area', 'subsample'"):
        pair_folder(tmp_path, reduce="mean")
    Image.new("RGB", (8, 8)).save(tmp_path / "t1" / "00000001.png")
    with pytest.raises(ValueError, match=r"t1/00000001.png is of 8 x 8 pixels, not 8 x 16"):
        pair_folder(tmp_path)
    (tmp_path / "t1" / "00000001.png").write_bytes(b"no image")
    with pytest.raises(ValueError, match=r"t1/00000001.png is no whole image"):
        pair_folder(tmp_path)
    (tmp_path / "t1" / "00000001.png").unlink()
    with pytest.raises(FileNotFoundError, match=r"t1 holds no image named 00000001"):
        pair_folder(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"nothing.png is not there"):
        read_image(tmp_path / "nothing.png")
