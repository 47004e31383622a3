"""The unit of a long rendering: some meshes in, one ``.npz`` file out, the same bytes wherever it is made."""

from __future__ import annotations

import hashlib
import io
import os
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .layouts import MeshFile
from .raycast import panorama

_MESSAGE = 200  # characters of an error that are kept


class Shard(NamedTuple):
    """What to render, how, and where to put it; paths as strings, so that it travels to any worker."""

    root: str
    path: str
    sources: list[MeshFile]
    labels: list[int]
    options: Mapping[str, Any]


def render_shard(shard: Shard) -> int:
    """Render every mesh of a shard, unless its file is already there; how many meshes it was.

    The file holds ``panoramas`` ``(N, C, H, W)`` float32, ``label``, ``split``, ``source`` and ``sha256`` (of the
    mesh's file) of each, and ``failed`` and ``error`` for the meshes that could not be read or seen. It appears
    under its name when it is whole, and on the disk.
    """
    path = Path(shard.path)
    if not is_whole(path):
        partial = path.with_name(f".{path.name}.{os.getpid()}")
        with partial.open("wb") as file:
            np.savez(file, **_render(shard))
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    return len(shard.sources)


def is_whole(path: Path) -> bool:
    """Whether a shard's file is there and complete: a zip archive's directory stands at its end."""
    return path.is_file() and zipfile.is_zipfile(path)


def load_mesh(path: Path, content: bytes | None = None) -> Any:
    """The mesh in a file, all of its parts as one, without materials; as :class:`trimesh.Trimesh`."""
    try:
        import trimesh
    except ModuleNotFoundError:
        raise ModuleNotFoundError("load_mesh: reading meshes needs trimesh: pip install 'ringconv[app]'") from None
    content = path.read_bytes() if content is None else content
    if path.suffix.lower() == ".off" and (found := _plain_off(content)):
        return trimesh.Trimesh(*found, process=False)
    file = io.BytesIO(content)
    loaded = trimesh.load(file, file_type=path.suffix[1:].lower(), process=False, skip_materials=True)
    return loaded.to_mesh() if isinstance(loaded, trimesh.Scene) else loaded


def _plain_off(content: bytes) -> tuple[Any, Any] | None:
    """Vertices and faces of an OFF file that holds triangles and nothing else; ``None`` for any other.

    All its numbers are read in one call, several times as fast as line by line.
    """
    head = re.match(rb"\s*OFF\s*(\d+)\s+(\d+)\s+\d+\s", content)
    if not head:
        return None
    try:
        numbers = np.array(content[head.end() :].split(), np.float64)
    except ValueError:
        return None
    vertices, faces = int(head[1]), int(head[2])
    rows = numbers[3 * vertices :].reshape(-1, 4) if len(numbers) == 3 * vertices + 4 * faces else None
    if rows is None or (rows[:, 0] != 3).any():
        return None
    return numbers[: 3 * vertices].reshape(-1, 3), rows[:, 1:].astype(np.int64)


def _render(shard: Shard) -> dict[str, Any]:
    pictures, kept, digests, failed = [], [], [], []
    for number, source in enumerate(shard.sources):
        path = Path(shard.root, source.path)
        content = path.read_bytes()
        try:
            pictures.append(panorama(load_mesh(path, content), **shard.options).numpy())
        except (MemoryError, ModuleNotFoundError):
            raise  # no fault of the mesh
        except Exception as error:
            failed.append((source.path, f"{type(error).__name__}: {' '.join(str(error).split())}"[:_MESSAGE]))
            continue
        kept.append(number)
        digests.append(hashlib.sha256(content).hexdigest())
    return {
        "panoramas": np.stack(pictures) if pictures else np.zeros((0, 0, 0, 0), np.float32),
        "label": np.array([shard.labels[i] for i in kept], np.int64),
        "split": _strings(shard.sources[i].split for i in kept),
        "source": _strings(shard.sources[i].path for i in kept),
        "sha256": _strings(digests),
        "failed": _strings(path for path, _ in failed),
        "error": _strings(message for _, message in failed),
    }


def _strings(values: Any) -> Any:
    return np.array(list(values), np.str_)
