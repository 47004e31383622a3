"""The equivariance error of a model, as the paper defines it."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from .. import _checks
from ..functional import ring_roll, rotate

OUTPUTS = ("auto", "equivariant", "invariant")


@torch.no_grad()
def equivariance_error(
    model: Callable[[Tensor], Tensor],
    input: Tensor,
    rolls: int | Tensor | None = None,
    *,
    output: str = "auto",
    seed: int = 0,
) -> float:
    r"""How far a model is from commuting with rotations: 0 for an exactly symmetric one, about 1 for an unrelated one.

    .. math::
        \varepsilon = \frac{1}{B} \sum_b
        \frac{\mathrm{std}\,(L_\xi \Phi(f_b) - \Phi(L_\xi f_b))}{\mathrm{std}\,\Phi(f_b)}

    L rolls around the ring. On an output with as many columns it is the same roll; on a coarser one it turns by the
    same angle (a roll where the angle falls on that grid, a Fourier shift where it does not); on an output without a
    ring it does nothing, and ε measures invariance. The model runs twice as it is: call ``eval()`` first where
    dropout or batch statistics would differ between the two runs.

    Args:
        model: from ``(B, C, H, W)`` to ``(B, ..., W')`` or, if invariant, to any ``(B, ...)``.
        input: ``(B, C, H, W)``.
        rolls: columns to roll each sample by: one integer, ``(B,)`` integers, or ``None`` to draw each of 1 … W − 1
            with equal chance.
        output: ``"equivariant"`` where the output's last axis is the ring, ``"invariant"`` where there is none;
            ``"auto"`` takes an output of three or four axes for the former.
        seed: of the draw.

    Returns:
        ε, in the precision of the model's output.

    >>> blur = lambda x: x + x.roll(1, -1)
    >>> equivariance_error(blur, torch.randn(4, 3, 8, 16))
    0.0
    """
    where = "equivariance_error"
    x, unbatched = _checks.image(where, input)
    if unbatched or x.shape[0] == 0:
        raise ValueError(f"{where}: input must be (B, C, H, W) with B of at least 1, got shape {tuple(input.shape)}")
    _checks.one_of(where, "output", output, OUTPUTS)
    shifts = _shifts(where, x, rolls, seed)
    plain, rolled = model(x), model(ring_roll(x, shifts))
    for y in (plain, rolled):
        if not isinstance(y, Tensor) or y.ndim == 0 or y.shape[0] != x.shape[0]:
            found = tuple(y.shape) if isinstance(y, Tensor) else type(y).__name__
            raise ValueError(
                f"{where}: model must give one tensor with {x.shape[0]} samples, got {found}; "
                "wrap it in a function that returns the output meant"
            )
    if output == "equivariant" or (output == "auto" and plain.ndim in (3, 4)):
        plain = _turn(plain, shifts, x.shape[-1])
    if plain[0].numel() == 1:
        raise ValueError(f"{where}: model gives one number a sample, which has no spread; measure an earlier layer")
    difference, scale = (y.cpu().double().flatten(1).std(1) for y in (plain - rolled, plain))
    return torch.where(difference == 0, 0.0, difference / scale).mean().item()


def _shifts(where: str, x: Tensor, rolls: int | Tensor | None, seed: int) -> Tensor:
    batch, width = x.shape[0], x.shape[-1]
    if isinstance(rolls, Tensor):
        if rolls.is_floating_point() or rolls.shape != (batch,):
            raise ValueError(
                f"{where}: rolls must be an integer or {batch} integers, one for each sample, "
                f"got {rolls.dtype} of shape {tuple(rolls.shape)}"
            )
        return rolls.to(x.device)
    if rolls is not None:
        if not isinstance(rolls, int):
            raise TypeError(f"{where}: rolls={rolls!r} must be an integer or a tensor of integers")
        return torch.full((batch,), rolls, device=x.device)
    draw = torch.Generator().manual_seed(seed)
    return torch.randint(min(1, width - 1), width, (batch,), generator=draw).to(x.device)


def _turn(y: Tensor, shifts: Tensor, width: int) -> Tensor:
    """``y`` turned as an input of ``width`` columns is by rolling it by ``shifts``."""
    columns = shifts * y.shape[-1]
    if (columns % width == 0).all():
        return ring_roll(y, columns // width)
    return rotate(y, shifts.double() * (360 / width))
