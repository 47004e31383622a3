"""The published operators against their definitions, written out in NumPy and SciPy."""

from __future__ import annotations

import copy
import math
import pickle
import warnings

import numpy as np
import pytest
import scipy.fft
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.autograd import gradcheck, gradgradcheck

from ringconv.functional import ring_conv2d
from ringconv.paper import DCTProductCCL, TorusCCL, dct_product_correlation, torus_convolution
from ringconv.symmetry import equivariance_error

OPERATORS = {"dct_product_correlation": dct_product_correlation, "torus_convolution": torus_convolution}
LAYERS = {"DCTProductCCL": DCTProductCCL, "TorusCCL": TorusCCL}
each_operator = pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS.keys())
each_layer = pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS.keys())


@st.composite
def cases(draw: st.DrawFn) -> tuple[Tensor, Tensor, Tensor, tuple[int, int]]:
    height, width = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    kernel = draw(st.integers(1, height)), draw(st.integers(1, width))
    channels, out, batch = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(0, 2))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    shapes = (batch, channels, height, width), (out, channels, *kernel), (out,)
    x, w, bias = (torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes)
    return x, w, bias, (draw(st.integers(1, 3)), draw(st.integers(1, 3)))


def torus_by_sums(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """y[i, j] = Σ w[u, v] x[(i − u) mod H, (j − v) mod W], tap by tap."""
    y = np.zeros((x.shape[0], w.shape[0], *x.shape[2:]))
    for u in range(w.shape[2]):
        for v in range(w.shape[3]):
            y += np.einsum("bchw,oc->bohw", np.roll(x, (u, v), (-2, -1)), w[:, :, u, v])
    return y


def dct_product_by_definition(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Inverse DCT and inverse FFT of DCT·FFT(x) times DCT·FFT(zero-padded w), summed over the channels, by SciPy."""
    height, width = x.shape[-2:]
    padded = np.pad(w, ((0, 0), (0, 0), (0, height - w.shape[-2]), (0, width - w.shape[-1])))
    X, K = (scipy.fft.fft(scipy.fft.dct(a, type=2, axis=-2), axis=-1) for a in (x, padded))
    y = scipy.fft.ifft((X[:, None] * K[None]).sum(2), axis=-1)
    assert np.abs(y.imag).max(initial=0) < 1e-8
    return scipy.fft.idct(y.real, type=2, axis=-2)


def dct_product_by_interpolant(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """y[i] = Σ_m w[m] (x̃(i + m + ½) + x̃(i − m − ½)) with the cosine interpolant x̃, a convolution around the ring."""
    height = x.shape[-2]
    n, i = np.arange(height), np.arange(height)
    X = 2 * np.einsum("ni,bciw->bcnw", np.cos(math.pi * np.outer(n, i + 0.5) / height), x)
    c = np.where(n == 0, 0.5, 1.0) / height

    def interpolant(t: np.ndarray) -> np.ndarray:
        return np.einsum("tn,n,bcnw->bctw", np.cos(math.pi * np.outer(t + 0.5, n) / height), c, X)

    assert np.allclose(interpolant(i), x)
    y = np.zeros((x.shape[0], w.shape[0], *x.shape[2:]))
    for m in range(w.shape[2]):
        rows = interpolant(i + m + 0.5) + interpolant(i - m - 0.5)
        for v in range(w.shape[3]):
            y += np.einsum("bchw,oc->bohw", np.roll(rows, v, -1), w[:, :, m, v])
    return y


@pytest.mark.parametrize(
    ("operator", "oracle"),
    [
        (torus_convolution, torus_by_sums),
        (dct_product_correlation, dct_product_by_definition),
        (dct_product_correlation, dct_product_by_interpolant),
    ],
    ids=["torus", "dct", "interpolant"],
)
@given(case=cases())
def test_definition(operator, oracle, case):
    x, w, bias, (s_h, s_w) = case
    wanted = (oracle(x.numpy(), w.numpy()) + bias.numpy()[:, None, None])[..., ::s_h, ::s_w]
    got = operator(x, w, bias, (s_h, s_w))
    assert got.shape == wanted.shape
    assert got.dtype == torch.float64
    assert np.abs(got.numpy() - wanted).max(initial=0) <= 1e-12 * max(1, np.abs(wanted).max(initial=0))


@given(case=cases(), algorithm=st.sampled_from(["direct", "spectral"]))
def test_torus_is_a_ring_correlation(case, algorithm):
    """Flip the kernel, let the height wrap, put the corner where it belongs."""
    x, w, bias, (s_h, s_w) = case
    k_h, k_w = w.shape[-2:]
    y = ring_conv2d(x, w.flip(-2, -1), bias, padding=(k_h - 1, 0), height="circular", algorithm=algorithm)
    wanted = y.roll(k_w // 2, -1)[..., ::s_h, ::s_w]
    assert torch.allclose(torus_convolution(x, w, bias, (s_h, s_w)), wanted, rtol=0, atol=1e-12)


def test_dct_product_is_not_the_correlation_with_symmetric_extension():
    x, w = torch.randn(1, 1, 8, 8, dtype=torch.float64), torch.randn(1, 1, 3, 1, dtype=torch.float64)
    y = dct_product_correlation(x, w)
    for kernel in (w, w.flip(-2), w + w.flip(-2)):
        for top in range(3):
            other = ring_conv2d(x, kernel, padding=(top, 2 - top))
            assert (y - other).abs().max() > 0.1 * y.abs().max()


def test_dct_product_cannot_tell_up_from_down():
    x, w = torch.randn(2, 3, 7, 8, dtype=torch.float64), torch.randn(4, 3, 3, 3, dtype=torch.float64)
    y = dct_product_correlation(x, w)
    assert torch.allclose(dct_product_correlation(x.flip(-2), w), y.flip(-2), rtol=0, atol=1e-12)
    assert not torch.allclose(torus_convolution(x.flip(-2), w), torus_convolution(x, w).flip(-2), atol=0.1)


def test_dct_product_reads_every_row():
    x = torch.zeros(1, 1, 9, 4, dtype=torch.float64)
    x[..., 0, :] = 1
    assert (dct_product_correlation(x, torch.ones(1, 1, 1, 1, dtype=torch.float64)).abs() > 1e-4).all()


def test_dct_product_doubles_a_constant():
    y = dct_product_correlation(torch.ones(1, 1, 6, 5), torch.full((1, 1, 3, 2), 0.5))
    assert torch.allclose(y, torch.full_like(y, 6.0))


@each_operator
@pytest.mark.parametrize("size", [(4, 3), (3, 4)])
def test_gradients(operator, size):
    shapes = (1, 2, *size), (2, 2, 2, 2), (2,)
    arguments = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    assert gradcheck(lambda *a: operator(*a, stride=(2, 1)), arguments)
    assert gradgradcheck(lambda *a: operator(*a), arguments)


@each_layer
@pytest.mark.parametrize("roll", [1, 5, 12])
def test_equivariance_by_roll(layer, roll):
    x = torch.randn(2, 3, 8, 12, dtype=torch.float64)
    model = layer(3, 4, (3, 5), dtype=torch.float64)
    assert torch.allclose(model(x.roll(roll, -1)), model(x).roll(roll, -1), rtol=0, atol=1e-13)
    strided = layer(3, 4, 3, stride=(1, 2), dtype=torch.float64)
    assert torch.allclose(strided(x.roll(2 * roll, -1)), strided(x).roll(roll, -1), rtol=0, atol=1e-13)
    assert equivariance_error(layer(3, 4, 3), x.float()) < 5e-7


@each_operator
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_types_are_computed_in_float32(operator, dtype):
    x, w, bias = torch.randn(2, 3, 8, 8).to(dtype), torch.randn(4, 3, 3, 3).to(dtype), torch.randn(4).to(dtype)
    y = operator(x, w, bias)
    assert y.dtype == dtype
    assert torch.equal(y, operator(x.float(), w.float(), bias.float()).to(dtype))


@each_layer
def test_autocast(layer):
    model, x = layer(3, 4, 3), torch.randn(2, 3, 8, 8)
    rounded = copy.deepcopy(model).bfloat16()(x.bfloat16())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(model(x), rounded)
        assert model.double()(x.double()).dtype == torch.float64


@each_operator
def test_unbatched_empty_and_strided_memory(operator):
    x, w = torch.randn(2, 3, 8, 10), torch.randn(4, 3, 3, 3)
    y = operator(x, w)
    assert torch.allclose(operator(x[1], w), y[1], atol=1e-5)
    assert operator(x[:0], w, stride=3).shape == (0, 4, 3, 4)
    assert torch.allclose(operator(x.to(memory_format=torch.channels_last), w), y, atol=1e-5)
    turned = x.transpose(-2, -1).contiguous().transpose(-2, -1)
    assert torch.allclose(operator(turned, w), y, atol=1e-5)


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # by torch's own table of jvps
@each_operator
def test_function_transforms(operator):
    x, w = torch.randn(3, 2, 2, 6, 6, dtype=torch.float64), torch.randn(2, 2, 3, 3, dtype=torch.float64)
    mapped = torch.func.vmap(lambda a: operator(a, w))(x)
    assert torch.allclose(mapped, torch.stack([operator(a, w) for a in x]))
    tangent = torch.randn_like(x[0])
    _, slope = torch.func.jvp(lambda a: operator(a, w), (x[0],), (tangent,))
    assert torch.allclose(slope, operator(tangent, w))


@each_layer
def test_compiles_and_exports_as_one_graph(layer):
    model, x = layer(2, 3, 3, stride=2), torch.randn(2, 2, 6, 8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the compiler's own, on complex numbers
        compiled = torch.compile(model, fullgraph=True, backend="aot_eager")(x)
        exported = torch.export.export(model, (x,)).module()(x)
    assert torch.allclose(compiled, model(x), atol=1e-6)
    assert torch.allclose(exported, model(x), atol=1e-6)


@each_operator
def test_never_holds_the_broadcast_product(operator):
    """B × O × C × H × W would be 1 GB here."""
    x, w = torch.randn(32, 64, 16, 16), torch.randn(64, 64, 3, 3)
    largest = 0

    class Watch(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            nonlocal largest
            result = function(*args, **(kwargs or {}))
            if isinstance(result, Tensor):
                largest = max(largest, result.numel())
            return result

    with Watch():
        operator(x, w)
    assert 0 < largest <= 64 * 64 * 16 * 16


@each_layer
def test_parameters_are_those_of_conv2d(layer):
    torch.manual_seed(1)
    ring = layer(3, 5, (3, 2), stride=(2, 1))
    torch.manual_seed(1)
    planar = nn.Conv2d(3, 5, (3, 2), stride=(2, 1))
    assert ring.state_dict().keys() == planar.state_dict().keys()
    assert all(torch.equal(a, b) for a, b in zip(ring.parameters(), planar.parameters(), strict=True))
    planar.load_state_dict(ring.state_dict())
    assert layer(3, 5, 3, bias=False).bias is None
    assert layer(3, 5, 3, device="meta", dtype=torch.float64).weight.device.type == "meta"


@each_layer
def test_copies_and_prints(layer):
    model, x = layer(2, 3, 3, stride=(2, 1), bias=False), torch.randn(1, 2, 4, 4)
    for copied in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert torch.equal(copied(x), model(x))
    assert repr(model) == f"{layer.__name__}(2, 3, kernel_size=(3, 3), stride=(2, 1), bias=False)"
    assert repr(layer(2, 3, 1)) == f"{layer.__name__}(2, 3, kernel_size=(1, 1), stride=(1, 1))"


X, W = torch.zeros(2, 3, 4, 5), torch.zeros(6, 3, 3, 3)


@pytest.mark.parametrize(("name", "operator"), OPERATORS.items())
@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((X[0, 0], W), ValueError, "input must be .* got shape \\(4, 5\\)"),
        ((X.long(), W), TypeError, "input must be of a real floating-point dtype"),
        ((X, W.double()), TypeError, "input is torch.float32 but weight is torch.float64"),
        ((X, W[0]), ValueError, "weight must be 4-D and not empty, got shape \\(3, 3, 3\\)"),
        ((X, W[:, :2]), ValueError, "has 3 channels, but weight \\(6, 2, 3, 3\\) takes 2"),
        ((X, W, torch.zeros(5)), ValueError, "bias must be of shape \\(6,\\), got \\(5,\\)"),
        ((X, W, None, 0), ValueError, "stride=0"),
        ((X, torch.zeros(6, 3, 5, 1)), ValueError, "a kernel of \\(5, 1\\) does not fit an image of \\(4, 5\\)"),
        ((X, torch.zeros(6, 3, 1, 6)), ValueError, "a kernel of \\(1, 6\\) does not fit an image of \\(4, 5\\)"),
    ],
)
def test_bad_input_by_name(name, operator, arguments, error, words):
    with pytest.raises(error, match=f"{name}: .*{words}"):
        operator(*arguments)


@each_layer
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0, 1, 3), "in_channels=0"),
        ((1, -1, 3), "out_channels=-1"),
        ((1, 1, (3, 0)), "kernel_size=0|kernel_size=\\(3, 0\\)"),
        ((1, 1, 3, 0), "stride=0"),
    ],
)
def test_bad_construction_by_name(layer, arguments, words):
    with pytest.raises(ValueError, match=f"{layer.__name__}: ({words})"):
        layer(*arguments)
