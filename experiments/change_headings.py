"""How well the headings of street panoramas are found at full size, and how long detecting their changes takes.

    python experiments/change_headings.py            a minute
    python experiments/change_headings.py --smoke    seconds: synthetic pairs, nothing written

Every view of TSUNAMI is turned by a draw of its own around the whole ring. An error is the distance of the estimated
turn from the drawn one: it holds what the two views of a pair differ in heading as they are laid out. The
equivariance is the distance of the estimate from the one for the pair not turned, plus the turn. Writes
``experiments/results/change_headings.json``.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import torch
from _change import heading_summary
from _results import write
from torch import Tensor

from ringconv.data import Pairs, tsunami
from ringconv.functional import estimate_roll, ring_roll, rotate
from ringconv.models import ChangeDetector

SEED = 0
BATCH = 10


def errors(pairs: Pairs, phase: bool) -> dict[str, Any]:
    """The errors over all pairs by one method."""
    width = pairs.masks.shape[-1]
    draw = torch.Generator().manual_seed(SEED)
    off, moved, confidence = [], [], []
    for batch in torch.arange(len(pairs)).split(BATCH):
        one, two = pairs.views[batch].unbind(1)
        rolls = torch.randint(width, (2, len(batch)), generator=draw)
        still = estimate_roll(one, two, phase=phase).columns
        found = estimate_roll(ring_roll(one, rolls[0]), ring_roll(two, rolls[1]), phase=phase)
        turn = rolls[0] - rolls[1]
        off += _around(found.columns - turn, width)
        moved += _around(found.columns - turn - still, width)
        confidence += found.confidence.tolist()
    fits = [e <= 0.02 * width for e in off]
    return {
        **heading_summary([e / width for e in off], width),
        "largest_change_by_a_roll_columns": max(moved),
        "mean_confidence": {
            "within_2_percent": _mean([c for c, fit in zip(confidence, fits, strict=True) if fit]),
            "further_off": _mean([c for c, fit in zip(confidence, fits, strict=True) if not fit]),
        },
        "errors_columns": off,
    }


def between_columns(phase: bool) -> float:
    """The largest error in columns on band-limited noise, turned by angles between columns."""
    draw = torch.Generator().manual_seed(SEED)
    spectrum = torch.fft.rfft(torch.randn(50, 3, 28, 256, generator=draw, dtype=torch.float64))
    spectrum[..., 64:] = 0
    view = torch.fft.irfft(spectrum, 256)
    columns = 256 * torch.rand(50, generator=draw, dtype=torch.float64)
    found = estimate_roll(view, rotate(view, -columns * 360 / 256), phase=phase).columns
    return max(_around(found - columns, 256))


def seconds(pairs: Pairs) -> float:
    """The shortest of five times that the shipped detector takes for one pair."""
    detector, (before, after) = ChangeDetector.load(), pairs.views[0]
    times = []
    for _ in range(5):
        start = time.perf_counter()
        detector(before, after)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="synthetic pairs, nothing written")
    args = parser.parse_args()
    pairs = synthetic() if args.smoke else tsunami()
    data: dict[str, Any] = {"pairs": len(pairs), "size": pairs.masks.shape[1:], "seed": SEED}
    for name, phase in (("edges", False), ("phase", True)):
        data[name] = errors(pairs, phase) | {"largest_error_between_columns": between_columns(phase)}
        print(f"{name}: { ({k: v for k, v in data[name].items() if k != 'errors_columns'}) }", file=sys.stderr)
    data["seconds_to_detect_a_pair"] = seconds(pairs)
    print(f"{data['seconds_to_detect_a_pair']:.2f} s for a pair", file=sys.stderr)
    if not args.smoke:
        print(write("change_headings", data), file=sys.stderr)


def synthetic() -> Pairs:
    """Four pairs of noise, alike but for a little more of it."""
    views = torch.rand(4, 1, 3, 28, 128) + 0.1 * torch.rand(4, 2, 3, 28, 128)
    return Pairs(views, torch.zeros(4, 28, 128, dtype=torch.bool), tuple("abcd"), torch.zeros(4, dtype=torch.int64))


def _around(columns: Tensor, width: int) -> list[float]:
    found: list[float] = ((columns + width / 2) % width - width / 2).abs().tolist()
    return found


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


if __name__ == "__main__":
    main()
