"""The handwritten digits that come with scikit-learn: the data set that is always there."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from .. import _checks
from ._images import Images

CLASSES = tuple("0123456789")
SPLITS = {"train": slice(0, 1500), "test": slice(1500, None)}


def digits(split: str = "train") -> Images:
    """Handwritten digits, 8 rows on a ring of 16 columns, ten classes: 1,500 to train with, 297 to test with.

    The images are 8 x 8 and of 17 shades; four empty columns are added on either side, so that there is a ring to turn
    around. Needs scikit-learn, which the ``app`` extra brings.

    Args:
        split: ``"train"`` or ``"test"``.

    >>> data = digits("test")
    >>> len(data), data.shape
    (297, (1, 8, 16))
    """
    from sklearn.datasets import load_digits

    part = SPLITS[_checks.one_of("digits", "split", split, SPLITS)]
    shades, labels = load_digits(return_X_y=True)
    images = F.pad(torch.tensor(shades[part]).view(-1, 1, 8, 8) * (255 / 16), (4, 4))
    return Images(images.round().to(torch.uint8), torch.tensor(labels[part]), CLASSES, mean=0.0, std=1.0)
