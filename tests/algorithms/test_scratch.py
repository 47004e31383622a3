"""Memory that is borrowed is nobody else's until it is given back."""

import os

import pytest
import torch

from ringconv.algorithms import scratch
from ringconv.algorithms.scratch import borrowed, without_gaps

from ..helpers import channels_last, images, same


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    scratch._kept.memory = None


LIKE = torch.empty(0, dtype=torch.float64)


def test_is_used_again_and_grows():
    with borrowed((2, 3, 4, 5), LIKE) as first:
        assert (first.shape, first.dtype) == ((2, 3, 4, 5), torch.float64)
        address = first.data_ptr()
    with borrowed((1, 3, 4, 5), LIKE.bfloat16()) as second:
        assert second.data_ptr() == address
    with borrowed((4, 3, 4, 5), LIKE) as third:
        third.zero_()
    assert len(scratch._kept.memory) == 4 * 3 * 4 * 5 * 8


def test_channels_last():
    with borrowed((2, 3, 4, 5), LIKE, last=True) as x:
        assert x.shape == (2, 3, 4, 5)
        assert channels_last(x)


def test_borrowed_twice_is_two():
    with borrowed((8,), LIKE) as outer:
        outer.fill_(1)
        with borrowed((8,), LIKE) as inner:
            inner.fill_(2)
        assert outer.sum() == 8


def test_is_given_back_after_an_error():
    with pytest.raises(KeyError), borrowed((8,), LIKE):
        raise KeyError
    assert len(scratch._kept.memory) == 64


def test_too_much_is_not_kept(monkeypatch):
    monkeypatch.setattr(scratch, "LIMIT", 63)
    for last in (False, True):
        with borrowed((2, 1, 2, 2), LIKE, last=last) as x:
            assert x.shape == (2, 1, 2, 2)
    assert scratch._kept.memory is None


def test_other_devices_keep_by_themselves():
    with borrowed((8,), LIKE.to("meta")) as x:
        assert x.is_meta
    assert scratch._kept.memory is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_writes_into_its_own():
    with borrowed((8,), LIKE) as x:
        x.fill_(1)
        child = os.fork()
        if child == 0:
            x.fill_(2)
            with borrowed((8,), LIKE) as y:
                y.fill_(3)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert x.sum() == 8


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
@pytest.mark.parametrize("portion", [1, 1000, 10**6])
@pytest.mark.parametrize("large", [0, 10**9])
def test_without_gaps(layout, portion, large, monkeypatch):
    monkeypatch.setattr(scratch, "PORTION", portion)
    monkeypatch.setattr(scratch, "LARGE", large)
    wide = images(3, 4, 20, 30).contiguous(memory_format=layout)
    x = wide[..., 1:-1, 1:-1]
    expected = x.clone()
    dense = without_gaps(x, wide)
    same(dense, expected)
    assert dense.is_contiguous(memory_format=layout)
    assert not dense._is_view()
    assert (dense.data_ptr() == wide.data_ptr()) == (large == 0)


def test_what_would_hold_much_more_than_it_shows_is_copied(monkeypatch):
    monkeypatch.setattr(scratch, "LARGE", 0)
    wide = images(3, 4, 5, 6)
    assert without_gaps(wide[..., 1:-1, 1:-1], wide).data_ptr() != wide.data_ptr()
