"""How often noise moves the choices that make networks exact: origins and phases of images, with and without noise.

    python experiments/fig_stability.py            about a minute on one core
    python experiments/fig_stability.py --smoke    seconds: random images, nothing written

Test images of MNIST and CIFAR-10 at mean 0 and deviation 1, and noise of that deviation times a level. A choice is
``ring_origin`` modulo the stride (what ``Canonical`` takes) or ``ring_phase`` (what a polyphase stride takes); for
comparison, the component of largest norm, the usual score. ``experiments/render.py`` draws the result.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import torch
from _results import RESULTS, write
from torch import Tensor

from ringconv.data import cifar10, mnist
from ringconv.functional import ring_origin, ring_phase

LEVELS = (0.003, 0.01, 0.03, 0.1, 0.3)
STRIDES = (2, 4)
IMAGES = 2000


def largest_norm(x: Tensor, stride: int) -> Tensor:
    """The polyphase component of largest norm."""
    return x.unflatten(-1, (-1, stride)).square().sum((1, 2, 3)).argmax(-1)


CHOICES: dict[str, Callable[[Tensor, int], Tensor]] = {
    "ring_origin": lambda x, stride: ring_origin(x) % stride,
    "ring_phase": ring_phase,
    "largest norm": largest_norm,
}


def images(name: str, count: int) -> Tensor:
    """``(count, C, H, W)`` at mean 0 and deviation 1."""
    x = (mnist if name == "MNIST" else cifar10)("test").images[:count].float()
    return (x - x.mean()) / x.std()


def moved(x: Tensor, choose: Callable[[Tensor, int], Tensor], stride: int, level: float) -> float:
    """The share of choices that noise changes."""
    noise = torch.randn(x.shape, generator=torch.Generator().manual_seed(1))
    return (choose(x, stride) != choose(x + level * noise, stride)).double().mean().item()


def main() -> None:
    """Measure every choice and write ``results/fig_stability.json``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="a few random images, nothing written")
    smoke = parser.parse_args().smoke
    sets = {"noise": torch.randn(8, 1, 8, 16)} if smoke else {n: images(n, IMAGES) for n in ("MNIST", "CIFAR-10")}
    curves = []
    for name, x in sets.items():
        for stride in STRIDES:
            for choice, choose in CHOICES.items():
                shares = [moved(x, choose, stride, level) for level in LEVELS]
                curves.append({"images": name, "stride": stride, "choice": choice, "moved": shares})
                print(f"{name:<9} stride {stride}  {choice:<13}", "  ".join(f"{100 * s:5.2f} %" for s in shares))
    if not smoke:
        data = {"images": IMAGES, "levels": LEVELS, "curves": curves}
        print(write("fig_stability", data).relative_to(RESULTS.parent.parent))


if __name__ == "__main__":
    main()
