"""Panoramas of 3D objects: what ``ringconv render`` makes of a folder of meshes, as a data set to train on."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from .. import _checks
from ._files import Source

Item = tuple[Tensor, int]
SUMMARY = "dataset.json"


class Panoramas(Dataset[Item]):
    """Panoramas of objects, held in memory, as a map-style data set of ``(panorama, label)``.

    Reads the folder that ``ringconv render`` writes: ModelNet, ShapeNetCore or any other folder of meshes. Every
    shard is checked against the checksum in ``dataset.json``. The paper's protocol is :class:`Rolled` over the test
    split, whose rolls are fixed, and for training on turned objects over the training split too.

    Args:
        folder: the rendered data set: its path, or its name below ``RINGCONV_DATA``.
        split: ``"train"``, ``"test"``, or another that the data set has.
        mean: subtracted from every value.
        std: divides every value after that. ``mean=1, std=-1`` gives nearness instead of depth: 0 where a ray meets
            nothing.
    """

    def __init__(
        self, folder: str | os.PathLike[str], split: str = "train", *, mean: float = 0.0, std: float = 1.0
    ) -> None:
        where = "Panoramas"
        path = Path(folder).expanduser()
        source = Source(where, str(path.resolve() if path.exists() else path), "`ringconv render MESHES FOLDER`")
        try:
            summary = json.loads(source.read(SUMMARY))
        except ValueError as error:
            raise source.damaged(source.path(SUMMARY), f"is no JSON ({error})") from None
        self.classes: tuple[str, ...] = tuple(summary["classes"])
        self.options: dict[str, Any] = summary["options"]
        self.split = _checks.one_of(where, "split", split, summary["panoramas"])
        self.mean, self.std = mean, std
        parts = [_read(source, shard, split) for shard in summary["shards"]]
        panoramas, labels, sources = zip(*(part for part in parts if len(part[1])), strict=True)
        self.panoramas = torch.from_numpy(np.concatenate(panoramas))
        self.labels = torch.from_numpy(np.concatenate(labels))
        self.sources: list[str] = np.concatenate(sources).tolist()

    @property
    def shape(self) -> tuple[int, int, int]:
        """``(C, H, W)`` of a panorama."""
        channels, height, width = self.panoramas.shape[1:]
        return channels, height, width

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> Item:
        return self._scaled(self.panoramas[index]), int(self.labels[index])

    def __getitems__(self, indices: list[int]) -> list[Item]:
        return list(zip(self._scaled(self.panoramas[indices]), self.labels[indices].tolist(), strict=True))

    def _scaled(self, panoramas: Tensor) -> Tensor:
        return (panoramas - self.mean) / self.std


def _read(source: Source, shard: dict[str, str], split: str) -> tuple[Any, Any, Any]:
    with np.load(io.BytesIO(source.read(shard["file"], sha256=shard["sha256"]))) as found:
        chosen = found["split"] == split
        return found["panoramas"][chosen], found["label"][chosen], found["source"][chosen]
