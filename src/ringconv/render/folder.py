"""From a folder of meshes to a data set of panoramas, in shards; interrupted at any moment, it goes on where it was."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import _checks
from .cylinder import FITS, Cylinder
from .engines import ENGINES
from .layouts import find_sources
from .raycast import UPRIGHT, check_channels
from .shards import Shard, is_whole, render_shard

FORMAT = 1
PLAN, INDEX, SUMMARY = "plan.json", "index.csv", "dataset.json"


class Rendering:
    """A folder of meshes on its way to become a data set of panoramas.

    ``out`` then holds ``shard-00000.npz`` and so on, NumPy archives that any version of NumPy reads without this
    package; ``index.csv``, a line for each object: shard, row, class, split, source and its checksum; and
    ``dataset.json``, written last: options, classes, checksums of the shards, and which meshes failed and why. All
    files are the same bytes however often the work was interrupted, in whatever order and wherever it was done.

    Args:
        root: the folder of meshes.
        out: the folder of the data set; made if it is not there. If it holds a part of the same rendering, that is
            kept; if it holds another one, it is refused.
        layout, splits, test: as for :func:`find_sources`.
        height, width, channels: as for :func:`panorama`.
        cylinder: as for :func:`panorama`.
        up: the axis that points upwards; by default ``"y"`` for ShapeNet and ``"z"`` for all others.
        shard_size: meshes in a shard. A worker holds one shard of panoramas in memory, twice while it writes.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        out: str | os.PathLike[str],
        *,
        layout: str = "auto",
        splits: str | os.PathLike[str] | None = None,
        test: float = 0.0,
        height: int = 48,
        width: int = 100,
        channels: Sequence[str] = ("depth",),
        cylinder: Cylinder | str = "tight",
        up: str | None = None,
        shard_size: int = 256,
    ) -> None:
        where = "Rendering"
        check_channels(where, channels)
        size = [_checks.integer(where, name, n) for name, n in (("height", height), ("width", width))]
        self.shard_size = _checks.integer(where, "shard_size", shard_size)
        if not isinstance(cylinder, Cylinder):
            _checks.one_of(where, "cylinder", cylinder, FITS)
        self.root, self.out = Path(root).resolve(), Path(out).resolve()
        self.layout, self.sources = find_sources(
            self.root, layout, splits=None if splits is None else Path(splits), test=test
        )
        up = up or ("y" if self.layout == "shapenet" else "z")
        _checks.one_of(where, "up", up, UPRIGHT)
        self.classes = sorted({source.label for source in self.sources})
        self.options: dict[str, Any] = {
            "height": size[0],
            "width": size[1],
            "channels": list(channels),
            "cylinder": cylinder,
            "up": up,
        }

    def start(self) -> int:
        """Set ``out`` up, or find what it holds already; how many meshes are done."""
        self.out.mkdir(parents=True, exist_ok=True)
        plan, path = self._plan(), self.out / PLAN
        if path.exists():
            self._check(json.loads(path.read_text()), plan)
        elif others := sorted(p.name for p in self.out.iterdir() if not p.name.startswith(".")):
            raise ValueError(
                f"Rendering: out={str(self.out)!r} holds {others[0]!r} and no rendering: give a new folder"
            )
        else:
            _write(path, json.dumps(plan))
        return sum(len(shard.sources) for shard in self.shards() if is_whole(Path(shard.path)))

    def run(self, engine: str = "local", jobs: int | None = None) -> Iterator[int]:
        """Render what is left; yields the number of meshes in each shard as it is finished.

        Args:
            engine: ``"local"`` for processes on this machine, ``"ray"`` for a Ray cluster.
            jobs: processes; as many as there are cores by default. A script that asks for more than one must have
                its ``if __name__ == "__main__"``.
        """
        where = "Rendering.run"
        execute = ENGINES[_checks.one_of(where, "engine", engine, ENGINES)]
        jobs = os.cpu_count() or 1 if jobs is None else _checks.integer(where, "jobs", jobs)
        left = [shard for shard in self.shards() if not is_whole(Path(shard.path))]
        return execute(render_shard, left, jobs)

    def finish(self) -> dict[str, Any]:
        """Write the index over all shards, remove what interrupted workers left, and return the summary."""
        rows: list[tuple[str, int, str, str, str, str]] = []
        failed: list[tuple[str, str]] = []
        shards: list[dict[str, str]] = []
        for shard in self.shards():
            path = Path(shard.path)
            with np.load(path) as found:
                names = [found[name].tolist() for name in ("label", "split", "source", "sha256")]
                for row, (label, split, source, digest) in enumerate(zip(*names, strict=True)):
                    rows.append((path.name, row, self.classes[label], split, source, digest))
                failed += zip(found["failed"].tolist(), found["error"].tolist(), strict=True)
            with path.open("rb") as file:
                digest = hashlib.sha256(file.read()).hexdigest()
            shards.append({"file": path.name, "sha256": digest})
        table = io.StringIO()
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(["shard", "row", "class", "split", "source", "sha256"])
        writer.writerows(rows)
        _write(self.out / INDEX, table.getvalue())
        summary = {
            "format": FORMAT,
            "layout": self.layout,
            "options": self._told(),
            "classes": self.classes,
            "panoramas": dict(sorted(Counter(row[3] for row in rows).items())),
            "shards": shards,
            "failed": [{"source": source, "error": error} for source, error in failed],
        }
        _write(self.out / SUMMARY, json.dumps(summary, indent=1) + "\n")
        for partial in self.out.glob(".shard-*.npz.*"):
            partial.unlink(missing_ok=True)
        return summary

    def shards(self) -> list[Shard]:
        """The work, in pieces."""
        size, number = self.shard_size, {name: i for i, name in enumerate(self.classes)}
        pieces = [self.sources[i : i + size] for i in range(0, len(self.sources), size)]
        return [
            Shard(
                str(self.root),
                str(self.out / f"shard-{i:05d}.npz"),
                piece,
                [number[source.label] for source in piece],
                self.options,
            )
            for i, piece in enumerate(pieces)
        ]

    def _told(self) -> dict[str, Any]:
        """The options as JSON has them."""
        cylinder = self.options["cylinder"]
        return {**self.options, "cylinder": cylinder if isinstance(cylinder, str) else vars(cylinder)}

    def _plan(self) -> dict[str, Any]:
        plan = {
            "format": FORMAT,
            "layout": self.layout,
            "options": self._told(),
            "shard_size": self.shard_size,
            "sources": self.sources,
        }
        told: dict[str, Any] = json.loads(json.dumps(plan))  # tuples as the lists that come back
        return told

    def _check(self, found: dict[str, Any], plan: dict[str, Any]) -> None:
        differs = [name for name in plan if found.get(name) != plan[name]]
        if not differs:
            return
        if differs == ["sources"]:
            old, new = ({tuple(source) for source in p["sources"]} for p in (found, plan))
            what = f"meshes that are not the same: {_first(old ^ new)}"
        else:
            what = "; ".join(
                f"{name} {found.get(name)} where now {plan[name]}" for name in differs if name != "sources"
            )
        raise ValueError(f"Rendering: out={str(self.out)!r} holds a rendering with {what}; give another folder")


def _first(sources: set[tuple[Any, ...]], shown: int = 3) -> str:
    names = sorted({source[0] for source in sources})
    return ", ".join(names[:shown]) + (f" and {len(names) - shown} more" if len(names) > shown else "")


def _write(path: Path, text: str) -> None:
    """A reader sees the whole file or none."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    with partial.open("w", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
