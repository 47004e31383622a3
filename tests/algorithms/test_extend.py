"""Every boundary rule against NumPy's padding, and its adjoint against the defining identity."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ringconv.algorithms import RULES, extend, fold
from ringconv.algorithms.extend import fill, fold_

from .. import helpers, oracle
from ..helpers import same, whole

rules = pytest.mark.parametrize("rule", RULES)
lengths = st.integers(0, 20)


@rules
@given(n=st.integers(1, 7), before=lengths, after=lengths)
def test_every_sample_is_the_one_that_the_index_says(rule, n, before, after):
    x = torch.arange(1.0, n + 1)
    sources = [oracle.source(i, n, rule) for i in range(-before, n + after)]
    same(extend(x, -1, before, after, rule), torch.tensor([0.0 if i is None else i + 1.0 for i in sources]))


@rules
@given(n=st.integers(1, 7), sides=st.tuples(lengths, lengths, lengths, lengths))
def test_numpy(rule, n, sides):
    helpers.check_pad(whole(1, 2, n, 5), sides, rule)


@rules
@given(n=st.integers(1, 7), before=lengths, after=lengths, dim=st.sampled_from([-1, -2, -3]))
def test_fold_is_the_adjoint(rule, n, before, after, dim):
    x = whole(2, 3, n).movedim(-1, dim)
    y = whole(2, 3, n + before + after).movedim(-1, dim)
    folded = fold(y, dim, before, after, rule)
    assert folded.shape == x.shape
    assert (extend(x, dim, before, after, rule) * y).sum() == (x * folded).sum()


@rules
@given(n=st.integers(1, 7), before=lengths, after=lengths, dim=st.sampled_from([-1, -2, -3]))
def test_in_place(rule, n, before, after, dim):
    x = whole(2, 3, n).movedim(-1, dim)
    y = whole(2, 3, n + before + after).movedim(-1, dim)
    folded = fold(y, dim, before, after, rule)
    same(fold_(y, dim, before, after, rule), folded)
    y.narrow(dim, before, n).copy_(x)
    fill(y, dim, before, after, rule)
    same(y, extend(x, dim, before, after, rule))


@rules
def test_fold_leaves_its_input_alone(rule):
    y = whole(2, 9)
    before = y.clone()
    fold(y, -1, 2, 3, rule)
    same(y, before)


def test_nothing_to_add_copies_nothing():
    x = whole(2, 3)
    assert extend(x, -1, 0, 0, "symmetric") is x
    assert fold(x, -1, 0, 0, "symmetric") is x


@rules
def test_derivatives_and_layout(rule):
    x = torch.randn(1, 2, 3, 4, dtype=torch.float64)
    helpers.check_derivatives(lambda x: extend(x, -2, 5, 4, rule), x)
    helpers.check_derivatives(lambda y: fold(y, -2, 1, 1, rule), x)
    last = x.contiguous(memory_format=torch.channels_last)
    assert helpers.channels_last(extend(last, -2, 2, 3, rule))
    assert helpers.channels_last(extend(last, -1, 2, 3, rule))
