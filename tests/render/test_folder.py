"""A folder of meshes becomes the same data set, byte for byte, whatever happens on the way."""

from __future__ import annotations

import csv
import hashlib
import json
import multiprocessing
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ringconv.render import Cylinder, Rendering, load_mesh, panorama
from ringconv.render.shards import is_whole

from .shapes import SHAPES, write_shapes

OPTIONS: dict[str, Any] = {"height": 8, "width": 12, "channels": ("depth", "normal"), "shard_size": 4}


@pytest.fixture(scope="module")
def meshes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_shapes(tmp_path_factory.mktemp("meshes"), 4, 2)
    (root / "box/train/broken.off").write_text("OFF\n3 1 0\nnothing more\n")
    (root / "box/train/flat.off").write_text("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n")
    return root


@pytest.fixture(scope="module")
def undisturbed(meshes: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    render(meshes, out)
    return files(out)


def render(root: Path, out: Path, **options: Any) -> dict[str, Any]:
    rendering = Rendering(root, out, **{**OPTIONS, **options})
    done = rendering.start()
    assert done + sum(rendering.run(jobs=1)) == len(rendering.sources)
    return rendering.finish()


def files(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in out.iterdir()}


def test_every_mesh_is_there_once_with_its_picture(meshes: Path, tmp_path: Path) -> None:
    summary = render(meshes, tmp_path / "out")
    assert summary == json.loads((tmp_path / "out/dataset.json").read_text())
    assert summary["classes"] == sorted(SHAPES)
    assert summary["panoramas"] == {"test": 10, "train": 20}
    assert [failure["source"] for failure in summary["failed"]] == ["box/train/broken.off", "box/train/flat.off"]
    assert "the object is flat" in summary["failed"][1]["error"]
    rows = list(csv.DictReader((tmp_path / "out/index.csv").read_text().splitlines()))
    sources = [row["source"] for row in rows]
    paths = {path.relative_to(meshes).as_posix() for path in meshes.rglob("*.off")}
    assert sources == sorted(sources)
    assert set(sources) == paths - {failure["source"] for failure in summary["failed"]}
    for row in rows:
        path = meshes / row["source"]
        assert [row["class"], row["split"]] == list(path.parts[-3:-1])
        assert row["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        with np.load(tmp_path / "out" / row["shard"]) as shard:
            picture, label = shard["panoramas"][int(row["row"])], shard["label"][int(row["row"])]
        assert summary["classes"][label] == row["class"]
        assert picture.dtype == np.float32
        np.testing.assert_array_equal(picture, panorama(load_mesh(path), 8, 12, ("depth", "normal")))
    for shard in summary["shards"]:
        assert hashlib.sha256((tmp_path / "out" / shard["file"]).read_bytes()).hexdigest() == shard["sha256"]


def run_in_child(root: str, out: str) -> None:
    render(Path(root), Path(out), shard_size=1)


def test_killed_at_ten_random_moments(meshes: Path, tmp_path: Path) -> None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["ringconv.render", "trimesh", "pytest"])  # once for all children
    draw = np.random.default_rng(0)
    part_way = done = 0
    for _ in range(10):
        child = context.Process(target=run_in_child, args=(str(meshes), str(tmp_path / "out")))
        child.start()
        wanted = min(done + draw.integers(4), 30)
        while done < wanted and child.is_alive():
            done = len(list((tmp_path / "out").glob("shard-*.npz")))
        time.sleep(draw.uniform(0, 0.01))
        child.kill()
        child.join()
        found = list((tmp_path / "out").glob("shard-*.npz"))
        assert all(map(is_whole, found))
        done = len(found)
        part_way += 0 < done < 32
    assert part_way
    render(meshes, tmp_path / "out", shard_size=1)
    render(meshes, tmp_path / "undisturbed", shard_size=1)
    assert files(tmp_path / "out") == files(tmp_path / "undisturbed")


def test_what_is_done_stays_and_what_is_torn_is_made_again(
    meshes: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    render(meshes, out)
    kept, torn, lost = (out / f"shard-0000{i}.npz" for i in range(3))
    before = kept.stat().st_mtime_ns
    torn.write_bytes(torn.read_bytes()[:1000])
    lost.unlink()
    (out / ".shard-00001.npz.4242").write_bytes(b"half")
    assert Rendering(meshes, out, **OPTIONS).start() == 24
    render(meshes, out)
    assert files(out) == undisturbed
    assert kept.stat().st_mtime_ns == before


def test_another_rendering_is_not_mixed_in(meshes: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    render(meshes, out, cylinder=Cylinder(1, -1, 1))
    with pytest.raises(ValueError, match=r"options \{.*'radius': 1.* where now \{.*'cylinder': 'tight'"):
        render(meshes, out)
    with pytest.raises(ValueError, match="shard_size 4 where now 5; give another folder"):
        render(meshes, out, cylinder=Cylinder(1, -1, 1), shard_size=5)
    with pytest.raises(ValueError, match=r"not the same: ball/test/004\.off, ball/test/005\.off, .* and 3"):
        render(tree_of_balls(tmp_path / "balls", meshes), out, cylinder=Cylinder(1, -1, 1))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.tex").touch()
    with pytest.raises(ValueError, match=r"holds 'thesis.tex' and no rendering"):
        render(meshes, tmp_path / "mine")


def tree_of_balls(root: Path, meshes: Path) -> Path:
    for path in meshes.rglob("*.off"):
        if "ball" not in path.parts:
            copy = root / path.relative_to(meshes)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    return root


def test_a_shard_without_a_single_picture(tmp_path: Path) -> None:
    (tmp_path / "meshes/a").mkdir(parents=True)
    (tmp_path / "meshes/a/empty.stl").touch()
    summary = render(tmp_path / "meshes", tmp_path / "out")
    assert (summary["layout"], summary["panoramas"]) == ("folders", {})
    assert len(summary["failed"]) == 1


def test_what_is_no_fault_of_a_mesh_stops_the_run(
    meshes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "trimesh", None)
    with pytest.raises(ModuleNotFoundError, match="needs trimesh"):
        render(meshes, tmp_path / "out")
    assert not list((tmp_path / "out").glob("*.npz"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"channels": ("color",)}, "'color' is not one of"),
        ({"height": 0}, "height=0"),
        ({"shard_size": 0}, "shard_size=0"),
        ({"cylinder": "wide"}, "cylinder='wide'"),
        ({"up": "Z"}, "up='Z'"),
    ],
)
def test_bad_options_are_named_before_anything_is_written(
    meshes: Path, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Rendering(meshes, tmp_path / "out", **{**OPTIONS, **options})
    assert not (tmp_path / "out").exists()


def test_bad_engines_are_named(meshes: Path, tmp_path: Path) -> None:
    rendering = Rendering(meshes, tmp_path / "out", **OPTIONS)
    with pytest.raises(ValueError, match="engine='cloud' is not one of 'local', 'ray'"):
        rendering.run("cloud")
    with pytest.raises(ValueError, match="jobs=0"):
        rendering.run(jobs=0)
