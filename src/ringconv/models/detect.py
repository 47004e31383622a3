"""From two photographs of any size to a picture of what changed: the trained network, and the size it was trained at.

The network knows streets at so many columns around the ring. Larger views are averaged over blocks of k x k pixels; at
which of the k columns the blocks begin is chosen by the view itself, in whole numbers, and so the answer turns with
the views at every one of their own columns, not at every k-th alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from .. import _checks
from ..functional import ring_interpolate, ring_pad
from .change import ChangeUNet

SHIPPED = Path(__file__).parent / "change.safetensors"
# Marking above half of the F1 that can be reached gives the best F1 where probabilities are what they say.
THRESHOLD = 0.4
_LEVELS = 1023  # pixels as whole numbers: those of a file are told apart, and sums of squares fit 63 bits


class Change(NamedTuple):
    """What a :class:`ChangeDetector` found."""

    probability: Tensor
    """``(H, W)``, that a pixel of the view before changed."""

    degrees: float
    """To turn the view after by, so that it lies over the view before."""

    confidence: float
    """In that angle, from 0 to 1; see :class:`ringconv.functional.Roll`."""


@dataclass(frozen=True)
class ChangeDetector:
    """A trained :class:`ChangeUNet`, for views of any size.

    Attributes:
        model: the network.
        columns: the ring's width that it was trained at.

    >>> detector = ChangeDetector.load()
    >>> street = torch.rand(3, 112, 512)
    >>> detector(street, street.roll(100, -1)).probability.shape
    torch.Size([112, 512])
    """

    model: ChangeUNet
    columns: int

    @classmethod
    def load(cls, path: str | Path = SHIPPED) -> ChangeDetector:
        """A detector from a file that :meth:`save` wrote; by default the one that comes with the package.

        That one was trained on the street panoramas of TSUNAMI.
        """
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, "pt") as file:
                sizes = {name: int(value) for name, value in (file.metadata() or {}).items()}
                weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  not a mapping
            model = ChangeUNet(sizes["in_channels"], sizes["channels"], radius=sizes["radius"])
            model.load_state_dict({name: w.float() if w.is_floating_point() else w for name, w in weights.items()})
        except (SafetensorError, KeyError, TypeError, ValueError, RuntimeError) as error:
            raise ValueError(f"ChangeDetector: {path} holds no change detector ({error})") from None
        return cls(model.eval(), sizes["columns"])

    def save(self, path: str | Path) -> None:
        """Write the weights, in float16, and the sizes that they belong to."""
        from safetensors.torch import save_file

        model = self.model
        sizes = {
            "in_channels": model.in_channels,
            "channels": model.out.in_channels,
            "radius": model.radius,
            "columns": self.columns,
        }
        weights = {name: w.half() if w.is_floating_point() else w for name, w in model.state_dict().items()}
        save_file(weights, path, {name: str(value) for name, value in sizes.items()})

    @torch.inference_mode()
    def __call__(self, before: Tensor, after: Tensor) -> Change:
        """Find what changed.

        Args:
            before: a view ``(C, H, W)`` in [0, 1]; its ring is closed.
            after: the same place later, at any heading, of the same shape.
        """
        where = type(self).__name__
        for name, view in (("before", before), ("after", after)):
            _checks.real(where, view)
            if view.ndim != 3 or view.shape[0] != self.model.in_channels or 0 in view.shape:
                wanted = f"({self.model.in_channels}, H, W)"
                raise ValueError(f"{where}: {name} must be {wanted}, got shape {tuple(view.shape)}")
        if before.shape != after.shape:
            raise ValueError(
                f"{where}: before and after must be of one size, got {tuple(before.shape)} and {tuple(after.shape)}"
            )
        height, width = before.shape[-2:]
        block = _block(width, self.columns)
        small_before, start_before = _reduce(before, block)
        small_after, start_after = _reduce(after, block)
        found = self.model.detect(torch.stack([small_before, small_after])[None])
        probability = found.logits.sigmoid()
        size = (probability.shape[-2] * block, width)
        full = ring_interpolate(probability, size, mode="bilinear", height="replicate")[0]
        columns = block * float(found.roll.columns) + start_before - start_after
        degrees = (columns * 360 / width + 180) % 360 - 180
        return Change(full[:height].roll(start_before, -1), degrees, float(found.roll.confidence))


def _block(width: int, columns: int) -> int:
    """The divisor of ``width`` that leaves a ring nearest to ``columns``."""
    divisors = [k for k in range(1, width + 1) if width % k == 0]
    return min(divisors, key=lambda k: abs(math.log(width / k / columns)))


def _reduce(view: Tensor, block: int) -> tuple[Tensor, int]:
    """``(C, H, W)`` averaged over blocks, and the column at which they begin: the one of the strongest contrast."""
    view = ring_pad(view, (0, 0, 0, -view.shape[-2] % block), height="replicate")
    whole = (view * _LEVELS).round().long()
    rows = whole.unflatten(-2, (-1, block)).sum(-2)
    sums = torch.cat([rows, rows[..., : block - 1]], -1).unfold(-1, block, 1).sum(-1)
    contrast = sums.square().unflatten(-1, (-1, block)).sum((0, 1, 2))
    start = int(contrast.argmax())
    return F.avg_pool2d(view.roll(-start, -1), block), start
