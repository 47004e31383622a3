"""Images with labels, held in memory: what every loader of this package returns."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.utils.data import Dataset

Item = tuple[Tensor, int]


class Images(Dataset[Item]):
    """Images ``(N, C, H, W)`` of bytes and their labels, as a map-style data set of ``(image, label)``.

    An image comes out in float32, ``(C, H, W)``, as ``(x / 255 − mean) / std`` of its bytes x. A list of indices
    is read at once, by ``__getitems__``, which :class:`torch.utils.data.DataLoader` knows.

    Args:
        images: ``(N, C, H, W)`` in uint8.
        labels: ``(N,)`` integers, each the index of its class.
        classes: names of the classes.
        mean: subtracted from every pixel, where white is 1.
        std: divides every pixel after that.

    >>> data = Images(torch.full((2, 1, 2, 3), 255, dtype=torch.uint8), torch.tensor([1, 0]), ("a", "b"), 0.5, 0.5)
    >>> data[0]
    (tensor([[[1., 1., 1.],
             [1., 1., 1.]]]), 1)
    """

    def __init__(
        self, images: Tensor, labels: Tensor, classes: Sequence[str], mean: float = 0.5, std: float = 0.5
    ) -> None:
        if images.dtype != torch.uint8 or images.ndim != 4 or labels.shape != images.shape[:1]:
            raise ValueError(
                f"Images: images must be (N, C, H, W) in uint8 with a label each, got {images.dtype} of shape "
                f"{tuple(images.shape)} and {tuple(labels.shape)} labels"
            )
        if len(labels) and not 0 <= int(labels.min()) <= int(labels.max()) < len(classes):
            raise ValueError(
                f"Images: labels must lie in 0 … {len(classes) - 1}, one for each of the {len(classes)} classes, got "
                f"{int(labels.min())} … {int(labels.max())}"
            )
        self.images, self.labels, self.classes = images, labels.long(), tuple(classes)
        self.mean, self.std = mean, std

    @property
    def shape(self) -> tuple[int, int, int]:
        """``(C, H, W)`` of an image."""
        channels, height, width = self.images.shape[1:]
        return channels, height, width

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> Item:
        return self._scaled(self.images[index]), int(self.labels[index])

    def __getitems__(self, indices: list[int]) -> list[Item]:
        return list(zip(self._scaled(self.images[indices]), self.labels[indices].tolist(), strict=True))

    def split(self, held_out: int, seed: int = 0) -> tuple[Images, Images]:
        """Two parts without overlap: all but ``held_out`` samples, and those, drawn by ``seed``."""
        if not 0 < held_out < len(self):
            raise ValueError(f"Images: held_out={held_out} must lie in 1 … {len(self) - 1} of {len(self)} samples")
        order = torch.randperm(len(self), generator=torch.Generator().manual_seed(seed))
        return self.subset(order[held_out:]), self.subset(order[:held_out])

    def subset(self, indices: Tensor) -> Images:
        """The samples at ``indices``, in that order."""
        return Images(self.images[indices], self.labels[indices], self.classes, self.mean, self.std)

    def _scaled(self, images: Tensor) -> Tensor:
        return images.float().div_(255).sub_(self.mean).div_(self.std)
