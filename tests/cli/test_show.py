"""``ringconv show``: every kind of file becomes a row of the picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh
from PIL import Image

from ..render.shapes import write_shapes
from .test_cli import run

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("show")
    write_shapes(root / "meshes", 1, 0)
    assert (
        run("render", str(root / "meshes"), str(root / "out"), "--size", "6x10", "--jobs", "1", "--shard-size", "2")
        == 0
    )
    (root / "scan.bin").write_bytes(np.random.default_rng(0).normal(size=(500, 4)).astype(np.float32).tobytes())
    np.savez(root / "other.npz", nothing=1)
    return root


def colours(path: Path) -> int:
    with Image.open(path) as picture:
        return len(set(picture.convert("RGB").resize((80, 80)).get_flattened_data()))


def test_every_kind_of_file(folder: Path, capsys: Capture, tmp_path: Path) -> None:
    files = ["meshes/box/train/000.off", "scan.bin", "out/shard-00001.npz", "out"]
    picture = tmp_path / "all.png"
    assert run("show", *(str(folder / file) for file in files), "--index", "1", "--out", str(picture)) == 0
    assert capsys.readouterr().out == f"{picture}\n"
    one = tmp_path / "one.png"
    assert run("show", str(folder / files[0]), "--roll", "3", "--out", str(one), "--size", "12x20") == 0
    with Image.open(one) as rolled, Image.open(picture) as four:
        assert rolled.width > four.width
        assert four.height > 3 * rolled.height
    assert colours(one) > 30


def test_the_rolled_picture_is_the_picture_rolled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    monkeypatch.setattr("ringconv.cli.show._draw", lambda shown, roll, out: drawn.append((shown, roll)))
    assert run("show", str(folder / "out"), "--index", "4", "--roll", "5") == 0
    [([(title, thing, picture)], roll)] = drawn
    assert (title, thing, roll) == ("ring/train/000.off", None, 5)
    with np.load(folder / "out/shard-00002.npz") as shard:
        np.testing.assert_array_equal(picture, shard["panoramas"][0, 0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["out", "--index", "5"], "--index=5 must lie in 0 … 4"),
        (["out", "--index", "-1"], "--index=-1 must lie in 0 … 4"),
        (["other.npz"], "is no shard that `ringconv render` wrote"),
        (["scan.bin", "--size", "9"], "--size='9' must be rows x columns"),
        (["missing.off"], "missing.off"),
        (["cloud.ply"], "a cloud of points is for range_image"),
    ],
)
def test_what_is_refused(folder: Path, arguments: list[str], message: str, capsys: Capture) -> None:
    trimesh.PointCloud(np.eye(3)).export(folder / "cloud.ply")
    file, *options = arguments
    assert run("show", str(folder / file), *options) == 2
    assert message in capsys.readouterr().err
