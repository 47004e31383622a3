"""A training run on disk: its weights and all that is needed to go on, whole at every moment.

``RUN/epoch-0007/weights.safetensors`` are the model's parameters and buffers after seven epochs, ``state.pt`` beside
them is what else the eighth epoch depends on. The folder is written under another name and then renamed, and the one
before is deleted after that: whenever the process is killed, the newest ``epoch-*`` is complete.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

WEIGHTS, STATE = "weights.safetensors", "state.pt"


def save(run: Path, epoch: int, model: nn.Module, state: dict[str, Any]) -> None:
    """Leave ``model`` and ``state`` after ``epoch`` epochs in the folder of the run, in place of those before."""
    partial = run / f".epoch-{epoch:04}"
    partial.mkdir(parents=True)
    tensors = {name: value.clone(memory_format=torch.contiguous_format) for name, value in model.state_dict().items()}
    save_file(tensors, partial / WEIGHTS)
    torch.save(state, partial / STATE)
    for path in (partial / WEIGHTS, partial / STATE, partial):
        _flush(path)
    partial.rename(run / f"epoch-{epoch:04}")
    _flush(run)
    tidy(run)


def tidy(run: Path) -> None:
    """Delete what a run that was killed left behind: checkpoints before the newest, and parts of the next one."""
    for folder in [*sorted(_saved(run))[:-1], *run.glob(".epoch-*")]:
        shutil.rmtree(folder)


def latest(run: str | os.PathLike[str]) -> Path | None:
    """The folder of the newest checkpoint of a run, or ``None`` before the first."""
    return max(_saved(Path(run)), default=None)


def epochs(run: str | os.PathLike[str]) -> int:
    """How many epochs of a run are done."""
    newest = latest(run)
    return 0 if newest is None else int(newest.name.removeprefix("epoch-"))


def weights(run: str | os.PathLike[str]) -> dict[str, Tensor]:
    """The newest weights of a run."""
    newest = latest(run)
    if newest is None:
        raise FileNotFoundError(f"{os.fspath(run)} holds no trained weights (epoch-*/{WEIGHTS})")
    return load_file(newest / WEIGHTS)


def state(checkpoint: Path) -> dict[str, Any]:
    """What :func:`save` was given beside the model; read without running anything in it."""
    found: dict[str, Any] = torch.load(checkpoint / STATE, map_location="cpu", weights_only=True)
    return found


def write(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old one or the new one, never a part."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_text(text)
    partial.replace(path)


def _saved(run: Path) -> list[Path]:
    return [path for path in run.glob("epoch-*") if path.is_dir()]


def _flush(path: Path) -> None:
    """Wait until the disk has it: a rename must not overtake what it names."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
