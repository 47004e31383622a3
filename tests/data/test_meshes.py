"""A rendered folder as a data set: every picture with its label, verified, turned as the paper turns it."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from ringconv.data import Panoramas, Rolled
from ringconv.nn import RingConv2d
from ringconv.paper import PanoramaNet
from ringconv.render import Rendering, load_mesh, panorama
from ringconv.train import Recipe, fit, outputs

from ..helpers import same
from ..render.shapes import SHAPES, write_shapes


@pytest.fixture(scope="module")
def meshes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_shapes(tmp_path_factory.mktemp("meshes"), 3, 1)


@pytest.fixture
def folder(meshes: Path, tmp_path: Path) -> Path:
    rendering = Rendering(meshes, tmp_path / "shapes", height=6, width=8, channels=("depth", "hit"), shard_size=4)
    rendering.start()
    list(rendering.run(jobs=1))
    rendering.finish()
    return tmp_path / "shapes"


def test_every_panorama_with_its_label(folder: Path, meshes: Path) -> None:
    for split, count in (("train", 15), ("test", 5)):
        data = Panoramas(folder, split)
        assert (len(data), data.shape, data.classes) == (count, (2, 6, 8), tuple(sorted(SHAPES)))
        for (picture, label), source in zip(data, data.sources, strict=True):
            same(picture, panorama(load_mesh(meshes / source), 6, 8, ("depth", "hit")))
            assert source.startswith(f"{data.classes[label]}/{split}/")


def test_values_are_scaled_and_batches_read_at_once(folder: Path) -> None:
    plain, near = Panoramas(folder, "test"), Panoramas(folder, "test", mean=1, std=-1)
    same(near[2][0], 1 - plain[2][0])
    [(batch, labels)] = DataLoader(near, batch_size=5)
    same(batch, torch.stack([picture for picture, _ in near]))
    same(labels, near.labels)


def test_the_rolled_test_set_is_fixed(folder: Path) -> None:
    data = Panoramas(folder, "test")
    rolled = Rolled(data)
    assert rolled.rolls == Rolled(Panoramas(folder, "test")).rolls
    assert len(set(rolled.rolls)) > 1
    picture, label, roll = rolled[3]
    same(picture, data[3][0].roll(roll, -1))
    assert label == data[3][1]


def test_by_name_below_the_data_root(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RINGCONV_DATA", str(folder.parent))
    assert len(Panoramas("shapes")) == 15


def test_what_is_missing_or_damaged_is_named(folder: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"get it from `ringconv render MESHES FOLDER`"):
        Panoramas("/nowhere/shapes")
    with pytest.raises(ValueError, match="split='val' is not one of 'test', 'train'"):
        Panoramas(folder, "val")
    shard = folder / "shard-00001.npz"
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 1
    shard.write_bytes(content)
    with pytest.raises(ValueError, match=r"shard-00001\.npz has the SHA-256 checksum"):
        Panoramas(folder)
    shard.unlink()
    with pytest.raises(FileNotFoundError, match=r"shard-00001\.npz is not there"):
        Panoramas(folder)
    (folder / "dataset.json").write_text("{")
    with pytest.raises(ValueError, match=r"dataset\.json is no JSON"):
        Panoramas(folder)


def test_shards_need_nothing_but_numpy(folder: Path) -> None:
    summary = json.loads((folder / "dataset.json").read_text())
    found = [np.load(folder / shard["file"], allow_pickle=False) for shard in summary["shards"]]
    assert sum(len(shard["panoramas"]) for shard in found) == 20
    for shard in found:
        shard.close()


def test_five_shapes_are_told_apart_at_every_turn(tmp_path: Path) -> None:
    """The whole way: solids to meshes, meshes to panoramas, panoramas to classes, upright and turned."""
    rendering = Rendering(write_shapes(tmp_path / "meshes", 20, 8), tmp_path / "shapes", height=16, width=32)
    rendering.start()
    list(rendering.run(jobs=1))
    rendering.finish()
    train, test = (Panoramas(tmp_path / "shapes", split, mean=1, std=-1) for split in ("train", "test"))
    model = PanoramaNet(partial(RingConv2d, algorithm="direct"), 1, 5, height=16, channels=(8, 8, 16, 16))
    recipe = Recipe(epochs=25, batch_size=10, learning_rate=5e-3)
    loss = torch.nn.functional.cross_entropy
    fit(model, train, test, loss, recipe=recipe, out=tmp_path / "run", progress=False)
    upright, turned = outputs(model, test), outputs(model, Rolled(test, step=4))
    assert (upright.argmax(1) == test.labels).float().mean() > 0.9
    same(turned, upright)
