"""What exactness at every roll costs: forward times of the exact forms over that of the plain ring network.

    python benchmarks/exact.py            about a minute
    python benchmarks/exact.py --smoke    one round, nothing written

All forms of a network have the same weights and take turns in one process; a time is the minimum of all rounds.
Beside it stands the largest difference that a roll of the input makes, in spreads of the output. Writes
``benchmarks/results/exact.json``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).parent.parent / "experiments"))

from _results import write

from ringconv.models import RingClassifier, RingResNet, RingUNet
from ringconv.nn import Canonical, RingConv2d
from ringconv.paper import CIFAR10Net, MNISTNet

RESULTS = Path(__file__).parent / "results"
FORMS = ("plain", "Canonical", "canonical", "polyphase")
ROLLS = (1, 2, 3, 5)

# Network, total stride, input, rounds.
CASES: dict[str, tuple[Callable[..., nn.Module], int, tuple[int, ...], int]] = {
    "MNISTNet, batch 256": (lambda exact: MNISTNet(RingConv2d, exact=exact), 4, (256, 1, 28, 28), 200),
    "MNISTNet, batch 64": (lambda exact: MNISTNet(RingConv2d, exact=exact), 4, (64, 1, 28, 28), 300),
    "MNISTNet, batch 1": (lambda exact: MNISTNet(RingConv2d, exact=exact), 4, (1, 1, 28, 28), 500),
    "CIFAR10Net, batch 16": (lambda exact: CIFAR10Net(RingConv2d, exact=exact), 4, (16, 3, 32, 32), 8),
    "RingClassifier, batch 128": (lambda exact: RingClassifier(exact=exact), 4, (128, 1, 28, 28), 20),
    "RingUNet, 64 x 256": (lambda exact: RingUNet(3, 2, (16, 32, 64), exact=exact), 4, (4, 3, 64, 256), 12),
    "RingResNet-18, 64 x 256": (lambda exact: RingResNet(18, classes=10, exact=exact), 32, (4, 3, 64, 256), 8),
}


def forms(build: Callable[..., nn.Module], stride: int) -> dict[str, nn.Module]:
    """The plain network, the same inside ``Canonical``, and its two exact forms, with the same weights."""
    torch.manual_seed(0)
    plain = build(exact=None)
    made = {"plain": plain, "Canonical": Canonical(plain, stride)}
    for exact in ("canonical", "polyphase"):
        made[exact] = build(exact=exact)
        made[exact].load_state_dict(plain.state_dict())
    return {name: model.eval() for name, model in made.items()}


def error(model: nn.Module, x: Tensor) -> float:
    """The largest difference that a roll makes, in spreads of the output over the inputs."""
    y = model(x)
    dense = y.ndim == 4
    worst = max((model(x.roll(k, -1)) - (y.roll(k, -1) if dense else y)).abs().max().item() for k in ROLLS)
    return worst / ((y - y.mean(0)).std().item() if len(y) > 1 else y.std().item())


@torch.inference_mode()
def measure(name: str, smoke: bool) -> dict[str, Any]:
    """Times, ratios and errors of every form of one network."""
    build, stride, shape, rounds = CASES[name]
    models, x = forms(build, stride), torch.randn(shape, generator=torch.Generator().manual_seed(0))
    times = {form: float("inf") for form in FORMS}
    for _ in range(2 if smoke else rounds):
        for form in FORMS:
            start = time.perf_counter()
            models[form](x)
            times[form] = min(times[form], time.perf_counter() - start)
    few = x[:8]
    return {
        "network": name,
        "rounds": rounds,
        "milliseconds": {form: round(1e3 * times[form], 4) for form in FORMS},
        "ratio": {form: round(times[form] / times["plain"], 3) for form in FORMS},
        "largest_difference": {form: error(models[form], few) for form in FORMS},
    }


def main() -> None:
    """Measure every network and write ``benchmarks/results/exact.json``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="two rounds each, nothing written")
    smoke = parser.parse_args().smoke
    rows = []
    for name in CASES:
        rows.append(measure(name, smoke))
        ratios = "  ".join(f"{form} {rows[-1]['ratio'][form]:.2f}" for form in FORMS[1:])
        print(f"{name:<28}{ratios}", flush=True)
    if not smoke:
        write("exact", {"rows": rows}, RESULTS)


if __name__ == "__main__":
    main()
