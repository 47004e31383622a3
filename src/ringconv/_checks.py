"""One voice for every error: which argument, its value, and what would work."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

T = TypeVar("T", bound=str)
# Asked once: the compiler of torch 2.4 cannot trace the question.
_AUTOCAST = frozenset(filter(torch.amp.is_autocast_available, ("cpu", "cuda", "mps", "xpu")))


def one_of(where: str, name: str, value: T, allowed: Collection[T]) -> T:
    """``value``, if it is one of a closed set of options."""
    if value not in allowed:
        raise ValueError(f"{where}: {name}={value!r} is not one of {', '.join(map(repr, allowed))}")
    return value


def integer(where: str, name: str, value: int, minimum: int | None = 1) -> int:
    """``value``, if it is a whole number, of at least ``minimum`` unless that is ``None``."""
    whole = isinstance(value, (int, np.integer, torch.SymInt)) and not isinstance(value, bool)
    if not whole or (minimum is not None and value < minimum):
        least = "" if minimum is None else f" of at least {minimum}"
        raise ValueError(f"{where}: {name}={value!r} must be an integer{least}")
    return int(value) if isinstance(value, np.integer) else value


def number(where: str, name: str, value: float, minimum: float = 0.0, *, above: bool = False) -> float:
    """``value``, if it is a finite number of at least ``minimum``, or greater than that where ``above``."""
    real = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if not real or value < minimum or (above and value == minimum):
        bound = "above" if above else "of at least"
        raise ValueError(f"{where}: {name}={value!r} must be a number {bound} {minimum:g}")
    return float(value)


def pair(where: str, name: str, value: int | tuple[int, int], minimum: int = 1) -> tuple[int, int]:
    """``(height, width)`` from an integer or a pair of integers."""
    values = tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    if len(values) != 2:
        raise ValueError(f"{where}: {name}={value!r} must be an integer or a pair (height, width)")
    return integer(where, name, values[0], minimum), integer(where, name, values[1], minimum)


def height_padding(where: str, value: str | int | tuple[int, int]) -> tuple[int, int] | None:
    """``(top, bottom)`` from an integer or a pair; ``None`` for ``"same"``."""
    if isinstance(value, str):
        one_of(where, "padding", value, ("same",))
        return None
    values = tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    if len(values) != 2:
        raise ValueError(
            f"{where}: padding={value!r} must be 'same', an integer, or a pair (top, bottom): it speaks of the "
            "height alone, the width always wraps"
        )
    return integer(where, "padding", values[0], 0), integer(where, "padding", values[1], 0)


def channels(where: str, in_channels: int, out_channels: int, groups: int) -> None:
    """Refuse channels that ``groups`` does not divide."""
    integer(where, "groups", groups)
    for name, value in (("in_channels", in_channels), ("out_channels", out_channels)):
        if integer(where, name, value) % groups:
            raise ValueError(f"{where}: groups={groups} must divide {name}={value}")


def ring_stride(where: str, width: int, stride: int) -> None:
    """Refuse a stride that does not divide the ring: the seam would be uneven."""
    if width % stride:
        below = width // stride * stride
        near = f"{below} and {below + stride}" if below else f"{stride}"
        raise ValueError(
            f"{where}: a ring of W={width} samples cannot take stride s={stride}: s must divide W, or the seam is "
            f"uneven; the nearest widths that work: {near}"
        )


def autocast_dtype(input: Tensor) -> torch.dtype | None:
    """The dtype in which ``torch.autocast`` wants convolutions of ``input``; ``None`` where it leaves them alone.

    It never touches float64, and knows nothing of some devices, ``meta`` among them.
    """
    device = input.device.type
    if device not in _AUTOCAST or not torch.is_autocast_enabled(device):
        return None
    return None if input.dtype == torch.float64 else torch.get_autocast_dtype(device)


def same_dtype(where: str, input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    """Refuse parameters that are no tensors, or of unlike dtype unless autocast is there to reconcile them."""
    reconciled = autocast_dtype(input) is not None
    for name, value in {"weight": weight, **({} if bias is None else {"bias": bias})}.items():
        tensor(where, name, value)
        if value.dtype != input.dtype and not reconciled:
            raise TypeError(
                f"{where}: input is {input.dtype} but {name} is {value.dtype}; convert one, or use torch.autocast"
            )


def tensor(where: str, name: str, value: Tensor) -> None:
    """Refuse what is not a tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{where}: {name} must be a torch.Tensor, got {type(value).__name__}")


def ring(where: str, input: Tensor) -> int:
    """The width of ``input``, ``(..., W)``."""
    tensor(where, "input", input)
    if input.ndim == 0 or input.shape[-1] == 0:
        raise ValueError(f"{where}: input must be (..., W) with a W of at least 1, got shape {tuple(input.shape)}")
    return input.shape[-1]


def real(where: str, input: Tensor) -> None:
    """Refuse what is not a tensor of real floating-point numbers."""
    tensor(where, "input", input)
    if not input.is_floating_point():
        raise TypeError(f"{where}: input must be of a real floating-point dtype, got {input.dtype}")


def image(where: str, input: Tensor) -> tuple[Tensor, bool]:
    """``input`` as ``(B, C, H, W)``, and whether it came without a batch."""
    real(where, input)
    if input.ndim not in (3, 4):
        raise ValueError(f"{where}: input must be (B, C, H, W) or (C, H, W), got shape {tuple(input.shape)}")
    if input.shape[-2] == 0 or input.shape[-1] == 0:
        raise ValueError(f"{where}: input has no pixels, got shape {tuple(input.shape)}")
    return (input, False) if input.ndim == 4 else (input.unsqueeze(0), True)
