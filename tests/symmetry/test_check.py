"""The checker: sound models pass, broken ones are named where they were broken, none is changed by being checked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import ringconv as rc
from ringconv.symmetry import Report, causes

WIDTH = 32


class Do(nn.Module):
    """A function as a module."""

    def __init__(self, f: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.f = f

    def forward(self, x: Tensor) -> Tensor:
        return self.f(x)


class Table(nn.Module):
    def __init__(self, *shape: int) -> None:
        super().__init__()
        self.position = nn.Parameter(torch.randn(shape))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.position


class Coordinates(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        columns = torch.linspace(-1, 1, x.shape[-1]).expand(x.shape[0], 1, *x.shape[-2:])
        return torch.cat([x[:, :3], columns], 1)


class AlongTheRing(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.GRU(4, 4, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        y, _ = self.rnn(x.mean(-2).transpose(1, 2))
        return y.transpose(1, 2).unsqueeze(-2)


def write_a_column(x: Tensor) -> Tensor:
    y = x.clone()
    y[..., 0] = 0
    return y


def noisy_norm() -> nn.Module:
    norm = nn.LayerNorm((8, WIDTH))
    nn.init.normal_(norm.weight)
    return norm


def still_grid(x: Tensor) -> Tensor:
    theta = torch.tensor([[1.0, 0, 0.3], [0, 1, 0]]).expand(x.shape[0], 2, 3)
    return F.grid_sample(x, F.affine_grid(theta, list(x.shape), align_corners=False), align_corners=False)


# name: what is planted behind a ring convolution (4 channels, 8 × 32), its cause, the function that is to be named.
PLANTED: dict[str, tuple[Callable[[], nn.Module], str, str]] = {
    "zero padding": (lambda: nn.Conv2d(4, 4, 3, padding=1), causes.ZEROS, "conv2d"),
    "'same' padding": (lambda: nn.Conv2d(4, 4, 5, padding="same"), causes.ZEROS, "conv2d"),
    "depthwise": (lambda: nn.Conv2d(4, 4, 7, padding=3, groups=4), causes.ZEROS, "conv2d"),
    "F.pad": (lambda: Do(lambda x: F.pad(x, (1, 1, 1, 1))), causes.ZEROS, "pad"),
    "ZeroPad2d": (lambda: nn.ZeroPad2d((0, 1, 0, 1)), causes.ZEROS, "pad"),
    "ReflectionPad2d": (lambda: nn.ReflectionPad2d(2), causes.PADDING, "pad"),
    "padding_mode": (lambda: nn.Conv2d(4, 4, 3, padding=1, padding_mode="replicate"), causes.PADDING, "pad"),
    "no padding": (lambda: nn.Conv2d(4, 4, 3), causes.NO_PADDING, "conv2d"),
    "too little padding": (
        lambda: nn.Sequential(nn.CircularPad2d(1), nn.Conv2d(4, 4, 5)),
        causes.NO_PADDING,
        "conv2d",
    ),
    "stride 3 on 32": (lambda: nn.Conv2d(4, 4, 3, 3), causes.STRIDE, "conv2d"),
    "adaptive pool": (lambda: nn.AdaptiveAvgPool2d((4, 5)), causes.STRIDE, "adaptive_avg_pool2d"),
    "max pool": (lambda: nn.MaxPool2d(3, 2, 1), causes.POOL, "max_pool2d"),
    "average pool": (lambda: nn.AvgPool2d(3, 1, 1), causes.POOL, "avg_pool2d"),
    "transposed convolution": (lambda: nn.ConvTranspose2d(4, 4, 4, 2, 1), causes.ZEROS, "conv_transpose2d"),
    "bilinear": (lambda: nn.Upsample(scale_factor=2, mode="bilinear"), causes.RESAMPLE, "interpolate"),
    "align_corners": (lambda: nn.UpsamplingBilinear2d(scale_factor=2), causes.CORNERS, "interpolate"),
    "grid_sample": (lambda: Do(still_grid), causes.RESAMPLE, "grid_sample"),
    "unfold": (lambda: nn.Unfold(3, padding=1), causes.ZEROS, "unfold"),
    "flatten": (lambda: nn.Sequential(nn.Flatten(), nn.Linear(4 * 8 * WIDTH, 6)), causes.LINEAR, "linear"),
    "matmul": (lambda: Do(lambda x: x @ torch.ones(WIDTH, WIDTH).tril()), causes.LINEAR, "matmul"),
    "position table": (lambda: Table(1, 4, 8, WIDTH), causes.TABLE, "add"),
    "one row of a table": (lambda: Table(1, 1, 1, WIDTH), causes.TABLE, "add"),
    "coordinates": (Coordinates, causes.TABLE, "cat"),
    "LayerNorm over the image": (noisy_norm, causes.TABLE, "layer_norm"),
    "a crop": (lambda: Do(lambda x: x[..., 1:]), causes.COLUMNS, "getitem"),
    "a written column": (lambda: Do(write_a_column), causes.COLUMNS, "setitem"),
    "a running sum": (lambda: Do(lambda x: x.cumsum(-1)), causes.ORDER, "cumsum"),
    "a recurrence": (AlongTheRing, causes.ORDER, "gru"),
    "a sort": (lambda: Do(lambda x: x.sort(-1)[0] + x), causes.UNKNOWN, "add"),
}


def planted(make: Callable[[], nn.Module]) -> nn.Module:
    """A ring convolution, an activation, and what is planted."""
    model = nn.Sequential()
    model.add_module("sound", rc.nn.RingConv2d(3, 4, 3))
    model.add_module("relu", nn.ReLU())
    model.add_module("planted", make())
    return model


def x(width: int = WIDTH) -> Tensor:
    return torch.randn(2, 3, 8, width)


@pytest.mark.parametrize("name", PLANTED)
def test_the_planted_culprit_is_named(name: str) -> None:
    make, cause, function = PLANTED[name]
    report = rc.check(planted(make), x())
    assert report.symmetry == "neither"
    assert report.stride is None
    assert report.shifts == "none"
    assert report.first is not None
    assert (report.first.cause, report.first.function) == (cause, function)
    assert report.first.module.split(".")[0] == "planted"
    assert cause in causes.CAUSES
    assert report.error > 1e-3
    assert all(layer.error < 1e-5 for layer in report.layers if layer.name in ("sound", "relu"))
    assert report.layers[-1].symmetry == "neither"


def test_the_first_is_named_and_not_what_comes_behind() -> None:
    model = nn.Sequential(rc.nn.RingConv2d(3, 4, 3), nn.MaxPool2d(3, 1, 1), nn.Conv2d(4, 4, 3, padding=1), nn.Flatten())
    report = rc.check(model, x())
    assert report.first is not None
    assert (report.first.module, report.first.type, report.first.cause) == ("1", "MaxPool2d", causes.POOL)
    assert str(report.first).startswith("pooling window over the seam: 1 (MaxPool2d), max_pool2d: windows of 3 with")


class Windows(nn.Module):
    """Cuts the image into windows and puts them together again: broken in between, sound at the end."""

    def forward(self, x: Tensor) -> Tensor:
        b, c, h, w = x.shape
        y = x.reshape(b, c, h, w // 4, 4).permute(3, 0, 1, 2, 4).flatten(0, 1)
        return (y - y.mean(-1, keepdim=True)).reshape(w // 4, b, c, h, 4).permute(1, 2, 3, 0, 4).flatten(-2)


class Attention(nn.Module):
    """Every column looks at every other, and at no position."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(4, 12)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x.flatten(-2).transpose(1, 2)).chunk(3, -1)
        y = torch.softmax(q @ k.transpose(1, 2), -1) @ v
        return y.transpose(1, 2).unflatten(-1, x.shape[-2:])


SOUND: dict[str, tuple[Callable[[], nn.Module], str, int]] = {
    "ring layers": (lambda: rc.nn.RingConv2d(3, 4, 5), "equivariant", 1),
    "stride": (lambda: nn.Sequential(rc.nn.RingConv2d(3, 4, 3, 2), rc.nn.RingMaxPool2d(2)), "equivariant", 4),
    "down and up": (
        lambda: nn.Sequential(rc.nn.RingConv2d(3, 4, 3, 4), rc.nn.RingUpsample(scale_factor=4)),
        "equivariant",
        4,
    ),
    "patches without overlap": (lambda: nn.Conv2d(3, 4, 4, 4), "equivariant", 4),
    "a pool without overlap": (lambda: nn.MaxPool2d(2), "equivariant", 2),
    "circular padding": (lambda: nn.Conv2d(3, 4, 3, padding=1, padding_mode="circular"), "equivariant", 1),
    "nearest": (lambda: nn.Upsample(scale_factor=2), "equivariant", 1),
    "global pool": (
        lambda: nn.Sequential(rc.nn.RingConv2d(3, 4, 3, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 5)),
        "invariant",
        2,
    ),
    "row maximum": (lambda: Do(lambda x: x.amax(-1)), "invariant", 1),
    "per column": (lambda: Do(lambda x: x.mean((1, 2))), "equivariant", 1),
    "columns are no channel": (lambda: Do(lambda x: x.permute(0, 3, 1, 2)), "equivariant", 1),
    "broken in between": (lambda: nn.Sequential(rc.nn.RingConv2d(3, 4, 3), Windows()), "equivariant", 4),
    "attention": (lambda: nn.Sequential(rc.nn.RingConv2d(3, 4, 3), Attention()), "equivariant", 1),
    "a table of rows": (lambda: Table(1, 3, 8, 1), "equivariant", 1),
    "a table of period 8": (lambda: Do(lambda x: x + torch.arange(8.0).repeat(4)), "equivariant", 8),
    "several outputs": (lambda: Do(lambda x: {"y": x, "most": x.amax((-2, -1))}), "equivariant", 1),  # type: ignore[arg-type,return-value]
    "infinite": (lambda: Do(lambda x: x.masked_fill(x < 0, float("-inf"))), "equivariant", 1),
    "a mirror, which half a turn commutes with": (lambda: Do(lambda x: x.flip(-1)), "equivariant", WIDTH // 2),
    "complex": (lambda: Do(lambda x: torch.complex(x, x)), "equivariant", 1),
    "constant": (lambda: Do(torch.zeros_like), "equivariant", 1),
}


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_model_has_no_culprit(name: str) -> None:
    make, symmetry, stride = SOUND[name]
    report = rc.check(make(), x())
    assert report.first is None
    assert (report.symmetry, report.stride) == (symmetry, stride)
    assert report.shifts == ("all" if stride == 1 else f"multiples of {stride}")
    assert report.error < 1e-5
    assert "first to break: none" in str(report)


def test_each_layer_has_its_stride_shape_and_profile() -> None:
    model = nn.Sequential(rc.nn.RingConv2d(3, 4, 3, 2), nn.Upsample(scale_factor=4), nn.Conv2d(4, 2, 3, padding=1))
    down, up, broken, whole = rc.check(model, x()).layers
    assert [layer.name for layer in (down, up, broken, whole)] == ["0", "1", "2", ""]
    assert (down.shape, down.stride, up.stride) == ((2, 4, 4, 16), 2, 0.5)
    assert len(up.profile) == 64
    assert len(broken.profile) == 64
    assert max(broken.profile) <= broken.error


def test_the_profile_shows_both_seams() -> None:
    """That of the image, and that of the turned one where it lies in the image."""
    (broken, _) = rc.check(nn.Sequential(nn.Conv2d(3, 2, 3, padding=1)), x(), rolls=[12]).layers
    assert {j for j, error in enumerate(broken.profile) if error > 1e-4} == {0, 31, 19, 20}
    assert max(broken.profile) == pytest.approx(broken.error)


def test_a_function_and_rolls_of_ones_own() -> None:
    report = rc.check(lambda x: x[..., ::2], x(), rolls=[4, -8])
    assert (report.rolls, report.stride, report.layers) == ((4, -8), 2, ())
    broken = rc.check(lambda x: F.pad(x, (1, 0))[..., :-1], x(), rolls=[5])
    assert str(broken.first).startswith("zero padding in W: <lambda>, pad: F.pad puts 1 and 0 columns of 0")


def test_tolerance_follows_the_dtype() -> None:
    layer = rc.nn.RingConv2d(3, 4, 3)
    assert rc.check(layer.double(), x().double()).tolerance == 1e-9
    assert rc.check(layer.bfloat16(), x().bfloat16()).tolerance > 1e-3
    assert rc.check(nn.Conv2d(3, 4, 3, padding=1), x(), tolerance=1e3).first is None


def test_a_report_is_json_a_table_and_a_picture(tmp_path: Path) -> None:
    from rich.console import Console

    report = rc.check(planted(PLANTED["zero padding"][0]), x())
    data = json.loads(report.to_json())
    assert data["first"]["module"] == "planted"
    assert data["shifts"] == "none"
    assert [layer["name"] for layer in data["layers"]] == ["sound", "relu", "planted", ""]
    console = Console(record=True, width=120)
    console.print(report.table())
    printed = console.export_text()
    assert all(word in printed for word in ("sound", "planted", "zero padding in W", "2×4×8×32"))
    path = report.picture(tmp_path / "check.svg")
    drawn = path.read_text()
    assert drawn.startswith("<?xml")
    assert path.stat().st_size > 5000
    report.picture(tmp_path / "check.png")
    with pytest.raises(ValueError, match="none of 0 layers has a ring to draw"):
        rc.check(lambda x: x.sum((1, 2, 3)), x()).picture(tmp_path / "none.svg")


class Restless(nn.Module):
    """Changes all that a forward may change."""

    def __init__(self, fails: int) -> None:
        super().__init__()
        self.norm, self.drop, self.calls, self.fails = nn.BatchNorm2d(3), nn.Dropout(), 0, fails
        self.register_buffer("seen", torch.zeros(()))
        self.register_buffer("nothing", None)
        self.drop.eval()

    def forward(self, x: Tensor) -> Tensor:
        self.seen += 1
        self.nothing = torch.ones(1)
        self.calls += 1
        torch.rand(3)
        if self.calls == self.fails:
            raise RuntimeError("as planned")
        return self.drop(self.norm(x))


@pytest.mark.parametrize("fails", [0, 1, 3])
def test_the_model_is_left_as_it_was(fails: int) -> None:
    model = Restless(fails).train()
    model.drop.eval()
    state = {name: value.clone() for name, value in model.state_dict().items()}
    images = x()
    buffer = model.seen
    random = torch.get_rng_state()
    if fails:
        with pytest.raises(RuntimeError, match="as planned"):
            rc.check(model, images)
    else:
        rc.check(model, images)
    assert model.training
    assert not model.drop.training
    assert model.seen is buffer
    assert model.nothing is None
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    assert torch.equal(torch.get_rng_state(), random)
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())
    assert not torch.overrides._get_current_function_mode_stack()


def test_what_cannot_be_followed_is_unknown() -> None:
    """NumPy in between: no function is seen that broke it."""

    def numpy(x: Tensor) -> Tensor:
        return torch.from_numpy(x.numpy().cumsum(-1))

    report = rc.check(numpy, x())
    assert report.first is not None
    assert (report.first.cause, report.first.function) == (causes.UNKNOWN, "forward")


@pytest.mark.parametrize(
    ("input", "options", "message"),
    [
        (torch.zeros(3, 4, 4), {}, r"input must be \(B, C, H, W\).*got \(3, 4, 4\)"),
        (torch.zeros(0, 3, 4, 4), {}, ".* with B >= 1"),
        (torch.zeros(1, 3, 4, 1), {}, ".* and W >= 2"),
        (torch.zeros(1, 3, 4, 4), {"rolls": [4]}, r"rolls=\[4\] must be integers that are no multiples of W=4"),
        (torch.zeros(1, 3, 4, 4), {"rolls": [1.5]}, r"rolls=\[1.5\] must be integers"),
    ],
)
def test_bad_input_by_name(input: Tensor, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"check: {message}"):
        rc.check(nn.Identity(), input, **options)


def test_report_is_public() -> None:
    assert isinstance(rc.check(nn.Identity(), x()), Report)
