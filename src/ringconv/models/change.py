"""Change detection between two panoramas of one place that were not taken at the same heading.

The paper's network averages view two over the ring and so forgets where things are. Here both views pass one ring
encoder, view two is turned to the heading of view one at the peak of the correlation of features learned for this,
and a U-Net compares what then lies over each other, and what lies some columns off: the views were not taken from
quite the same place either.

Nothing in it has a stride around the ring: the height is halved from level to level, the width keeps all its columns
and the kernels spread over them. The result therefore turns with view one, and does not with view two, at every roll.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .. import _checks
from ..functional import Roll, estimate_roll, ring_correlation, ring_pad, ring_roll
from ..nn import RingConv2d

Layer = Callable[..., nn.Module]
# It sums in the same order at every column: a roll of the input is a roll of the features to the last bit.
_RING: Layer = functools.partial(RingConv2d, algorithm="direct")
_MATCH = 32
_COMPARE = 16
_ROWS = 4


class Features(NamedTuple):
    """What the encoder makes of views ``(B, C, H, W)``.

    Attributes:
        levels: features at H, H / 2 and H / 4 rows and all W columns.
        heading: ``(B, 32, H / 2, W)``, made to be correlated around the ring.
    """

    levels: tuple[Tensor, Tensor, Tensor]
    heading: Tensor

    def roll(self, columns: Tensor) -> tuple[Tensor, ...]:
        """The levels, each sample rolled by columns of its own."""
        return tuple(ring_roll(level, columns) for level in self.levels)


class Detection(NamedTuple):
    """What changed, and by how much view two is turned.

    Attributes:
        logits: ``(B, H, W)``, positive where view one shows something that changed.
        roll: what brings view two to the heading of view one.
    """

    logits: Tensor
    roll: Roll


class ChangeUNet(nn.Module):
    """What changed between two views at unknown headings; 219 thousand parameters.

    Rolling view one rolls the result; rolling view two leaves it as it is: both at every roll and to the last bit
    wherever the vendor's convolution sums in the same order at every column. In evaluation mode the answer is the
    mean over the views and their mirror images.

    Args:
        in_channels: C, channels of a view. Views are in [0, 1].
        channels: of the first level; the others have two and three times as many.
        radius: how many columns to either side the features are compared.
        dropout: share of the channels that training leaves out of every comparison.
        encoder: what to build the encoder's layers with; ``torch.nn.Conv2d`` makes it planar, to measure what the
            ring is worth.

    Shape:
        ``(B, 2, C, H, W)``, view one first, to logits ``(B, H, W)``.

    >>> ChangeUNet(channels=4).eval()(torch.rand(2, 2, 3, 28, 64)).shape
    torch.Size([2, 28, 64])
    """

    def __init__(
        self,
        in_channels: int = 3,
        channels: int = 16,
        *,
        radius: int = 3,
        dropout: float = 0.1,
        encoder: Layer = _RING,
    ) -> None:
        super().__init__()
        where = type(self).__name__
        self.in_channels = _checks.integer(where, "in_channels", in_channels)
        c = _checks.integer(where, "channels", channels)
        self.radius = _checks.integer(where, "radius", radius, 0)
        self.temperature = nn.Parameter(torch.tensor(3.0))
        self.fine = _two(encoder, in_channels, c, (1, 1))
        self.middle = _two(encoder, c, 2 * c, (2, 2))
        self.coarse = _two(encoder, 2 * c, 3 * c, (4, 4))
        self.heading = nn.Conv2d(5 * c, _MATCH, 1)
        self.similar = nn.ModuleList(nn.Conv2d(n * c, _COMPARE, 1) for n in (2, 3))
        places = 3 * (2 * radius + 1)
        self.from_coarse = _two(_RING, 9 * c + places, 3 * c, (4, 8))
        self.from_middle = _two(_RING, 9 * c + places, 2 * c, (2, 2))
        self.from_fine = _two(_RING, 5 * c, c, (1, 1))
        self.out = nn.Conv2d(c, 1, 1)
        self.dropout = nn.Dropout2d(dropout)

    def forward(self, input: Tensor) -> Tensor:
        """Pairs ``(B, 2, C, H, W)`` to logits ``(B, H, W)``."""
        return self.detect(input).logits

    def detect(self, input: Tensor) -> Detection:
        """Pairs ``(B, 2, C, H, W)`` to logits and the headings between which they were found."""
        input, rows = self._check(input)
        one, two = self.encode(input)
        if self.training:
            roll = estimate_roll(one.heading, two.heading, cue="values")
            return Detection(self.compare(one.levels, two.roll(roll.nearest))[:, :rows], roll)
        mirror_one, mirror_two = self.encode(input.flip(-1))
        heading_one = torch.cat([one.heading, mirror_one.heading.flip(-1)], 1)
        heading_two = torch.cat([two.heading, mirror_two.heading.flip(-1)], 1)
        roll = estimate_roll(heading_one, heading_two, cue="values")
        logits = self.compare(one.levels, two.roll(roll.nearest))
        mirrored = self.compare(mirror_one.levels, mirror_two.roll(-roll.nearest))
        return Detection(((logits + mirrored.flip(-1)) / 2)[:, :rows], roll)

    def guided(self, input: Tensor, turns: Tensor, at: Tensor) -> tuple[Tensor, Tensor]:
        """For training, where the turn is known: logits of views aligned by it, and the loss of finding it.

        Args:
            input: ``(B, 2, C, H, W)``.
            turns: ``(B,)``, the columns by which view two is compared with view one; some jitter makes the
                comparison bear a misaligned pair.
            at: ``(B, W)``, the turns that are right, as a distribution.
        """
        input, rows = self._check(input)
        one, two = self.encode(input)
        scores = self.temperature.exp() * ring_correlation(_unit(one.heading), _unit(two.heading))
        misplaced = -(at * scores.log_softmax(-1)).sum(-1).mean()
        return self.compare(one.levels, two.roll(turns))[:, :rows], misplaced

    def encode(self, input: Tensor) -> tuple[Features, Features]:
        """Pairs ``(B, 2, C, H, W)`` to the features of either view."""
        fine = self.fine(4 * input.flatten(0, 1) - 1.6)
        middle = self.middle(F.avg_pool2d(fine, (2, 1)))
        coarse = self.coarse(F.avg_pool2d(middle, (2, 1)))
        heading = self.heading(torch.cat([middle, _twice(coarse)], 1))
        one, two = zip(*(x.unflatten(0, (-1, 2)).unbind(1) for x in (fine, middle, coarse, heading)), strict=True)
        return Features(one[:3], one[3]), Features(two[:3], two[3])

    def compare(self, one: tuple[Tensor, ...], two: tuple[Tensor, ...]) -> Tensor:
        """The levels of either view, aligned, to logits ``(B, H, W)``."""
        differences = [torch.cat([a, b, (a - b).abs()], 1) for a, b in zip(one, two, strict=True)]
        for level, similar in zip((1, 2), self.similar, strict=True):
            near = _similarity(similar(one[level]), similar(two[level]), self.radius)
            differences[level] = torch.cat([differences[level], near], 1)
        fine, middle, coarse = (self.dropout(x) for x in differences)
        x = self.from_coarse(coarse)
        x = self.from_middle(torch.cat([middle, _twice(x)], 1))
        x = self.from_fine(torch.cat([fine, _twice(x)], 1))
        y: Tensor = self.out(self.dropout(x))
        return y.squeeze(1)

    def _check(self, input: Tensor) -> tuple[Tensor, int]:
        """``input`` with its last row repeated up to a multiple of four rows, and how many rows it has."""
        where = type(self).__name__
        _checks.real(where, input)
        shape = tuple(input.shape)
        if len(shape) != 5 or shape[1:3] != (2, self.in_channels) or 0 in shape[3:]:
            raise ValueError(f"{where}: input must be (B, 2, {self.in_channels}, H, W), got shape {shape}")
        rows = shape[3]
        padded = ring_pad(input.flatten(0, 1), (0, 0, 0, -rows % _ROWS), height="replicate")
        return padded.unflatten(0, (-1, 2)), rows


def _two(layer: Layer, in_channels: int, channels: int, dilations: tuple[int, int]) -> nn.Sequential:
    """Two 3 x 3 layers, spread by ``dilations`` around the ring, each with a normalisation and a ReLU."""
    block = nn.Sequential()
    for dilation in dilations:
        block.append(layer(in_channels, channels, 3, padding="same", dilation=(1, dilation), bias=False))
        block.append(nn.BatchNorm2d(channels))
        block.append(nn.ReLU())
        in_channels = channels
    return block


def _twice(x: Tensor) -> Tensor:
    """Every row twice."""
    y: Tensor = x.repeat_interleave(2, -2)
    return y


def _unit(heading: Tensor) -> Tensor:
    """Heading features of norm 1 without their mean around the ring, which tells nothing of a heading."""
    heading = heading - heading.mean(-1, keepdim=True)
    norm: Tensor = heading.flatten(1).norm(dim=1)
    return heading / norm.clamp_min(1e-6).view(-1, 1, 1, 1)


def _similarity(one: Tensor, two: Tensor, radius: int) -> Tensor:
    """Cosines of the features with those ``radius`` columns to either side and a row up and down.

    ``(B, C, H, W)`` twice to ``(B, 3 (2 radius + 1), H, W)``.
    """
    one, two = F.normalize(one, dim=1), F.normalize(two, dim=1)
    H, W = one.shape[-2:]
    around = ring_pad(two, (radius, radius, 1, 1), height="replicate")
    places = [(i, j) for i in range(3) for j in range(2 * radius, -1, -1)]
    return torch.stack([(one * around[..., i : i + H, j : j + W]).sum(1) for i, j in places], 1)
