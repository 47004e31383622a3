"""Which meshes a folder holds, of which class, in which split: the layouts in which collections of objects come."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .. import _checks

LAYOUTS = ("auto", "modelnet", "shapenet", "folders")
SUFFIXES = (".off", ".obj", ".ply", ".stl", ".glb")
_SHAPENET = ("*/*/models/model_normalized.obj", "*/*/model.obj")  # v2 and v1


class MeshFile(NamedTuple):
    """One mesh: its path below the folder, with forward slashes, its class, its split and its size in bytes."""

    path: str
    label: str
    split: str
    size: int


def find_sources(
    root: Path, layout: str = "auto", *, splits: Path | None = None, test: float = 0.0
) -> tuple[str, list[MeshFile]]:
    """The layout of ``root`` and every mesh in it, in the order of their paths.

    ============ ==================================================== ===============================================
    layout       files                                                split
    ============ ==================================================== ===============================================
    ``modelnet`` ``CLASS/{train,test}/*``                             the folder
    ``shapenet`` ``SYNSET/MODEL/models/model_normalized.obj`` (v2) or the official CSV (``splits``, or ``all.csv`` in
                 ``SYNSET/MODEL/model.obj`` (v1)                      the folder); ``other`` if that has no such model
    ``folders``  ``CLASS/**``                                         ``test`` for the given fraction, else ``train``
    ============ ==================================================== ===============================================

    Classes are named by their folder, those of ShapeNet by ``taxonomy.json`` where that is in the folder.

    Args:
        root: the folder.
        layout: one of the above, or ``"auto"``: the first of them that finds a mesh.
        splits: ShapeNet's CSV with the columns ``synsetId``, ``modelId`` and ``split``.
        test: of plain class folders, the fraction set apart; chosen by each file's name, so that it stays what it is
            when others are added.
    """
    where = "find_sources"
    _checks.one_of(where, "layout", layout, LAYOUTS)
    if not root.is_dir():
        raise ValueError(f"{where}: root={str(root)!r} is no folder")
    if not 0 <= test < 1:
        raise ValueError(f"{where}: test={test!r} must be a fraction of at least 0 and below 1")
    readers = {
        "modelnet": lambda: _modelnet(root),
        "shapenet": lambda: _shapenet(root, splits),
        "folders": lambda: _folders(root, test),
    }
    for name in readers if layout == "auto" else (layout,):
        found = sorted(
            MeshFile(path.relative_to(root).as_posix(), label, split, path.stat().st_size)
            for path, label, split in readers[name]()
        )
        if found:
            return name, found
    raise ValueError(
        f"{where}: root={str(root)!r} holds no mesh ({' '.join(SUFFIXES)}) in "
        + ("any layout that is known: " + ", ".join(LAYOUTS[1:]) if layout == "auto" else f"the layout {layout!r}")
    )


def _meshes(paths: Iterator[Path]) -> Iterator[Path]:
    return (path for path in paths if path.suffix.lower() in SUFFIXES and path.is_file())


def _modelnet(root: Path) -> Iterator[tuple[Path, str, str]]:
    for split in ("train", "test"):
        for path in _meshes(root.glob(f"*/{split}/*")):
            yield path, path.parent.parent.name, split


def _folders(root: Path, test: float) -> Iterator[tuple[Path, str, str]]:
    for path in _meshes(root.glob("*/**/*")):
        chance = int(hashlib.sha256(path.stem.encode()).hexdigest()[:12], 16) / 16**12
        yield path, path.relative_to(root).parts[0], "test" if chance < test else "train"


def _shapenet(root: Path, splits: Path | None) -> Iterator[tuple[Path, str, str]]:
    models = [path for pattern in _SHAPENET for path in root.glob(pattern)]
    if not models:
        return
    table = _split_table(splits or root / "all.csv")
    names = _synset_names(root / "taxonomy.json")
    for path in models:
        synset, model = path.relative_to(root).parts[:2]
        yield path, names.get(synset, synset), table.get((synset, model), "other")


def _split_table(path: Path) -> dict[tuple[str, str], str]:
    where = "find_sources"
    if not path.is_file():
        raise ValueError(
            f"{where}: splits={str(path)!r} is no file; ShapeNetCore's official split, all.csv, is on shapenet.org "
            "beside the models: put it into the folder or give its path"
        )
    with path.open(newline="") as file:
        reader = csv.DictReader(file)
        needed = {"synsetId", "modelId", "split"}
        if not needed <= set(reader.fieldnames or ()):
            raise ValueError(f"{where}: splits={str(path)!r} must have columns {', '.join(sorted(needed))}")
        # The published file has lost the leading zero of its synsets; the folders have it.
        return {(row["synsetId"].zfill(8), row["modelId"]): row["split"] for row in reader}


def _synset_names(path: Path) -> dict[str, str]:
    """Synset to the first of its names; two synsets of one name keep their number beside it."""
    if not path.is_file():
        return {}
    entries = {entry["synsetId"]: entry["name"].split(",")[0] for entry in json.loads(path.read_text())}
    names = list(entries.values())
    return {synset: name if names.count(name) == 1 else f"{name} {synset}" for synset, name in entries.items()}
