"""``ringconv render``: what it prints, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ..render.shapes import write_shapes
from .test_cli import run

SMALL = ("--size", "6x10", "--jobs", "1")


def test_a_folder_becomes_a_data_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    meshes, out = write_shapes(tmp_path / "meshes", 2, 1), tmp_path / "out"
    assert run("render", str(meshes), str(out), *SMALL, "--channels", "depth,hit", "--fit", "uniform") == 0
    assert capsys.readouterr().out == f"{out}: 5 test, 10 train panoramas of 6x10 in 5 classes (modelnet)\n"
    options = json.loads((out / "dataset.json").read_text())["options"]
    told = {"height": 6, "width": 10, "channels": ["depth", "hit"], "cylinder": "uniform", "up": "z"}
    assert options == told
    assert run("render", str(meshes), str(out), *SMALL, "--channels", "depth,hit", "--fit", "uniform") == 0
    assert run("render", str(meshes), str(out), *SMALL) == 2
    assert "give another folder" in capsys.readouterr().err


def test_broken_meshes_are_told_at_the_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ringconv.cli.render.SHOWN", 2)
    meshes, out = write_shapes(tmp_path / "meshes", 1, 0), tmp_path / "out"
    for i in range(3):
        (meshes / f"box/train/broken{i}.off").write_text("no mesh")
    options = ("--radius", "2", "--bottom", "-2", "--top", "2", "--up", "x")
    assert run("render", str(meshes), str(out), *SMALL, *options) == 1
    printed = capsys.readouterr()
    assert printed.out == f"{out}: 5 train panoramas of 6x10 in 5 classes (modelnet)\n"
    told = [line for line in printed.err.splitlines() if line.startswith("failed: ")]
    assert [line.split(":")[1].strip() for line in told[:2]] == ["box/train/broken0.off", "box/train/broken1.off"]
    assert told[2] == f"failed: 1 more, in {out / 'dataset.json'}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--size", "48"], "--size='48' must be rows x columns, as 48x100"),
        (["--radius", "0"], "radius=0.0 must be above 0"),
        (["--engine", "cloud"], "engine='cloud' is not one of 'local', 'ray'"),
        (["--layout", "shapenet"], "in the layout 'shapenet'"),
    ],
)
def test_what_is_refused(tmp_path: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    meshes = write_shapes(tmp_path / "meshes", 1, 0)
    assert run("render", str(meshes), str(tmp_path / "out"), *options) == 2
    assert message in capsys.readouterr().err
