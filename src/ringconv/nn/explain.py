"""Why ``algorithm="auto"`` takes the algorithm that it takes."""

from __future__ import annotations

from torch import Tensor

from .. import _checks
from ..algorithms import Case, candidates, choose, machine, measure, predict
from ..functional._geometry import geometry
from .conv import RingConv2d


def explain(layer: RingConv2d, x: Tensor) -> None:
    """Print what each algorithm was predicted to take for ``layer(x)``, and what it takes, here and now.

    Times are of a forward pass, and of its gradients too where ``layer(x)`` would have any. The line of the algorithm
    that ``"auto"`` takes is marked.

    Args:
        layer: a layer, on the device of ``x``.
        x: images ``(B, C, H, W)`` or ``(C, H, W)``.
    """
    where = "explain"
    if not isinstance(layer, RingConv2d):
        raise TypeError(f"{where}: layer must be a RingConv2d, got {type(layer).__name__}")
    x, _ = _checks.image(where, x)
    size = x.shape[-2], x.shape[-1]
    at = geometry(where, size, layer.kernel_size, layer.stride, layer.padding, layer.dilation, layer.height)
    case, runs = Case.of(x, layer.weight, at, layer.groups), candidates(x, layer.weight, at, layer.groups)
    predicted, chosen = predict(case), choose(x, layer.weight, at, layer.groups)
    measured = measure(runs, x, layer.weight, case.training)
    print(f"{layer} on {tuple(x.shape)}, {case.dtype}, {_layout(case)}, {case.threads} threads; {machine()}")
    print(f"{'algorithm':<12}{'predicted, forward':>20}{'measured' + ', training' * case.training:>20}")
    for name in sorted(predicted, key=lambda name: measured.get(name, predicted[name])):
        time = f"{measured[name]:.2f} ms" if name in measured else "hopeless"
        mark = "  <- auto" if name == chosen else ""
        print(f"{name:<12}{predicted[name] / 1e6:>17.2f} ms{time:>20}{mark}")


def _layout(case: Case) -> str:
    return "channels last" if case.channels_last else "channels first"
