r"""Registration around the ring: by how much one view must be turned to look like another.

Both views see one scene at unknown headings. Their circular cross-correlation

.. math:: r_t = \sum_{c,i,j} a_{c,i,j}\, b_{c,i,\,(j - t) \bmod W}

is largest where ``b``, rolled by t columns, resembles ``a`` most.

A peak that is picked among nearly equal rivals must not depend on how the views happen to lie: an FFT rounds
differently at every roll. :func:`estimate_roll` therefore counts in whole numbers. It rounds the views to integers,
of so few bits that the FFT's error stays below ½ and rounding its result gives the sum exactly; and so rolling a view
rolls the scores to the last bit.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from .. import _checks
from ..algorithms import extend
from ..spectral import irfft, rfft, widen

CUES = ("edges", "values")

# The FFT's absolute error in a sum of N products of n-bit integers is below 2**-46 · N · 4**n with room to spare.
_BITS = 46
_MOST_BITS = 20
# Whitening leaves alone the harmonics that are weaker than this share of the strongest: there is nothing but noise.
_FLOOR = 1e-3
_NEWTON_STEPS = 4
# Edges of this share of the ring, 2.8 degrees, told the headings of street panoramas best.
_EDGES_AROUND = 128


class Roll(NamedTuple):
    """How far the second view is to be turned, for each of B pairs."""

    columns: Tensor
    """``(B,)`` in (−W/2, W/2]: between columns where the correlation's interpolant peaks there."""

    degrees: Tensor
    """``(B,)``, the same for :func:`ringconv.rotate`."""

    nearest: Tensor
    """``(B,)`` of int64 in [0, W): the whole number of columns that scores best, for
    :func:`ringconv.functional.ring_roll`."""

    confidence: Tensor
    """``(B,)``, 1 where no other heading stands out and 0 where another fits as well: one less the height of the
    second peak over that of the first, both above the mean score."""


def estimate_roll(a: Tensor, b: Tensor, *, cue: str = "edges", scale: int | None = None, phase: bool = False) -> Roll:
    """The turn that brings ``b`` to the heading of ``a``: ``ring_roll(b, roll.nearest)`` lies over ``a``.

    Rolling either view changes the answer by just that, to the last bit in ``nearest`` and ``confidence``. Where a
    view repeats itself around the ring several headings are equally right, and one of them is given.

    Args:
        a: views or feature maps, ``(B, C, H, W)`` or ``(C, H, W)``.
        b: the same scene at other headings, of the same shape.
        cue: what is compared. ``"edges"``: differences between neighbours, which light changes least: right for
            photographs. ``"values"``: what is given, for features that a network has made for this.
        scale: the size in pixels of the neighbours that ``"edges"`` compares. Views from places some steps apart
            agree in what is coarse. By default a 128th of the ring.
        phase: phase correlation: every harmonic around the ring counts alike, which sharpens the peak. Pays where
            the views differ by a turn and little else.

    Returns:
        A :class:`Roll`, with B = 1 for views without a batch.

    >>> import torch
    >>> view = torch.randn(1, 3, 16, 64)
    >>> estimate_roll(view, view.roll(-5, -1)).nearest
    tensor([5])
    """
    where = "estimate_roll"
    _checks.one_of(where, "cue", cue, CUES)
    a, b = _views(where, a, b)
    scale = max(1, a.shape[-1] // _EDGES_AROUND) if scale is None else _checks.integer(where, "scale", scale)
    with torch.no_grad():
        if cue == "edges":
            a, b = _edges(_whole(a, _MOST_BITS), scale), _edges(_whole(b, _MOST_BITS), scale)
        a, b = (_whole(x, _exact_bits(x)) for x in (a, b))
        scores = _exact_correlation(a, b)
        if phase:
            scores = _whitened(scores, _exact_correlation(a, a), _exact_correlation(b, b))
        return _peak(scores)


def ring_correlation(a: Tensor, b: Tensor) -> Tensor:
    """The circular cross-correlation of views, differentiable: entry t says how well ``b`` rolled by t fits ``a``.

    A network learns to align by cross-entropy of these scores with a known turn.

    Args:
        a: ``(B, C, H, W)`` or ``(C, H, W)``.
        b: of the same shape.

    Returns:
        ``(B, W)``, summed over channels and rows; B = 1 for views without a batch.
    """
    a, b = _views("ring_correlation", a, b)
    return _correlation(widen(a), widen(b)).to(a.dtype)


def expected_roll(scores: Tensor) -> Roll:
    r"""The mean turn under ``softmax(scores)``, with gradients: the differentiable form of :func:`estimate_roll`.

    The mean is taken on the circle, :math:`\arg \sum_t p_t e^{2\pi i t / W}`, and the confidence is the length of
    that sum: 1 for a single peak, 0 for scores that are the same all around.

    Args:
        scores: ``(B, W)``, as from :func:`ring_correlation`, times the inverse of a temperature.
    """
    where = "expected_roll"
    _checks.real(where, scores)
    if scores.ndim != 2 or not scores.shape[-1]:
        raise ValueError(f"{where}: scores must be (B, W), got shape {tuple(scores.shape)}")
    width = scores.shape[-1]
    p = widen(scores).softmax(-1)
    angles = torch.arange(width, dtype=p.dtype, device=p.device) * (2 * math.pi / width)
    x, y = (p * angles.cos()).sum(-1), (p * angles.sin()).sum(-1)
    turn = torch.atan2(y, x)
    return Roll(turn * (width / (2 * math.pi)), turn.rad2deg(), scores.argmax(-1), torch.hypot(x, y))


def soft_roll(input: Tensor, scores: Tensor) -> Tensor:
    """Roll every sample by all turns at once, each weighted by ``softmax(scores)``: alignment with gradients.

    Sharp scores roll, flat ones average around the ring. A peak that is picked aligns better; this lets the loss of
    what comes after teach the scores.

    Args:
        input: ``(B, C, H, W)``.
        scores: ``(B, W)``, as from :func:`ring_correlation`, times the inverse of a temperature.

    Returns:
        An image of the input's shape and dtype.
    """
    where = "soft_roll"
    _checks.real(where, input)
    _checks.real(where, scores)
    if input.ndim != 4 or scores.shape != (input.shape[0], input.shape[-1]):
        shapes = f"{tuple(input.shape)} and {tuple(scores.shape)}"
        raise ValueError(f"{where}: input must be (B, C, H, W) and scores (B, W), got shapes {shapes}")
    weights = widen(scores).softmax(-1)[:, None, None]
    return irfft(rfft(widen(input)) * rfft(weights), input.shape[-1]).to(input.dtype)


def _views(where: str, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    (a, _), (b, _) = _checks.image(where, a), _checks.image(where, b)
    if a.shape != b.shape:
        raise ValueError(f"{where}: a and b must be of one shape, got {tuple(a.shape)} and {tuple(b.shape)}")
    return a, b


def _correlation(a: Tensor, b: Tensor) -> Tensor:
    """``(B, C, H, W)`` twice to ``(B, W)``."""
    return irfft((rfft(a) * rfft(b).conj()).sum((1, 2)), a.shape[-1])


def _exact_correlation(a: Tensor, b: Tensor) -> Tensor:
    """:func:`_correlation` of views whose entries are whole numbers, of :func:`_exact_bits`: without error."""
    return _correlation(a, b).round()


def _exact_bits(x: Tensor) -> int:
    """How many bits the entries of views like ``x`` may have for :func:`_exact_correlation` to be exact."""
    terms = math.prod(x.shape[1:])
    return min(_MOST_BITS, (_BITS - math.ceil(math.log2(terms))) // 2)


def _whole(x: Tensor, bits: int) -> Tensor:
    """``x`` in float64, every sample times a power of two of its own and rounded to whole numbers of ``bits`` bits."""
    x = x.double()
    exponent = torch.frexp(x.abs().amax((1, 2, 3), keepdim=True)).exponent
    return torch.ldexp(x, bits - exponent).round()


def _edges(x: Tensor, scale: int) -> Tensor:
    """Differences between squares of ``scale`` pixels: ``(B, C, H, W)`` to ``(B, 2C, ⌈H / scale⌉, W)``.

    A square less the next but one around the ring, at every column; and along the height, at every ``scale`` rows.
    Sums of whole numbers, and so exact.
    """
    rows = extend(x, -2, 0, -x.shape[-2] % scale, "replicate").unflatten(-2, (-1, scale)).sum(-2)
    squares = extend(rows, -1, 0, scale - 1, "circular").unfold(-1, scale, 1).sum(-1)
    around = squares.roll(-scale, -1) - squares.roll(scale, -1)
    tall = extend(squares, -2, 1, 1, "replicate")
    return torch.cat([around, tall[:, :, 2:] - tall[:, :, :-2]], 1)


def _whitened(scores: Tensor, of_a: Tensor, of_b: Tensor) -> Tensor:
    """``(B, W)`` scores with every harmonic at the same strength, from the two views' autocorrelations.

    A roll does not change an autocorrelation, and so the filter is the same to the last bit; filtering is one more
    correlation in whole numbers, and the filter is even.
    """
    power = (rfft(of_a).real.clamp_min(0) * rfft(of_b).real.clamp_min(0)).sqrt()
    power = power + _FLOOR * power.amax(-1, keepdim=True)
    gain = torch.where(power > 0, 1 / power, 0)
    kernel = irfft(torch.complex(gain, torch.zeros_like(gain)), scores.shape[-1])
    signals = (x[:, None, None] for x in (scores, kernel))
    return _exact_correlation(*(_whole(x, _exact_bits(x)) for x in signals))


def _peak(scores: Tensor) -> Roll:
    """The highest of ``(B, W)`` scores, and how far it stands out."""
    width = scores.shape[-1]
    nearest = scores.argmax(-1)
    columns = torch.arange(width, device=scores.device)
    # From here on the peak stands in column 0, and no roll of either view changes anything.
    scores = scores.gather(-1, (columns + nearest[:, None]) % width)
    shift = (nearest + _between(scores)) % width
    shift = torch.where(shift > width / 2, shift - width, shift)
    return Roll(shift, shift * (360 / width), nearest, _confidence(scores))


def _confidence(scores: Tensor) -> Tensor:
    mean = scores.mean(-1)
    summit = (scores >= scores.roll(1, -1)) & (scores >= scores.roll(-1, -1))
    summit[:, 0] = False
    rival = torch.where(summit, scores, mean[:, None]).amax(-1)
    height = scores[:, 0] - mean
    return torch.where(height > 0, 1 - (rival - mean).clamp_min(0) / height, 0)


def _between(scores: Tensor) -> Tensor:
    """Where in (−1, 1) the trigonometric interpolant of ``(B, W)`` scores, highest in column 0, has its peak."""
    width = scores.shape[-1]
    spectrum = rfft(scores)
    harmonics = torch.arange(spectrum.shape[-1], dtype=scores.dtype, device=scores.device)
    once = (harmonics == 0) | (2 * harmonics == width)
    spectrum = torch.where(once, 1.0, 2.0) * spectrum
    turns = harmonics * (2j * math.pi / width)

    def derivative(t: Tensor, order: int) -> Tensor:
        return (spectrum[:, None] * turns**order * (t[..., None] * turns).exp()).real.sum(-1)

    grid = torch.linspace(-1, 1, 33, dtype=scores.dtype, device=scores.device).expand(len(scores), -1)
    t = grid.gather(-1, derivative(grid, 0).argmax(-1, keepdim=True))
    for _ in range(_NEWTON_STEPS):
        curvature = derivative(t, 2)
        step = torch.where(curvature < 0, -derivative(t, 1) / curvature, 0)
        t = t + step.clamp(-1 / 16, 1 / 16)
    flat = scores.amin(-1) == scores[:, 0]
    return torch.where(flat, 0, t.squeeze(-1))
