"""A small classifier for small images on a ring."""

from __future__ import annotations

from torch import Tensor, nn

from ..nn import GlobalPool
from ..nn.exact import ExactNetwork
from ._parts import max_pool, stage


class RingClassifier(ExactNetwork):
    """Small images on a ring, such as turned digits: six 3 x 3 layers and two pools; 90,562 parameters for MNIST.

    Two layers of 24 channels, two of 48 behind the first pool and two of 56 behind the second, each with batch
    normalisation and ReLU; the mean and the largest value of every channel feed one linear layer.

    **Symmetry**: invariant to every roll with ``exact=``, to multiples of the total stride without. **Total stride**:
    4, also along the height. **Widths**: multiples of 4; any height of at least 4.

    Args:
        in_channels: C, channels of the images: 1 for grey, 3 for colour.
        classes: length of the output.
        channels: of each pair of layers.
        dropout: share of the read-out's values that training drops.
        exact: ``"polyphase"`` (every pool keeps the phase that its features point at), ``"canonical"`` (the image is
            turned to its own origin once), or ``None`` for the plain network. The parameters are the same.
        blur: taps of a binomial low-pass behind each pool, 1 for none: less detail, more symmetry between grid points.
        height: what stands beyond the first and last row.

    Shape:
        ``(B, C, H, W)`` to logits ``(B, classes)``.

    >>> import torch
    >>> model = RingClassifier().eval()
    >>> x = torch.randn(2, 1, 28, 28)
    >>> all(torch.equal(model(x.roll(k, -1)), model(x)) for k in (1, 2, 15))
    True
    """

    def __init__(
        self,
        in_channels: int = 1,
        classes: int = 10,
        channels: tuple[int, int, int] = (24, 48, 56),
        *,
        dropout: float = 0.1,
        exact: str | None = "polyphase",
        blur: int = 1,
        height: str = "symmetric",
    ) -> None:
        super().__init__(exact)
        first, second, third = channels
        self.stage1 = stage(in_channels, first, height)
        self.stage2 = stage(first, second, height)
        self.stage3 = stage(second, third, height)
        self.pool = max_pool(2, blur, height)
        self.readout = GlobalPool("both")
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(2 * third, classes)

    def forward(self, input: Tensor) -> Tensor:
        """``(B, C, H, W)`` to logits ``(B, classes)``."""
        x, _ = self.align(input, 4)
        x, _ = self.settle(self.stage1(x), 2)
        x, _ = self.settle(self.stage2(self.pool(x)), 2)
        x = self.readout(self.stage3(self.pool(x)))
        logits: Tensor = self.head(self.dropout(x))
        return logits
