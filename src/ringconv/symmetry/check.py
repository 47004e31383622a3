"""A model's symmetry layer by layer, and the first function that breaks it: :func:`check`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves
from torch.utils.weak import WeakIdKeyDictionary

from .. import _checks
from .causes import UNKNOWN, Call, cause_of
from .measure import Answer, answer
from .report import Culprit, Layer, Report

# Rounding, relative to the largest value, grows with depth; a seam is many orders above it.
TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-4}
COARSE = 3e-2
# Functions that make a ring of other width; what they make has its ring last.
RESIZES = re.compile(r"conv|pool|interpolate|getitem|shuffle")

Model = Callable[[Tensor], Any]


@torch.no_grad()
def check(model: Model, input: Tensor, rolls: Sequence[int] | None = None, *, tolerance: float | None = None) -> Report:
    """Turn the input, run the model, turn every intermediate result back by its own stride, and compare.

    The input and its rolled copies run as one batch, in evaluation mode, and each torch function is watched: the
    first whose result is broken while what it was given was not, and whose damage reaches the output, is the culprit.
    What recovers (windows of attention, a ring padded by hand) is none. The model is left as it was found: mode,
    buffers, hooks and the random state, also after an error.

    Args:
        model: a module, or any function of a tensor. Sub-modules get a line each in the report.
        input: images ``(B, C, H, W)``; noise shows most. Batched together with their rolls.
        rolls: columns to turn by when the layers are measured; ``None`` takes two multiples of the total stride.
        tolerance: relative errors up to here are rounding; ``None`` takes what fits the dtype (1e-4 in float32).

    Returns:
        A :class:`Report`: the group of shifts that the output follows, the total stride, the first to break and why,
        and the error of every layer.

    >>> model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU())
    >>> print(check(model, torch.randn(1, 3, 8, 16)).first)
    zero padding in W: 0 (Conv2d), conv2d: padding 1 puts zeros beside the first and last column
    """
    where = "check"
    x, unbatched = _checks.image(where, input)
    if unbatched or x.shape[0] == 0 or x.shape[-1] < 2:
        raise ValueError(f"{where}: input must be (B, C, H, W) with B >= 1 and W >= 2, got {tuple(input.shape)}")
    width = x.shape[-1]
    for k in rolls or ():
        if not isinstance(k, int) or k % width == 0:
            raise ValueError(f"{where}: rolls={list(rolls or ())} must be integers that are no multiples of W={width}")
    if tolerance is None:
        tolerance = TOLERANCE.get(x.dtype, COARSE)
    with _untouched(model):
        nominal = nominal_stride(model, x)
        stride, symmetry, error = _group(model, x, nominal, tolerance)
        if rolls is None:
            step = nominal if stride is None or nominal % stride == 0 else stride
            rolls = sorted({step, max(width // step * 2 // 5, 1) * step})
        watch = _Watch(model, tuple(rolls), x, tolerance)
        watch.run()
    broken = [found for found in watch.outputs if found.symmetry == "neither"]
    first = watch.culprit() if stride is None else None
    if stride is None and broken:
        error = max(found.error for found in broken)
    return Report(symmetry, stride, error, first, tuple(watch.layers), width, tuple(rolls), tolerance)


def nominal_stride(model: Model, x: Tensor) -> int:
    """The least roll that moves every ring of the model by whole columns, as far as their widths tell."""
    width, widths = x.shape[-1], set()

    class Widths(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            y = func(*args, **(kwargs or {}))
            strides = isinstance(y, Tensor) and RESIZES.search(getattr(func, "__name__", ""))
            if strides and y.ndim == 4 and y.shape[-1] > 1 and width % y.shape[-1] == 0:
                widths.add(y.shape[-1])
            return y

    with Widths():
        model(x)
    step = 1
    for n in sorted(widths, reverse=True):
        step = math.lcm(step, width // n) if math.lcm(step, width // n) < width else step
    return step


def _group(model: Model, x: Tensor, nominal: int, tolerance: float) -> tuple[int | None, str, float]:
    """The least stride whose multiples the output follows, how it follows them, and the error there."""
    width = x.shape[-1]
    error = math.inf
    for stride in (s for s in range(1, width) if width % s == 0):
        joint = model(torch.cat([x, x.roll(stride, -1)]))
        found = _answers(joint, (stride,), width, {width}, tolerance)
        if found and all(each.symmetry != "neither" for each in found):
            symmetries = {each.symmetry for each in found}
            symmetry = "equivariant" if "equivariant" in symmetries else "invariant"
            return stride, symmetry, max(each.error for each in found)
        if stride == nominal and found:
            error = max(each.error for each in found)
    return None, "neither", error


def _answers(y: Any, rolls: tuple[int, ...], width: int, widths: set[int], tolerance: float) -> list[Answer]:
    tensors = [leaf for leaf in tree_leaves(y) if isinstance(leaf, Tensor)]
    found = [answer(tensor, rolls, width, widths, tolerance) for tensor in tensors]
    return [each for each in found if each is not None]


class _Watch(TorchFunctionMode):
    """Follows every tensor that depends on the input through one run of the model."""

    def __init__(self, model: Model, rolls: tuple[int, ...], x: Tensor, tolerance: float) -> None:
        super().__init__()
        self.model, self.rolls, self.tolerance = model, rolls, tolerance
        self.width, self.widths = x.shape[-1], {x.shape[-1]}
        self.joint = torch.cat([x, *(x.roll(k, -1) for k in rolls)])
        # For each tensor: its answer, and the number of the culprit that broke it.
        self.known: Any = WeakIdKeyDictionary()
        self.culprits: list[Culprit] = []
        self.layers: list[Layer] = []
        self.outputs: list[Answer] = []
        self.broken_outputs: list[int | None] = []
        self.path: list[tuple[str, nn.Module]] = []
        modules = isinstance(model, nn.Module)
        self.tables = {id(t): name for name, t in _state(model)} if modules else {}  # type: ignore[arg-type]

    def run(self) -> None:
        """Run the model on the joint batch."""
        self.known[self.joint] = (Answer("equivariant", 0.0, self.width), None)
        with ExitStack() as hooks:
            if isinstance(self.model, nn.Module):
                for name, module in self.model.named_modules():
                    hooks.callback(module.register_forward_pre_hook(self._enter(name)).remove)
                    hooks.callback(module.register_forward_hook(self._leave).remove)
            with self:
                y = self.model(self.joint)
        for leaf in tree_leaves(y):
            if isinstance(leaf, Tensor) and leaf in self.known:
                found, origin = self.known[leaf]
                self.outputs.append(found)
                self.broken_outputs.append(origin)

    def culprit(self) -> Culprit:
        """The first that broke an output."""
        origins = [origin for origin in self.broken_outputs if origin is not None]
        if origins:
            return self.culprits[min(origins)]
        return Culprit("", type(self.model).__name__, "forward", UNKNOWN, "its functions could not be followed")

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """``func``, and what its result does when the input turns."""
        kwargs = kwargs or {}
        given = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        followed = [self.known[t] for t in given if t in self.known]
        y = func(*args, **kwargs)
        if not followed:
            return y
        changed = [args[0]] if y is None else [leaf for leaf in tree_leaves(y) if isinstance(leaf, Tensor)]
        for result in changed:
            if isinstance(result, Tensor) and not (result in self.known and y is not None and result is not args[0]):
                self.known[result] = self._judge(func, args, kwargs, given, followed, result)
        return y

    def _judge(
        self, func: Any, args: Any, kwargs: Any, given: list[Tensor], followed: list[Any], result: Tensor
    ) -> tuple[Answer, int | None]:
        found = answer(result, self.rolls, self.width, self.widths, self.tolerance)
        origins = [origin for _, origin in followed if origin is not None]
        if found is None:
            worst = max((each for each, _ in followed), key=lambda each: each.error)
            return worst, min(origins, default=None)
        if found.symmetry != "neither":
            if found.width is not None and not found.flat:
                self.widths.add(found.width)
            return found, None
        if origins:
            return found, min(origins)
        before = next((each for each, _ in followed if each.width), followed[0][0])
        tables = tuple((self.tables.get(id(t), "a tensor"), t) for t in given if t not in self.known)
        name = getattr(func, "__name__", str(func))
        call = Call(name, args, kwargs, before.width, before.flat, tables, result.shape[-1] if result.ndim else 0)
        path, module = self.path[-1] if self.path else ("", self.model)
        self.culprits.append(Culprit(path, _type(module), name.strip("_"), *cause_of(call)))
        return found, len(self.culprits) - 1

    def _enter(self, name: str) -> Callable[..., None]:
        def enter(module: nn.Module, args: Any) -> None:
            self.path.append((name, module))

        return enter

    def _leave(self, module: nn.Module, args: Any, y: Any) -> None:
        name, _ = self.path.pop()
        for leaf in tree_leaves(y):
            if isinstance(leaf, Tensor) and leaf in self.known:
                found, _ = self.known[leaf]
                stride = Fraction(self.width, found.width) if found.width else None
                shape = (leaf.shape[0] // (len(self.rolls) + 1), *leaf.shape[1:])
                kind = found.symmetry
                self.layers.append(Layer(name, _type(module), shape, kind, stride, found.error, found.profile))
                return


def _type(model: Any) -> str:
    return type(model).__name__ if isinstance(model, nn.Module) else getattr(model, "__name__", type(model).__name__)


def _state(model: nn.Module) -> Iterator[tuple[str, Tensor]]:
    yield from model.named_parameters()
    yield from model.named_buffers()


@contextmanager
def _untouched(model: Model) -> Iterator[None]:
    """Evaluation mode, and afterwards everything as it was that a forward may change."""
    modules = list(model.modules()) if isinstance(model, nn.Module) else []
    training = [module.training for module in modules]
    buffers = [dict(module._buffers) for module in modules]
    values = [{name: b.clone() for name, b in own.items() if b is not None} for own in buffers]
    try:
        for module in modules:
            module.training = False
        with torch.random.fork_rng():
            yield
    finally:
        for module, mode, own, value in zip(modules, training, buffers, values, strict=True):
            module.training = mode
            module._buffers.clear()
            module._buffers.update(own)
            for name, kept in value.items():
                module._buffers[name].copy_(kept)  # type: ignore[union-attr]
