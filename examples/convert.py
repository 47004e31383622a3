"""A network of your own, from broken to exact: a ResNet with a U-Net decoder in plain torch, made seam-free.

    python examples/convert.py

It has what such networks have: a strided 7x7 stem, a strided pool, ``F.pad`` before strided convolutions, and
``F.interpolate`` on the way back up.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import ringconv as rc


class Block(nn.Module):
    """A residual block; a stride pads at the end alone, by ``F.pad``."""

    def __init__(self, a: int, b: int, stride: int = 1) -> None:
        super().__init__()
        self.stride = stride
        self.conv1, self.norm1 = nn.Conv2d(a, b, 3, stride, bias=False), nn.BatchNorm2d(b)
        self.conv2, self.norm2 = nn.Conv2d(b, b, 3, padding=1, bias=False), nn.BatchNorm2d(b)
        self.shortcut = nn.Conv2d(a, b, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        """``(B, a, H, W)`` to ``(B, b, H / stride, W / stride)``."""
        y = F.pad(x, (1, 1, 1, 1) if self.stride == 1 else (0, 1, 0, 1))
        y = F.relu(self.norm1(self.conv1(y)))
        return F.relu(self.norm2(self.conv2(y)) + self.shortcut(x))


class Segmenter(nn.Module):
    """Encoder of total stride 8, decoder with skips, one score for each class and pixel."""

    def __init__(self, classes: int = 5) -> None:
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 16, 7, 2, 3, bias=False), nn.BatchNorm2d(16)
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.down1, self.down2 = Block(16, 24), Block(24, 32, 2)
        self.up1, self.up2 = nn.Conv2d(56, 24, 3, padding=1), nn.Conv2d(40, 16, 3, padding=1)
        self.head = nn.Conv2d(16, classes, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        """``(B, 3, H, W)`` to ``(B, classes, H, W)``."""
        a = F.relu(self.norm(self.stem(x)))
        b = self.down1(self.pool(a))
        y = self.down2(b)
        for up, skip in ((self.up1, b), (self.up2, a)):
            y = F.interpolate(y, size=skip.shape[-2:], mode="bilinear", align_corners=False)
            y = F.relu(up(torch.cat([y, skip], 1)))
        return self.head(F.interpolate(y, size=x.shape[-2:], mode="bilinear", align_corners=False))


def segmenter() -> nn.Module:
    """The network, in evaluation mode."""
    torch.manual_seed(0)
    return Segmenter().eval()


def main() -> None:
    """Check, convert, check again; draw both."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, help="a folder for the checker's pictures, before.svg and after.svg")
    out = parser.parse_args().out
    model, x = segmenter(), torch.randn(1, 3, 32, 128, generator=torch.Generator().manual_seed(0))

    before = rc.check(model, x)
    model = rc.seamless(model)
    model, report = rc.convert(model)
    after = rc.check(model, x)
    exact, _ = rc.convert(model, exact=True, input=x)

    print(f"before: {before}\n{len(report.converted)} modules converted, {len(report.left)} left\nafter: {after}")
    y = exact(x)
    print("exact at every roll:", all(torch.equal(exact(x.roll(k, -1)), y.roll(k, -1)) for k in range(128)))
    if out:
        out.mkdir(parents=True, exist_ok=True)
        before.picture(out / "before.svg")
        after.picture(out / "after.svg")


if __name__ == "__main__":
    main()
