"""Pairs of panoramas of one place, before and after, with a mask of what changed in the first.

On disk a set of pairs is three folders with files of the same names: ``t0/*.jpg``, ``t1/*.jpg`` and ``mask/*.png``,
white where something changed. TSUNAMI lies so: 100 pairs of 224 x 1024, of which both views have nearly one heading.
:func:`roll_views` turns every view by an angle of its own, as the paper does.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from .. import _checks
from ._files import PathLike, Source

TSUNAMI = Source("TSUNAMI", "tsunami", "the folder TSUNAMI of https://github.com/BaharAzari/CircSymmCorr")
TSUNAMI_PAIRS = 100
TSUNAMI_SIZE = (224, 1024)
REDUCTIONS = ("area", "subsample")
IMAGES = (".jpg", ".jpeg", ".png")
PARTS = ("t0", "t1", "mask")
WHITE = 127


@dataclasses.dataclass(frozen=True)
class Pairs:
    """N pairs of views and what changed.

    Attributes:
        views: ``(N, 2, C, H, W)`` in [0, 1], float32: before, after.
        masks: ``(N, H, W)`` of bool: what changed, as seen in the view before.
        names: of the N files.
        turns: ``(N,)`` of int64: the columns by which the view after must be rolled to lie over the view before.
    """

    views: Tensor
    masks: Tensor
    names: tuple[str, ...]
    turns: Tensor

    def __len__(self) -> int:
        return len(self.names)

    def take(self, indices: Tensor) -> Pairs:
        """Some of the pairs."""
        names = tuple(self.names[i] for i in indices.tolist())
        return Pairs(self.views[indices], self.masks[indices], names, self.turns[indices])


def tsunami(
    root: PathLike | None = None,
    size: tuple[int, int] = TSUNAMI_SIZE,
    *,
    reduce: str = "area",
    grey: bool = False,
) -> Pairs:
    """The 100 pairs of TSUNAMI (Sakurada and Okatani, BMVC 2015), at their own size or smaller.

    Args:
        root: the folder that holds ``tsunami/``; by default ``RINGCONV_DATA``, else ``~/.cache/ringconv``.
        size: ``(H, W)``, each a whole fraction of 224 x 1024; the paper's is ``(28, 128)``.
        reduce: as for :func:`pair_folder`.
        grey: one channel of luminance instead of three.
    """
    folder = TSUNAMI.path(root=root)
    for part in PARTS:
        count = len(image_files(TSUNAMI.path(part, root)))
        if count != TSUNAMI_PAIRS:
            raise TSUNAMI.damaged(folder / part, f"has {count} images, not {TSUNAMI_PAIRS}")
    return pair_folder(folder, size, reduce=reduce, grey=grey, full_size=TSUNAMI_SIZE)


def pair_folder(
    folder: PathLike,
    size: tuple[int, int] | None = None,
    *,
    reduce: str = "area",
    grey: bool = False,
    full_size: tuple[int, int] | None = None,
) -> Pairs:
    """Pairs of one's own, in the layout of TSUNAMI.

    Args:
        folder: holds ``t0``, ``t1`` and ``mask``, with images of the same names and sizes.
        size: ``(H, W)``, each a whole fraction of the images'; ``None`` leaves them as they are.
        reduce: how images become smaller. ``"area"``: the mean over each block, and a mask's majority. ``"subsample"``:
            the first pixel of each block, as the paper's released code does it.
        grey: one channel of luminance instead of three.
        full_size: the size that every image must have; by default that of the first.
    """
    where = "pair_folder"
    _checks.one_of(where, "reduce", reduce, REDUCTIONS)
    folder = Path(folder)
    names = [path.stem for path in image_files(folder / "t0")]
    if not names:
        raise FileNotFoundError(f"{where}: {folder / 't0'} holds no images ({', '.join(IMAGES)})")
    views, masks = [], []
    for files in zip(*(_named(folder / part, names) for part in PARTS), strict=True):
        images = [read_image(path) for path in files]
        full_size = full_size or (images[0].shape[-2], images[0].shape[-1])
        for path, image in zip(files, images, strict=True):
            if image.shape[-2:] != full_size:
                found, wanted = (" x ".join(map(str, size)) for size in (image.shape[-2:], full_size))
                raise ValueError(f"{where}: {path} is of {found} pixels, not {wanted}")
        pair = torch.stack(images[:2]).float() / 255
        white = (luminance(images[2].float()) > WHITE).float()
        views.append(shrink(luminance(pair) if grey else pair, size or full_size, reduce))
        masks.append(shrink(white, size or full_size, reduce)[0] >= 0.5)
    return Pairs(torch.stack(views), torch.stack(masks), tuple(names), torch.zeros(len(names), dtype=torch.int64))


def read_image(path: PathLike) -> Tensor:
    """An image file as ``(3, H, W)`` of uint8."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            pixels = np.asarray(image.convert("RGB"))
    except (UnidentifiedImageError, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise FileNotFoundError(f"{path} is not there") from None
        raise ValueError(f"{path} is no whole image ({error})") from None
    return torch.from_numpy(pixels.copy()).permute(2, 0, 1)


def luminance(image: Tensor) -> Tensor:
    """``(..., 3, H, W)`` to ``(..., 1, H, W)``, by the weights of ITU-R BT.601."""
    weights = image.new_tensor([0.299, 0.587, 0.114]).view(3, 1, 1)
    return (image * weights).sum(-3, keepdim=True)


def shrink(image: Tensor, size: tuple[int, int], reduce: str = "area") -> Tensor:
    """``(B, C, H, W)`` or ``(C, H, W)`` to ``(..., *size)`` by whole factors.

    ``"area"`` takes the mean of every block, ``"subsample"`` its first pixel.
    """
    H, W = image.shape[-2:]
    rows, columns = _checks.pair("shrink", "size", size)
    if H % rows or W % columns:
        raise ValueError(f"shrink: size={(rows, columns)} must divide the images' {H} x {W}")
    block = H // rows, W // columns
    if reduce == "subsample":
        return image[..., :: block[0], :: block[1]]
    return F.avg_pool2d(image, block)


def roll_views(pairs: Pairs, seed: int = 1) -> Pairs:
    """Every view turned by a draw of its own from [0, W / 2), the mask with the view before.

    The draws are those of the paper's released code, whose seed is 1.
    """
    draw = np.random.RandomState(seed)
    width = pairs.masks.shape[-1]
    # Two numbers at a time, one for each view, as the released code draws them.
    rolls = torch.tensor([[draw.randint(0, max(1, width // 2)) for _ in range(2)] for _ in range(len(pairs))])
    columns = torch.arange(width)
    views, masks = pairs.views.clone(), pairs.masks.clone()
    for i, (one, two) in enumerate(rolls.tolist()):
        views[i, 0] = pairs.views[i, 0][..., (columns - one) % width]
        views[i, 1] = pairs.views[i, 1][..., (columns - two) % width]
        masks[i] = pairs.masks[i][..., (columns - one) % width]
    return Pairs(views, masks, pairs.names, (pairs.turns + rolls[:, 0] - rolls[:, 1]) % width)


def folds(n: int, count: int = 5, seed: int = 0) -> list[tuple[Tensor, Tensor]]:
    """``count`` splits of n pairs into (training, held-out) indices; every pair is held out once.

    Which pairs fall together is drawn by the seed.
    """
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    if not 2 <= _checks.integer("folds", "count", count) <= n:
        raise ValueError(f"folds: count={count} must be from 2 to the number of pairs, {n}")
    parts = order.tensor_split(count)
    return [(torch.cat([*parts[:i], *parts[i + 1 :]]), parts[i]) for i in range(count)]


def released_split(n: int = TSUNAMI_PAIRS, seed: int = 1) -> tuple[Tensor, Tensor]:
    """The split of the paper's released code into 80 % and 20 %: (training, held-out) indices."""
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    return order[: int(0.8 * n)], order[int(0.8 * n) :]


def image_files(folder: Path) -> list[Path]:
    """The images of a folder, by name."""
    return sorted(path for path in folder.glob("*") if path.suffix.lower() in IMAGES)


def _named(folder: Path, names: list[str]) -> list[Path]:
    """The images of those names, which must all be there."""
    files = {path.stem: path for path in image_files(folder)}
    missing = [name for name in names if name not in files]
    if missing:
        raise FileNotFoundError(f"pair_folder: {folder} holds no image named {', '.join(missing[:5])}")
    return [files[name] for name in names]
