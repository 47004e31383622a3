"""Where every experiment leaves its figures: ``write(name, data)`` makes ``experiments/results/NAME.json``.

What was run, when, with what and on what stands beside the figures, written by the run itself.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
import resource
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import numpy
import torch

import ringconv

RESULTS = Path(__file__).parent / "results"
_started = time.monotonic()


def write(name: str, data: dict[str, Any], folder: Path = RESULTS) -> Path:
    """Write ``data`` and its provenance; a reader sees the old file or the new one, never a part."""
    path = folder / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_text(json.dumps({"run": provenance(), **data}, indent=2) + "\n")
    return partial.replace(path)


def provenance() -> dict[str, Any]:
    """The command, the date, the versions, the machine, and what the process has used so far."""
    packages = {"python": platform.python_version(), "numpy": numpy.__version__}
    packages |= {"torch": torch.__version__, "ringconv": ringconv.__version__}
    unit = 2**20 if sys.platform == "darwin" else 2**10  # ru_maxrss: bytes there, kilobytes elsewhere
    return {
        "command": shlex.join(["python", *map(_as_typed, sys.argv)]),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "versions": packages,
        "machine": {"cpu": _cpu(), "cores": os.cpu_count(), "threads": torch.get_num_threads()},
        "wall_seconds": round(time.monotonic() - _started, 1),
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit),
    }


def _as_typed(argument: str) -> str:
    """A path of this project from its root; one elsewhere by its name alone: whose machine it was is no provenance."""
    path = Path(argument)
    if not path.is_absolute():
        return argument
    root = RESULTS.parent.parent
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def _cpu() -> str:
    """The processor's name, which :mod:`platform` does not know on Linux."""
    info = Path("/proc/cpuinfo")
    name = re.search(r"model name\s*: (.+)", info.read_text()) if info.exists() else None
    return name[1] if name else platform.processor()
