"""Digits on a cylinder: one small network with planar, circularly padded and ring layers, tested at every rotation.

    python examples/digits.py            under a minute on two cores
    python examples/digits.py --epochs 2

All three are trained on upright digits alone and then shown digits that were turned around the cylinder.
"""

from __future__ import annotations

import argparse
from functools import partial

import torch
import torch.nn.functional as F
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.datasets import load_digits
from torch import Tensor, nn

import ringconv as rc

LAYERS = {
    "planar (zero padding)": partial(nn.Conv2d, padding=1),
    "circular padding": partial(nn.Conv2d, padding=1, padding_mode="circular"),
    "ringconv": rc.nn.RingConv2d,
}


class RowMax(nn.Module):
    """The largest value around the ring, in each row and channel: the same at every rotation."""

    def forward(self, x: Tensor) -> Tensor:
        """``(B, C, H, W)`` to ``(B, C·H)``."""
        return x.amax(-1).flatten(1)


def network(layer: type[nn.Module]) -> nn.Sequential:
    """Three layers, none with a stride, and a read-out that no rotation changes. 5,082 parameters."""
    torch.manual_seed(0)
    layers = [layer(1, 16, 3), nn.ReLU(), layer(16, 16, 3), nn.ReLU(), layer(16, 16, 3), RowMax()]
    return nn.Sequential(*layers, nn.Linear(16 * 8, 10))


def digits() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """1,500 images to train with and 297 to test with, 8 rows on a ring of 16 columns."""
    images, labels = load_digits(return_X_y=True)
    x = F.pad(torch.tensor(images, dtype=torch.float32).view(-1, 1, 8, 8) / 16, (4, 4))
    y = torch.tensor(labels)
    return x[:1500], y[:1500], x[1500:], y[1500:]


def main() -> None:
    """Train the three networks and print their accuracy, upright and turned."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--epochs", type=int, default=30, help="passes over the training images (default: 30)")
    epochs = parser.parse_args().epochs
    x, y, x_test, y_test = digits()
    table = Table("layer", "upright", "mean of all rotations", "worst rotation", "equivariance error")
    for name, layer in LAYERS.items():
        model = network(layer)
        optimizer = torch.optim.Adam(model.parameters(), 3e-3)
        for _ in track(range(epochs), name, transient=True):
            for batch in torch.randperm(len(x)).split(50):
                optimizer.zero_grad()
                F.cross_entropy(model(x[batch]), y[batch]).backward()
                optimizer.step()
        with torch.no_grad():
            right = [(model(x_test.roll(k, -1)).argmax(1) == y_test).float().mean().item() for k in range(16)]
        shown = [f"{100 * value:.2f} %" for value in (right[0], sum(right) / 16, min(right))]
        table.add_row(name, *shown, f"{rc.equivariance_error(model, x_test):.1e}")
    Console().print(table)


if __name__ == "__main__":
    main()
