"""Constant tables, made once for each size, dtype and device, and never again.

A table is computed in float64 and rounded once to the dtype asked for. It is kept as a plain tensor that autograd,
threads and traces may share: it is made outside of inference mode, and a mode that fakes its tensors gets a fake of
its own, which stays out of the cache.
"""

from __future__ import annotations

import functools
import operator
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_LIMIT = 512
_tables: dict[str, Callable[..., Tensor]] = {}
_tensors: OrderedDict[tuple[object, ...], Tensor] = OrderedDict()
_lock = threading.Lock()


def table(make: Callable[..., NDArray[Any]]) -> Callable[..., Tensor]:
    """Decorate ``make(*sizes) -> array`` into ``cached(*sizes, dtype=..., device=...) -> tensor``."""

    def cached(*sizes: int, dtype: torch.dtype, device: torch.device) -> Tensor:
        key = (make.__module__, make.__qualname__, sizes, dtype, device)
        faked = type(torch.empty(0)) is not Tensor
        with _lock:
            if key in _tensors and not faked:
                _tensors.move_to_end(key)
                return _tensors[key]
        with torch.inference_mode(False), torch.no_grad():
            made = torch.from_numpy(np.ascontiguousarray(make(*sizes))).to(device=device, dtype=dtype)
        if faked:
            return made
        with _lock:
            made = _tensors.setdefault(key, made)
            if len(_tensors) > _LIMIT:
                _tensors.popitem(last=False)
        return made

    name = f"{make.__module__}.{make.__qualname__}"
    _tables[name] = cached

    @functools.wraps(make)
    def fixed(*sizes: int, dtype: torch.dtype, device: torch.device) -> Tensor:
        # A table has one size: `index` makes a trace with a size left open settle on this one.
        sizes = tuple(map(operator.index, sizes))
        if torch.compiler.is_dynamo_compiling():
            made: Tensor = torch.ops.ringconv.table(name, sizes, dtype, device)
            return made
        return cached(*sizes, dtype=dtype, device=device)

    return fixed


# The compiler writes this operator into its graph instead of looking into locks and caches. (allow_in_graph would do
# the same, but asking for it imports the compiler, which takes seconds.)
_library = torch.library.Library("ringconv", "FRAGMENT")
_library.define("table(str name, int[] sizes, ScalarType dtype, Device device) -> Tensor")
_library.impl(
    "table",
    lambda name, sizes, dtype, device: _tables[name](*sizes, dtype=dtype, device=device),
    "CompositeImplicitAutograd",
)
