"""Registration: against the formula, at every roll to the last bit, between columns, and with gradients."""

import re

import pytest
import torch

from ringconv.functional import estimate_roll, expected_roll, ring_correlation, ring_roll, rotate, soft_roll
from ringconv.functional.register import CUES, _edges, _exact_bits, _exact_correlation, _whole

from .. import helpers, oracle
from ..helpers import close, images, same

settings = pytest.mark.parametrize(("cue", "phase"), [(cue, phase) for cue in CUES for phase in (False, True)])


def around(columns, width):
    """Columns on a ring, as the distance from 0."""
    return (columns + width / 2).remainder(width).sub(width / 2).abs()


def band_limited(*shape, harmonics):
    spectrum = torch.fft.rfft(images(*shape))
    spectrum[..., harmonics + 1 :] = 0
    return torch.fft.irfft(spectrum, shape[-1])


@pytest.mark.parametrize("width", [1, 2, 7, 12])
def test_correlation_is_the_formulas(width):
    a, b = images(2, 3, 4, width), images(2, 3, 4, width)
    close(ring_correlation(a, b), oracle.correlation_around(a.numpy(), b.numpy()))
    same(ring_correlation(a[0], b[0]), ring_correlation(a[:1], b[:1]))


@pytest.mark.parametrize("shape", [(1, 1, 1, 2), (2, 3, 20, 96), (1, 64, 28, 128), (1, 2, 3, 7)])
def test_the_exact_correlation_is_exact(shape):
    """At the largest values that there are bits for, where the FFT's error is largest."""
    top = 2 ** _exact_bits(torch.empty(shape))
    a, b = (torch.randint(-top, top + 1, shape) for _ in range(2))
    a[0, 0, 0], b[0, 0, 0] = top, top
    expected = torch.stack([(a * b.roll(t, -1)).sum((1, 2, 3)) for t in range(shape[-1])], -1)
    same(_exact_correlation(a.double(), b.double()), expected.double())
    top = torch.full(shape, top).double()
    same(_exact_correlation(top, top)[:, 0], (top * top).sum((1, 2, 3)))


def test_whole_numbers_of_so_many_bits():
    """The largest takes them all, whatever its size; a power of two and no more lies between."""
    x = torch.tensor([[3.0, 0.4], [-7.9, 2.0], [1e-30, 0.0], [0.0, 0.0]]).view(4, 1, 1, 2)
    got = _whole(x, 4).view(4, 2)
    same(got[:2], torch.tensor([[12.0, 2.0], [-16.0, 4.0]], dtype=torch.float64))
    assert 8 <= got[2, 0] <= 16
    same(got[3], torch.zeros(2, dtype=torch.float64))


@pytest.mark.parametrize("scale", [1, 2, 3])
def test_edges_are_differences_of_squares(scale):
    x = torch.arange(2 * 7 * 12).view(1, 2, 7, 12).sin().mul(1000).round().double()
    rows = [min(i, 6) for i in range(-(-7 // scale) * scale)]
    squares = torch.zeros(1, 2, len(rows) // scale, 12, dtype=torch.float64)
    for i in range(squares.shape[2]):
        for j in range(12):
            for v in range(scale):
                squares[:, :, i, j] += x[:, :, rows[i * scale : (i + 1) * scale], (j + v) % 12].sum(-1)
    last = squares.shape[2] - 1
    for i in range(last + 1):
        for j in range(12):
            around = squares[:, :, i, (j + scale) % 12] - squares[:, :, i, (j - scale) % 12]
            along = squares[:, :, min(i + 1, last), j] - squares[:, :, max(i - 1, 0), j]
            same(_edges(x, scale)[:, :, i, j], torch.cat([around, along], 1))


@settings
@pytest.mark.parametrize("width", [2, 7, 16])
def test_every_roll_of_either_view_to_the_last_bit(cue, phase, width):
    """Also where noise has drowned the likeness: the peak of chance moves along."""
    a, b = images(3, 2, 5, width, dtype=torch.float32), images(3, 2, 5, width, dtype=torch.float32)
    still = estimate_roll(a, b, cue=cue, phase=phase)
    for t in range(width):
        turned = estimate_roll(a.roll(t, -1), b.roll(3 * t, -1), cue=cue, phase=phase)
        same(turned.nearest, (still.nearest + t - 3 * t) % width)
        same(turned.confidence, still.confidence)
        assert around(turned.columns - still.columns - t + 3 * t, width).max() < 1e-12


@settings
@pytest.mark.parametrize(("width", "scale"), [(96, None), (96, 3), (255, 2)])
def test_a_known_turn_between_columns(cue, phase, width, scale):
    view = band_limited(8, 3, 12, width, harmonics=width // 5)
    columns = torch.rand(8, dtype=torch.float64) * width
    roll = estimate_roll(view, rotate(view, -columns * 360 / width), cue=cue, phase=phase, scale=scale)
    assert around(roll.columns - columns, width).max() < (0.01 if phase else 1e-3)
    assert (around(roll.nearest - columns, width) <= 0.5 + 1e-2).all()
    close(roll.degrees, roll.columns * 360 / width)
    assert roll.confidence.min() > 0.4
    same(estimate_roll(view[0], view[0], cue=cue, phase=phase).nearest, torch.tensor([0]))


def test_the_turn_back_lies_over_the_first_view():
    a = images(4, 1, 6, 32)
    b = ring_roll(a, torch.tensor([0, 5, -9, 16]))
    roll = estimate_roll(a, b)
    same(ring_roll(b, roll.nearest), a)
    close(rotate(b, roll.degrees), a, 1e-5)
    assert (roll.columns > -16).all()
    assert (roll.columns <= 16).all()


def test_phase_correlation_sharpens_the_peak():
    """A smooth view: its plain correlation is a broad hill, the whitened one falls off at once."""
    view = band_limited(1, 1, 4, 64, harmonics=20) + 30 * band_limited(1, 1, 4, 64, harmonics=2)
    noisy = view.roll(-9, -1) + 0.1 * images(1, 1, 4, 64)
    plain, sharp = (estimate_roll(view, noisy, cue="values", phase=phase) for phase in (False, True))
    assert sharp.nearest == 9
    assert around(sharp.columns - 9, 64) < 0.1
    assert around(plain.columns - 9, 64) < 1


def test_edges_see_past_the_light_and_values_do_not():
    view = images(1, 1, 8, 64)
    sun = 5 * torch.linspace(0, 6.28, 64, dtype=torch.float64).cos()
    assert estimate_roll(view + sun, view.roll(-20, -1) + sun).nearest == 20
    assert estimate_roll(view + sun, view.roll(-20, -1) + sun, cue="values").nearest != 20


def test_confidence_is_low_where_another_heading_fits_as_well():
    once, noise = images(1, 1, 4, 32), images(1, 1, 4, 64)
    twice = torch.cat([once, once], -1)
    sure, torn = (estimate_roll(view, view, cue="values").confidence for view in (noise, twice))
    assert sure > 0.6
    assert torn == 0
    rather = estimate_roll(twice + 0.3 * noise, twice + 0.3 * noise, cue="values").confidence
    assert 0 < rather < sure


@settings
def test_views_that_tell_nothing(cue, phase):
    """All headings alike: heading 0, and no confidence in it."""
    for view in (torch.zeros(2, 1, 3, 8), torch.ones(2, 1, 3, 8), images(2, 1, 3, 1)):
        roll = estimate_roll(view, view, cue=cue, phase=phase)
        same(roll.columns, torch.zeros(2, dtype=torch.float64))
        same(roll.confidence, torch.zeros(2, dtype=torch.float64))
    empty = estimate_roll(view[:0], view[:0], cue=cue, phase=phase)
    assert [part.shape for part in empty] == [(0,)] * 4


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_types_and_layouts(dtype):
    a = images(2, 3, 4, 16).to(dtype)
    b = a.roll(-3, -1).contiguous(memory_format=torch.channels_last)
    same(estimate_roll(a, b).nearest, torch.tensor([3, 3]))
    assert ring_correlation(a, b).dtype == dtype
    assert soft_roll(a, ring_correlation(a, b)).dtype == dtype


def test_the_expected_roll_is_the_mean_on_the_circle():
    scores = torch.full((3, 12), -30.0, dtype=torch.float64)
    scores[0, 7] = scores[1, 11] = scores[1, 2] = 30
    scores[2] = 0
    roll = expected_roll(scores)
    close(roll.columns[:2], torch.tensor([-5, 0.5]), 1e-12)
    close(roll.degrees, roll.columns * 30)
    close(roll.confidence, torch.tensor([1, torch.tensor(torch.pi / 4).cos(), 0]), 1e-6)
    same(roll.nearest, torch.tensor([7, 2, 0]))


def test_the_soft_roll_is_the_weighted_sum_of_rolls():
    x, scores = images(2, 3, 4, 5), images(2, 5)
    weights = scores.softmax(-1).view(2, 5, 1, 1, 1)
    close(soft_roll(x, scores), sum(weights[:, t] * x.roll(t, -1) for t in range(5)))
    sharp = torch.zeros(2, 5).index_put_((torch.arange(2), torch.tensor([1, 4])), torch.tensor(1e3)).double()
    close(soft_roll(x, sharp), ring_roll(x, torch.tensor([1, 4])))


def test_derivatives():
    a, b = images(2, 2, 3, 5), images(2, 2, 3, 5)
    helpers.check_derivatives(ring_correlation, a, b)
    helpers.check_derivatives(soft_roll, a, images(2, 5))
    helpers.check_derivatives(lambda s: expected_roll(s).degrees, images(2, 5))
    assert not estimate_roll(a.requires_grad_(), b).columns.requires_grad


def test_a_batch_is_its_views_one_by_one():
    a, b = images(3, 2, 4, 16) * torch.tensor([1e-3, 1, 1e3]).view(3, 1, 1, 1), images(3, 2, 4, 16)
    for phase in (False, True):
        together = estimate_roll(a, b, phase=phase)
        alone = [estimate_roll(a[i], b[i], phase=phase) for i in range(3)]
        for part, parts in zip(together, zip(*alone, strict=True), strict=True):
            close(part.double(), torch.cat(parts).double(), 1e-10)


X = torch.zeros(2, 1, 3, 4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: estimate_roll(X, X[0]), "a and b must be of one shape, got (2, 1, 3, 4) and (1, 1, 3, 4)"),
        (lambda: estimate_roll(X, X, cue="colour"), "cue='colour' is not one of 'edges', 'values'"),
        (lambda: estimate_roll(X, X, scale=0), "scale=0 must be an integer of at least 1"),
        (lambda: estimate_roll(X.int(), X.int()), "input must be of a real floating-point dtype, got torch.int32"),
        (lambda: ring_correlation(X, X[..., :2]), "a and b must be of one shape"),
        (lambda: expected_roll(X), "scores must be (B, W), got shape (2, 1, 3, 4)"),
        (lambda: soft_roll(X, X[:, 0, 0, :2]), "input must be (B, C, H, W) and scores (B, W), got shapes"),
    ],
)
def test_bad_input_by_name(call, message):
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        call()
