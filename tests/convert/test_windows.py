"""Seam-free functions against the oracle of this file: torch's own function on three copies of the ring.

On copies of the ring side by side torch's function, whatever its padding, sees no seam in the middle copy: what it
says there is what the seam-free function must say everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from ringconv.convert import windows

from ..helpers import check_derivatives, close, same

COPIES = 7


def middle(f: Callable[[Tensor], Tensor], x: Tensor, ratio: float) -> Tensor:
    """What ``f`` says about the middle one of copies of the ring; ``ratio`` is the columns of output per input."""
    width = round(x.shape[-1] * ratio)
    return f(torch.cat([x] * COPIES, -1))[..., COPIES // 2 * width :][..., :width]


CONVOLUTIONS = [
    {"kernel": k, "stride": s, "padding": p, "dilation": d, "groups": g}
    for k, s, p, d, g in [
        ((3, 3), (1, 1), (1, 1), (1, 1), 1),
        ((3, 3), (2, 2), (1, 1), (1, 1), 1),
        ((7, 7), (2, 2), (3, 3), (1, 1), 1),
        ((3, 5), (1, 1), (0, 0), (1, 1), 1),
        ((4, 4), (4, 4), (0, 0), (1, 1), 1),
        ((4, 4), (2, 2), (1, 1), (1, 1), 2),
        ((1, 1), (2, 2), (0, 0), (1, 1), 1),
        ((1, 1), (1, 1), (1, 1), (1, 1), 1),
        ((1, 1), (4, 4), (3, 3), (1, 1), 1),
        ((3, 3), (1, 1), (6, 6), (6, 6), 1),
        ((3, 3), (1, 1), (18, 18), (18, 18), 2),
        ((2, 4), (1, 2), (1, 3), (2, 1), 1),
        ((3, 2), (1, 3), "valid", (1, 1), 1),
        ((4, 6), (1, 1), "same", (1, 1), 1),
        ((3, 3), (1, 1), "same", (3, 2), 1),
    ]
]


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel:UserWarning")  # of torch's own
@pytest.mark.parametrize("case", CONVOLUTIONS, ids=lambda case: "-".join(str(value) for value in case.values()))
def test_conv2d(case: dict[str, Any]) -> None:
    x = torch.randn(2, 4, 9, 12, dtype=torch.float64)
    w = torch.randn(6, 4 // case["groups"], *case["kernel"], dtype=torch.float64)
    b = torch.randn(6, dtype=torch.float64)
    options = case["stride"], case["padding"], case["dilation"], case["groups"]
    y = windows.conv2d(x, w, b, *options)
    close(y, middle(lambda x: F.conv2d(x, w, b, *options), x, 1 / case["stride"][1]))
    check_derivatives(lambda x, w, b: windows.conv2d(x, w, b, *options), x[:1, :, :4], w, b, second=False)
    assert windows.conv2d(x[0], w, b, *options).shape == y.shape[1:]


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_conv2d_keeps_the_rows_of_other_modes(mode: str) -> None:
    x, w = torch.randn(2, 3, 7, 8, dtype=torch.float64), torch.randn(4, 3, 5, 3, dtype=torch.float64)

    def padded(x: Tensor) -> Tensor:
        return F.conv2d(F.pad(x, (1, 1, 2, 2), mode=mode), w)

    close(windows.conv2d(x, w, padding=(2, 1), mode=mode), middle(padded, x, 1))


TRANSPOSED = [
    ((4, 4), (2, 2), (1, 1), (0, 0), (1, 1), 1),
    ((2, 2), (2, 2), (0, 0), (0, 0), (1, 1), 1),
    ((3, 3), (2, 2), (1, 1), (1, 1), (1, 1), 2),
    ((3, 3), (1, 1), (1, 1), (0, 0), (1, 1), 1),
    ((3, 3), (2, 2), (0, 0), (0, 0), (1, 1), 1),
    ((1, 1), (3, 3), (0, 0), (0, 0), (1, 1), 1),
    ((1, 4), (1, 2), (0, 1), (0, 0), (1, 1), 1),
    ((5, 5), (3, 3), (4, 4), (2, 1), (1, 1), 1),
    ((3, 3), (2, 2), (2, 2), (1, 1), (2, 2), 1),
    ((6, 9), (2, 2), (1, 5), (0, 0), (1, 1), 1),
]


@pytest.mark.parametrize("case", TRANSPOSED, ids=str)
def test_conv_transpose2d(case: tuple[Any, ...]) -> None:
    kernel, stride, padding, more, dilation, groups = case
    x = torch.randn(2, 4, 5, 6, dtype=torch.float64)
    w = torch.randn(4, 3, *kernel, dtype=torch.float64)
    b = torch.randn(3 * groups, dtype=torch.float64)
    options = stride, padding, more, groups, dilation
    y = windows.conv_transpose2d(x, w, b, *options)
    close(y, middle(lambda x: F.conv_transpose2d(x, w, b, *options), x, stride[1]))
    check_derivatives(lambda x, w: windows.conv_transpose2d(x, w, None, *options), x[:1, :, :3], w, second=False)


POOLS = [
    ((3, 3), (2, 2), (1, 1), (1, 1)),
    ((2, 2), None, (0, 0), (1, 1)),
    ((3, 3), (1, 1), (1, 1), (1, 1)),
    ((3, 3), (2, 2), (0, 0), (1, 1)),
    ((2, 3), (1, 3), (1, 1), (2, 2)),
    ((1, 1), (2, 2), (0, 0), (1, 1)),
]


@pytest.mark.parametrize(("case", "ceil"), list(product(POOLS, [False, True])), ids=str)
def test_pools(case: tuple[Any, ...], ceil: bool) -> None:
    kernel, stride, padding, dilation = case
    x = torch.randn(2, 3, 8, 12, dtype=torch.float64)
    ratio = 1 / (stride or kernel)[1]
    options = kernel, stride, padding, dilation, ceil
    y, indices = windows.max_pool2d(x, *options, return_indices=True)
    same(y, middle(lambda x: F.max_pool2d(x, *options), x, ratio))
    same(windows.max_pool2d(x, *options), y)
    same(x.flatten(-2).gather(-1, indices.flatten(-2)), y.flatten(-2))
    if dilation == (1, 1):
        for count, divisor in [(True, None), (False, None), (True, 5)]:
            average = kernel, stride, padding, ceil, count, divisor
            close(windows.avg_pool2d(x, *average), middle(lambda x, a=average: F.avg_pool2d(x, *a), x, ratio))
        power = 3.0, kernel, stride, ceil
        positive = x.abs()
        close(windows.lp_pool2d(positive, *power), middle(lambda x: F.lp_pool2d(x, *power), positive, ratio))


@pytest.mark.parametrize(
    "case", [((3, 3), 1, 1, 1), ((3, 3), 1, 1, 2), (2, 1, 0, 2), ((2, 4), 2, (1, 3), (1, 3))], ids=str
)
def test_unfold_and_fold_are_adjoint(case: tuple[Any, ...]) -> None:
    x = torch.randn(2, 3, 6, 12, dtype=torch.float64)
    y = windows.unfold(x, *case)
    stride = windows._pair(case[3])[1]
    whole = F.unfold(torch.cat([x] * COPIES, -1), *case)
    rows = y.shape[-1] // (12 // stride)
    close(y.unflatten(-1, (rows, -1)), whole.unflatten(-1, (rows, -1))[..., 36 // stride :][..., : 12 // stride])
    g = torch.randn_like(y)
    close((y * g).sum(), (x * windows.fold(g, (6, 12), *case)).sum())


def test_fold_of_few_taps_with_a_long_stride() -> None:
    """Where the last window ends before the ring does."""
    y = torch.randn(2, 3, 3 * 4, dtype=torch.float64)
    x = windows.fold(y, (3, 12), 1, 1, 0, (1, 3))
    same(x, F.fold(y, (3, 12), 1, 1, 0, (1, 3)))


RESIZED = [
    {"scale_factor": 2},
    {"scale_factor": (2.0, 3.0)},
    {"scale_factor": 0.5},
    {"scale_factor": (1.5, 1.5)},
    {"scale_factor": (1.3, 2.0)},
    {"scale_factor": (1.3, 2.0), "recompute_scale_factor": True},
    {"size": (12, 24)},
    {"size": 18},
    {"size": (5, 8)},
    {"size": (12, 6), "antialias": True},
    {"size": (3, 8), "antialias": True},
]


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic", "area", "nearest-exact"])
@pytest.mark.parametrize("case", RESIZED, ids=str)
def test_interpolate(case: dict[str, Any], mode: str) -> None:
    if "antialias" in case and mode not in ("bilinear", "bicubic"):
        return
    x = torch.randn(2, 3, 6, 12, dtype=torch.float64)
    y = windows.interpolate(x, mode=mode, **case)
    ratio = y.shape[-1] / 12
    wide = dict(case)
    if "size" in case:
        wide["size"] = (y.shape[-2], y.shape[-1] * COPIES)
    close(y, middle(lambda x: F.interpolate(x, mode=mode, **wide), x, ratio), 1e-10)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("case", [{"scale_factor": 2}, {"size": (12, 24)}], ids=str)
def test_aligned_corners_stay_with_the_height(mode: str, case: dict[str, Any]) -> None:
    x = torch.randn(2, 3, 6, 12, dtype=torch.float64)
    y = windows.interpolate(x, mode=mode, align_corners=True, **case)
    column = F.interpolate(x.mean(-1, keepdim=True), (12, 1), mode=mode, align_corners=True)
    close(y.mean(-1, keepdim=True), column)
    close(windows.interpolate(x.roll(5, -1), mode=mode, align_corners=True, **case), y.roll(10, -1))


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("align_corners", [False, True])
def test_grid_sample(mode: str, align_corners: bool) -> None:
    """A grid in units of the ring, read on it and on copies of it."""
    x = torch.randn(2, 3, 6, 8, dtype=torch.float64)
    columns = torch.rand(2, 5, 7, dtype=torch.float64) * 16 - 4
    rows = torch.rand(2, 5, 7, dtype=torch.float64) * 2.4 - 1.2

    def unit(columns: Tensor, width: int) -> Tensor:
        return 2 * columns / (width - 1) - 1 if align_corners else (2 * columns + 1) / width - 1

    def grid(columns: Tensor, width: int) -> Tensor:
        return torch.stack([unit(columns, width), rows], -1)

    y = windows.grid_sample(x, grid(columns, 8), mode, align_corners=align_corners)
    wide = grid(columns + 24, 56)
    close(y, F.grid_sample(torch.cat([x] * COPIES, -1), wide, mode, align_corners=align_corners), 1e-10)


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_padding_wraps_and_the_next_window_uses_it(mode: str) -> None:
    x, w = torch.randn(2, 3, 6, 8, dtype=torch.float64), torch.randn(4, 3, 3, 4, dtype=torch.float64)
    y = windows.pad(x, (1, 3, 2, 1), mode)
    same(y[:, :, 2:-1], torch.cat([x[..., -1:], x, x[..., :3]], -1))
    same(y[..., 1:-3], F.pad(x, (0, 0, 2, 1), mode))
    assert windows.margin_of(y) == (1, 3)
    z = windows.conv2d(y, w, stride=(1, 2), padding=(0, 1))
    copies = F.pad(torch.cat([x] * COPIES, -1), (1, 3, 2, 1), mode)
    close(z, middle(lambda _: F.conv2d(copies, w, stride=(1, 2), padding=(0, 1)), x, 0.5))
    pooled = windows.max_pool2d(windows.pad(x, (0, 1, 0, 1)), 3, 2)
    same(pooled, middle(lambda x: F.max_pool2d(F.pad(x, (0, 1, 0, 1)), 3, 2), x, 0.5)[..., : pooled.shape[-2], :])


def test_cutting_moves_the_ring_and_keeps_it_whole() -> None:
    x = torch.arange(6.0).expand(1, 1, 2, 6)
    assert windows.pad(x, (-1, -1))[0, 0, 0].tolist() == [1, 2, 3, 4, 5, 0]
    assert windows.pad(windows.pad(x, (2, 2)), (-1, -2))[0, 0, 0].tolist() == [5, 0, 1, 2, 3, 4, 5]
    shifted = windows.pad(x, (-1, 3))
    assert shifted[0, 0, 0].tolist() == [1, 2, 3, 4, 5, 0, 1, 2]
    assert windows.margin_of(shifted) == (0, 2)


def test_what_is_no_image_is_padded_as_ever() -> None:
    x = torch.randn(3, 4)
    same(windows.pad(x, (1, 2)), F.pad(x, (1, 2)))
    y = torch.randn(1, 2, 3, 4)
    same(windows.pad(y, (0, 0, 0, 0, 1, 1), value=2.0), F.pad(y, (0, 0, 0, 0, 1, 1), value=2.0))


@pytest.mark.parametrize("rule", ["symmetric", "reflect", "zeros"])
def test_another_rule_for_the_rows(rule: str) -> None:
    from ringconv.functional import ring_conv2d, ring_pad

    x, w = torch.randn(2, 3, 6, 8, dtype=torch.float64), torch.randn(4, 3, 3, 3, dtype=torch.float64)
    close(windows.conv2d(x, w, padding=1, height=rule), ring_conv2d(x, w, height=rule))
    same(windows.pad(x, (1, 1, 1, 2), height=rule), ring_pad(x, (1, 1, 1, 2), height=rule))
    if rule != "zeros":
        extended = ring_pad(x, (0, 0, 1, 1), height=rule)
        same(windows.max_pool2d(x, 3, 1, 1, height=rule), windows.max_pool2d(extended, 3, 1, (0, 1)))
        same(windows.avg_pool2d(x, 3, 1, 1, height=rule), windows.avg_pool2d(extended, 3, 1, (0, 1)))
        with pytest.raises(ValueError, match=f"max_pool2d: height='{rule}' gives rows that no index names"):
            windows.max_pool2d(x, 3, 1, 1, return_indices=True, height=rule)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("conv2d", lambda x: windows.conv2d(x, torch.ones(1, 3, 3, 3), stride=2, padding=1)),
        ("max_pool2d", lambda x: windows.max_pool2d(x, 2)),
        ("avg_pool2d", lambda x: windows.avg_pool2d(x, 2)),
        ("lp_pool2d", lambda x: windows.lp_pool2d(x, 2, 2)),
        ("unfold", lambda x: windows.unfold(x, 2, stride=2)),
        ("fold", lambda x: windows.fold(torch.ones(1, 4, 8), (2, 9), 2, stride=2)),
    ],
)
def test_an_uneven_ring_by_name(name: str, call: Callable[[Tensor], Tensor]) -> None:
    with pytest.raises(ValueError, match=f"{name}: a ring of W=9 samples cannot take stride s=2.*8 and 10"):
        call(torch.randn(1, 3, 6, 9))
