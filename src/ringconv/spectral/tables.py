"""Constant tables, made once for each size, dtype and device, and never again.

A table is computed in float64 and rounded once to the dtype asked for. It is kept as a plain tensor that autograd,
threads and traces may share: it is made outside of inference mode, and a trace that fakes its tensors gets one of
its own instead of leaving a fake in the cache.
"""

from __future__ import annotations

import functools
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_LIMIT = 512
_tensors: OrderedDict[tuple[object, ...], Tensor] = OrderedDict()
_lock = threading.Lock()


def table(make: Callable[..., NDArray[Any]]) -> Callable[..., Tensor]:
    """Decorate ``make(*sizes) -> array`` into ``cached(*sizes, dtype=..., device=...) -> tensor``."""

    @functools.wraps(make)
    def cached(*sizes: int, dtype: torch.dtype, device: torch.device) -> Tensor:
        key = (make.__module__, make.__qualname__, sizes, dtype, device)
        with _lock:
            if key in _tensors:
                _tensors.move_to_end(key)
                return _tensors[key]
        with torch.inference_mode(False), torch.no_grad():
            made = torch.from_numpy(np.ascontiguousarray(make(*sizes))).to(device=device, dtype=dtype)
        if type(made) is Tensor:
            with _lock:
                _tensors[key] = made
                if len(_tensors) > _LIMIT:
                    _tensors.popitem(last=False)
        return made

    # A trace takes the finished table as a constant instead of looking into the cache.
    constant: Callable[..., Tensor] = torch.compiler.assume_constant_result(cached)
    return constant
