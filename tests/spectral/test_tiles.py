"""The matrices of a tile against torch's FFT."""

import pytest
import torch

from ringconv.spectral import tiles

from ..helpers import close, images

CPU = {"dtype": torch.float64, "device": torch.device("cpu")}
sizes = pytest.mark.parametrize("n", [1, 2, 5, 8])


def placed(x, n, step, start):
    """Samples on a circle of n, in the places that a matrix has for them; those that meet add up."""
    places = (start + step * torch.arange(x.shape[-1])) % n
    return torch.zeros(*x.shape[:-1], n, dtype=x.dtype).index_add(-1, places, x)


@sizes
@pytest.mark.parametrize(("count", "step", "start"), [(3, 1, 0), (4, 2, -3)])
def test_half_spectrum(n, count, step, start):
    x = images(count)
    real, imaginary = (tiles.half_spectrum(n, count, step, start, **CPU) @ x).chunk(2)
    close(torch.complex(real, imaginary), torch.fft.rfft(placed(x, n, step, start)))


@sizes
def test_half_samples(n):
    x = images(n)
    spectrum = torch.fft.rfft(x)
    close(tiles.half_samples(n, n, 1, **CPU) @ torch.cat([spectrum.real, spectrum.imag]), x)
    close(tiles.half_samples(n, (n + 1) // 2, 2, **CPU) @ torch.cat([spectrum.real, spectrum.imag]), x[::2])


def complex_images(n):
    x = torch.complex(images(n), images(n))
    return x, torch.view_as_real(x).flatten()


@sizes
@pytest.mark.parametrize(("count", "step", "start"), [(2, 1, 0), (4, 2, -3)])
def test_three_products_are_the_correlation(n, count, step, start):
    """Planes of an image times planes of a kernel, back to samples: the circular correlation, of complex numbers."""
    (x, x_parts), (taps, taps_parts) = complex_images(n), complex_images(count)
    product = tiles.planes_of_images(n, n, **CPU) @ x_parts
    product *= tiles.planes_of_kernels(n, count, step, start, **CPU) @ taps_parts
    y = torch.view_as_complex((tiles.samples_of_planes(n, n, 1, **CPU) @ product).view(n, 2))
    g = torch.complex(placed(taps.real, n, step, start), placed(taps.imag, n, step, start))
    close(torch.view_as_real(y), torch.view_as_real(torch.fft.ifft(torch.fft.fft(x) * torch.fft.fft(g).conj())))
    every_other = tiles.samples_of_planes(n, (n + 1) // 2, 2, **CPU) @ product
    close(every_other.view(-1, 2), torch.view_as_real(y)[::2])


@sizes
def test_planes(n):
    x, parts = complex_images(n)
    spectrum = torch.fft.fft(x)
    a, b = spectrum.real, spectrum.imag
    close(tiles.planes_of_images(n, n, **CPU) @ parts, torch.cat([a + b, a, b]))
    c, d = a, -b
    close(tiles.planes_of_kernels(n, n, 1, 0, **CPU) @ parts, torch.cat([c, d - c, c + d]))
