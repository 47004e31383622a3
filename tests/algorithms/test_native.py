"""The native engine: float32 within 1e-6 of float64, and everything that an operator of torch can do."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest
import torch
from hypothesis import given, settings

from ringconv import functional as RF
from ringconv.algorithms import Geometry, _engine, direct, native
from ringconv.functional._geometry import geometry

from .. import helpers
from ..helpers import CASES, Case, close, same, with_heights

pytestmark = pytest.mark.skipif(_engine.library() is None, reason="installed without the native engine")


def at(case: Case) -> Geometry:
    return geometry("", case.size, case.kernel, case.stride, case.padding, case.dilation, case.height)


def check_float32(case: Case, tolerance: float = 1e-6) -> None:
    """Result and gradients are those of float64."""
    exact = [t.requires_grad_() for t in (case.x(), case.weight(), case.bias())]
    single = [t.detach().float().requires_grad_() for t in exact]
    expected = direct.correlate(*exact, at(case), case.groups)
    y = native.correlate(*single, at(case), case.groups)
    close(y.double(), expected, tolerance)
    g = torch.randn_like(expected)
    actual = torch.autograd.grad(y, single, g.float())
    for a, e in zip(actual, torch.autograd.grad(expected, exact, g), strict=True):
        close(a.double(), e, tolerance)


@pytest.mark.parametrize("case", with_heights(CASES))
def test_every_setting(case: Case) -> None:
    check_float32(case)


@settings(max_examples=40)
@given(helpers.cases())
def test_any_configuration(case: Case) -> None:
    """A result of a few numbers may all but cancel: it is held to less."""
    check_float32(case, 1e-5)


SIZES = [
    Case("8", (9, 10), (3, 3), channels=(3, 5)),
    Case("16", (20, 33), (5, 5), channels=(17, 15)),
    Case("32", (40, 31), (11, 13), channels=(16, 20)),
    Case("64", (30, 64), (31, 31), channels=(5, 7)),
    Case("tall", (70, 9), (33, 3), channels=(4, 4)),
    Case("every tap of the largest tile", (64, 64), (64, 64), channels=(2, 2)),
    Case("depthwise", (33, 40), (7, 7), channels=(1, 1), groups=35),
    Case("groups", (17, 24), (5, 3), channels=(5, 9), groups=3),
    Case("stride", (33, 40), (7, 7), (2, 2), channels=(9, 18)),
    Case("stride of a group", (20, 24), (4, 5), (2, 3), channels=(3, 17), groups=2),
    Case("dilation", (33, 40), (5, 5), dilation=(2, 3), channels=(6, 5)),
]


@pytest.mark.parametrize("case", SIZES, ids=str)
def test_every_tile(case: Case) -> None:
    check_float32(case)


@pytest.mark.parametrize("tile", [(h, w) for h in (8, 16, 32, 64) for w in (8, 16, 32, 64)], ids=str)
def test_all_tiles_are_one_function(tile: tuple[int, int]) -> None:
    case = Case(size=(21, 34), kernel=(5, 6), channels=(18, 33), batch=3)
    x, w = case.x(torch.float32), case.weight(torch.float32)
    plan = _engine.plan(_engine.FORWARD, 3, 18, 33, 1, at(case), 2, tile)
    assert plan.facts.tile == tile
    y = torch.empty(3, 33, 21, 34).contiguous(memory_format=torch.channels_last)
    plan.run(x.contiguous(memory_format=torch.channels_last), w, None, y)
    close(y.double(), direct.correlate(x.double(), w.double(), None, at(case), 1), 1e-6)


OPERANDS = {"y": (1, 1, 0), "x": (0, 1, 1), "weight": (1, 0, 1)}


@pytest.mark.parametrize("missing", OPERANDS)
@pytest.mark.filterwarnings("ignore")
def test_operator_keeps_torchs_rules(missing: str) -> None:
    """Schema, fake kernel, autograd and compilation, by torch's own checks."""
    case = Case(size=(8, 12), channels=(5, 7), stride=(1, 2))
    x, w = case.x(torch.float32).requires_grad_(), case.weight(torch.float32).requires_grad_()
    y = torch.randn_like(case.correlate(x, w)).requires_grad_()
    operands = [t if there else None for t, there in zip((x, w, y), OPERANDS[missing], strict=True)]
    torch.library.opcheck(
        torch.ops.ringconv.derivative.default,
        (*operands, None, None, native._numbers(at(case)), 1),
        test_utils=("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"),
    )


def test_second_derivatives() -> None:
    """Those of float64, for every pair of operands."""
    case = Case(size=(6, 8), kernel=(3, 4), channels=(2, 3))
    exact = [t.requires_grad_() for t in (case.x(), case.weight(), case.bias())]
    single = [t.detach().float().requires_grad_() for t in exact]
    seconds = []
    for way, tensors in ((direct, exact), (native, single)):
        y = way.correlate(*tensors, at(case), 1)
        firsts = torch.autograd.grad((y**3).sum(), tensors, create_graph=True)
        seconds.append(torch.autograd.grad(sum((f.double() ** 2).sum() for f in firsts), tensors))
    for e, a in zip(*seconds, strict=True):
        close(a.double(), e, 1e-5)


def test_layouts() -> None:
    w = torch.randn(6, 4, 3, 3)
    helpers.check_layouts(lambda x: RF.ring_conv2d(x, w, algorithm="native"), torch.randn(2, 4, 7, 9), 1e-6)


def test_weights_of_any_strides() -> None:
    case = Case(size=(9, 12), channels=(6, 5))
    x, w = case.x(torch.float32), case.weight(torch.float32)
    expected = native.correlate(x, w, None, at(case), 1)
    same(native.correlate(x, w.contiguous(memory_format=torch.channels_last), None, at(case), 1), expected)
    same(native.correlate(x, w.transpose(0, 1).contiguous().transpose(0, 1), None, at(case), 1), expected)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_types_are_float32_inside(dtype: torch.dtype) -> None:
    x, w, b = torch.randn(2, 4, 8, 12), torch.randn(6, 4, 3, 3), torch.randn(6)
    half = [t.to(dtype) for t in (x, w, b)]
    y = RF.ring_conv2d(*half, algorithm="native")
    same(y, RF.ring_conv2d(*(t.float() for t in half), algorithm="native").to(dtype))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert RF.ring_conv2d(x, w, b, algorithm="native").dtype == torch.bfloat16


def test_compiled() -> None:
    w, b = torch.randn(6, 4, 3, 3), torch.randn(6)
    xs = torch.randn(2, 4, 8, 12), torch.randn(3, 4, 10, 16)
    helpers.check_compiled(lambda x: RF.ring_conv2d(x, w, b, algorithm="native"), *xs, backend="aot_eager")


def test_threads_agree_and_repeat() -> None:
    """The same to the last bit at one thread count, and whoever else is calling at the same time."""
    case = Case(size=(40, 64), kernel=(5, 5), channels=(16, 24), batch=4)
    x, w = case.x(torch.float32).requires_grad_(), case.weight(torch.float32).requires_grad_()

    def step() -> tuple[torch.Tensor, ...]:
        y = native.correlate(x, w, None, at(case), 1)
        return (y, *torch.autograd.grad(y, (x, w), torch.ones_like(y)))

    expected, got = step(), []
    threads = [threading.Thread(target=lambda: got.append([step() for _ in range(3)])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 4
    for results in got:
        for result in results:
            for a, e in zip(result, expected, strict=True):
                same(a, e)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_after_fork() -> None:
    """A child of a process whose engine has threads computes the same."""
    case = Case(size=(40, 64), kernel=(5, 5), channels=(16, 24), batch=4)
    x, w = case.x(torch.float32), case.weight(torch.float32)
    expected = native.correlate(x, w, None, at(case), 1)
    child = os.fork()
    if child == 0:
        os._exit(0 if torch.equal(native.correlate(x, w, None, at(case), 1), expected) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


ISA = """
import torch
from ringconv.algorithms import Geometry, _engine, direct, native
assert _engine.instruction_set() == "{isa}", _engine.instruction_set()
for kernel, groups, stride in [((3, 3), 1, 1), ((7, 7), 1, 1), ((5, 5), 18, 1), ((3, 5), 2, 2), ((17, 33), 1, 1)]:
    at = Geometry((20, 40), kernel, (stride, stride), (1, 1), kernel[0] // 2, kernel[0] // 2, "symmetric")
    x, w = torch.randn(2, 18, 20, 40), torch.randn(18, 18 // groups, *kernel)
    results = []
    for way, dtype in ((native, torch.float32), (direct, torch.float64)):
        inputs = [t.detach().to(dtype).requires_grad_() for t in (x, w)]
        y = way.correlate(*inputs, None, at, groups)
        results.append((y, *torch.autograd.grad((y * torch.arange(y.shape[-1])).sum(), inputs)))
    for a, e in zip(*results):
        assert (a - e).abs().max() <= 1e-6 * e.abs().max(), (kernel, groups)
"""


@pytest.mark.parametrize("isa", ["baseline", "avx2"])
def test_lesser_processors(isa: str) -> None:
    """What the engine runs where there is no AVX-512 is the same function."""
    if isa == "avx2" and _engine.instruction_set() == "baseline":
        pytest.skip("this processor has no AVX2")
    environment = {**os.environ, "RINGCONV_NATIVE_ISA": isa}
    done = subprocess.run(
        [sys.executable, "-c", ISA.format(isa=isa)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@helpers.scripts
def test_refusals() -> None:
    x, w = torch.randn(1, 2, 8, 80), torch.randn(2, 2, 3, 65)
    with pytest.raises(ValueError, match="algorithm='native' cannot compute this: a kernel of 3 × 65 taps"):
        RF.ring_conv2d(x, w, algorithm="native")
    with pytest.raises(ValueError, match=r"not torch.float64 on cpu; use algorithm='auto'"):
        RF.ring_conv2d(x.double(), w.double(), algorithm="native")
    with pytest.raises(ValueError, match="reverse-mode derivatives only"):
        torch.func.jvp(lambda x: RF.ring_conv2d(x, w[..., :3], algorithm="native"), (x,), (x,))


def test_without_an_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation without it says so where it is asked for by name, and does without it elsewhere."""
    monkeypatch.setattr(_engine, "library", lambda: None)
    x, w = torch.randn(1, 2, 8, 8), torch.randn(2, 2, 3, 3)
    with pytest.raises(ValueError, match="no native engine"):
        RF.ring_conv2d(x, w, algorithm="native")
    assert _engine.instruction_set() is None
    assert RF.ring_conv2d(x, w).shape == x.shape
