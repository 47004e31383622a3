"""Padding against NumPy's, along both axes."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ringconv.algorithms import RULES
from ringconv.functional import ring_pad

from .. import helpers
from ..helpers import images, same, whole

rules = pytest.mark.parametrize("height", RULES)
sides = st.integers(0, 12)


@rules
@given(size=st.tuples(st.integers(1, 5), st.integers(1, 5)), pad=st.tuples(sides, sides, sides, sides))
def test_numpy(height, size, pad):
    helpers.check_pad(whole(2, 1, *size), pad, height)
    helpers.check_pad(whole(3, *size), pad, height)


def test_short_forms():
    x = whole(1, 2, 3, 4)
    same(ring_pad(x, 2), ring_pad(x, (2, 2, 2, 2)))
    same(ring_pad(x, [1, 2]), ring_pad(x, (1, 2, 0, 0)))


@pytest.mark.parametrize("shape", [(1, 2, 3, 4), (2, 3, 4)])
def test_never_the_input_itself(shape):
    x = whole(*shape)
    y = ring_pad(x, 0)
    same(y, x)
    y += 1
    assert not torch.equal(y, x)


@rules
def test_every_setting(height):
    f = lambda x: ring_pad(x, (3, 8, 4, 1), height=height)  # noqa: E731
    helpers.check_derivatives(f, images(1, 2, 3, 4))
    helpers.check_layouts(f, images(2, 3, 4, 5))
    helpers.check_vmap(f, images(3, 2, 2, 4, 5))
    assert f(images(1, 2, 3, 4).bfloat16()).dtype == torch.bfloat16
    assert f(torch.zeros(1, 2, 3, 4, device="meta")).shape == (1, 2, 8, 15)


@helpers.scripts
def test_jvp():
    helpers.check_jvp(lambda x: ring_pad(x, (3, 8, 4, 1)), images(1, 2, 3, 4))


def test_rolls():
    x = images(1, 2, 3, 6)
    for shift in range(6):
        same(ring_pad(x.roll(shift, -1), (3, 3, 1, 1)), ring_pad(ring_pad(x.roll(shift, -1), (0, 0, 1, 1)), (3, 3)))
        same(ring_pad(x.roll(shift, -1), (2, 4))[..., 2:-4], x.roll(shift, -1))


def test_compile_and_export():
    f = lambda x: ring_pad(x, (3, 8, 4, 1), height="reflect")  # noqa: E731
    helpers.check_compiled(f, images(2, 3, 4, 5), images(2, 3, 4, 6), images(3, 3, 5, 7))
    helpers.check_exported(f, images(2, 3, 4, 5))
