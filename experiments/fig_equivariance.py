"""The equivariance error of ring networks against resolution, depth and activation: the paper's first figure.

    python experiments/fig_equivariance.py            about an hour on one core
    python experiments/fig_equivariance.py --smoke    seconds: a few inputs, to see it work

Inputs are Gaussian noise of 10 channels and 100 rows. A network of n layers takes them to 8 channels by 3 x 3 kernels
with torch's initial weights. Every input is turned by an angle of its own. ``experiments/render.py`` draws the result.
"""

from __future__ import annotations

import argparse

import torch
from _results import RESULTS, write
from rich.progress import Progress
from torch import nn

import ringconv as rc

RESOLUTIONS = (10, 50, 100, 200, 300, 400, 500)
LAYERS = (1, 3, 5)
ALGORITHMS = ("direct", "spectral")
ROWS, CHANNELS, WIDTH = 100, 10, 8


def network(layers: int, relu: bool, algorithm: str) -> nn.Sequential:
    """``layers`` ring layers of 3 x 3 kernels, with or without ReLU after each."""
    torch.manual_seed(layers)
    net = nn.Sequential()
    for i in range(layers):
        net.append(rc.nn.RingConv2d(CHANNELS if i == 0 else WIDTH, WIDTH, 3, algorithm=algorithm))
        if relu:
            net.append(nn.ReLU())
    return net


def error(net: nn.Module, resolution: int, inputs: int, batch: int) -> float:
    """ε over ``inputs`` noise images, drawn ``batch`` at a time."""
    draw = torch.Generator().manual_seed(resolution)
    total = 0.0
    for first in range(0, inputs, batch):
        x = torch.randn(min(batch, inputs - first), CHANNELS, ROWS, resolution, generator=draw)
        total += rc.equivariance_error(net, x, seed=resolution + first) * len(x)
    return total / inputs


def main() -> None:
    """Run every curve and write ``results/fig_equivariance.json``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--inputs", type=int, default=1000, help="noise images at every point (default: 1000)")
    parser.add_argument("--batch", type=int, default=10, help="images at a time (default: 10)")
    parser.add_argument("--smoke", action="store_true", help="two inputs, two resolutions, nothing written")
    args = parser.parse_args()
    resolutions, inputs = ((10, 50), 2) if args.smoke else (RESOLUTIONS, args.inputs)
    settings = [(a, n, relu) for a in ALGORITHMS for n in LAYERS for relu in (False, True)]
    curves = []
    with Progress(transient=True) as progress:
        task = progress.add_task("equivariance error", total=len(settings) * sum(resolutions))
        for algorithm, layers, relu in settings:
            errors = []
            for resolution in resolutions:
                errors.append(error(network(layers, relu, algorithm), resolution, inputs, args.batch))
                progress.advance(task, resolution)
            curves.append({"algorithm": algorithm, "layers": layers, "relu": relu, "errors": errors})
            print(f"{algorithm:<9} {layers} layers{' + ReLU' * relu:<8} largest error {max(errors):.2e}")
    if not args.smoke:
        shape = {"channels": CHANNELS, "rows": ROWS, "kernel": 3, "dtype": "float32"}
        data = {"resolutions": resolutions, "inputs": inputs, "batch": args.batch, "input": shape, "curves": curves}
        print(write("fig_equivariance", data).relative_to(RESULTS.parent.parent))


if __name__ == "__main__":
    main()
