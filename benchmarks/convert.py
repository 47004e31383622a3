"""What a closed seam costs: a ResNet before and after conversion, in inference.

    python -m benchmarks.convert

Ratios within one process: the variants run in turns, round after round, and the fastest round of each counts. The
error beside each ratio is the largest difference from the original away from the seam, where nothing may change.
"""

from __future__ import annotations

import argparse
import copy
import json
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import ringconv as rc
from experiments._results import write

RESULTS = Path(__file__).parent / "results"


class Block(nn.Module):
    """Two 3x3 convolutions and a shortcut."""

    def __init__(self, a: int, b: int, stride: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(a, b, 3, stride, 1, bias=False), nn.BatchNorm2d(b)
        self.conv2, self.bn2 = nn.Conv2d(b, b, 3, 1, 1, bias=False), nn.BatchNorm2d(b)
        plain = a == b and stride == 1
        self.shortcut = nn.Identity() if plain else nn.Sequential(nn.Conv2d(a, b, 1, stride), nn.BatchNorm2d(b))

    def forward(self, x: Tensor) -> Tensor:
        """``(B, a, H, W)`` to ``(B, b, H / stride, W / stride)``."""
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + self.shortcut(x))


def resnet18() -> nn.Sequential:
    """ResNet-18 up to its last feature map: a 7x7 stem with stride 2, a pool, and eight blocks."""
    stem = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    sizes = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1)]
    sizes += [(128, 256, 2), (256, 256, 1), (256, 512, 2), (512, 512, 1)]
    return nn.Sequential(*stem, *(Block(*size) for size in sizes))


@torch.inference_mode()
def measure(batch: int, rows: int, columns: int, rounds: int) -> dict[str, object]:
    """Seconds and ratios of the three variants on images of one size."""
    torch.manual_seed(0)
    original = resnet18().eval().to(memory_format=torch.channels_last)
    converted, _ = rc.convert(copy.deepcopy(original))
    seamless = rc.seamless(copy.deepcopy(original))
    models = {"original": original, "convert": converted, "seamless": seamless}
    x = torch.randn(batch, 3, rows, columns).contiguous(memory_format=torch.channels_last)
    fastest = dict.fromkeys(models, float("inf"))
    for _ in range(rounds):
        for name, model in models.items():
            start = time.perf_counter()
            model(x)
            fastest[name] = min(fastest[name], time.perf_counter() - start)
    size = {"batch": batch, "rows": rows, "columns": columns, "rounds": rounds}
    ratios = {name: fastest[name] / fastest["original"] for name in models}
    errors = {name: _interior_error(original, model, x) for name, model in models.items()}
    return {**size, "seconds": fastest, "ratio": ratios, "interior_error": errors}


def _interior_error(original: nn.Sequential, model: nn.Module, x: Tensor) -> float:
    """Of the first blocks, whose receptive field leaves an interior, relative to the largest value."""
    parts = (nn.Sequential(*list(each.children())[:6]) for each in (original, model))
    y, z = (part(x)[..., x.shape[-1] // 16 : -x.shape[-1] // 16] for part in parts)
    return ((y - z).abs().max() / y.abs().max()).item()


def main() -> None:
    """Measure every size and write the JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=12, help="rounds of each size (default: 12)")
    rounds = parser.parse_args().rounds
    sizes = [(1, 128, 256), (1, 256, 512), (4, 64, 256)]
    results = [measure(*size, rounds) for size in sizes]
    write("convert", {"network": "ResNet-18", "results": results}, RESULTS)
    for found in results:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
