"""Images with the ring's wrap-around, and the height's rule, made visible as extra rows and columns."""

from __future__ import annotations

from torch import Tensor

from .. import _checks
from ..algorithms import RULES, extend


def ring_pad(input: Tensor, pad: int | tuple[int, ...], *, height: str = "symmetric") -> Tensor:
    """Add columns that wrap around and rows that follow the height rule.

    Pays where a function that knows nothing of rings is to be run as it is: pad, run it, crop. The layers of this
    library need none of it.

    Args:
        input: images ``(B, C, H, W)`` or ``(C, H, W)``.
        pad: one number for all sides, ``(left, right)`` or ``(left, right, top, bottom)``, in the order of
            :func:`torch.nn.functional.pad`. Any amount: the ring wraps, and the height reflects, as often as needed.
        height: ``"symmetric"``, ``"zeros"``, ``"replicate"``, ``"reflect"`` or ``"circular"``.

    Returns:
        ``(B, C, top + H + bottom, left + W + right)``, or without B where the input had none.

    >>> import torch
    >>> ring_pad(torch.tensor([[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]]), (1, 1, 1, 0))
    tensor([[[2., 0., 1., 2., 0.],
             [2., 0., 1., 2., 0.],
             [5., 3., 4., 5., 3.]]])
    """
    where = "ring_pad"
    x, unbatched = _checks.image(where, input)
    _checks.one_of(where, "height", height, RULES)
    sides = tuple(pad) if isinstance(pad, (tuple, list)) else (pad,) * 4
    if len(sides) not in (2, 4):
        raise ValueError(f"{where}: pad={pad!r} must be a number, (left, right) or (left, right, top, bottom)")
    left, right, top, bottom = (_checks.integer(where, "pad", side, 0) for side in (*sides, 0, 0)[:4])
    y = extend(extend(x, -2, top, bottom, height), -1, left, right, "circular")
    y = y.clone() if y is x else y
    return y.squeeze(0) if unbatched else y
