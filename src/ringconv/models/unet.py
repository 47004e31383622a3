"""A U-Net on the ring: something for every pixel."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn

from .. import _checks
from ..functional import polyphase_up
from ..functional.polyphase import MODES_UP
from ..nn import RingConv2d
from ..nn.exact import ExactNetwork, turn_back
from ._parts import max_pool, stage


class RingUNet(ExactNetwork):
    """A U-Net whose width is a ring, for segmentation, depth, or whatever has a value at every pixel.

    Each level is two 3 x 3 layers with batch normalisation and ReLU; between levels a max-pool of 2 on the way down,
    and interpolation on the way up, put back at the phase that the pool kept. A 1 x 1 layer gives the result.

    **Symmetry**: equivariant to every roll with ``exact=``, to multiples of the total stride without. **Total
    stride**: 2 for every level below the first, 8 by default. **Widths**: multiples of that; any height.

    Args:
        in_channels: C, channels of the images.
        out_channels: channels of the result.
        channels: of each level, finest first.
        exact: ``"polyphase"`` (every pool keeps the phase that its features point at), ``"canonical"`` (the image is
            turned to its own origin once, and the result back), or ``None`` for the plain network. The parameters
            are the same.
        up: how a level is made finer: ``"bilinear"``, ``"nearest"``, ``"bicubic"``, or ``"zeros"`` in between.
        blur: taps of a binomial low-pass behind each pool, 1 for none.
        height: what stands beyond the first and last row.

    Shape:
        ``(B, C, H, W)`` to ``(B, out_channels, H, W)``.

    >>> model, x = RingUNet(1, 2, (4, 8, 8)).eval(), torch.randn(2, 1, 9, 12)
    >>> all(torch.equal(model(x.roll(k, -1)), model(x).roll(k, -1)) for k in range(12))
    True
    """

    def __init__(
        self,
        in_channels: int = 3,
        out_channels: int = 1,
        channels: tuple[int, ...] = (32, 64, 128, 256),
        *,
        exact: str | None = "polyphase",
        up: str = "bilinear",
        blur: int = 1,
        height: str = "symmetric",
    ) -> None:
        super().__init__(exact)
        where = type(self).__name__
        if not channels:
            raise ValueError(f"{where}: channels={channels!r} must name at least one level")
        self.up = _checks.one_of(where, "up", up, MODES_UP)
        levels = (in_channels, *channels)
        self.encoder = nn.ModuleList(stage(a, b, height) for a, b in itertools.pairwise(levels))
        pairs = itertools.pairwise(channels)
        self.decoder = nn.ModuleList(stage(fine + coarse, fine, height) for fine, coarse in pairs)
        self.pool = max_pool(2, _checks.integer(where, "blur", blur), height)
        self.head = RingConv2d(channels[0], out_channels, 1)

    def forward(self, input: Tensor) -> Tensor:
        """``(B, C, H, W)`` to ``(B, out_channels, H, W)``."""
        x, origin = self.align(input, 2 ** len(self.decoder))
        x = self.encoder[0](x)
        passed: list[tuple[Tensor, Tensor | None]] = []
        for level in list(self.encoder)[1:]:
            fine = x
            x, phase = self.settle(x, 2)
            passed.append((fine, phase))
            x = level(self.pool(x))
        for level in reversed(self.decoder):
            fine, phase = passed.pop()
            finer = polyphase_up(x, 2, 0 if phase is None else phase, self.up)[..., : fine.shape[-2], :]
            x = level(torch.cat([fine, finer], 1))
        return turn_back(self.head(x), origin)
