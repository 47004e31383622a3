"""Fourier transforms against the defining sum, and what the wrappers add to torch's."""

import math

import pytest
import torch

from ringconv.spectral import fft_rows, ifft_rows, irfft, layout_of, rfft, rfft_rounded_once, widen

from .. import helpers
from ..helpers import close, images

SIZES = (1, 2, 3, 8, 13)


def waves(n):
    """e^(−2πi jk/n), the whole matrix."""
    turns = torch.outer(torch.arange(n), torch.arange(n)) % n
    return torch.polar(torch.ones(n, n, dtype=torch.float64), turns.double() * (-2 * math.pi / n))


@pytest.mark.parametrize("n", SIZES)
def test_ring(n):
    x = images(2, 3, n)
    spectrum = rfft(x)
    close(spectrum, (x.to(torch.complex128) @ waves(n))[..., : n // 2 + 1])
    close(irfft(spectrum, n), x)


@pytest.mark.parametrize("n", SIZES)
def test_rows(n):
    x = torch.complex(images(2, n, 3), images(2, n, 3))
    close(fft_rows(x), waves(n) @ x)
    close(ifft_rows(fft_rows(x)), x)


def test_rounded_once():
    """Twice as close to the truth as the plain transform, and the plain transform where there is no float64."""
    x = images(200, 500)
    exact = torch.fft.rfft(x.float().double())
    helpers.same(rfft_rounded_once(x.float()), exact.to(torch.complex64))
    errors = [(f(x.float()) - exact).abs().square().mean() for f in (rfft_rounded_once, rfft)]
    assert errors[0] < errors[1] / 4
    helpers.same(rfft_rounded_once(x), rfft(x))
    assert rfft_rounded_once(torch.empty(2, 6, device="meta")).dtype == torch.complex64


@pytest.mark.parametrize("shape", [(0, 2, 5), (3, 0, 6)])
def test_nothing_to_transform(shape):
    x = torch.zeros(shape, requires_grad=True)
    spectrum = rfft(x)
    y = irfft(ifft_rows(fft_rows(spectrum)), shape[-1])
    assert spectrum.shape == (*shape[:-1], shape[-1] // 2 + 1)
    assert spectrum.dtype == torch.complex64
    assert y.shape == shape
    assert torch.autograd.grad(y.sum(), x)[0].shape == shape


def test_widen():
    pairs = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.float64: torch.float64}
    assert {dtype: widen(torch.ones(2, dtype=dtype)).dtype for dtype in pairs} == pairs
    x = torch.ones(2)
    assert widen(x) is x


def test_layout_is_given_back():
    x, y = images(2, 3, 4, 5), images(2, 7, 4, 5)
    last = layout_of(x.contiguous(memory_format=torch.channels_last), y)
    assert helpers.channels_last(last)
    helpers.same(last, y)
    assert layout_of(x, y) is y
    assert layout_of(x[0], y) is y
    assert layout_of(x, y[..., ::2]).is_contiguous()
