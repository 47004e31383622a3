"""Tiles: every cut of every image is the same correlation, as a composition and in borrowed memory."""

import pytest
import torch
from hypothesis import given

from ringconv.algorithms import passes, spectral, tiles
from ringconv.algorithms import plan as planning
from ringconv.algorithms.plan import Plan
from ringconv.functional import ring_conv2d
from ringconv.functional._geometry import geometry

from .. import helpers
from ..helpers import CASES, HEIGHTS, Case, channels_last, close, images, same, with_heights

WAYS = {"composed": tiles.correlate, "passes": lambda x, w, *task: passes.correlate(x, w, None, *task)}
ways = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
every_case = pytest.mark.parametrize("case", with_heights(CASES))
heights = pytest.mark.parametrize("height", HEIGHTS)
MIXED = Case("mixed", size=(5, 9), kernel=(2, 5), stride=(2, 3), dilation=(2, 2), groups=2, channels=(1, 2), batch=2)


def at_of(case):
    return geometry("test", case.size, case.kernel, case.stride, case.padding, case.dilation, case.height)


def plans(case):
    """Every cut of the height, with the coarsest and the finest around the ring; and the ring in one."""
    at = at_of(case)
    rows, columns, ring = planning.sides(at)
    yield from (Plan(r, c) for r in rows for c in (columns[0], columns[-1]))
    yield from (Plan(rows[0], c) for c in (*columns, *ring))


def gradients(f, *inputs):
    inputs = [x.detach().requires_grad_() for x in inputs]
    y = f(*inputs)
    back = torch.arange(y.numel(), dtype=y.dtype).view(y.shape).remainder(7) - 3
    return y.detach(), *torch.autograd.grad(y, inputs, back)


@every_case
def test_every_cut_is_the_correlation(case, monkeypatch):
    monkeypatch.setattr(passes, "PASS", 0)
    at, x, w, b = at_of(case), case.x(), case.weight(), case.bias()
    expected = gradients(case.correlate, x, w, b)
    for p in plans(case):
        got = gradients(lambda x, w, b, p=p: passes.correlate(x, w, b, at, case.groups, p), x, w, b)
        for value, right in zip(got, expected, strict=True):
            close(value, right)
        close(tiles.correlate(x, w, at, case.groups, p) + b.view(-1, 1, 1), expected[0])


@given(helpers.cases())
def test_any_configuration(case):
    at, x, w = at_of(case), case.x(), case.weight()
    expected = gradients(case.correlate, x, w)
    p = next(plans(case))
    for value, right in zip(
        gradients(lambda x, w: passes.correlate(x, w, None, at, case.groups, p), x, w), expected, strict=True
    ):
        close(value, right)


@heights
@ways
def test_derivatives(height, way):
    case = Case(**{**MIXED.__dict__, "height": height, "batch": 1})
    for p in (next(plans(case)), list(plans(case))[-1]):
        helpers.check_derivatives(lambda x, w, p=p: way(x, w, at_of(case), case.groups, p), case.x(), case.weight())


def test_second_derivatives_of_one_operand():
    at, p = at_of(MIXED), next(plans(MIXED))
    x, w = MIXED.x(), MIXED.weight()
    helpers.check_derivatives(lambda x: passes.correlate(x, w, None, at, 2, p), x)
    helpers.check_derivatives(lambda w: passes.correlate(x, w, None, at, 2, p), w)
    helpers.check_derivatives(lambda b: passes.correlate(x, w, b, at, 2, p), MIXED.bias())


@helpers.scripts
def test_composition_under_transforms():
    """What a compiler, an exporter and a function transform are shown."""
    case = Case(size=(6, 8), kernel=(3, 5), channels=(2, 3))
    at, p, x, w = at_of(case), next(plans(case)), case.x(), case.weight()
    f = lambda x: tiles.correlate(x, w, at, 1, p)  # noqa: E731
    helpers.check_vmap(f, images(3, 2, 2, 6, 8), 1e-13)
    helpers.check_vmap(lambda w: tiles.correlate(x, w, at, 1, p), images(3, 3, 2, 3, 5), 1e-13)
    helpers.check_jvp(f, x)
    helpers.check_exported(f, x, 1e-13)
    helpers.check_compiled(f, x, backend="aot_eager", tolerance=1e-13)


BIG = Case("many channels", size=(12, 32), kernel=(5, 7), channels=(16, 16))


def test_spectral_takes_tiles_for_many_channels(monkeypatch):
    """In every layout and mode; not for kernels as large as the ring, nor for few channels."""
    x, w, b = BIG.x(), BIG.weight(), BIG.bias()
    f = lambda x: ring_conv2d(x, w, b, algorithm="spectral")  # noqa: E731
    expected = ring_conv2d(x, w, b, algorithm="direct")
    with monkeypatch.context() as patch:
        patch.setattr(spectral, "whole", None)
        close(f(x), expected)
        helpers.check_layouts(f, x, 1e-13)
        helpers.check_vmap(f, torch.stack([x, -x]), 1e-12)
        helpers.check_compiled(f, x, backend="aot_eager", tolerance=1e-12)
        helpers.check_empty_batch_learns(lambda x: ring_conv2d(x, w.requires_grad_(), algorithm="spectral"), x, w)
        learning = x.contiguous(memory_format=torch.channels_last).requires_grad_()
        f(learning).sum().backward()
        assert channels_last(learning.grad)
        with torch.autocast("cpu", torch.bfloat16):
            half = f(x.float())
        assert half.dtype == torch.bfloat16
        close(half, expected, 2e-2)
    assert planning.plan(at_of(BIG), 15, 16, 1) is None
    assert planning.plan(at_of(BIG), 32, 32, 4) is None
    assert planning.plan(at_of(Case(size=(12, 32), kernel=(5, 33))), 16, 16, 1) is None


@pytest.mark.parametrize(
    "case", [BIG, Case(size=(12, 32), kernel=(5, 7)), Case(kernel=(3, 9), height="zeros")], ids=str
)
def test_spectrum_can_be_kept(case):
    """Whatever the batch; and autograd does not notice."""
    w, b, at = case.weight(), case.bias(), at_of(case)
    kept = spectral.spectrum(w, at, case.groups)
    for batch in (1, 3):
        x = case.x()[:1].repeat(batch, 1, 1, 1)
        close(spectral.correlate(x, w, b, at, case.groups, kept), case.correlate(x, w, b), 1e-12)
    found = gradients(lambda x, w, b: spectral.correlate(x, w, b, at, case.groups, kept), x, w, b)
    for value, right in zip(found, gradients(case.correlate, x, w, b), strict=True):
        close(value, right)
    per_image = torch.func.vmap(torch.func.grad(lambda w, x: spectral.correlate(x, w, b, at, 1, kept).sum()), (None, 0))
    close(per_image(w, x[:, None]).sum(0), torch.func.grad(lambda w: case.correlate(x, w, b).sum())(w))


@pytest.mark.parametrize("height", ["symmetric", "zeros"])
def test_rounding(height):
    """In float32, forward and both gradients, within 1e-6 of the largest value."""
    case = Case(size=(32, 64), kernel=(9, 11), channels=(32, 16), height=height)
    x, w = case.x(), case.weight()
    exact = gradients(lambda x, w: case.correlate(x, w, algorithm="direct"), x, w)
    found = gradients(lambda x, w: case.correlate(x, w, algorithm="spectral"), x.float(), w.float())
    for value, right in zip(found, exact, strict=True):
        assert value.dtype == torch.float32
        close(value.double(), right, 1e-6)


def test_result_may_be_written_to():
    w = BIG.weight().requires_grad_()
    y = ring_conv2d(BIG.x(), w, algorithm="spectral")
    expected = y.relu()
    same(y.relu_(), expected)


def test_plans_are_remembered_and_forgotten(monkeypatch):
    monkeypatch.setattr(planning, "_plans", {})
    monkeypatch.setattr(planning, "MOST", 2)
    at = at_of(BIG)
    first = planning.plan(at, 16, 16, 1)
    assert planning.plan(at, 16, 16, 1) is first
    for channels in (17, 18, 19):
        planning.plan(at, channels, 16, 1)
    assert len(planning._plans) == 2


@pytest.mark.parametrize(("kernel", "size"), [(3, (64, 256)), (15, (64, 256)), (31, (64, 256)), (63, (128, 512))])
@pytest.mark.parametrize("stride", [1, 2])
def test_plans_cover_the_image_and_pay(kernel, size, stride):
    """Every place is in a tile, no tile is for nothing, and one tile for everything would cost more."""
    at = geometry("test", size, kernel, stride, "same", 1, "symmetric")
    p = planning.plan(at, 64, 64, 1)
    for side, places in zip(p, at.out_size, strict=True):
        assert side.n <= planning.LONGEST
        assert places <= side.tiles * side.outputs < places + side.outputs
    rows, columns, ring = planning.sides(at)
    for other in (Plan(rows[0], columns[0]), Plan(rows[-1], columns[-1]), *(Plan(rows[0], side) for side in ring)):
        assert planning.seconds(p, at, 64, 64, 1) <= planning.seconds(other, at, 64, 64, 1)
