"""Pictures for the commands: from files to tensors and back."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from ..data import read_image


def read(path: Path) -> Tensor:
    """An image file as ``(3, H, W)`` in [0, 1]."""
    return read_image(path).float() / 255


def of_one_size(a: Path, one: Tensor, b: Path, two: Tensor) -> tuple[Tensor, Tensor]:
    """The two views, unless their sizes differ."""
    if one.shape != two.shape:
        sizes = [" x ".join(map(str, view.shape[-2:])) for view in (one, two)]
        raise ValueError(f"{a} is of {sizes[0]} pixels and {b} of {sizes[1]}: both views must be of one size")
    return one, two


def write(path: Path, image: Tensor) -> None:
    """``(3, H, W)`` or ``(H, W)`` in [0, 1] as an image file, in folders made where needed."""
    from PIL import Image

    pixels = (image.clamp(0, 1) * 255).round().to(torch.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray((pixels if pixels.ndim == 2 else pixels.permute(1, 2, 0)).numpy()).save(path)
