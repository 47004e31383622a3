"""Seam-free functions inside a ``forward`` that is left as it is: :func:`seamless`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar, overload

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode, _get_current_function_mode_stack

from .. import _checks
from ..algorithms import RULES
from . import windows
from .classes import HEIGHT, has, swap

M = TypeVar("M", bound=nn.Module)

FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    torch.conv2d: windows.conv2d,
    torch.conv_transpose2d: windows.conv_transpose2d,
    torch.max_pool2d: windows.max_pool2d,
    F.max_pool2d: windows.max_pool2d,
    F.max_pool2d_with_indices: windows.max_pool2d_with_indices,
    F.avg_pool2d: windows.avg_pool2d,
    F.lp_pool2d: windows.lp_pool2d,
    F.pad: windows.pad,
    F.interpolate: windows.interpolate,
    F.grid_sample: windows.grid_sample,
    F.unfold: windows.unfold,
    F.fold: windows.fold,
}
TAKE_HEIGHT = {torch.conv2d, torch.max_pool2d, F.max_pool2d, F.avg_pool2d, F.pad}


class Seamless(TorchFunctionMode):
    """Answers torch's windowed functions with those of :mod:`.windows` while it is on. One at most in each thread."""

    def __init__(self, enabled: bool = True, height: str | None = None) -> None:
        super().__init__()
        self.enabled = enabled
        self.height = height
        self.margins = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """``func``, or what stands in for it."""
        kwargs = kwargs or {}
        if not self.enabled:
            return func(*args, **kwargs)
        if func in FUNCTIONS:
            if torch.compiler.is_dynamo_compiling():
                _refuse_hidden_padding(func, args, kwargs)
            self.margins = self.margins or func is F.pad
            if self.height is not None and func in TAKE_HEIGHT:
                kwargs = {**kwargs, "height": self.height}
            return FUNCTIONS[func](*args, **kwargs)
        y = func(*args, **kwargs)
        return _carry(args, y) if self.margins and isinstance(y, Tensor) else y


def current() -> Seamless | None:
    """The mode that is on the stack of this thread."""
    for mode in _get_current_function_mode_stack():
        if isinstance(mode, Seamless):
            return mode
    return None


@overload
def seamless(model: M, *, enabled: bool = ..., height: str | None = ...) -> M: ...
@overload
def seamless(model: None = ..., *, enabled: bool = ..., height: str | None = ...) -> AbstractContextManager[None]: ...
def seamless(
    model: nn.Module | None = None, *, enabled: bool = True, height: str | None = None
) -> nn.Module | AbstractContextManager[None]:
    """Close the seam in the functions that a ``forward`` calls, without touching its source.

    Convolutions, pools, ``F.pad``, ``F.interpolate``, ``F.grid_sample``, ``F.unfold`` and ``F.fold`` read around the
    ring of the last dimension and keep the height as it is. Columns that ``F.pad`` adds, of whatever mode, wrap, and
    the next convolution uses them instead of adding to them. Nothing of torch is patched: a
    :class:`~torch.overrides.TorchFunctionMode` answers, in this thread alone, for as long as the call lasts.

    Pays for models whose windows are not all modules; :func:`convert` does the modules, and both go together. A ring
    that a model closes itself, by ``torch.cat``, is not recognised: turn this off there.

    Args:
        model: made seam-free in place, for good, until :func:`restore`; the same object is returned. Without it, a
            context manager that makes every model seam-free that is called inside.
        enabled: ``False`` leaves functions and converted modules as they were, inside of this context; they nest.
        height: a rule for the rows that paddings add, as for :func:`ringconv.functional.ring_conv2d`, instead of the
            model's own.

    >>> import torch.nn.functional as F
    >>> x = torch.tensor([[[1.0, 0.0, 0.0, 5.0]]])
    >>> with seamless():
    ...     F.pad(x, (1, 0))
    tensor([[[5., 1., 0., 0., 5.]]])
    """
    where = "seamless"
    if height is not None:
        _checks.one_of(where, "height", height, RULES)
    if model is None:
        return _switched(enabled, height)
    if not enabled:
        raise ValueError(f"{where}: enabled=False is for a context; restore(model) undoes what was done to a model")
    if not isinstance(model, nn.Module) or isinstance(model, torch.jit.ScriptModule):
        raise TypeError(f"{where}: model must be a torch.nn.Module that Python runs, got {type(model).__name__}")
    if not has(model, run_seamless):
        swap(model, run_seamless)
    model.__dict__[HEIGHT] = height
    return model


def run_seamless(original: Callable[..., Any], model: nn.Module, *args: Any, **kwargs: Any) -> Any:
    """A forward under the mode, unless the caller has one already, switched on or off."""
    if current() is not None:
        return original(model, *args, **kwargs)
    with Seamless(height=model.__dict__.get(HEIGHT)):
        return original(model, *args, **kwargs)


@contextmanager
def _switched(enabled: bool, height: str | None) -> Iterator[None]:
    mode = current()
    if mode is None:
        with Seamless(enabled, height):
            yield
        return
    before = mode.enabled, mode.height
    mode.enabled, mode.height = enabled, height
    try:
        yield
    finally:
        mode.enabled, mode.height = before


def _refuse_hidden_padding(func: Any, args: Any, kwargs: Any) -> None:
    """torch.compile does not show ``F.pad`` to modes: a convolution without padding may stand behind one."""
    padding = kwargs.get("padding", args[4] if len(args) > 4 else 0)
    if func is torch.conv2d and args[1].shape[-1] > 1 and not any(windows.margin_of(args[0])):
        stride = kwargs.get("stride", args[3] if len(args) > 3 else 1)
        columns = [value[-1] if isinstance(value, (tuple, list)) else value for value in (padding, stride)]
        if columns[0] == 0 and columns[1] < args[1].shape[-1]:
            raise RuntimeError(
                "seamless: torch.compile does not show F.pad to seamless(), and this convolution has no padding of "
                "its own; compile torch.export.export(model, (x,)).module() instead"
            )


def _carry(args: Iterable[Any], y: Tensor) -> Tensor:
    """``y`` with the margin of the image that it was made from, if it is as large."""
    for x in args:
        if isinstance(x, (list, tuple)):
            y = _carry(x, y)
        elif isinstance(x, Tensor):
            margin = windows.margin_of(x)
            if any(margin) and x.ndim == y.ndim and x.shape[-2:] == y.shape[-2:]:
                return windows.with_margin(y, margin)
    return y
