"""The checks that the suite is made of. ``test_mutants.py`` breaks the library and sees each of them fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import scipy.fft
import torch
from hypothesis import assume
from hypothesis import strategies as st
from torch import Tensor

from ringconv import functional as RF
from ringconv import spectral

from . import oracle

HEIGHTS = ("symmetric", "zeros", "replicate", "reflect", "circular", "valid")
ALGORITHMS = ("direct", "spectral")
# torch's own forward mode and its compiler use its scripting, which says that it is deprecated.
scripts = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
# A trace holds for the sizes that it was made with; where a size was looked at it says so.
traces = pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")

Pair = tuple[int, int]


def close(actual: Tensor, expected: Any, tolerance: float = 1e-12) -> None:
    """The same shape, and no entry further off than ``tolerance`` of the largest one expected."""
    expected = torch.as_tensor(expected)
    assert actual.shape == expected.shape, f"{tuple(actual.shape)} is not {tuple(expected.shape)}"
    if expected.numel():
        error = (actual.to(expected.dtype) - expected).abs().max().item()
        largest = expected.abs().max().item()
        assert error <= tolerance * max(largest, 1e-30), f"off by {error} where the largest entry is {largest}"


def same(actual: Tensor, expected: Tensor) -> None:
    """The same to the last bit."""
    assert actual.dtype == expected.dtype
    assert torch.equal(actual, expected), f"off by {(actual - expected).abs().max()}"


def images(*shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(shape, dtype=dtype)


def whole(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Small whole numbers: their sums are exact in any order, so that equality to the last bit means equality."""
    return torch.randint(-4, 5, shape).to(dtype)


def channels_last(x: Tensor) -> bool:
    return x.is_contiguous(memory_format=torch.channels_last) and not x.is_contiguous()


@dataclass(frozen=True)
class Case:
    """One configuration of a correlation: ``Case("k > W", size=(5, 4), kernel=(3, 9))``."""

    name: str = "drawn"
    size: Pair = (5, 6)
    kernel: Pair = (3, 3)
    stride: Pair = (1, 1)
    padding: str | int | Pair = "same"
    dilation: Pair = (1, 1)
    groups: int = 1
    height: str = "symmetric"
    channels: Pair = (2, 3)
    batch: int = 2

    def __str__(self) -> str:
        return self.name

    def x(self, dtype: torch.dtype = torch.float64) -> Tensor:
        return torch.randn(self.batch, self.channels[0] * self.groups, *self.size, dtype=dtype)

    def weight(self, dtype: torch.dtype = torch.float64) -> Tensor:
        return torch.randn(self.channels[1] * self.groups, self.channels[0], *self.kernel, dtype=dtype)

    def bias(self, dtype: torch.dtype = torch.float64) -> Tensor:
        return torch.randn(self.channels[1] * self.groups, dtype=dtype)

    @property
    def pads(self) -> Pair:
        return oracle.paddings(self.kernel[0], self.dilation[0], self.padding, self.height)

    @property
    def rows(self) -> int:
        """Rows at which the kernel can stand, before the stride."""
        return self.size[0] + sum(self.pads) - self.dilation[0] * (self.kernel[0] - 1)

    @property
    def geometry(self) -> dict[str, Any]:
        names = ("stride", "padding", "dilation", "groups", "height")
        return {name: getattr(self, name) for name in names}

    def correlate(self, x: Tensor, weight: Tensor, bias: Tensor | None = None, algorithm: str = "direct") -> Tensor:
        return RF.ring_conv2d(x, weight, bias, **self.geometry, algorithm=algorithm)

    def adjoint(self, y: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        """The adjoint onto images of this case's own size."""
        over = (self.rows - 1) % self.stride[0]
        return RF.ring_conv_transpose2d(y, weight, bias, output_padding=over, **self.geometry)


CASES = [
    Case("plain"),
    Case("even kernel", kernel=(4, 2)),
    Case("k = 1", kernel=(1, 1)),
    Case("k > W", size=(5, 4), kernel=(3, 11)),
    Case("k > H", size=(3, 4), kernel=(9, 3)),
    Case("W = 1", size=(5, 1)),
    Case("H = 1", size=(1, 6)),
    Case("one pixel, long kernel", size=(1, 1), kernel=(4, 5)),
    Case("stride", size=(7, 12), kernel=(4, 5), stride=(3, 4)),
    Case("stride > k", size=(7, 8), kernel=(2, 1), stride=(3, 4)),
    Case("dilation", dilation=(2, 3)),
    Case("dilation, even kernel", kernel=(2, 4), dilation=(3, 3)),
    Case("groups", groups=3),
    Case("depthwise", groups=4, channels=(1, 1)),
    Case("padding (top, bottom)", padding=(3, 0), kernel=(4, 3)),
    Case("taller than the image", padding=4, stride=(2, 1)),
    Case("shorter than the image", padding=(0, 1), kernel=(3, 5)),
    Case("everything", (6, 12), (4, 7), (2, 3), (5, 2), (2, 2), 2),
]


def fits(case: Case) -> bool:
    """``valid`` adds no rows: the kernel must fit and the padding must be left out."""
    return case.rows >= 1 and (case.height != "valid" or case.padding == "same")


def with_heights(cases: list[Case]) -> list[Any]:
    """Every case under every height rule, named for both."""
    both = [replace(case, height=height) for case in cases for height in HEIGHTS]
    return [pytest.param(case, id=f"{case.name}, {case.height}") for case in both if fits(case)]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Any configuration at all, small enough for the oracle."""
    pairs = {name: (draw(st.integers(1, most)), draw(st.integers(1, most))) for name, most in _MOST.items()}
    height = draw(st.sampled_from(HEIGHTS))
    pads = st.integers(0, 4)
    padding = draw(st.one_of(st.just("same"), pads, st.tuples(pads, pads))) if height != "valid" else "same"
    size = draw(st.integers(1, 6)), pairs["stride"][1] * draw(st.integers(1, 4))
    case = Case(size=size, padding=padding, height=height, groups=draw(st.integers(1, 2)), batch=1, **pairs)
    assume(case.rows >= 1)
    return case


_MOST = {"kernel": 5, "stride": 3, "dilation": 3, "channels": 2}


def check_correlation(case: Case, algorithm: str) -> None:
    """The library's correlation is the formula's, in float64."""
    x, w, b = case.x(), case.weight(), case.bias()
    close(case.correlate(x, w, b, algorithm), oracle.correlate(x.numpy(), w.numpy(), b.numpy(), **case.geometry))


def check_adjoint(case: Case) -> None:
    """⟨Ax, y⟩ = ⟨x, Aᵀy⟩, on the scale of ‖Ax‖ ‖y‖."""
    x, w = case.x(), case.weight()
    Ax = case.correlate(x, w)
    y = torch.randn_like(Ax)
    Ay = case.adjoint(y, w)
    assert Ay.shape == x.shape
    assert abs((Ax * y).sum() - (x * Ay).sum()) <= 1e-12 * Ax.norm() * y.norm()


def check_adjoint_matrix(case: Case) -> None:
    """The library's adjoint is the transpose of the oracle's dense matrix."""
    w = case.weight()
    y = torch.randn_like(case.correlate(case.x(), w))
    close(case.adjoint(y, w), oracle.correlate_adjoint(y.numpy(), w.numpy(), case.size, **case.geometry))


def check_roll(f: Callable[[Tensor], Tensor], x: Tensor, ratio: tuple[int, int] = (1, 1), tolerance: float = 0) -> None:
    """Rolling ``x`` by ``ratio[0]`` columns rolls the result by ``ratio[1]``; to the last bit unless told otherwise."""
    y = f(x)
    for times in range(1, x.shape[-1] // ratio[0] + 1):
        rolled, expected = f(x.roll(times * ratio[0], -1)), y.roll(times * ratio[1], -1)
        close(rolled, expected, tolerance) if tolerance else same(rolled, expected)


def check_trig(name: str, form: str, n: int) -> None:
    """A cosine or sine transform is SciPy's without normalisation, to 1e-12 in float64."""
    x = torch.randn(3, n, dtype=torch.float64)
    transform = {"dct": scipy.fft.dct, "dst": scipy.fft.dst}[name[:3]]
    close(getattr(spectral, name)(x, form=form), transform(x.numpy(), type=int(name[3]), axis=-1))


def check_pad(x: Tensor, sides: tuple[int, int, int, int], height: str) -> None:
    """``ring_pad`` is NumPy's padding: ``wrap`` along the width, the height rule by its NumPy name along the height."""
    left, right, top, bottom = sides
    mode: Any = {"zeros": "constant", "replicate": "edge", "circular": "wrap"}.get(height, height)
    rows = np.pad(x.numpy(), [(0, 0)] * (x.ndim - 2) + [(top, bottom), (0, 0)], mode=mode)
    expected = np.pad(rows, [(0, 0)] * (x.ndim - 1) + [(left, right)], mode="wrap")
    same(RF.ring_pad(x, sides, height=height), torch.from_numpy(expected))


def check_derivatives(f: Callable[..., Tensor], *inputs: Tensor, second: bool = True) -> None:
    """First derivatives, both modes, and second derivatives are those of finite differences."""
    inputs = tuple(x.detach().requires_grad_() for x in inputs)
    assert torch.autograd.gradcheck(f, inputs, fast_mode=True)
    assert not second or torch.autograd.gradgradcheck(f, inputs, fast_mode=True)


def check_compiled(f: Callable[[Tensor], Tensor], *xs: Tensor, backend: str = "eager", tolerance: float = 0) -> None:
    """One unbroken graph per size, that says what ``f`` says for every ``x``; sizes that changed must recompile."""
    torch.compiler.reset()
    compiled = torch.compile(f, backend=backend, fullgraph=True)
    for x in xs:
        close(compiled(x), f(x), tolerance)


def check_exported(f: Callable[[Tensor], Tensor], x: Tensor, tolerance: float = 0) -> None:
    """Exported once with an open batch, right for batches never seen."""

    class Exported(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return f(x)

    program = torch.export.export(Exported(), (x,), dynamic_shapes=({0: torch.export.Dim("batch")},)).module()
    for times in (1, 3):
        more = torch.cat([x.flip(0)] * times)
        close(program(more), f(more), tolerance)


def check_vmap(f: Callable[[Tensor], Tensor], xs: Tensor, tolerance: float = 0) -> None:
    """``torch.func.vmap`` is the loop over the first dimension."""
    close(torch.func.vmap(f)(xs), torch.stack([f(x) for x in xs]), tolerance)


def check_jvp(f: Callable[[Tensor], Tensor], x: Tensor) -> None:
    """``torch.func.jvp`` is the central difference."""
    t = torch.randn_like(x)
    slope = torch.func.jvp(f, (x,), (t,))[1]
    close(slope, (f(x + 1e-5 * t) - f(x - 1e-5 * t)) / 2e-5, 1e-8)


def check_layouts(f: Callable[[Tensor], Tensor], x: Tensor, tolerance: float = 0) -> None:
    """Strides, a missing or an empty batch change no value; rows that lie dense stay so, channels that lie last too."""
    y = f(x)
    assert y.is_contiguous()
    last = f(x.contiguous(memory_format=torch.channels_last))
    assert channels_last(last)
    close(last, y, tolerance)
    close(f(x.transpose(-1, -2).contiguous().transpose(-1, -2)), y, tolerance)
    close(f(torch.stack([x, -x], -1)[..., 0]), y, tolerance)
    close(f(x[0]), y[0], tolerance)
    assert f(x[:0]).shape == (0, *y.shape[1:])


def check_empty_batch_learns(f: Callable[[Tensor], Tensor], x: Tensor, *parameters: Tensor) -> None:
    """A batch of nothing gives every parameter a gradient of zeros."""
    x = x[:0].requires_grad_()
    for got in torch.autograd.grad(f(x).sum(), (x, *parameters)):
        assert not got.count_nonzero()
