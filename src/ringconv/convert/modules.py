"""Seam-free modules: :func:`convert` and :func:`restore`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import Any

import torch
from torch import Tensor, nn

from .. import _checks
from ..algorithms import RULES
from ..nn import Canonical
from ..symmetry import check
from . import windows
from .classes import HEIGHT, has, original_class, swap, unswap
from .functions import current, seamless
from .report import Conversion, Entry

Choice = str | type | Callable[[str, nn.Module], bool]


def convert(
    model: nn.Module,
    *,
    inplace: bool = True,
    include: Choice | Iterable[Choice] | None = None,
    exclude: Choice | Iterable[Choice] = (),
    height: str | None = None,
    exact: bool = False,
    input: Tensor | None = None,
) -> tuple[nn.Module, Conversion]:
    """Make the layers of an existing model seam-free, its weights kept.

    Convolutions, transposed ones, pools, upsampling, paddings, ``Unfold`` and ``Fold`` read around the ring of the
    last dimension. The height keeps what it had: amount, asymmetry, mode. Wherever a window does not touch the seam
    the values stay as they were. What changes is the class of these modules and nothing else: parameters are the same
    objects under the same names, and hooks, parametrisations, shared modules, mode, device and dtype are untouched.

    Functions that a ``forward`` calls are left alone: :func:`seamless` does those. A model with padding modules runs
    under it in any case, because the next convolution must know about their columns.

    Args:
        model: any module. Modules with a ``forward`` of their own are left and reported.
        inplace: ``False`` converts a copy.
        include: what to convert: names (patterns such as ``"encoder.*"``), types, predicates ``(name, module)``, or
            several; ``None`` takes all.
        exclude: what to leave, likewise.
        height: a rule for the rows that paddings add, as for :func:`ringconv.functional.ring_conv2d`, instead of the
            model's own.
        exact: put :class:`ringconv.nn.Canonical` around, which makes the model exact at every roll and not only at
            multiples of its total stride. Takes ``input``, to find that stride.
        input: images ``(B, C, H, W)`` to try the converted model with.

    Returns:
        The model, and what was done to it: a :class:`Conversion`.

    >>> model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
    >>> model, report = convert(model)
    >>> print(report)
    2 converted
      0  Conv2d
      2  MaxPool2d
    """
    where = "convert"
    if not isinstance(model, nn.Module) or isinstance(model, torch.jit.ScriptModule):
        raise TypeError(f"{where}: model must be a torch.nn.Module that Python runs, got {type(model).__name__}")
    if height is not None:
        _checks.one_of(where, "height", height, RULES)
    if exact and input is None:
        raise ValueError(f"{where}: exact=True needs input=, an example to find the model's total stride with")
    if not inplace:
        model = copy.deepcopy(model)
    included = _matcher(where, "include", "*" if include is None else include)
    excluded = _matcher(where, "exclude", exclude)
    entries, padded = [], False
    for name, module in model.named_modules():
        kind, reason = _kind(module)
        if kind is None and reason is None:
            continue
        if kind is not None and (excluded(name, module) or not included(name, module)):
            kind, reason = None, "left out by include or exclude"
        if kind is not None:
            if not has(module, _call_ring):
                swap(module, _call_ring)
            module.__dict__[HEIGHT] = height
        padded = padded or kind in PADDINGS
        entries.append(Entry(name, original_class(module).__name__, kind is not None, reason or ""))
    if padded:
        seamless(model, height=height)
    report = Conversion(tuple(entries))
    if not exact or input is None:
        return model, report
    found = check(model, input)
    if found.stride is None:
        raise ValueError(f"{where}: exact=True needs a model that some roll leaves intact, but {found.first}")
    return Canonical(model, found.stride, output=found.symmetry), report


def restore(model: nn.Module) -> nn.Module:
    """Undo :func:`convert` and :func:`seamless`, in place, and return the model as it was.

    >>> model, _ = convert(nn.Sequential(nn.Conv2d(3, 8, 3)))
    >>> type(restore(model)[0])
    <class 'torch.nn.modules.conv.Conv2d'>
    """
    if isinstance(model, Canonical):
        model = model.model
    for module in model.modules():
        unswap(module)
        module.__dict__.pop(HEIGHT, None)
    return model


def _call_ring(original: Callable[..., Any], module: nn.Module, *args: Any, **kwargs: Any) -> Any:
    """The seam-free forward; the original one under a mode, which closes the seam or has it left open."""
    height, mode = module.__dict__[HEIGHT], current()
    if mode is None:
        ring = next(ring for kind, ring in RINGS.items() if isinstance(module, kind))
        return ring(module, height, *args, **kwargs)
    before, mode.height = mode.height, height or mode.height
    try:
        return original(module, *args, **kwargs)
    finally:
        mode.height = before


def _conv(m: Any, height: str | None, x: Tensor) -> Tensor:
    options = m.stride, m.padding, m.dilation, m.groups
    return windows.conv2d(x, m.weight, m.bias, *options, mode=m.padding_mode, height=height)


def _conv_transpose(m: Any, height: str | None, x: Tensor, output_size: list[int] | None = None) -> Tensor:
    if output_size is None:
        more = m.output_padding
    else:
        # The ring's width follows from its stride; only the height has a choice.
        rows = [output_size[-2], (x.shape[-1] - 1) * m.stride[1] - 2 * m.padding[1] + m.kernel_size[1]]
        more = m._output_padding(x, rows, m.stride, m.padding, m.kernel_size, 2, m.dilation)
    return windows.conv_transpose2d(x, m.weight, m.bias, m.stride, m.padding, more, m.groups, m.dilation)


def _max_pool(m: Any, height: str | None, x: Tensor) -> Any:
    options = m.kernel_size, m.stride, m.padding, m.dilation, m.ceil_mode, m.return_indices
    return windows.max_pool2d(x, *options, height=height)


def _avg_pool(m: Any, height: str | None, x: Tensor) -> Tensor:
    options = m.kernel_size, m.stride, m.padding, m.ceil_mode, m.count_include_pad, m.divisor_override
    return windows.avg_pool2d(x, *options, height=height)


def _lp_pool(m: Any, height: str | None, x: Tensor) -> Tensor:
    return windows.lp_pool2d(x, float(m.norm_type), m.kernel_size, m.stride, m.ceil_mode)


def _upsample(m: Any, height: str | None, x: Tensor) -> Tensor:
    return windows.interpolate(x, m.size, m.scale_factor, m.mode, m.align_corners, m.recompute_scale_factor)


def _unfold(m: Any, height: str | None, x: Tensor) -> Tensor:
    return windows.unfold(x, m.kernel_size, m.dilation, m.padding, m.stride)


def _fold(m: Any, height: str | None, x: Tensor) -> Tensor:
    return windows.fold(x, m.output_size, m.kernel_size, m.dilation, m.padding, m.stride)


def _pad(mode: str) -> Callable[..., Tensor]:
    def pad(m: Any, height: str | None, x: Tensor) -> Tensor:
        return windows.pad(x, m.padding, mode, getattr(m, "value", None), height=height)

    return pad


PADDINGS: dict[type[nn.Module], Callable[..., Tensor]] = {
    nn.ConstantPad2d: _pad("constant"),
    nn.ReflectionPad2d: _pad("reflect"),
    nn.ReplicationPad2d: _pad("replicate"),
    nn.CircularPad2d: _pad("circular"),
}
RINGS: dict[type[nn.Module], Callable[..., Any]] = {
    nn.Conv2d: _conv,
    nn.ConvTranspose2d: _conv_transpose,
    nn.MaxPool2d: _max_pool,
    nn.AvgPool2d: _avg_pool,
    nn.LPPool2d: _lp_pool,
    nn.Upsample: _upsample,
    nn.Unfold: _unfold,
    nn.Fold: _fold,
    **PADDINGS,
}

# What reads more than a column, or tells columns apart, and cannot be made to fit a ring.
LEFT: dict[type[nn.Module], str] = {
    nn.Conv1d: "a Conv1d has no height: its last dimension may be any sequence",
    nn.Conv3d: "a Conv3d has no ring among its three dimensions that is known",
    nn.FractionalMaxPool2d: "draws its windows at random",
    nn.RNNBase: "reads columns one after the other, from the first on",
}
ADAPTIVE = (nn.AdaptiveAvgPool2d, nn.AdaptiveMaxPool2d)


def _kind(module: nn.Module) -> tuple[type[nn.Module] | None, str | None]:
    """The entry of :data:`RINGS` for a module; or why it has none, if it should; or neither."""
    for kind in RINGS:
        if isinstance(module, kind):
            cls: Any = original_class(module)
            if cls.forward is not kind.forward or (kind is nn.Conv2d and cls._conv_forward is not kind._conv_forward):
                return None, "has a forward of its own: seamless() reaches the functions that it calls"
            if isinstance(module, nn.modules.lazy.LazyModuleMixin):
                return None, "has no shape yet: run the model once first"
            return kind, _remark(module)
    for kind, reason in LEFT.items():
        if isinstance(module, kind):
            return None, reason
    if isinstance(module, ADAPTIVE):
        size: Any = module.output_size
        columns = size[-1] if isinstance(size, (tuple, list)) else size
        if columns not in (1, None):
            return None, f"keeps rolls only where its {columns} columns divide the ring"
    return None, None


def _remark(module: nn.Module) -> str | None:
    if isinstance(module, nn.Upsample) and module.align_corners:
        return "align_corners=True stretches to the ends, which a ring has not: half-pixel centres in the width"
    return None


def _matcher(where: str, name: str, choice: Choice | Iterable[Choice]) -> Callable[[str, nn.Module], bool]:
    """Whether a module is one of those chosen by names, types or predicates."""
    single = isinstance(choice, (str, type)) or callable(choice)
    choices: list[Any] = [choice] if single else list(choice)  # type: ignore[arg-type]
    for one in choices:
        if not (isinstance(one, (str, type)) or callable(one)):
            raise TypeError(f"{where}: {name}={one!r} must be a name, a type or a predicate (name, module)")

    def matches(path: str, module: nn.Module) -> bool:
        for one in choices:
            if isinstance(one, str):
                found = fnmatchcase(path, one) or path.startswith(f"{one}.")
            else:
                found = isinstance(module, one) if isinstance(one, type) else one(path, module)
            if found:
                return True
        return False

    return matches
