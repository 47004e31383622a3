"""Images of one's own: a folder for each class."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from .. import _checks
from ._images import Item

if TYPE_CHECKING:
    from PIL import Image

SUFFIXES = (".png", ".jpg", ".jpeg")
MODES = {1: "L", 3: "RGB"}


class ImageFolder(Dataset[Item]):
    """``ROOT/CLASS/*.png`` (or ``.jpg``, ``.jpeg``), each image resized to the ring, as ``(image, label)``.

    Classes are the folders in the order of their names. Files are read when they are asked for. An image comes out in
    float32, ``(C, H, W)``, in [−1, 1].

    Args:
        root: the folder that holds a folder for each class.
        size: ``(H, W)`` that images are resized to.
        channels: 3 for colour, 1 for grey.
        classes: names of the classes, if they are to be others than the folders', or in another order: those of the
            training data, for a folder to test with.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        size: tuple[int, int],
        channels: int = 3,
        classes: Sequence[str] | None = None,
    ) -> None:
        where = type(self).__name__
        self.root = Path(root)
        self.size = _checks.pair(where, "size", size)
        if channels not in MODES:
            raise ValueError(f"{where}: channels={channels!r} must be 1 or 3")
        if not self.root.is_dir():
            raise FileNotFoundError(f"{where}: root={os.fspath(root)!r} is no folder; it must hold one for each class")
        self.channels = channels
        found = sorted(path.name for path in self.root.iterdir() if path.is_dir() and not path.name.startswith("."))
        self.classes = tuple(found if classes is None else classes)
        unknown = [name for name in found if name not in self.classes]
        if unknown:
            raise ValueError(
                f"{where}: {os.fspath(root)!r} holds the folder {unknown[0]!r}, which is none of the classes "
                f"{', '.join(map(repr, self.classes))}"
            )
        self.files = [(path, self.classes.index(name)) for name in found for path in _images(self.root / name)]
        if not self.files:
            raise ValueError(
                f"{where}: {os.fspath(root)!r} holds no images: it must hold CLASS/*{', *'.join(SUFFIXES)}"
            )

    @property
    def shape(self) -> tuple[int, int, int]:
        """``(C, H, W)`` of an image."""
        return self.channels, *self.size

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> Item:
        path, label = self.files[index]
        return read_resized(path, self.shape), label


def read_resized(path: str | os.PathLike[str], shape: tuple[int, int, int]) -> Tensor:
    """An image file as ``(C, H, W)`` in float32 in [−1, 1], resized; ``ValueError`` if it cannot be read.

    What has an alpha channel stands on black; what has 16 bits keeps their upper half.

    Args:
        path: a file in any format that Pillow reads.
        shape: ``(C, H, W)`` of the result, with C of 1 or 3.
    """
    from PIL import Image

    channels, height, width = shape
    try:
        with Image.open(path) as image:
            flat = _opaque(image).convert(MODES[channels])
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise ValueError(f"read_resized: {os.fspath(path)!r} is no image that can be read ({error})") from None
    small = flat.resize((width, height), Image.Resampling.BILINEAR)
    pixels = torch.from_numpy(np.asarray(small, dtype=np.float32).reshape(height, width, channels).copy())
    return pixels.permute(2, 0, 1).contiguous() / 127.5 - 1


def _opaque(image: Image.Image) -> Image.Image:
    """``image`` in eight bits, on black where it is transparent."""
    from PIL import Image

    if image.mode.startswith("I"):
        return Image.fromarray((np.asarray(image).clip(0, 65535) >> 8).astype(np.uint8))
    if image.mode in ("LA", "PA", "RGBA") or "transparency" in image.info:
        return Image.alpha_composite(Image.new("RGBA", image.size, "black"), image.convert("RGBA"))
    return image


def _images(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES and path.is_file())
