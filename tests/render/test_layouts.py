"""Collections of meshes in the layouts in which they come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ringconv.render import find_sources


def tree(root: Path, *paths: str) -> Path:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("OFF")
    return root


def found(root: Path, layout: str = "auto", **options: Any) -> tuple[str, list[tuple[str, str, str]]]:
    name, sources = find_sources(root, layout, **options)
    assert all(source.size == 3 for source in sources)
    return name, [(source.path, source.label, source.split) for source in sources]


def test_modelnet(tmp_path: Path) -> None:
    tree(tmp_path, "chair/train/chair_1.off", "chair/test/chair_2.OFF", "bath tub/train/b.off", "chair/train/notes.txt")
    assert found(tmp_path) == (
        "modelnet",
        [
            ("bath tub/train/b.off", "bath tub", "train"),
            ("chair/test/chair_2.OFF", "chair", "test"),
            ("chair/train/chair_1.off", "chair", "train"),
        ],
    )


SYNSETS = [
    {"synsetId": "02691156", "name": "airplane,aeroplane,plane"},
    {"synsetId": "03001627", "name": "chair"},
    {"synsetId": "03991062", "name": "pot,flowerpot"},
    {"synsetId": "04000000", "name": "pot,crock"},
]
CSV = (
    "id,synsetId,subSynsetId,modelId,split\n"
    "1,2691156,2691156,aa,train\n2,02691156,1,bb,val\n3,3001627,1,aa,test\n4,03991062,1,cc,test\n"
)


@pytest.mark.parametrize("file", ["models/model_normalized.obj", "model.obj"])
def test_shapenet(tmp_path: Path, file: str) -> None:
    models = ("02691156/aa", "02691156/bb", "02691156/new", "03001627/aa", "03991062/cc")
    tree(tmp_path, *(f"{model}/{file}" for model in models), "02691156/aa/models/model_normalized.surface.obj")
    with pytest.raises(ValueError, match=r"all\.csv' is no file; ShapeNetCore's official split"):
        find_sources(tmp_path)
    (tmp_path / "all.csv").write_text(CSV)
    expected = ["train", "val", "other", "test", "test"]
    name, sources = found(tmp_path)
    assert name == "shapenet"
    assert sources == [(f"{m}/{file}", m[:8], split) for m, split in zip(models, expected, strict=True)]

    (tmp_path / "all.csv").rename(tmp_path / "elsewhere.csv")
    (tmp_path / "taxonomy.json").write_text(json.dumps(SYNSETS))
    labels = [label for _, label, _ in found(tmp_path, splits=tmp_path / "elsewhere.csv")[1]]
    assert labels == ["airplane", "airplane", "airplane", "chair", "pot 03991062"]


def test_plain_folders(tmp_path: Path) -> None:
    tree(tmp_path, *(f"a/deep/{i}.stl" for i in range(100)), *(f"b/{i}.glb" for i in range(100)), "readme.obj")
    name, sources = found(tmp_path)
    assert (name, len(sources)) == ("folders", 200)
    assert {split for *_, split in sources} == {"train"}
    apart = [path for path, _, split in found(tmp_path, test=0.3)[1] if split == "test"]
    assert 40 < len(apart) < 80
    (tmp_path / "a/deep/0.stl").unlink()
    kept = [path for path in apart if path != "a/deep/0.stl"]
    assert kept == [path for path, _, split in found(tmp_path, test=0.3)[1] if split == "test"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layout": "modelnet"}, "in the layout 'modelnet'"),
        ({}, "holds no mesh .* any layout that is known: modelnet, shapenet, folders"),
        ({"layout": "zip"}, "layout='zip' is not one of"),
        ({"test": 1.0}, "test=1.0 must be a fraction"),
    ],
)
def test_what_cannot_be_found_is_named(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        find_sources(tmp_path, **options)


def test_no_folder_and_no_split_table(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is no folder"):
        find_sources(tmp_path / "nowhere")
    tree(tmp_path, "1/a/model.obj", "all.csv")
    with pytest.raises(ValueError, match="must have columns modelId, split, synsetId"):
        find_sources(tmp_path)
