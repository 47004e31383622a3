"""Pooling against a loop over every window."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given

from ringconv.functional import ring_avg_pool2d, ring_max_pool2d

from .. import helpers, oracle
from ..helpers import CASES, HEIGHTS, Case, close, images, same, with_heights

heights = pytest.mark.parametrize("height", HEIGHTS)
POOLS = {"max": ring_max_pool2d, "avg": ring_avg_pool2d}
REDUCE = {"max": lambda values: np.max(values, 0), "avg": lambda values: np.mean(values, 0)}
pools = pytest.mark.parametrize("name", POOLS)


def pool(name, case, x):
    dilation = {"dilation": case.dilation} if name == "max" else {}
    return POOLS[name](x, case.kernel, case.stride, case.padding, **dilation, height=case.height)


def check_oracle(name, case):
    if name == "avg":
        case = Case(**{**case.__dict__, "dilation": (1, 1)})
    if not helpers.fits(case):
        return
    x = case.x() - 1  # where zeros are larger than most, they must take part
    expected = oracle.pool(REDUCE[name], x.numpy(), case.kernel, case.stride, case.padding, case.dilation, case.height)
    close(pool(name, case, x), expected, 1e-15 if name == "max" else 1e-12)


@pools
@pytest.mark.parametrize("case", with_heights(CASES))
def test_oracle(name, case):
    check_oracle(name, case)


@given(helpers.cases())
def test_any_configuration(case):
    for name in POOLS:
        check_oracle(name, case)


@pools
def test_stride_is_the_window_by_default(name):
    x = images(1, 2, 6, 12)
    same(POOLS[name](x, (2, 3)), POOLS[name](x, (2, 3), (2, 3)))
    torchs = {"max": F.max_pool2d, "avg": F.avg_pool2d}[name]
    close(POOLS[name](x, (2, 3), padding=0)[..., 1:], torchs(x.roll(1, -1), (2, 3))[..., 1:], 1e-15)
    close(POOLS[name](x, 2), torchs(x, 2), 1e-15)


@pools
@heights
@pytest.mark.parametrize("stride", [1, 2, 4])
def test_rolls_to_the_last_bit(name, height, stride):
    f = lambda x: POOLS[name](x, (2, 5), stride, height=height)  # noqa: E731
    helpers.check_roll(f, images(2, 2, 5, 12), (stride, 1))


@pools
@heights
def test_every_setting(name, height):
    f = lambda x: POOLS[name](x, (3, 4), (2, 1), height=height)  # noqa: E731
    helpers.check_derivatives(f, images(1, 2, 4, 5))
    helpers.check_layouts(f, images(2, 3, 4, 5))
    helpers.check_vmap(f, images(3, 2, 2, 4, 5))
    assert f(images(1, 2, 3, 4).bfloat16()).dtype == torch.bfloat16
    assert f(torch.zeros(1, 2, 3, 4, device="meta")).shape == f(images(1, 2, 3, 4)).shape


@helpers.scripts
@pools
def test_jvp(name):
    helpers.check_jvp(lambda x: POOLS[name](x, 3, 1), images(1, 2, 4, 5))


@pools
def test_compile_and_export(name):
    f = lambda x: POOLS[name](x, 3, 1)  # noqa: E731
    helpers.check_compiled(f, images(2, 3, 4, 5), images(2, 3, 4, 6), images(3, 3, 5, 7))
    helpers.check_exported(f, images(2, 3, 4, 5))
