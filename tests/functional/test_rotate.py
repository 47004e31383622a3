"""The group action: exact on the grid, Fourier between, a group wherever it can be one."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ringconv.functional import ring_roll, rotate

from .. import helpers, oracle
from ..helpers import close, images, same, whole

WIDTHS = (1, 2, 3, 7, 8, 12)
widths = pytest.mark.parametrize("width", WIDTHS)
ANGLES = (0.1, 10.0, -77.7, 1234.5)
angles = st.floats(-1000, 1000)


def band_limited(*shape):
    """Images without the harmonic that an even ring sees at one phase alone."""
    x = images(*shape)
    if shape[-1] % 2:
        return x
    alternating = torch.arange(shape[-1]).remainder(2).mul(-2.0).add(1).double()
    return x - (x * alternating).mean(-1, keepdim=True) * alternating


@widths
@pytest.mark.parametrize("degrees", ANGLES)
def test_oracle(width, degrees):
    x = images(2, 3, width)
    close(rotate(x, degrees), oracle.rotate(x.numpy(), degrees))


@given(st.integers(1, 12), angles)
def test_oracle_at_any_angle(width, degrees):
    x = images(2, width)
    close(rotate(x, degrees), oracle.rotate(x.numpy(), degrees), 1e-8)  # near the grid it is the roll


@pytest.mark.parametrize("width", [*WIDTHS, 49, 360, 1023])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_roll_on_the_grid(width, dtype):
    """However the angle was rounded, as a number, in float64 or in float32."""
    x = images(1, 2, width, dtype=dtype)
    for shift in {0, 1, width // 2, width - 1, -1, width + 1, -5 * width + 2}:
        degrees = shift * 360 / width
        each = torch.tensor([degrees], dtype=torch.float64)
        for angle in (degrees, each[0].float(), each.float(), each):
            same(rotate(x, angle), x.roll(shift, -1))


def test_a_roll_moves_what_is_not_a_number():
    x = torch.tensor([[1.0, math.nan, 3.0, math.inf]])
    for degrees in (90, torch.tensor(90.0), torch.tensor([90.0])):
        torch.testing.assert_close(rotate(x, degrees), x.roll(1, -1), equal_nan=True, rtol=0, atol=0)


@given(st.integers(1, 12), angles, angles)
def test_a_group(width, first, second):
    x = band_limited(2, width)
    close(rotate(rotate(x, first), -first), x, 1e-8)
    close(rotate(rotate(x, first), second), rotate(x, first + second), 1e-7)


@pytest.mark.parametrize("width", [7, 12])
def test_a_group_to_rounding(width):
    x = band_limited(2, width)
    close(rotate(rotate(x, 10.3), -10.3), x, 1e-14)
    close(rotate(rotate(x, 10.3), 33.1), rotate(x, 43.4), 1e-14)


def test_the_highest_harmonic_of_an_even_ring():
    """(−1)^j becomes cos(αW/2) (−1)^j: real, sampled from the interpolant, gone a quarter of its period on."""
    x = torch.tensor([1.0, -1.0] * 4, dtype=torch.float64)
    close(rotate(x, 9.0), x * math.cos(math.radians(9.0) * 4), 1e-15)
    assert rotate(x, 22.5).abs().max() < 1e-15


@widths
def test_each_sample_by_its_own_angle(width):
    """On the grid and between, in one batch."""
    x = images(4, 3, 2, width)
    degrees = torch.tensor([0.0, 360 / width, 10.0, -77.7], dtype=torch.float64)
    expected = torch.stack([rotate(image, float(angle)) for image, angle in zip(x, degrees, strict=True)])
    close(rotate(x, degrees), expected, 1e-14)
    close(rotate(x, degrees[2]), rotate(x, 10.0), 1e-14)
    same(rotate(x, torch.tensor(360)), x)


@pytest.mark.parametrize("degrees", [10.0, 90.0, 0.0])
def test_derivatives(degrees):
    """In the image and in the angle, on the grid as between."""
    for width in (4, 5):
        angle = torch.tensor([degrees, degrees + 1], dtype=torch.float64)
        helpers.check_derivatives(lambda x: rotate(x, degrees), images(2, 3, width))
        helpers.check_derivatives(rotate, images(2, 3, width), angle)
        helpers.check_derivatives(lambda x, a: rotate(x, a[0]), images(3, width), angle)


@helpers.scripts
def test_jvp():
    x = images(2, 3, 8)
    helpers.check_jvp(lambda x: rotate(x, 10.0), x)
    helpers.check_jvp(lambda degrees: rotate(x, degrees), torch.tensor([45.0, 10.0], dtype=torch.float64))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_types(dtype):
    x = images(2, 3, 9).to(dtype)
    for degrees in (10.0, torch.tensor([10.0, 20.0])):
        same(rotate(x, degrees), rotate(x.float(), degrees).to(dtype))
    same(rotate(x, torch.tensor([40.0, 80.0], dtype=dtype)), ring_roll(x, torch.tensor([1, 2])))


@pytest.mark.parametrize("degrees", [10.0, 60.0, torch.tensor(10.0)])
def test_every_setting(degrees):
    f = lambda x: rotate(x, degrees)  # noqa: E731
    helpers.check_layouts(f, images(2, 3, 4, 6), 1e-14)
    helpers.check_vmap(f, images(3, 2, 4, 6), 1e-14)
    assert f(torch.zeros(2, 6, device="meta")).shape == (2, 6)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compile_and_export(backend):
    by_number = lambda x: rotate(x, 10.0)  # noqa: E731
    by_tensor = lambda x: rotate(x, x[:, 0, 0])  # noqa: E731
    by_shifts = lambda x: ring_roll(x, x[:, 0, 0].long())  # noqa: E731
    for f in (by_number, by_tensor, by_shifts):
        helpers.check_compiled(f, images(2, 3, 6), images(2, 3, 8), images(3, 4, 9), backend=backend, tolerance=1e-14)
        helpers.check_exported(f, images(2, 3, 5), 1e-14)


@widths
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool, torch.complex64])
def test_roll(width, dtype):
    """torch's own, for one number, one tensor or one for each sample, of any dtype."""
    x = whole(3, 2, width).to(dtype)
    for shift in (0, 1, -2, 3 * width + 1):
        expected = x.roll(shift, -1)
        for one in (shift, torch.tensor(shift), torch.tensor(shift).numpy()[()], torch.tensor(shift, dtype=torch.int8)):
            same(ring_roll(x, one), expected)
    shifts = torch.tensor([1, -2, 3 * width])
    same(ring_roll(x, shifts), torch.stack([a.roll(int(s), -1) for a, s in zip(x, shifts, strict=True)]))


def test_roll_in_every_setting():
    x, shifts = images(2, 3, 5), torch.tensor([1, 3])
    helpers.check_derivatives(lambda x: ring_roll(x, shifts), x)
    each = torch.func.vmap(ring_roll)(images(4, 2, 3, 5).mul(0).add(x), shifts.repeat(4, 1))
    same(each[2], ring_roll(x, shifts))
    assert ring_roll(x[:0], shifts[:0]).shape == (0, 3, 5)
    assert ring_roll(x[0, 0], 2).shape == (5,)
