"""``ringconv info``: what a training run is and how far it came."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer


def info(
    folder: Annotated[Path, typer.Argument(help="Folder of a run.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of lines.")] = False,
) -> None:
    """Say what a run was told, how many parameters its network has, and what its last epoch measured.

    Example: ringconv info runs/digits
    """
    found = examine(folder)
    if as_json:
        print(json.dumps(found, indent=2))
        return
    for name, value in found.items():
        shown = ", ".join(f"{k} {_short(v)}" for k, v in value.items()) if isinstance(value, dict) else _short(value)
        print(f"{name:<12}{shown}")


def examine(folder: Path) -> dict[str, Any]:
    """The findings, by name."""
    from ..train import checkpoint
    from ._classify import build, settings

    told = settings(folder)
    network = build(told["model"], told["layer"], told["exact"], told["shape"][0], len(told["classes"]))
    newest = checkpoint.latest(folder)
    rows = checkpoint.state(newest)["rows"] if newest else []
    return {
        **told,
        "parameters": sum(p.numel() for p in network.parameters()),
        "epochs": f"{len(rows)} of {told['recipe']['epochs']}",
        "weights": str(newest / checkpoint.WEIGHTS) if newest else None,
        "last": rows[-1] if rows else {},
    }


def _short(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)
