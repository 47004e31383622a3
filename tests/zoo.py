"""Small networks in plain torch, as people have them: none knows of a ring.

Each stands for a family, with the idioms that its published code has: padding in the layer, in a module of its own or
by ``F.pad``, strided stems, pools of every kind, transposed convolutions, interpolation, dilation, global read-outs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Animal:
    """A network, its input's channels, its total stride, and whether its output is an image."""

    make: Callable[[], nn.Module]
    stride: int
    symmetry: str = "equivariant"
    channels: int = 3
    height: int = 16

    def model(self) -> nn.Module:
        torch.manual_seed(0)
        model = self.make().eval()
        for module in model.modules():
            if isinstance(module, nn.BatchNorm2d):
                nn.init.uniform_(module.running_mean, -0.1, 0.1)  # type: ignore[arg-type]
                nn.init.uniform_(module.running_var, 0.5, 1.5)  # type: ignore[arg-type]
        return model

    def x(self, width: int = 64, batch: int = 1) -> Tensor:
        draw = torch.Generator().manual_seed(1)
        return torch.randn(batch, self.channels, self.height, width, generator=draw)


def readout(channels: int, classes: int = 5) -> nn.Sequential:
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))


def plain_cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 5, padding=2),
        nn.ReLU(),
        nn.AvgPool2d(2),
        nn.Conv2d(8, 8, 3, padding="same"),
        nn.ReLU(),
        nn.LPPool2d(2, 2),
        nn.Conv2d(8, 8, 3, padding=1, padding_mode="reflect"),
    )


def vgg() -> nn.Module:
    def block(a: int, b: int) -> list[nn.Module]:
        convolutions = [nn.Conv2d(a, b, 3, padding=1), nn.ReLU(inplace=True), nn.Conv2d(b, b, 3, padding=1)]
        return [*convolutions, nn.ReLU(inplace=True), nn.MaxPool2d(2, 2)]

    return nn.Sequential(nn.Sequential(*block(3, 6), *block(6, 8)), readout(8))


class Bottleneck(nn.Module):
    def __init__(self, a: int, b: int, stride: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(a, b // 2, 1, bias=False), nn.BatchNorm2d(b // 2)
        self.conv2, self.bn2 = nn.Conv2d(b // 2, b // 2, 3, stride, 1, bias=False), nn.BatchNorm2d(b // 2)
        self.conv3, self.bn3 = nn.Conv2d(b // 2, b, 1, bias=False), nn.BatchNorm2d(b)
        same = a == b and stride == 1
        self.shortcut = (
            nn.Identity() if same else nn.Sequential(nn.Conv2d(a, b, 1, stride, bias=False), nn.BatchNorm2d(b))
        )

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.bn1(self.conv1(x)))
        y = F.relu(self.bn2(self.conv2(y)))
        return F.relu(self.bn3(self.conv3(y)) + self.shortcut(x))


def resnet() -> nn.Module:
    stem = [nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    return nn.Sequential(*stem, Bottleneck(8, 8, 1), Bottleneck(8, 12, 2), Bottleneck(12, 12, 1), readout(12))


class DenseLayer(nn.Module):
    def __init__(self, a: int, growth: int) -> None:
        super().__init__()
        self.norm, self.conv = nn.BatchNorm2d(a), nn.Conv2d(a, growth, 3, padding=1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, self.conv(F.relu(self.norm(x)))], 1)


class DenseNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 6, 3, 2, 1)
        self.block1 = nn.Sequential(DenseLayer(6, 3), DenseLayer(9, 3))
        self.squeeze = nn.Conv2d(12, 6, 1)
        self.block2 = nn.Sequential(DenseLayer(6, 3), DenseLayer(9, 3))
        self.classifier = nn.Linear(12, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = self.block1(self.stem(x))
        x = self.block2(F.avg_pool2d(self.squeeze(x), 2, 2))
        return self.classifier(F.adaptive_avg_pool2d(F.relu(x), 1).flatten(1))


class SqueezeExcite(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.pool, self.gate = nn.AdaptiveAvgPool2d(1), nn.Conv2d(channels, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.sigmoid(self.gate(self.pool(x)))


class InvertedResidual(nn.Module):
    def __init__(self, channels: int, stride: int) -> None:
        super().__init__()
        wide = 3 * channels
        self.layers = nn.Sequential(
            nn.Conv2d(channels, wide, 1, bias=False),
            nn.BatchNorm2d(wide),
            nn.Hardswish(),
            nn.Conv2d(wide, wide, 5, stride, 2, groups=wide, bias=False),
            nn.BatchNorm2d(wide),
            SqueezeExcite(wide),
            nn.Conv2d(wide, channels, 1),
        )
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        return x + self.layers(x) if self.stride == 1 else self.layers(x)


def mobilenet() -> nn.Module:
    body = [InvertedResidual(6, 1), InvertedResidual(6, 2)]
    return nn.Sequential(nn.Conv2d(3, 6, 3, 2, 1), nn.ReLU6(), *body, readout(6))


class Conv2dSame(nn.Conv2d):
    """TensorFlow's ``SAME``: an odd column goes to the right."""

    def forward(self, input: Tensor) -> Tensor:
        sides = []
        for n, k, s in zip(input.shape[:1:-1], self.kernel_size[::-1], self.stride[::-1], strict=True):
            missing = max((-(-n // s) - 1) * s + k - n, 0)
            sides += [missing // 2, missing - missing // 2]
        return F.conv2d(F.pad(input, sides), self.weight, self.bias, self.stride, 0, self.dilation, self.groups)


def efficientnet() -> nn.Module:
    return nn.Sequential(
        Conv2dSame(3, 6, 3, 2, bias=False),
        nn.BatchNorm2d(6),
        nn.SiLU(),
        Conv2dSame(6, 6, 5, 2, groups=6),
        SqueezeExcite(6),
        Conv2dSame(6, 8, 3, 1),
        nn.SiLU(),
        readout(8),
    )


class ChannelNorm(nn.LayerNorm):
    def forward(self, input: Tensor) -> Tensor:
        return super().forward(input.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class ConvNeXtBlock(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.dwconv, self.norm = nn.Conv2d(channels, channels, 7, padding=3, groups=channels), nn.LayerNorm(channels)
        self.up, self.down = nn.Linear(channels, 4 * channels), nn.Linear(4 * channels, channels)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(self.dwconv(x).permute(0, 2, 3, 1))
        return x + self.down(F.gelu(self.up(y))).permute(0, 3, 1, 2)


def convnext() -> nn.Module:
    stem = [nn.Conv2d(3, 8, 4, 4), ChannelNorm(8), ConvNeXtBlock(8)]
    return nn.Sequential(*stem, ChannelNorm(8), nn.Conv2d(8, 10, 2, 2), ConvNeXtBlock(10))


class UNet(nn.Module):
    """One level; ``up`` makes the way back."""

    def __init__(self, up: nn.Module, classes: int = 4) -> None:
        super().__init__()
        self.enter = nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.ReLU(), nn.Conv2d(6, 6, 3, padding=1), nn.ReLU())
        self.down, self.up = nn.MaxPool2d(2), up
        self.deep = nn.Sequential(nn.Conv2d(6, 8, 3, padding=1), nn.ReLU())
        self.leave = nn.Sequential(nn.Conv2d(14, 6, 3, padding=1), nn.ReLU(), nn.Conv2d(6, classes, 1))

    def forward(self, x: Tensor) -> Tensor:
        skip = self.enter(x)
        return self.leave(torch.cat([skip, self.up(self.deep(self.down(skip)))], 1))


class DeepLab(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU())
        self.branches = nn.ModuleList(nn.Conv2d(8, 4, 3, padding=d, dilation=d) for d in (6, 12, 18))
        self.pool, self.pooled = nn.AdaptiveAvgPool2d(1), nn.Conv2d(8, 4, 1)
        self.head = nn.Conv2d(16, 3, 1)

    def forward(self, x: Tensor) -> Tensor:
        y = self.stem(x)
        whole = F.interpolate(self.pooled(self.pool(y)), size=y.shape[-2:], mode="bilinear", align_corners=False)
        y = self.head(torch.cat([*(branch(y) for branch in self.branches), whole], 1))
        return F.interpolate(y, size=x.shape[-2:], mode="bilinear", align_corners=False)


class Autoencoder(nn.Module):
    """Down as in diffusion models: a row and a column at the end alone; up by nearest neighbours."""

    def __init__(self) -> None:
        super().__init__()
        self.enter, self.norm = nn.Conv2d(3, 6, 3, padding=1), nn.BatchNorm2d(6)
        self.down1, self.down2 = nn.Conv2d(6, 8, 3, 2), nn.Conv2d(8, 8, 3, 2)
        self.up1, self.up2 = nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(8, 6, 3, padding=1)
        self.leave = nn.Conv2d(6, 3, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        x = F.silu(self.norm(self.enter(x)))
        for down in (self.down1, self.down2):
            x = F.silu(down(F.pad(x, (0, 1, 0, 1))))
        for up in (self.up1, self.up2):
            x = F.silu(up(F.interpolate(x, scale_factor=2.0, mode="nearest")))
        return self.leave(x)


class Fire(nn.Module):
    def __init__(self, a: int, b: int) -> None:
        super().__init__()
        self.squeeze, self.one, self.three = nn.Conv2d(a, 4, 1), nn.Conv2d(4, b, 1), nn.Conv2d(4, b, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.squeeze(x))
        return F.relu(torch.cat([self.one(x), self.three(x)], 1))


class LidarSegmenter(nn.Module):
    """Strides in the azimuth alone, rectangular kernels, as the range-image networks of driving have."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(5, 8, 3, (1, 2), 1)
        self.skip = nn.Conv2d(5, 8, 1)
        self.fire1, self.pool, self.fire2 = Fire(8, 4), nn.MaxPool2d(3, (1, 2), 1), Fire(8, 6)
        self.up1 = nn.ConvTranspose2d(12, 8, (1, 4), (1, 2), (0, 1))
        self.up2 = nn.ConvTranspose2d(8, 8, (1, 4), (1, 2), (0, 1))
        self.head = nn.Conv2d(8, 4, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        a = F.relu(self.stem(x))
        b = self.fire2(self.pool(self.fire1(a)))
        b = F.relu(self.up1(b)) + a
        return self.head(F.relu(self.up2(b)) + self.skip(x))


def generator() -> nn.Module:
    def up(a: int, b: int) -> list[nn.Module]:
        return [nn.ConvTranspose2d(a, b, 4, 2, 1, bias=False), nn.BatchNorm2d(b), nn.ReLU(True)]

    last = [nn.ReflectionPad2d(3), nn.Conv2d(4, 3, 7), nn.Tanh()]
    return nn.Sequential(*up(3, 8), *up(8, 4), *last)


class PatchMixer(nn.Module):
    """Patches by ``unfold``, back by ``fold``."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Conv1d(27, 27, 1)

    def forward(self, x: Tensor) -> Tensor:
        patches = self.mix(F.unfold(x, 3, padding=1, stride=2))
        return F.fold(patches, x.shape[-2:], 3, padding=1, stride=2)


class Warp(nn.Module):
    """Looks a little beside each pixel, where a small network says."""

    def __init__(self) -> None:
        super().__init__()
        self.flow = nn.Conv2d(3, 2, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        height, width = x.shape[-2:]
        rows = (2 * torch.arange(height, dtype=x.dtype) + 1) / height - 1
        columns = (2 * torch.arange(width, dtype=x.dtype) + 1) / width - 1
        grid = torch.stack(torch.meshgrid(columns, rows, indexing="xy"), -1)
        flow = self.flow(x).permute(0, 2, 3, 1) * torch.tensor([4.0 / width, 1.0 / height])
        return F.grid_sample(x, grid + flow, align_corners=False)


ZOO: dict[str, Animal] = {
    "plain CNN": Animal(plain_cnn, 4),
    "VGG": Animal(vgg, 4, "invariant"),
    "ResNet": Animal(resnet, 8, "invariant"),
    "DenseNet": Animal(DenseNet, 4, "invariant"),
    "MobileNet": Animal(mobilenet, 4, "invariant"),
    "EfficientNet": Animal(efficientnet, 4, "invariant"),
    "ConvNeXt": Animal(convnext, 8),
    "U-Net, transposed": Animal(lambda: UNet(nn.ConvTranspose2d(8, 8, 2, 2)), 2),
    "U-Net, bilinear": Animal(lambda: UNet(nn.Upsample(scale_factor=2, mode="bilinear")), 2),
    "DeepLab": Animal(DeepLab, 2, height=12),
    "autoencoder": Animal(Autoencoder, 4),
    "LiDAR segmenter": Animal(LidarSegmenter, 4, channels=5, height=8),
    "GAN generator": Animal(generator, 1, height=4),
    "patch mixer": Animal(PatchMixer, 2),
    "warp": Animal(Warp, 1),
}
