"""The group action: turning an image around the ring."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.autograd.forward_ad import unpack_dual

from .. import _checks
from ..spectral import irfft, layout_of, rfft, widen

# A shift this close to a whole number of columns, relative to its size, is that number: degrees · W / 360 is rounded,
# and a float32 angle was rounded before.
_ON_GRID = 1e-9
_ON_GRID_FLOAT32 = 5e-7


def ring_roll(input: Tensor, shifts: int | Tensor) -> Tensor:
    """Move every sample ``shifts`` columns towards larger azimuth: column 0 goes to column ``shifts``.

    Args:
        input: ``(B, ..., W)``, of any dtype; any ``(..., W)`` if ``shifts`` is one number.
        shifts: one integer for all, or an integer tensor ``(B,)`` with one for each sample. Never leaves the device.

    >>> ring_roll(torch.tensor([[0, 1, 2], [0, 1, 2]]), torch.tensor([1, 2]))
    tensor([[2, 0, 1],
            [1, 2, 0]])
    """
    where = "ring_roll"
    width = _checks.ring(where, input)
    if not isinstance(shifts, Tensor):
        return input.roll(_checks.integer(where, "shifts", shifts, None), -1)
    if shifts.is_floating_point() or shifts.is_complex() or shifts.dtype == torch.bool:
        raise TypeError(f"{where}: shifts must be integers, got {shifts.dtype}; use rotate for angles in between")
    if shifts.ndim == 0:
        return ring_roll(input.unsqueeze(0), shifts.view(1)).squeeze(0)
    _per_sample(where, "shifts", shifts, input)
    columns = torch.arange(width, device=input.device) - shifts.to(input.device).unsqueeze(-1)
    return _gather(input, columns % width)


def rotate(input: Tensor, degrees: float | Tensor) -> Tensor:
    r"""Turn images around the ring by any angle, towards larger azimuth.

    Where the angle is a whole number of columns, ``degrees · W / 360``, this is an exact roll. Between columns it is
    a shift of the Fourier interpolant: the n-th harmonic is multiplied by :math:`e^{-i n \alpha}`. Turning by
    ``-degrees`` undoes it and angles add up, to rounding, for every image of odd W.

    For even W the highest harmonic, :math:`(-1)^j`, is seen at one phase alone and its turned copy has no samples of
    its own: it is multiplied by :math:`\cos(\alpha W / 2)`, the sampled value of the interpolant, and what that
    loses is lost. Images without it (band-limited below W / 2) turn back and add up for every W.

    Args:
        input: ``(B, ..., W)``, or any ``(..., W)`` if ``degrees`` is a number. Half types are turned in float32.
        degrees: an angle for all, or a floating-point tensor ``(B,)`` with one for each sample; it gets a gradient.

    Returns:
        An image of the input's shape and dtype.

    >>> rotate(torch.tensor([[0.0, 1.0, 2.0, 3.0]]), 90)
    tensor([[3., 0., 1., 2.]])
    """
    where = "rotate"
    _checks.real(where, input)
    width = _checks.ring(where, input)
    if isinstance(degrees, Tensor):
        if degrees.is_complex() or degrees.dtype == torch.bool:
            raise TypeError(f"{where}: degrees must be real numbers, got {degrees.dtype}")
        if degrees.ndim == 0:
            return layout_of(input, _rotate_each(input.unsqueeze(0), degrees.view(1)).squeeze(0))
        _per_sample(where, "degrees", degrees, input)
        return layout_of(input, _rotate_each(input, degrees))
    if not isinstance(degrees, (int, float)) or not math.isfinite(degrees):
        raise ValueError(f"{where}: degrees={degrees!r} must be a finite number or a tensor")
    shift = degrees * width / 360
    whole = round(shift)
    if abs(shift - whole) <= _ON_GRID * max(1.0, abs(shift)):
        return input.roll(whole % width, -1)
    return _fourier_shift(input, torch.tensor(shift % width, dtype=torch.float64, device=input.device))


def _rotate_each(x: Tensor, degrees: Tensor) -> Tensor:
    """``x`` ``(B, ..., W)`` by ``degrees`` ``(B,)`` each, on the grid or off it: no value leaves the device."""
    shifts = degrees.to(x.device, torch.float64) * (x.shape[-1] / 360)
    whole = shifts.round()
    tolerance = _ON_GRID_FLOAT32 if degrees.dtype == torch.float32 else _ON_GRID
    on_grid = (shifts - whole).abs() <= tolerance * shifts.abs().clamp(min=1)
    between = _fourier_shift(x, _like(shifts, x))
    rolled = ring_roll(x, whole.long())
    if shifts.requires_grad or unpack_dual(shifts).tangent is not None:
        # The value of the roll with the slope of the interpolant, which the roll alone does not have.
        rolled = rolled.detach() + (between - between.detach())
    return torch.where(_like(on_grid, x), rolled, between)


def _fourier_shift(x: Tensor, shift: Tensor) -> Tensor:
    width = x.shape[-1]
    spectrum = rfft(widen(x))
    harmonics = torch.arange(spectrum.shape[-1], dtype=torch.float64, device=x.device)
    angles = harmonics * (shift * (-2 * math.pi / width))
    turn = torch.polar(torch.ones_like(angles), angles)
    if width % 2 == 0:
        turn = torch.where(harmonics == width // 2, turn.real.to(turn.dtype), turn)
    return layout_of(x, irfft(spectrum * turn.to(spectrum.dtype), width).to(x.dtype))


def _per_sample(where: str, name: str, values: Tensor, x: Tensor) -> None:
    if values.ndim != 1 or x.ndim < 2 or values.shape[0] != x.shape[0]:
        raise ValueError(
            f"{where}: {name} of shape {tuple(values.shape)} must be one number or one for each of the "
            f"{x.shape[0]} samples of an input {tuple(x.shape)}"
        )


def _like(per_sample: Tensor, x: Tensor) -> Tensor:
    """``(B,)`` as ``(B, 1, ..., 1)``."""
    return per_sample.view(-1, *(1,) * (x.ndim - 1))


def _gather(x: Tensor, columns: Tensor) -> Tensor:
    """Column ``columns[b, j]`` of sample b at its place j."""
    return x.gather(-1, columns.view(x.shape[0], *(1,) * (x.ndim - 2), x.shape[-1]).expand(x.shape))
