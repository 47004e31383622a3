"""Which algorithm computes a correlation. All are the same function; they differ in time and memory.

``auto`` takes the one that was measured to be the fastest in the very case (:class:`ringconv.autotune`), or else the
one that :mod:`.cost` predicts to be.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import torch
from torch import Tensor

from .._checks import autocast_dtype, one_of
from . import direct, native, spectral, tuning
from .cost import CANDIDATES, Case, predict
from .eager import eager
from .geometry import Geometry
from .spectra import Spectra

ALGORITHMS = ("auto", *CANDIDATES)
_WORTH = 16.0  # how far behind the best an algorithm may be predicted and still be measured


def correlate(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    at: Geometry,
    groups: int,
    algorithm: str = "auto",
    spectra: Spectra | None = None,
) -> Tensor:
    """``(B, C, H, W)`` with ``(O, C/groups, k_h, k_w)`` to ``(B, O, *at.out_size)``, by the algorithm named.

    ``spectra`` keeps the transformed kernel from call to call, for the algorithms that have one.
    """
    one_of("ring_conv2d", "algorithm", algorithm, ALGORITHMS)
    if algorithm == "auto":
        algorithm = choose(x, weight, at, groups)
    elif algorithm == "native" and not torch.compiler.is_compiling():
        reason = native.obstacle(x, at)
        if reason is not None:
            raise ValueError(f"ring_conv2d: algorithm='native' cannot compute this: {reason}; use algorithm='auto'")
    kept = spectra if eager(x, weight) else None
    if algorithm == "native":
        return native.correlate(x, weight, bias, at, groups, kept)
    if algorithm == "spectral":
        spectrum = None if kept is None else kept.of(weight, at, lambda: spectral.spectrum(weight, at, groups))
        return spectral.correlate(x, weight, bias, at, groups, spectrum)
    return direct.correlate(x, weight, bias, at, groups)


def correlate_adjoint(y: Tensor, weight: Tensor, bias: Tensor | None, at: Geometry, groups: int) -> Tensor:
    """The adjoint of :func:`correlate`: ``(B, O, *at.out_size)`` to ``(B, C, *at.size)``, plus ``bias`` (C,)."""
    if _adjoint_by(y, weight, at, groups) == "native":
        return native.correlate_adjoint(y, weight, bias, at, groups)
    return direct.correlate_adjoint(y, weight, bias, at, groups)


def _adjoint_by(y: Tensor, weight: Tensor, at: Geometry, groups: int) -> str:
    if torch.compiler.is_compiling():
        return _choose_for_trace(y, weight, at, groups)
    return _predicted(Case.of(y, weight, at, groups), _possible(y, weight, at))


def choose(x: Tensor, weight: Tensor, at: Geometry, groups: int) -> str:
    """The measured best where one is known, else the predicted one."""
    if torch.compiler.is_compiling():
        return _choose_for_trace(x, weight, at, groups)
    case = Case.of(x, weight, at, groups)
    if eager(x, weight):
        measured = tuning.measured(case, functools.partial(candidates, x, weight, at, groups), x, weight)
        if measured is not None:
            return measured
    return _predicted(case, _possible(x, weight, at))


def candidates(x: Tensor, weight: Tensor, at: Geometry, groups: int) -> dict[str, Callable[[Tensor, Tensor], Tensor]]:
    """Every algorithm that may be the fastest here, as a function of ``(x, weight)``."""
    predicted = predict(Case.of(x, weight, at, groups))
    possible = [name for name in _possible(x, weight, at) if name in predicted]
    least = min(predicted[name] for name in possible)
    return {name: functools.partial(_run, name, at, groups) for name in possible if predicted[name] <= _WORTH * least}


def _possible(x: Tensor, weight: Tensor, at: Geometry) -> tuple[str, ...]:
    able = eager(x, weight) and native.obstacle(x, at) is None
    return CANDIDATES if able else CANDIDATES[:-1]


def _run(algorithm: str, at: Geometry, groups: int, x: Tensor, weight: Tensor) -> Tensor:
    return correlate(x, weight, None, at, groups, algorithm)


def _choose_for_trace(x: Tensor, weight: Tensor, at: Geometry, groups: int) -> str:
    """A trace serves any batch and many sizes: it gets what is best at a usual one.

    An exported program leaves the process, and holds torch's own operators alone.
    """
    if getattr(torch.compiler, "is_exporting", torch.compiler.is_compiling)():
        return "direct"
    dtype = autocast_dtype(x) or x.dtype
    channels = weight.shape[1] * groups, weight.shape[0]
    return _at_usual_size(x.device.type, dtype, channels, groups, at.kernel, at.stride, at.dilation, at.rule)


def _at_usual_size(
    device: str,
    dtype: torch.dtype,
    channels: tuple[int, int],
    groups: int,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    dilation: tuple[int, int],
    rule: str,
) -> str:
    size, reach = (64 * stride[0], 256 * stride[1]), dilation[0] * (kernel[0] - 1)
    at = Geometry(size, kernel, stride, dilation, reach // 2, reach - reach // 2, rule)
    return _predicted(Case(device, dtype, True, False, torch.get_num_threads(), 8, *channels, groups, at), CANDIDATES)


# The compiler calls it while it traces and takes the answer for a constant: what torch.compiler.assume_constant_result
# marks, without that function's import of the compiler, which takes seconds.
_at_usual_size._dynamo_marked_constant = True  # type: ignore[attr-defined]


@functools.lru_cache(maxsize=4096)
def _predicted(case: Case, possible: tuple[str, ...]) -> str:
    predicted = predict(case)
    return min((name for name in predicted if name in possible), key=predicted.__getitem__)
