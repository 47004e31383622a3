"""Cosine and sine transforms against SciPy's."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ringconv.spectral import dct2, dct3, dst2, dst3

from .. import helpers
from ..helpers import close, images

NAMES = ("dct2", "dct3", "dst2", "dst3")
FORMS = ("fft", "matrix")
TRANSFORMS = {"dct2": dct2, "dct3": dct3, "dst2": dst2, "dst3": dst3}

each = pytest.mark.parametrize(("name", "form"), [(name, form) for name in NAMES for form in FORMS])


@each
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 12, 31, 64, 97, 1023, 2048])
def test_scipy(name, form, n):
    helpers.check_trig(name, form, n)


@given(st.sampled_from(NAMES), st.sampled_from(FORMS), st.integers(1, 200))
def test_scipy_at_any_size(name, form, n):
    helpers.check_trig(name, form, n)


@each
@pytest.mark.parametrize("dim", [0, 1, 2, -1, -2, -3])
def test_any_dim(name, form, dim):
    x = images(3, 4, 5)
    f = TRANSFORMS[name]
    close(f(x, dim, form=form), f(x.movedim(dim, -1).contiguous(), form=form).movedim(-1, dim))


@pytest.mark.parametrize(("forward", "back"), [(dct2, dct3), (dst2, dst3)])
@pytest.mark.parametrize("form", FORMS)
def test_type_three_inverts_type_two(forward, back, form):
    x = images(2, 9)
    close(back(forward(x, form=form), form=form) / 18, x)


@each
def test_dtypes(name, form):
    exact, f = images(4, 24), TRANSFORMS[name]
    for dtype, tolerance in [(torch.float32, 1e-6), (torch.float16, 3e-3), (torch.bfloat16, 2e-2)]:
        y = f(exact.to(dtype), form=form)
        assert y.dtype == dtype
        close(y, f(exact), tolerance)


@each
def test_empty_batch(name, form):
    x = torch.zeros(0, 5, requires_grad=True)
    y = TRANSFORMS[name](x, form=form)
    assert y.shape == (0, 5)
    assert torch.autograd.grad(y.sum(), x)[0].shape == (0, 5)


@each
@pytest.mark.parametrize("n", [1, 4, 5])
def test_derivatives(name, form, n):
    helpers.check_derivatives(lambda x: TRANSFORMS[name](x, form=form), images(2, n))


@each
def test_compile_export_and_function_transforms(name, form):
    def f(x):
        return TRANSFORMS[name](x, form=form)

    helpers.check_compiled(f, images(2, 6), images(2, 8), images(3, 9))
    helpers.check_exported(f, images(2, 10), 1e-12)
    helpers.check_vmap(f, images(4, 2, 7), 1e-12)


@helpers.scripts
@each
def test_jvp(name, form):
    helpers.check_jvp(lambda x: TRANSFORMS[name](x, form=form), images(2, 7))


def test_refuses():
    with pytest.raises(ValueError, match="dct2: form='fast' is not one of 'fft', 'matrix'"):
        dct2(images(3), form="fast")
    with pytest.raises(TypeError, match=r"dst3: x must be of a real floating-point dtype, got torch.int64"):
        dst3(torch.arange(4))
    with pytest.raises(ValueError, match=r"dct3: x of shape \(2, 0\) has no samples along dim=-1"):
        dct3(images(2, 0))
