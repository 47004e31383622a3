"""The native engine behind its C interface (``native/ringconv.h``): found when first asked for, absent without harm.

It is loaded with :mod:`ctypes`, which releases the interpreter while it computes: one build serves every release of
Python and torch.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
from ctypes import POINTER, byref, c_int, c_int64, c_void_p
from typing import NamedTuple

import torch
from torch import Tensor

from .extend import RULES
from .geometry import Geometry

FORWARD, INPUT_GRADIENT, WEIGHT_GRADIENT = range(3)
LARGEST_TILE = 64
_FAILURES = {1: (MemoryError, "ran out of memory"), 2: (ValueError, "has no tile for this shape")}


class _Shape(ctypes.Structure):
    _fields_ = (
        *((name, c_int64) for name in ("batch", "channels", "out_channels", "groups")),
        *((name, c_int64 * 2) for name in ("size", "out_size", "kernel", "stride", "dilation")),
        *((name, c_int64) for name in ("top", "bottom", "left", "rule")),
    )


class Facts(NamedTuple):
    """What the engine decided for a job. A filter is the weights' spectrum in the layout that its tile implies."""

    tile: tuple[int, int]
    tiles: int
    block: int
    filter_floats: int
    nanoseconds: int


@functools.cache
def library() -> ctypes.CDLL | None:
    """The engine, or ``None`` where the package was installed without one."""
    spec = importlib.util.find_spec(f"{__name__.partition('.')[0]}._native")
    if spec is None or spec.origin is None:
        return None
    loaded = ctypes.CDLL(spec.origin)
    sizes, floats = POINTER(c_int64), c_void_p
    loaded.ringconv_isa.restype = ctypes.c_char_p
    loaded.ringconv_plan_create.argtypes = [POINTER(_Shape), c_int, c_int, sizes, POINTER(c_void_p)]
    loaded.ringconv_plan_destroy.argtypes = [c_void_p]
    loaded.ringconv_plan_destroy.restype = None
    loaded.ringconv_plan_describe.argtypes = [c_void_p, sizes]
    loaded.ringconv_plan_describe.restype = None
    loaded.ringconv_filter.argtypes = [c_void_p, floats, sizes, floats, c_int]
    loaded.ringconv_apply.argtypes = [c_void_p, floats, floats, floats, floats, c_int]
    loaded.ringconv_run.argtypes = [c_void_p, floats, floats, sizes, floats, floats, c_int]
    loaded.ringconv_weight_gradient.argtypes = [c_void_p, floats, floats, floats, sizes, c_int]
    return loaded


def instruction_set() -> str | None:
    """``"avx512"``, ``"avx2"`` or ``"baseline"``: what the engine runs on this processor; ``None`` without it."""
    engine = library()
    return None if engine is None else engine.ringconv_isa().decode()


@functools.lru_cache(maxsize=1024)
def plan(
    direction: int,
    batch: int,
    channels: int,
    out_channels: int,
    groups: int,
    at: Geometry,
    threads: int,
    tile: tuple[int, int] = (0, 0),
) -> Plan:
    """The plan for one shape, direction and number of threads, made once; ``tile`` = (0, 0) leaves it to the engine."""
    engine, pair = library(), c_int64 * 2
    if engine is None:
        raise RuntimeError("ringconv was installed without its native engine")
    sizes = (pair(*size) for size in (at.size, at.out_size, at.kernel, at.stride, at.dilation))
    rule = RULES.index("zeros" if at.rule == "valid" else at.rule)
    shape = _Shape(batch, channels, out_channels, groups, *sizes, at.top, at.bottom, at.left, rule)
    handle = c_void_p()
    _succeed(engine.ringconv_plan_create(byref(shape), direction, threads, pair(*tile), byref(handle)))
    return Plan(engine, handle, threads)


class Plan:
    """A plan of the engine. Images are float32 and dense with their channels last, weights float32 of any strides."""

    def __init__(self, engine: ctypes.CDLL, handle: c_void_p, threads: int) -> None:
        self._engine, self._handle, self._threads = engine, handle, threads
        facts = (c_int64 * 6)()
        engine.ringconv_plan_describe(handle, facts)
        self.facts = Facts((facts[0], facts[1]), *facts[2:])

    def __del__(self) -> None:
        self._engine.ringconv_plan_destroy(self._handle)

    def filter(self, weight: Tensor) -> Tensor:
        """The weights' spectrum, for :meth:`apply`."""
        out = torch.empty(self.facts.filter_floats)
        strides = (c_int64 * 4)(*weight.stride())
        _succeed(self._engine.ringconv_filter(self._handle, _data(weight), strides, _data(out), self._threads))
        return out

    def apply(self, image: Tensor | None, filter: Tensor, bias: Tensor | None, result: Tensor) -> None:
        """Fill ``result`` from an image and a filter."""
        pointers = _data(image), _data(filter), _data(bias), _data(result)
        _succeed(self._engine.ringconv_apply(self._handle, *pointers, self._threads))

    def run(self, image: Tensor | None, weight: Tensor, bias: Tensor | None, result: Tensor) -> None:
        """Fill ``result`` from an image and the weights."""
        strides = (c_int64 * 4)(*weight.stride())
        pointers = _data(image), _data(weight), strides, _data(bias), _data(result)
        _succeed(self._engine.ringconv_run(self._handle, *pointers, self._threads))

    def weight_gradient(self, x: Tensor | None, y: Tensor | None, weight: Tensor) -> None:
        """Fill ``weight`` from both images."""
        strides = (c_int64 * 4)(*weight.stride())
        pointers = _data(x), _data(y), _data(weight), strides
        _succeed(self._engine.ringconv_weight_gradient(self._handle, *pointers, self._threads))


def _data(tensor: Tensor | None) -> int | None:
    return None if tensor is None else tensor.data_ptr()


def _succeed(status: int) -> None:
    if status:
        error, what = _FAILURES.get(status, (RuntimeError, f"failed with status {status}"))
        raise error(f"the native engine {what}")
