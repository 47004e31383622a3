"""The correlation on the cylinder and its exact adjoint."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given

from ringconv.functional import ring_conv2d, ring_conv_transpose2d

from .. import helpers, oracle
from ..helpers import ALGORITHMS, CASES, HEIGHTS, Case, close, images, same, whole, with_heights

algorithms = pytest.mark.parametrize("algorithm", ALGORITHMS)
heights = pytest.mark.parametrize("height", HEIGHTS)
every_case = pytest.mark.parametrize("case", with_heights(CASES))
# Strided, dilated, grouped, even and longer than the ring: one configuration that has it all.
MIXED = Case("mixed", size=(5, 6), kernel=(2, 5), stride=(2, 3), dilation=(2, 2), groups=2, channels=(1, 2))
ROUNDING = {"direct": 1e-13, "spectral": 1e-12}


@algorithms
@every_case
def test_oracle(case, algorithm):
    helpers.check_correlation(case, algorithm)


@every_case
def test_adjoint_identity(case):
    helpers.check_adjoint(case)


@every_case
def test_adjoint_is_the_transposed_matrix(case):
    helpers.check_adjoint_matrix(case)


@given(helpers.cases())
def test_adjoint_of_any_configuration(case):
    helpers.check_adjoint(case)
    helpers.check_adjoint_matrix(case)


@algorithms
@every_case
def test_adjoint_is_the_gradient(case, algorithm):
    """What autograd makes of each algorithm is the same adjoint."""
    x, w = case.x().requires_grad_(), case.weight()
    y = case.correlate(x, w, algorithm=algorithm)
    back = torch.randn_like(y)
    close(torch.autograd.grad(y, x, back)[0], case.adjoint(back, w))


def test_bias_of_the_adjoint():
    y, w, b = images(2, 4, 3, 5), images(4, 3, 3, 3), images(3)
    close(ring_conv_transpose2d(y, w, b), ring_conv_transpose2d(y, w) + b[:, None, None])


def test_is_conv2d_where_nothing_wraps():
    """Away from every border the layer is torch's own; with one column per window it is, border or not."""
    x, w, b = images(2, 4, 7, 9), images(6, 2, 3, 5), images(6)
    y = ring_conv2d(x, w, b, groups=2)
    close(y[..., 1:-1, 2:-2], F.conv2d(x, w, b, groups=2))
    narrow = images(6, 2, 3, 1)
    close(ring_conv2d(x, narrow, b, (2, 1), 1, groups=2, height="zeros"), F.conv2d(x, narrow, b, (2, 1), (1, 0), 1, 2))


def test_arguments_stand_where_torch_has_them():
    x, w, b = images(1, 4, 6, 6), images(4, 2, 3, 1), images(4)
    close(ring_conv2d(x, w, b, 2, 2, (2, 1), 2, height="zeros"), F.conv2d(x, w, b, 2, (2, 0), (2, 1), 2))
    torchs = F.conv_transpose2d(x, w, b, 2, (2, 0), 1, 2, (2, 1))
    close(ring_conv_transpose2d(x, w, b, 2, 2, 1, 2, (2, 1), height="zeros"), torchs)


@pytest.mark.parametrize("padding", ["same", 1, (0, 2)])
@heights
def test_adjoint_sizes(padding, height):
    """By default ``"same"`` inverts the stride exactly, and a number gives the smallest height; never a new width."""
    if height == "valid" and padding != "same":
        return
    y, w = images(1, 1, 3, 4), images(1, 1, 3, 2)
    smallest = 5 + 2 - sum(oracle.paddings(3, 1, padding, height))
    default = 6 if padding == "same" and height != "valid" else smallest
    for over, rows in [(None, default), (0, smallest), (1, smallest + 1)]:
        x = ring_conv_transpose2d(y, w, stride=2, padding=padding, output_padding=over, height=height)
        assert x.shape == (1, 1, rows, 8)
        assert ring_conv2d(x, w, stride=2, padding=padding, height=height).shape == y.shape


@algorithms
@pytest.mark.parametrize("height", HEIGHTS)
def test_derivatives(algorithm, height):
    case = Case(**{**MIXED.__dict__, "height": height, "batch": 1, "size": (5, 3)})
    helpers.check_derivatives(
        lambda x, w, b: case.correlate(x, w, b, algorithm), *(make() for make in (case.x, case.weight, case.bias))
    )


@heights
def test_derivatives_of_the_adjoint(height):
    case = Case(**{**MIXED.__dict__, "height": height, "batch": 1, "size": (5, 3)})
    y = case.correlate(case.x(), case.weight())
    bias = images(case.channels[0] * case.groups)
    helpers.check_derivatives(case.adjoint, y, case.weight(), bias)


@heights
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("kernel", [1, 2, 5, 15])
def test_rolls_to_the_last_bit(height, stride, kernel):
    """Whole numbers, whose sums are exact in any order; ``direct`` must not mix a single sample."""
    w = whole(3, 2, min(kernel, 5), kernel)
    forward = lambda x: ring_conv2d(x, w, stride=stride, height=height, algorithm="direct")  # noqa: E731
    helpers.check_roll(forward, whole(2, 2, 5, 12), (stride, 1))
    adjoint = lambda y: ring_conv_transpose2d(y, w, stride=stride, height=height)  # noqa: E731
    helpers.check_roll(adjoint, whole(2, 3, 5, 4), (1, stride))


@heights
def test_rolls_to_rounding(height):
    w = images(3, 2, 4, 15)
    forward = lambda x: ring_conv2d(x, w, stride=2, height=height, algorithm="spectral")  # noqa: E731
    helpers.check_roll(forward, images(2, 2, 5, 12), (2, 1), 1e-12)


@heights
def test_a_flipped_kernel_is_no_correlation(height):
    """One tap reads one place: to the right and below for a tap right of and below the centre."""
    x, w = whole(1, 1, 6, 7), torch.zeros(1, 1, 3, 3)
    w[..., 2, 2] = 1
    y = ring_conv2d(x, w, height=height)
    same(y[..., :4, :], x.roll(-1, -1)[..., 2 if height == "valid" else 1 :, :][..., :4, :])


@algorithms
@pytest.mark.parametrize("case", [CASES[0], MIXED], ids=str)
def test_layouts(case, algorithm):
    w = case.weight()
    for b in (None, case.bias()):
        helpers.check_layouts(lambda x, b=b: case.correlate(x, w, b, algorithm), case.x(), ROUNDING[algorithm])


@pytest.mark.parametrize("height", HEIGHTS)
def test_layouts_of_the_adjoint(height):
    w = images(4, 3, 3, 4)
    helpers.check_layouts(lambda y: ring_conv_transpose2d(y, w, stride=2, height=height), images(2, 4, 3, 5), 1e-13)


@algorithms
def test_gradient_keeps_channels_last(algorithm):
    x = images(2, 3, 4, 5).contiguous(memory_format=torch.channels_last).requires_grad_()
    ring_conv2d(x, images(4, 3, 3, 3), algorithm=algorithm).square().sum().backward()
    assert helpers.channels_last(x.grad)


@algorithms
def test_empty_batch_learns(algorithm):
    w, b = images(4, 3, 3, 3).requires_grad_(), images(4).requires_grad_()
    helpers.check_empty_batch_learns(lambda x: ring_conv2d(x, w, b, algorithm=algorithm), images(2, 3, 5, 6), w, b)
    helpers.check_empty_batch_learns(lambda x: ring_conv2d(x, w, algorithm=algorithm), images(2, 3, 5, 6), w)
    helpers.check_empty_batch_learns(lambda y: ring_conv_transpose2d(y, w), images(2, 4, 5, 6), w)


@algorithms
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_types(algorithm, dtype):
    """Their rounding, and no more: in float32 inside, or wherever torch's own convolution computes."""
    x, w, b = images(2, 3, 6, 8).to(dtype), images(4, 3, 3, 5).to(dtype), images(4).to(dtype)
    y = ring_conv2d(x, w, b, algorithm=algorithm)
    assert y.dtype == dtype
    close(y, ring_conv2d(x.double(), w.double(), b.double()), 2 * torch.finfo(dtype).eps)


@algorithms
def test_autocast(algorithm):
    """As Conv2d under autocast: float32 becomes bfloat16 and float64 stays; gradients come back as they were."""
    x, w, b = images(2, 3, 6, 8).float(), images(4, 3, 3, 5).float().requires_grad_(), images(4).float()
    with torch.autocast("cpu", torch.bfloat16):
        y = ring_conv2d(x, w, b, algorithm=algorithm)
        mixed = ring_conv2d(x.bfloat16(), w, b, algorithm=algorithm)
        exact = ring_conv2d(x.double(), w.double(), b.double(), algorithm=algorithm)
        assert ring_conv_transpose2d(y, w).dtype == torch.bfloat16
    assert (y.dtype, exact.dtype) == (torch.bfloat16, torch.float64)
    close(y, ring_conv2d(x.double(), w.double(), b.double()).detach(), 2e-2)
    same(mixed, y)
    close(exact, ring_conv2d(x.double(), w.double(), b.double()))
    assert torch.autograd.grad(y.sum(), w)[0].dtype == torch.float32


@algorithms
@pytest.mark.parametrize("height", ["symmetric", "zeros", "circular"])
def test_compile_and_export(algorithm, height):
    w = images(4, 1, 4, 3)
    f = lambda x: ring_conv2d(x, w, stride=2, groups=2, height=height, algorithm=algorithm)  # noqa: E731
    helpers.check_compiled(f, images(2, 2, 5, 6), images(2, 2, 5, 8), images(3, 2, 7, 10), backend="aot_eager")
    helpers.check_exported(f, images(2, 2, 5, 12), 1e-12)


def test_compile_and_export_of_the_adjoint():
    w = images(4, 3, 4, 3)
    f = lambda y: ring_conv_transpose2d(y, w, stride=2, dilation=2)  # noqa: E731
    helpers.check_compiled(f, images(2, 4, 5, 6), images(2, 4, 5, 8), images(3, 4, 7, 10), backend="aot_eager")
    helpers.check_exported(f, images(2, 4, 5, 12), 1e-12)


@helpers.scripts
def test_inductor():
    w = images(4, 2, 3, 3)
    helpers.check_compiled(lambda x: ring_conv2d(x, w), images(1, 2, 5, 6), backend="inductor", tolerance=1e-12)


@algorithms
@pytest.mark.parametrize("height", ["symmetric", "reflect"])
def test_vmap_over_images_and_kernels(algorithm, height):
    x, w = images(2, 2, 5, 6), images(3, 2, 4, 3)
    f = lambda x, w: ring_conv2d(x, w, height=height, algorithm=algorithm)  # noqa: E731
    helpers.check_vmap(lambda x: f(x, w), images(3, 2, 2, 5, 6), 1e-12)
    helpers.check_vmap(lambda x: f(x, w), images(3, 2, 5, 6), 1e-12)
    helpers.check_vmap(lambda w: f(x, w), images(4, 3, 2, 4, 3), 1e-12)
    helpers.check_vmap(lambda y: ring_conv_transpose2d(y, w, height=height), images(3, 2, 3, 5, 6), 1e-12)


def test_per_sample_gradients():
    """``vmap`` of ``grad``: what differentially private training asks of a layer."""
    x, w = images(4, 2, 5, 6), images(3, 2, 3, 3)
    loss = lambda w, x: ring_conv2d(x, w).square().sum()  # noqa: E731
    each = torch.func.vmap(torch.func.grad(loss), (None, 0))(w, x)
    close(each, torch.stack([torch.func.grad(loss)(w, one) for one in x]))


@helpers.scripts
@algorithms
def test_jvp(algorithm):
    w = images(3, 2, 4, 3)
    helpers.check_jvp(lambda x: ring_conv2d(x, w, algorithm=algorithm), images(2, 2, 5, 6))
    helpers.check_jvp(lambda w: ring_conv2d(images(2, 2, 5, 6).mul(0) + 1, w, algorithm=algorithm), w)
    helpers.check_jvp(lambda y: ring_conv_transpose2d(y, w), images(2, 3, 5, 6))


@algorithms
def test_meta(algorithm):
    """Shapes without numbers: ``meta`` is how a large model is built before its weights are there."""
    w = images(4, 2, 3, 3)
    assert ring_conv2d(images(2, 2, 5, 6).to("meta"), w.to("meta"), stride=2, algorithm=algorithm).shape == (2, 4, 3, 3)
    assert ring_conv_transpose2d(images(2, 4, 5, 6).to("meta"), w.to("meta"), stride=2).shape == (2, 2, 10, 12)


def test_sizes_in_any_dress():
    """Lists, sizes of tensors and NumPy's integers, as torch takes them."""
    x, w = images(1, 1, 4, 6), images(1, 1, 3, 3)
    expected = ring_conv2d(x, w, stride=2, dilation=(1, 2), padding=(1, 1))
    strides = [[2, 2], torch.Size([2, 2]), torch.tensor(2).numpy()[()], (torch.tensor(2).numpy()[()], 2)]
    for stride in strides:
        same(ring_conv2d(x, w, stride=stride, dilation=[1, 2], padding=[1, 1]), expected)
