"""The vendor's convolution in borrowed memory: the same to the last bit, in every mode that autograd knows."""

import threading

import pytest
import torch
import torch.nn.functional as F

from ringconv.algorithms import Geometry, direct, scratch
from ringconv.functional import ring_conv2d, ring_conv_transpose2d

from .. import helpers
from ..helpers import CASES, HEIGHTS, Case, close, images, same, whole, with_heights

heights = pytest.mark.parametrize("height", HEIGHTS)
every_case = pytest.mark.parametrize("case", with_heights(CASES))
MIXED = Case("mixed", size=(5, 3), kernel=(2, 5), stride=(2, 3), dilation=(2, 2), groups=2, channels=(1, 2), batch=1)


@pytest.fixture(autouse=True)
def no_image_is_small(monkeypatch):
    monkeypatch.setattr(direct, "SMALL", 0)
    monkeypatch.setattr(scratch, "LARGE", 0)
    monkeypatch.setattr(scratch, "PORTION", 0)


def composed(monkeypatch, f, *inputs):
    """``f`` by torch's own operators alone, and its gradients."""
    with monkeypatch.context() as patch:
        patch.setattr(direct, "SMALL", float("inf"))
        return with_gradients(f, *inputs)


def with_gradients(f, *inputs):
    inputs = [x.detach().requires_grad_() for x in inputs]
    y = f(*inputs)
    back = torch.arange(y.numel(), dtype=y.dtype).view(y.shape).remainder(7) - 3
    return y, *torch.autograd.grad(y, inputs, back)


@every_case
def test_is_the_composition(case, monkeypatch):
    inputs = case.x(), case.weight(), case.bias()
    for got, expected in zip(
        with_gradients(case.correlate, *inputs), composed(monkeypatch, case.correlate, *inputs), strict=True
    ):
        close(got, expected, 1e-14)


@every_case
def test_adjoint_is_the_composition(case, monkeypatch):
    helpers.check_adjoint(case)
    y = case.correlate(case.x(), case.weight())
    inputs = y, case.weight(), images(case.channels[0] * case.groups)
    for got, expected in zip(
        with_gradients(case.adjoint, *inputs), composed(monkeypatch, case.adjoint, *inputs), strict=True
    ):
        close(got, expected, 1e-14)


@helpers.scripts
@heights
def test_derivatives(height):
    case = Case(**{**MIXED.__dict__, "height": height})
    helpers.check_derivatives(case.correlate, case.x(), case.weight(), case.bias())
    y, bias = case.correlate(case.x(), case.weight()), images(case.channels[0] * case.groups)
    helpers.check_derivatives(case.adjoint, y, case.weight(), bias)
    assert torch.autograd.gradcheck(
        case.correlate, [x.requires_grad_() for x in (case.x(), case.weight(), case.bias())], check_forward_ad=True
    )


@pytest.mark.parametrize("asked", range(3))
def test_one_gradient_alone(asked):
    """What is not asked for costs nothing and changes nothing."""
    for f, inputs in [
        (ring_conv2d, (images(2, 3, 4, 5), images(4, 3, 3, 3), images(4))),
        (ring_conv_transpose2d, (images(2, 4, 4, 5), images(4, 3, 3, 3), images(3))),
    ]:
        some = [x.clone().requires_grad_(i == asked) for i, x in enumerate(inputs)]
        f(*some).square().sum().backward()
        every = [x.clone().requires_grad_() for x in inputs]
        f(*every).square().sum().backward()
        close(some[asked].grad, every[asked].grad, 1e-15)
        assert [x.grad is None for x in some] == [i != asked for i in range(3)]


def test_keeps_the_image_and_nothing_padded():
    x, w = images(2, 3, 8, 16).requires_grad_(), images(4, 3, 3, 3).requires_grad_()
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        ring_conv2d(x, w)
    assert {t.data_ptr() for t in kept} == {x.data_ptr(), w.data_ptr()}


@heights
@pytest.mark.parametrize("stride", [1, 2])
def test_rolls_to_the_last_bit_where_the_vendor_does(height, stride):
    """On real numbers, if what the vendor makes of the padded image is the same at every column; whole ones always."""
    for x, w in [
        (images(2, 16, 12, 32, dtype=torch.float32), images(16, 16, 3, 3, dtype=torch.float32)),
        (whole(2, 3, 6, 8), whole(4, 3, 3, 5)),
    ]:
        padding, height_rule = (0, "zeros") if height == "valid" else (1, height)
        at = Geometry((*x.shape[2:],), (*w.shape[2:],), (stride, stride), (1, 1), padding, padding, height_rule)
        vendor = lambda x, w=w, at=at: F.conv2d(direct.surround(x, at), w, None, at.stride)  # noqa: E731
        ours = lambda x, w=w: ring_conv2d(x, w, stride=stride, height=height, algorithm="direct")  # noqa: E731
        same(ours(x), vendor(x))
        steps = range(stride, x.shape[-1], stride)
        for step in steps:
            rolled = vendor(x.roll(step, -1))
            if torch.equal(rolled, vendor(x).roll(step // stride, -1)):
                same(ours(x.roll(step, -1)), ours(x).roll(step // stride, -1))
        assert all(torch.equal(ours(x.roll(step, -1)), vendor(x.roll(step, -1))) for step in steps)


def test_layouts_and_gradients_keep_channels_last():
    w = images(4, 3, 3, 4)
    helpers.check_layouts(lambda x: ring_conv2d(x, w, height="reflect"), images(2, 3, 4, 5), 1e-13)
    helpers.check_layouts(lambda y: ring_conv_transpose2d(y, w, stride=2), images(2, 4, 3, 5), 1e-13)
    for f, channels in [(ring_conv2d, 3), (ring_conv_transpose2d, 4)]:
        for layout in (torch.contiguous_format, torch.channels_last):
            x = images(2, channels, 4, 5).contiguous(memory_format=layout).requires_grad_()
            y = f(x, w)
            seen = []
            x.register_hook(seen.append)
            y.sum().backward()
            assert seen[0].is_contiguous(memory_format=layout)


@pytest.mark.parametrize("f", [ring_conv2d, ring_conv_transpose2d])
def test_result_may_be_written_to(f):
    """No result is a view that forbids it, however little there was to pad."""
    for size in [(1, 1, 3, 4), (2, 4, 3, 4)]:
        w = images(size[1], size[1], 3, 1).requires_grad_()
        y = f(images(*size), w)
        expected = y.relu()
        same(y.relu_(), expected)
        y.sum().backward()
        assert w.grad.count_nonzero()


def test_an_image_may_change_only_where_autograd_sees_it():
    x, w = images(1, 1, 3, 4), images(1, 1, 3, 3).requires_grad_()
    y = ring_conv2d(x, w)
    x.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_backward_inside_a_backward():
    """Whoever computes while another computes, on the same thread, gets memory of his own."""
    w = images(2, 2, 3, 3)
    x = images(1, 2, 4, 5).requires_grad_()

    def again(gradient):
        z = images(1, 2, 4, 5).requires_grad_()
        with torch.enable_grad():
            inner = ring_conv2d(z, w).square().sum()
        return gradient + 0 * torch.autograd.grad(inner, z)[0]

    y = ring_conv2d(x, w)
    y.register_hook(again)
    close(torch.autograd.grad(y.sum(), x)[0], ring_conv_transpose2d(torch.ones_like(y), w))


def test_threads():
    x, w = images(4, 3, 8, 16), images(4, 3, 3, 3)
    expected = ring_conv2d(x, w)
    wrong = []

    def work():
        for _ in range(50):
            if not torch.equal(ring_conv2d(x, w), expected):
                wrong.append(True)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_modes_in_any_order():
    """Memory that inference mode asked for first serves everyone after."""
    x, w = images(2, 3, 4, 5), images(4, 3, 3, 3).requires_grad_()
    scratch._kept.memory = None
    with torch.inference_mode():
        first = ring_conv2d(x, w).clone()
        back = ring_conv_transpose2d(first, w)
    y = ring_conv2d(x, w)
    same(y.detach(), first)
    same(ring_conv_transpose2d(y, w).detach(), back)
    y.sum().backward()
    assert w.grad.count_nonzero()


@helpers.scripts
def test_traces_and_transforms_see_torchs_operators():
    x, w = images(3, 2, 2, 5, 6), images(3, 2, 3, 3)
    helpers.check_vmap(lambda x: ring_conv2d(x, w), x, 1e-13)
    helpers.check_jvp(lambda x: ring_conv2d(x, w), x[0])
    helpers.check_compiled(lambda x: ring_conv2d(x, w), x[0], backend="aot_eager")
    helpers.check_exported(lambda x: ring_conv2d(x, w), x[0], 1e-12)


def test_autocast():
    x, w, b = images(2, 3, 6, 8).float().requires_grad_(), images(4, 3, 3, 5).float(), images(4).float()
    with torch.autocast("cpu", torch.bfloat16):
        y = ring_conv2d(x, w, b)
        assert ring_conv_transpose2d(y, w).dtype == y.dtype == torch.bfloat16
        y.float().square().sum().backward()
    assert x.grad.dtype == torch.float32
    same(y, ring_conv2d(x.bfloat16(), w.bfloat16(), b.bfloat16()))
