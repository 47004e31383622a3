"""Residual networks on the ring, with the parameters of torchvision's."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from .. import _checks
from ..nn import GlobalPool, PolyphaseDown, RingConv2d
from ..nn.exact import ExactNetwork
from ._parts import max_pool

_BLOCKS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3)}
_CHANNELS = (64, 128, 256, 512)


class RingResNet(ExactNetwork):
    """ResNet-18, 34 or 50 whose width is a ring: its parameters are named and shaped as torchvision's.

    A ``state_dict`` of torchvision's ``resnet18``, ``resnet34`` or ``resnet50`` loads as it is. Those were trained
    with zeros above and below, which is ``height="zeros"``.

    **Symmetry**: invariant to every roll with ``exact=``, to multiples of the total stride without. **Total stride**:
    32, also along the height. **Widths**: multiples of 32; any height. The choices of ``exact="polyphase"`` are made
    where the stem, its pool and the last three stages begin, so that both branches of a block see the same phase.

    Args:
        depth: 18, 34 or 50.
        in_channels: C, channels of the images.
        classes: length of the output.
        exact: ``"polyphase"``, ``"canonical"`` (the image is turned to its own origin once), or ``None`` for the plain
            network. The parameters are the same.
        blur: taps of a binomial low-pass before samples are dropped, 1 for none (and for torchvision's function).
        height: what stands beyond the first and last row.

    Shape:
        ``(B, C, H, W)`` to logits ``(B, classes)``.

    >>> import torch
    >>> RingResNet(18, classes=10)(torch.randn(2, 3, 32, 64)).shape
    torch.Size([2, 10])
    """

    def __init__(
        self,
        depth: int = 18,
        in_channels: int = 3,
        classes: int = 1000,
        *,
        exact: str | None = "polyphase",
        blur: int = 1,
        height: str = "symmetric",
    ) -> None:
        super().__init__(exact)
        if depth not in _BLOCKS:
            raise ValueError(f"RingResNet: depth={depth!r} is not one of {', '.join(map(str, _BLOCKS))}")
        block = Bottleneck if depth == 50 else BasicBlock
        self.conv1 = RingConv2d(in_channels, 64, 7, 2, bias=False, height=height)
        self.bn1 = nn.BatchNorm2d(64)
        self.maxpool = max_pool(3, _checks.integer("RingResNet", "blur", blur), height)
        width = 64
        for i, (blocks, channels) in enumerate(zip(_BLOCKS[depth], _CHANNELS, strict=True), 1):
            stage = nn.Sequential()
            for j in range(blocks):
                stride = 2 if i > 1 and j == 0 else 1
                stage.append(block(width, channels, stride, blur, height))
                width = channels * block.expansion
            self.add_module(f"layer{i}", stage)
        self.readout = GlobalPool()
        self.fc = nn.Linear(width, classes)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the kernels as He et al. do, and let every block begin as its shortcut."""
        for module in self.modules():
            if isinstance(module, RingConv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            if isinstance(module, (BasicBlock, Bottleneck)):
                nn.init.zeros_(module.last_norm.weight)

    def forward(self, input: Tensor) -> Tensor:
        """``(B, C, H, W)`` to logits ``(B, classes)``."""
        logits: Tensor = self.fc(self.readout(self.features(input)))
        return logits

    def features(self, input: Tensor) -> Tensor:
        """``(B, C, H, W)`` to ``(B, 512 or 2048, ⌈H / 32⌉, W / 32)``, seen from the image's own origin and phases."""
        x, _ = self.align(input, 32, first=2)
        x, _ = self.settle(F.relu(self.bn1(self.conv1(x))), 2)
        x = self.maxpool(x)
        for i in (1, 2, 3):
            x, _ = self.settle(self.get_submodule(f"layer{i}")(x), 2)
        y: Tensor = self.get_submodule("layer4")(x)
        return y


class BasicBlock(nn.Module):
    """Two 3 x 3 layers beside a shortcut."""

    expansion = 1

    def __init__(self, in_channels: int, channels: int, stride: int, blur: int, height: str) -> None:
        super().__init__()
        own, self.down = _strides(stride, blur, height)
        self.conv1 = RingConv2d(in_channels, channels, 3, own, bias=False, height=height)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = RingConv2d(channels, channels, 3, bias=False, height=height)
        self.bn2 = nn.BatchNorm2d(channels)
        self.downsample = _shortcut(in_channels, channels, stride, own)

    @property
    def last_norm(self) -> nn.BatchNorm2d:
        """The normalisation whose weight switches the block on."""
        return self.bn2

    def forward(self, input: Tensor) -> Tensor:
        """``(B, C, H, W)`` to ``(B, channels, ⌈H / s⌉, W / s)``."""
        x = self.down(F.relu(self.bn1(self.conv1(input))))
        shortcut = input if self.downsample is None else self.downsample(self.down(input))
        return F.relu(self.bn2(self.conv2(x)) + shortcut)


class Bottleneck(nn.Module):
    """A 3 x 3 layer between two of 1 x 1, beside a shortcut."""

    expansion = 4

    def __init__(self, in_channels: int, channels: int, stride: int, blur: int, height: str) -> None:
        super().__init__()
        own, self.down = _strides(stride, blur, height)
        out = channels * self.expansion
        self.conv1 = RingConv2d(in_channels, channels, 1, bias=False, height=height)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = RingConv2d(channels, channels, 3, own, bias=False, height=height)
        self.bn2 = nn.BatchNorm2d(channels)
        self.conv3 = RingConv2d(channels, out, 1, bias=False, height=height)
        self.bn3 = nn.BatchNorm2d(out)
        self.downsample = _shortcut(in_channels, out, stride, own)

    @property
    def last_norm(self) -> nn.BatchNorm2d:
        """The normalisation whose weight switches the block on."""
        return self.bn3

    def forward(self, input: Tensor) -> Tensor:
        """``(B, C, H, W)`` to ``(B, 4 channels, ⌈H / s⌉, W / s)``."""
        x = self.down(F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(input)))))))
        shortcut = input if self.downsample is None else self.downsample(self.down(input))
        return F.relu(self.bn3(self.conv3(x)) + shortcut)


def _strides(stride: int, blur: int, height: str) -> tuple[int, nn.Module]:
    """The convolution's own stride, and what drops samples behind it if that is not the convolution itself."""
    if stride == 1 or blur == 1:
        return stride, nn.Identity()
    return 1, PolyphaseDown(stride, blur=blur, phase="fixed", height=height)


def _shortcut(in_channels: int, out_channels: int, stride: int, own: int) -> nn.Sequential | None:
    if stride == 1 and in_channels == out_channels:
        return None
    return nn.Sequential(RingConv2d(in_channels, out_channels, 1, own, bias=False), nn.BatchNorm2d(out_channels))
