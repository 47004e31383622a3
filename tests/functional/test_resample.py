"""Interpolation against exact fractions, and against torch's own wherever it knows no border."""

from math import gcd

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from ringconv.algorithms import RULES
from ringconv.functional import ring_interpolate, ring_pad

from .. import helpers, oracle
from ..helpers import close, images, same

MODES = ("nearest", "bilinear", "bicubic")
modes = pytest.mark.parametrize("mode", MODES)
rules = pytest.mark.parametrize("height", RULES)
sides = st.integers(1, 7)
outs = st.integers(1, 17)


@modes
@rules
@given(given=st.tuples(sides, sides), size=st.tuples(outs, outs))
def test_oracle(mode, height, given, size):
    x = images(2, *given)
    close(ring_interpolate(x, size, mode=mode, height=height), oracle.interpolate(x.numpy(), size, mode, height))


@modes
@pytest.mark.parametrize("factor", [2, 3, 4])
def test_torch_on_a_padded_ring(mode, factor):
    x = images(2, 3, 5, 6)
    kwargs = {} if mode == "nearest" else {"align_corners": False}
    padded = F.interpolate(ring_pad(x, (3, 3)), scale_factor=factor, mode=mode, **kwargs)
    y = ring_interpolate(x, scale_factor=factor, mode=mode, height="replicate")
    close(y, padded[..., 3 * factor : -3 * factor])


@modes
@pytest.mark.parametrize("size", [(3, 4), (7, 9), (11, 30)])
def test_torch_away_from_the_seam(mode, size):
    x = images(2, 3, 8, 20)
    kwargs = {} if mode == "nearest" else {"align_corners": False}
    y = ring_interpolate(x, size, mode=mode, height="replicate")
    margin = -(-3 * size[1] // 20)
    close(y[..., margin:-margin], F.interpolate(x, size, mode=mode, **kwargs)[..., margin:-margin])


@modes
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize(("given", "out"), [(6, 12), (6, 18), (6, 9), (12, 8), (8, 2), (5, 5), (4, 10)])
def test_rolls_to_the_last_bit(mode, dtype, given, out):
    shared = gcd(given, out)
    f = lambda x: ring_interpolate(x, (5, out), mode=mode)  # noqa: E731
    helpers.check_roll(f, images(2, 3, given, dtype=dtype), (given // shared, out // shared))


@modes
def test_constants_stay(mode):
    x = torch.full((1, 1, 3, 4), 7.0, dtype=torch.float64)
    close(ring_interpolate(x, (5, 7), mode=mode), torch.full((1, 1, 5, 7), 7.0, dtype=torch.float64), 4e-15)


@pytest.mark.parametrize(
    ("scale", "size"), [(2, (8, 12)), (1.5, (6, 9)), ((0.5, 2), (2, 12)), ([1, 0.34], (4, 2)), (1, (4, 6))]
)
def test_scale_factor_is_a_size(scale, size):
    x = images(1, 2, 4, 6)
    same(ring_interpolate(x, scale_factor=scale), ring_interpolate(x, size))


def test_one_size_is_both():
    x = images(1, 2, 4, 6)
    same(ring_interpolate(x, 9), ring_interpolate(x, (9, 9)))


@modes
@pytest.mark.parametrize("shape", [(1, 2, 3, 4), (2, 3, 4)])
def test_never_the_input_itself(mode, shape):
    x = images(*shape)
    y = ring_interpolate(x, (3, 4), mode=mode)
    same(y, x)
    y += 1
    assert not torch.equal(y, x)


@modes
@rules
def test_every_setting(mode, height):
    for size in [(9, 7), (4, 15)]:
        f = lambda x, size=size: ring_interpolate(x, size, mode=mode, height=height)  # noqa: E731
        helpers.check_derivatives(f, images(1, 2, 4, 5))
        helpers.check_layouts(f, images(2, 3, 4, 5))
        helpers.check_vmap(f, images(3, 2, 2, 4, 5))
        half = images(1, 2, 4, 5).bfloat16()
        same(f(half), f(half.float()).bfloat16())
        assert f(torch.zeros(1, 2, 4, 5, device="meta")).shape == (1, 2, *size)


@helpers.scripts
@modes
def test_jvp(mode):
    helpers.check_jvp(lambda x: ring_interpolate(x, (7, 9), mode=mode), images(1, 2, 4, 5))


@modes
def test_compile_and_export(mode):
    f = lambda x: ring_interpolate(x, scale_factor=(2, 1.5), mode=mode)  # noqa: E731
    helpers.check_compiled(f, images(2, 3, 4, 6), images(2, 3, 4, 8), images(3, 3, 5, 10), backend="aot_eager")
    helpers.check_exported(f, images(2, 3, 4, 6))
