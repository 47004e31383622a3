"""Tables are made once, and whoever asks first, from whatever thread or mode, spoils them for nobody."""

import threading

import numpy as np
import pytest
import torch
from torch._subclasses import FakeTensorMode

from ringconv import functional as RF
from ringconv.spectral import dct2, table, tables

from .. import helpers
from ..helpers import close, images

CPU = {"dtype": torch.float64, "device": torch.device("cpu")}


@pytest.fixture(autouse=True)
def nothing_cached(monkeypatch):
    monkeypatch.setattr(tables, "_tensors", type(tables._tensors)())


@pytest.fixture
def counted():
    """A table, and the list of sizes that it was made for."""
    made = []

    @table
    def squares(n):
        made.append(n)
        return np.arange(n) ** 2.0

    return squares, made


def test_made_once_for_each_size_dtype_and_device(counted):
    squares, made = counted
    first = squares(4, **CPU)
    close(first, [0.0, 1, 4, 9])
    assert squares(4, **CPU) is first
    assert squares(np.int64(4), **CPU) is first
    assert squares(4, dtype=torch.float32, device=torch.device("cpu")).dtype == torch.float32
    assert squares(4, dtype=torch.float64, device=torch.device("meta")).is_meta
    assert squares(5, **CPU).shape == (5,)
    assert made == [4, 4, 4, 5]


def test_oldest_unused_goes_first(counted, monkeypatch):
    squares, made = counted
    monkeypatch.setattr(tables, "_LIMIT", 2)
    for n in (1, 2, 1, 3, 1, 2):
        squares(n, **CPU)
    assert made == [1, 2, 3, 2]


def test_threads_that_race_share_one(counted):
    squares, _ = counted
    start, got = threading.Barrier(16), []

    def race():
        start.wait()
        for n in range(1, 40):
            got.append((n, squares(n, **CPU)))

    threads = [threading.Thread(target=race) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 16 * 39
    for n, tensor in got:
        assert tensor is squares(n, **CPU)


def test_a_slow_maker_does_not_replace_what_another_made():
    inside = []

    @table
    def slow(n):
        if not inside:
            inside.append(None)
            inside.append(slow(n, **CPU))
        return np.zeros(n)

    assert slow(3, **CPU) is inside[1]


FORWARDS = {
    "spectral": lambda x: RF.ring_conv2d(x, torch.ones(3, 3, 5, 3, dtype=x.dtype), algorithm="spectral"),
    "spectral, zeros": lambda x: RF.ring_conv2d(
        x, torch.ones(3, 3, 5, 3, dtype=x.dtype), algorithm="spectral", height="zeros"
    ),
    "interpolate": lambda x: RF.ring_interpolate(x, (7, 9), mode="bicubic"),
    "dct2, fft": lambda x: dct2(x, -2),
    "dct2, matrix": lambda x: dct2(x, -2, form="matrix"),
}
forwards = pytest.mark.parametrize("f", FORWARDS.values(), ids=FORWARDS)


@forwards
def test_second_forward_makes_nothing(f, monkeypatch):
    x = images(1, 3, 4, 6)
    f(x)
    cached = dict(tables._tensors)
    assert cached
    monkeypatch.setattr(torch, "from_numpy", None)
    f(x)
    assert dict(tables._tensors) == cached


def in_inference_mode(f, x):
    with torch.inference_mode():
        return f(x)


def in_fake_mode(f, x):
    with FakeTensorMode() as mode:
        return f(mode.from_tensor(x))


FIRST_USES = {
    "inference mode": in_inference_mode,
    "fake tensors": in_fake_mode,
    "grad": lambda f, x: torch.func.grad(lambda x: f(x).sum())(x),
    "jvp": lambda f, x: torch.func.jvp(f, (x,), (x,)),
    "vmap of grad": lambda f, x: torch.func.vmap(torch.func.grad(lambda x: f(x).sum()))(x[None]),
    "export": lambda f, x: helpers.check_exported(f, torch.cat([x, x]), 1e-12),
    "compile": lambda f, x: helpers.check_compiled(f, x, backend="aot_eager"),
    "meta": lambda f, x: f(x.to("meta")),
}


@helpers.scripts
@forwards
@pytest.mark.parametrize("use", FIRST_USES.values(), ids=FIRST_USES)
@pytest.mark.parametrize("cached", [False, True], ids=["first", "cached"])
def test_first_use_in_a_mode_leaves_plain_tables(f, use, cached):
    x = images(1, 3, 4, 6).requires_grad_()
    expected = f(x) if cached else None
    use(f, x.detach())
    y = f(x)
    y.sum().backward()
    assert x.grad.count_nonzero()
    for kept in tables._tensors.values():
        assert type(kept) is torch.Tensor
        assert not kept.is_inference()
        assert not kept.requires_grad
    tables._tensors.clear()
    close(y.detach(), f(x).detach() if expected is None else expected.detach())
