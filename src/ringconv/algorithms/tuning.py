"""Measure once, remember: which algorithm is the fastest for each case that a program meets."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import torch
from torch import Tensor

from . import _engine
from .cost import Case

_FORMAT = "ringconv autotune 1"
_ROUNDS = 5
_HOPELESS = 4.0

Run = Callable[[Tensor, Tensor], Tensor]


class autotune:  # noqa: N801 - a switch and a context manager, spelled as torch spells its own
    """Choose algorithms by measurement: the first call of each shape tries them all, later ones take the fastest.

    Works as a switch and as a context, like :class:`torch.set_grad_enabled`. What has been measured stays in use after
    the switch is off. Pays wherever a shape is computed more than a few dozen times.

    Args:
        enabled: whether shapes not seen so far are measured.
        file: a file to begin with and to keep up to date, so that the next process need not measure. One file may
            serve several machines.

    >>> layer = torch.nn.Sequential()  # a network of ring layers
    >>> with autotune():
    ...     y = layer(torch.randn(1, 3, 16, 32))
    """

    def __init__(self, enabled: bool = True, *, file: str | os.PathLike[str] | None = None) -> None:
        self._before = _state.enabled, _state.file
        if file is not None and Path(file).exists():
            _state.milliseconds.update(_read(Path(file)).get(machine(), {}))
        _state.enabled, _state.file = enabled, None if file is None else Path(file)

    def __enter__(self) -> autotune:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _state.enabled, _state.file = self._before


class _State:
    """What this process knows, set by one thread at a time and read by all."""

    def __init__(self) -> None:
        self.enabled = False
        self.file: Path | None = None
        self.best: dict[Case, str] = {}
        self.milliseconds: dict[str, dict[str, float]] = {}  # by the case as JSON: what a file holds
        self.lock = threading.RLock()


_state = _State()


def measured(case: Case, runs: Callable[[], dict[str, Run]], x: Tensor, weight: Tensor) -> str | None:
    """The fastest of ``runs()`` in this case, if it was measured or now may be; else ``None``."""
    if case in _state.best or not (_state.enabled or _state.milliseconds):
        return _state.best.get(case)
    with _state.lock:
        key = json.dumps(case.as_json())
        if key not in _state.milliseconds:
            if not _state.enabled:
                return None
            _state.milliseconds[key] = measure(runs(), x, weight, case.training)
            if _state.file is not None:
                _write(_state.file)
        times = _state.milliseconds[key]
        return _state.best.setdefault(case, min(times, key=times.__getitem__))


def measure(runs: dict[str, Run], x: Tensor, weight: Tensor, training: bool) -> dict[str, float]:
    """Milliseconds of each run, interleaved, the least of several rounds; with its gradients if ``training``.

    A run that begins at several times the fastest one is not run again.
    """
    x, weight = (t.detach().clone(memory_format=torch.preserve_format).requires_grad_(training) for t in (x, weight))
    once = {name: _time(run, x, weight, training) for name, run in runs.items()}
    hopeful = [name for name in runs if once[name] <= _HOPELESS * min(once.values())]
    for _ in range(_ROUNDS):
        for name in hopeful:
            once[name] = min(once[name], _time(runs[name], x, weight, training))
    return {name: seconds * 1e3 for name, seconds in once.items()}


def _time(run: Run, x: Tensor, weight: Tensor, training: bool) -> float:
    with torch.inference_mode(False), torch.set_grad_enabled(training):
        _wait(x)
        start = time.perf_counter()
        y = run(x, weight)
        if training:
            torch.autograd.grad(y, (x, weight), torch.ones_like(y))
        _wait(x)
        return time.perf_counter() - start


def _wait(x: Tensor) -> None:
    if x.device.type != "cpu":
        getattr(torch, x.device.type).synchronize()


def machine() -> str:
    """What makes times comparable: processor, engine, and torch."""
    engine = _engine.instruction_set() or "no native engine"
    return f"{platform.machine()}, {os.cpu_count()} cores, {engine}, torch {torch.__version__}"


def _read(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise ValueError(f"autotune: file={str(file)!r} cannot be read: {error}") from error
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise ValueError(f"autotune: file={str(file)!r} was not written by ringconv.autotune; name another file")
    machines: dict[str, Any] = content["machines"]
    return machines


def _write(file: Path) -> None:
    """Add this process's measurements to the file, in one step: a reader sees the old file or the new one."""
    machines = _read(file) if file.exists() else {}
    machines[machine()] = {**machines.get(machine(), {}), **_state.milliseconds}
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=file.name)
    try:
        with os.fdopen(descriptor, "w") as out:
            json.dump({"format": _FORMAT, "machines": machines}, out, indent=1)
        Path(name).replace(file)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
