"""``ringconv doctor``: what is installed here and what it can do."""

from __future__ import annotations

import json
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

PACKAGES = ("ringconv", "torch", "numpy")
EXTRAS = {
    "app": (
        "embreex",
        "lightning-fabric",
        "matplotlib",
        "pillow",
        "rich",
        "safetensors",
        "scikit-learn",
        "torchmetrics",
        "trimesh",
        "typer",
    ),
    "export": ("onnx", "onnxruntime", "onnxscript"),
}


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of lines.")] = False,
) -> None:
    """Say which versions, devices, threads and algorithms ringconv finds here.

    Example: ringconv doctor --json
    """
    found = examine()
    if as_json:
        print(json.dumps(found, indent=2))
        return
    for name, value in found.items():
        print(f"{name:<12}{value if isinstance(value, str) else ', '.join(map(str, value))}")


def examine() -> dict[str, str | list[str]]:
    """The findings, by name."""
    import torch

    from ..algorithms import ALGORITHMS, instruction_set

    devices = [f"cpu ({torch.backends.cpu.get_cpu_capability()})"]
    devices += [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    return {
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        **{name: version(name) for name in PACKAGES},
        **{f"[{extra}]": _extra(extra, packages) for extra, packages in EXTRAS.items()},
        "devices": devices,
        "threads": f"{torch.get_num_threads()} of {os.cpu_count()} cores",
        "algorithms": [name for name in ALGORITHMS if name not in ("auto", "native")],
        "native": instruction_set() or "left out: no C++ compiler was found when ringconv was installed",
    }


def _extra(name: str, packages: tuple[str, ...]) -> str:
    missing = [package for package in packages if not _installed(package)]
    return f"without {', '.join(missing)}: pip install 'ringconv[{name}]'" if missing else "complete"


def _installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True
