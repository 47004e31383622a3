"""Why a function does not commute with rolls, read from its name and its arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

ZEROS = "zero padding in W"
PADDING = "padding in W that does not wrap"
NO_PADDING = "no padding in W"
STRIDE = "stride that does not divide W"
POOL = "pooling window over the seam"
RESAMPLE = "resampling that stops at the seam"
CORNERS = "align_corners"
LINEAR = "flatten to linear"
TABLE = "position table"
COLUMNS = "columns picked by their number"
ORDER = "columns read in one order"
UNKNOWN = "unknown"
CAUSES = (ZEROS, PADDING, NO_PADDING, STRIDE, POOL, RESAMPLE, CORNERS, LINEAR, TABLE, COLUMNS, ORDER, UNKNOWN)


@dataclass(frozen=True)
class Call:
    """One call of a torch function: its name and arguments, the ring in its first image, and what it was given besides.

    ``tables`` are the tensors among its arguments that do not depend on the input, by name; ``flat`` says that the
    ring shares its axis with something else.
    """

    function: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    width: int | None
    flat: bool
    tables: tuple[tuple[str, Tensor], ...]
    out_width: int

    def argument(self, position: int, name: str, default: Any = None) -> Any:
        """An argument, wherever it was given."""
        return self.args[position] if position < len(self.args) else self.kwargs.get(name, default)


def cause_of(call: Call) -> tuple[str, str]:
    """The cause, one of :data:`CAUSES`, and one sentence about it."""
    explain = _EXPLAIN.get(call.function)
    found = explain(call) if explain else None
    return found or _table(call) or (UNKNOWN, f"{call.function} treats columns unlike")


def _last(value: Any) -> Any:
    """The width's part of an argument that may be a number or a pair."""
    return value[-1] if isinstance(value, Sequence) and not isinstance(value, str) and value else value


def _window(
    kernel: int, stride: Any, padding: Any, dilation: Any, what: str
) -> Callable[[Call], tuple[str, str] | None]:
    """A sliding window; the numbers say at which place a function takes these arguments."""

    def explain(call: Call) -> tuple[str, str] | None:
        given = call.argument(kernel, "kernel_size")
        taps = call.args[1].shape[-1] if what == "kernel" else _last(given)
        step = _last(call.argument(stride, "stride")) or (1 if what == "kernel" else taps)
        pad = _last(call.argument(padding, "padding", 0)) if padding else 0
        reach = (_last(call.argument(dilation, "dilation", 1)) if dilation else 1) * (taps - 1)
        if call.width and call.width % step:
            return STRIDE, f"stride {step} leaves {call.width % step} of {call.width} columns over"
        if what == "window" and reach >= step:
            return POOL, f"windows of {taps} with stride {step} and padding {pad} are cut at the seam"
        if pad == "same" or (pad != "valid" and pad > 0):
            return ZEROS, f"padding {pad} puts zeros beside the first and last column"
        if reach >= step:
            return (
                NO_PADDING,
                f"a kernel of {taps} without padding makes {call.out_width} columns of a ring of {call.width}",
            )
        return None

    return explain


def _pad(call: Call) -> tuple[str, str] | None:
    sides, mode = call.argument(1, "pad"), call.argument(2, "mode", "constant")
    left, right = sides[:2]
    if not (left or right):
        return None
    if mode == "constant":
        return ZEROS, f"F.pad puts {left} and {right} columns of {call.argument(3, 'value') or 0} beside the ring"
    if left < 0 or right < 0:
        return COLUMNS, f"F.pad cuts {-min(left, 0)} and {-min(right, 0)} columns off"
    return PADDING, f"F.pad adds {left} and {right} columns by mode={mode!r}"


def _interpolate(call: Call) -> tuple[str, str]:
    mode = call.argument(3, "mode", "nearest")
    if call.argument(4, "align_corners"):
        return CORNERS, "align_corners=True stretches the first and last column to the ends, which a ring has not"
    return RESAMPLE, f"mode={mode!r} to {call.out_width} columns does not read across the seam"


def _grid(call: Call) -> tuple[str, str]:
    if call.argument(4, "align_corners"):
        return CORNERS, "align_corners=True stretches the first and last column to the ends, which a ring has not"
    return RESAMPLE, "grid_sample does not read across the seam, or its grid does not turn with the image"


def _transposed(call: Call) -> tuple[str, str] | None:
    return _table(call) or (ZEROS, "a transposed convolution drops at one border what it should add at the other")


def _linear(call: Call) -> tuple[str, str] | None:
    if call.flat or call.width:
        return LINEAR, f"a matrix has one weight for each of the {call.width} columns"
    return None


def _adaptive(call: Call) -> tuple[str, str]:
    return STRIDE, f"{call.out_width} columns are no even share of {call.width}"


def _norm(call: Call) -> tuple[str, str] | None:
    shape = call.argument(1, "normalized_shape", ())
    return (TABLE, f"layer_norm has a scale for each of the {shape[-1]} columns") if len(shape) > 1 else None


def _columns(call: Call) -> tuple[str, str]:
    return _table(call) or (COLUMNS, f"{call.function.strip('_')} names columns by their number")


def _ordered(call: Call) -> tuple[str, str]:
    return ORDER, f"{call.function} goes along the ring from its first column"


def _table(call: Call) -> tuple[str, str] | None:
    for name, table in call.tables:
        if call.width and table.ndim and call.width in table.shape[-3:]:
            return TABLE, f"{name} {tuple(table.shape)} holds a value for each of the {call.width} columns"
    return None


_EXPLAIN: dict[str, Callable[[Call], tuple[str, str] | None]] = {
    "conv2d": _window(1, 3, 4, 5, "kernel"),
    "conv_transpose2d": _transposed,
    "max_pool2d": _window(1, 2, 3, 4, "window"),
    "max_pool2d_with_indices": _window(1, 2, 3, 4, "window"),
    "avg_pool2d": _window(1, 2, 3, None, "window"),
    "lp_pool2d": _window(2, 3, None, None, "window"),
    "unfold": _window(1, 4, 3, 2, "kernel size"),
    "fold": lambda call: (ZEROS, "fold drops at one border what it should add at the other"),
    "pad": _pad,
    "interpolate": _interpolate,
    "grid_sample": _grid,
    "adaptive_avg_pool2d": _adaptive,
    "adaptive_max_pool2d": _adaptive,
    "adaptive_max_pool2d_with_indices": _adaptive,
    "layer_norm": _norm,
    **dict.fromkeys(("linear", "matmul", "__matmul__", "addmm", "bmm", "einsum", "bilinear"), _linear),
    **dict.fromkeys(("__getitem__", "narrow", "__setitem__", "select", "cat", "index_select"), _columns),
    **dict.fromkeys(("flip", "cumsum", "cumprod", "lstm", "gru", "rnn_tanh", "rnn_relu", "fliplr"), _ordered),
}
