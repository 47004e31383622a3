"""Another ``forward`` for one module, and nothing else changed: its class is replaced by one derived from it.

Parameters, buffers, hooks, attributes, ``training`` and the module's place in its parents stay the very same objects,
and ``isinstance`` keeps its answers. A parametrised module (weight norm, spectral norm) already has a class of its
own on top of its own: the new one goes underneath, where removing the parametrisation leaves it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torch import nn
from torch.nn.utils import parametrize

# (the forward replaced, the module, its arguments)
Forward = Callable[..., Any]

HEIGHT = "_ringconv_height"
"""The attribute of a module that names a rule for its rows, where it is not the model's own."""


def swap(module: nn.Module, forward: Forward) -> None:
    """Let ``forward(original, module, *args)`` answer for the module."""
    _rebase(module, lambda base: _derived(base, forward))


def unswap(module: nn.Module) -> None:
    """Give the module back the class that it had before every :func:`swap`."""
    _rebase(module, lambda _: original_class(module))


def has(module: nn.Module, forward: Forward) -> bool:
    """Whether :func:`swap` has put ``forward`` in."""
    return any(vars(base).get("_ringconv_forward") is forward for base in type(module).__mro__)


def original_class(module: nn.Module) -> type:
    """The module's class before every :func:`swap` and without that of its parametrisations."""
    cls = _own_class(module)
    while "_ringconv_forward" in vars(cls):
        cls = cls.__bases__[0]
    return cls


def _own_class(module: nn.Module) -> type:
    cls = type(module)
    return cls.__bases__[0] if parametrize.is_parametrized(module) else cls


def _rebase(module: nn.Module, change: Callable[[type], type]) -> None:
    cls, own = type(module), _own_class(module)
    new = change(own)
    if new is own:
        return
    if cls is not own:
        kept = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__")}
        new = type(cls.__name__, (new,), kept)
    module.__class__ = new


@functools.cache
def _derived(base: Any, forward: Forward) -> Any:
    """The one class derived from ``base`` for ``forward``; pickled by these two."""

    def call(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        return forward(base.forward, self, *args, **kwargs)

    def reduce(self: nn.Module, protocol: Any) -> tuple[Any, ...]:
        _, _, *state = base.__reduce_ex__(self, protocol)
        return (_blank, (base, forward), *state)

    functools.update_wrapper(call, base.forward)
    body = {"forward": call, "__reduce_ex__": reduce, "_ringconv_forward": forward}
    name = f"Seamless{base.__name__.removeprefix('Seamless')}"
    return type(name, (base,), {**body, "__module__": base.__module__, "__doc__": base.__doc__})


def _blank(base: type, forward: Forward) -> nn.Module:
    cls = _derived(base, forward)
    module: nn.Module = cls.__new__(cls)
    return module
