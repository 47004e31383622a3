"""How fast the correlation is beside everything that one would write instead.

    python -m benchmarks.run           the middle of the grid
    python -m benchmarks.run --full    the whole grid, scaling and memory
    python -m benchmarks.run --smoke   a few tiny entries, nothing written

All ways of one entry take turns in one process, with fresh outputs; a time is the minimum of all rounds, and beside it
stands the largest error against float64. A fresh tensor of many megabytes costs more than copying it where its pages
are small, and so everything is run under both allocators: torch's own and, ``THP_MEM_ALLOC_ENABLE=1``, with huge pages.
Peak memory is that of a process that does nothing else. Writes ``benchmarks/results/run.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import torch
from rich.progress import Progress
from torch import Tensor

from benchmarks.peers import Entry, Run, cached, channels_last, oracle, ours, peers, released
from experiments._results import write

RESULTS = Path(__file__).parent / "results"
ALLOCATORS = {"default": "0", "huge pages": "1"}
SECONDS = 90.0  # spent on one entry at most, once every way of it has been run

FORWARD = [Entry(8, 64, 64, (64, 256), k) for k in (3, 5, 7, 11, 15, 31)]
FORWARD += [Entry(4, 128, 128, (64, 256), k) for k in (3, 5, 7, 11, 15, 31)]
SMALL = [Entry(100, 1, 8, (28, 28), 5), Entry(100, 8, 8, (28, 28), 5), Entry(1, 256, 256, (16, 64), 3)]
DEPTHWISE = [Entry(8, c, c, (64, 256), k, c) for c in (64, 256) for k in (7, 31)]
WIDTHS = [Entry(4, 16, 16, (32, 2**n), 15) for n in range(6, 14)]
KERNELS = [Entry(4, 16, 16, (64, 128), k) for k in (1, 3, 5, 9, 17, 33, 65, 127)]

FULL = {
    "forward": FORWARD + SMALL + DEPTHWISE,
    "training": FORWARD[:3] + SMALL + DEPTHWISE[:1],
    "widths": WIDTHS,
    "kernels": KERNELS,
}
QUICK = {"forward": [FORWARD[0], FORWARD[2], FORWARD[4], *SMALL], "training": [FORWARD[0], FORWARD[2]]}
SMOKE = {part: [Entry(1, 4, 4, (8, 16), 3)] for part in FULL}
MEMORY = FORWARD[0]


def main() -> None:
    """Run every part under both allocators, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="the whole grid")
    parser.add_argument("--smoke", action="store_true", help="tiny entries, nothing written")
    parser.add_argument("--one", nargs=2, metavar=("PART", "ENTRY"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        part, fields = args.one[0], json.loads(args.one[1])
        entry = Entry(*fields[:3], tuple(fields[3]), *fields[4:6])
        measured = peak(entry, fields[6]) if part == "memory" else measure(entry, part == "training")
        print(json.dumps(measured))
        return
    grid = SMOKE if args.smoke else FULL if args.full else QUICK
    jobs = [(part, [*entry], name) for name in ALLOCATORS for part, entries in grid.items() for entry in entries]
    small = SMOKE["forward"][0] if args.smoke else MEMORY
    ways = ["F.pad", "released", "auto"] if grid is not QUICK else []
    jobs += [("memory", [*small, way], "default") for way in ways]
    results = []
    with Progress() as progress:
        for part, fields, allocator in progress.track(jobs, description="benchmarks"):
            results.append({"part": part, "allocator": allocator, **_apart(part, fields, allocator)})
    if not args.smoke:
        print(write("run", {"results": results}, RESULTS))


def _apart(part: str, fields: list[Any], allocator: str) -> dict[str, Any]:
    """One entry in a fresh process: an allocator is chosen before torch is loaded."""
    environment = {**os.environ, "THP_MEM_ALLOC_ENABLE": ALLOCATORS[allocator]}
    command = [sys.executable, "-m", "benchmarks.run", "--one", part, json.dumps(fields)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{part} {fields}: {done.stderr}")
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def measure(entry: Entry, training: bool, rounds: int = 20) -> dict[str, Any]:
    """Milliseconds and errors of every way of one entry; with both gradients if ``training``."""
    x, weight = entry.inputs()
    last = channels_last(x)
    ways = {name: (run, x if name in ("F.pad", "fft-conv-pytorch") else last) for name, run in peers(entry).items()}
    ways |= {name: (run, last) for name, run in ours(entry).items()}
    if not training:
        ways["kept spectrum"] = (cached(entry, weight), last)
    seconds = {name: _time(*way, weight, training) for name, way in ways.items()}
    hopeful = [name for name in ways if seconds[name] < 30 * min(seconds.values())]
    started = time.monotonic()
    for _ in range(rounds):
        for name in hopeful:
            seconds[name] = min(seconds[name], _time(*ways[name], weight, training))
        if time.monotonic() - started > SECONDS:
            break
    with torch.no_grad():
        exact = oracle(entry, x, weight)
        of = {
            name: float((run(x[:1], weight) - exact).abs().max() / exact.abs().max())
            for name, run in ours(entry).items()
        }
    times = {name: 1e3 * value for name, value in seconds.items()}
    return {"entry": entry.name, **entry._asdict(), "milliseconds": times, "error": of}


def _time(run: Run, x: Tensor, weight: Tensor, training: bool) -> float:
    x, weight = x.detach().requires_grad_(training), weight.detach().requires_grad_(training)
    with torch.set_grad_enabled(training):
        start = time.perf_counter()
        y = run(x, weight)
        if training:
            torch.autograd.grad(y, (x, weight), torch.ones_like(y))
        return time.perf_counter() - start


def peak(entry: Entry, way: str) -> dict[str, Any]:
    """Megabytes that one training step adds to what the process had before it."""
    x, weight = entry.inputs()
    x = x if way == "F.pad" else channels_last(x)
    run = {**peers(entry), **ours(entry), "released": released}[way]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    _time(run, x, weight, training=True)
    added = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return {"entry": entry.name, "way": way, "megabytes": added}


if __name__ == "__main__":
    main()
