"""Conversion changes the class of a module and nothing else, and says what it did."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils import parametrizations, parametrize

import ringconv as rc
from ringconv.convert import windows

from ..helpers import check_compiled, check_exported, close, same, scripts, traces


def x(width: int = 16, channels: int = 4) -> Tensor:
    return torch.randn(2, channels, 8, width)


MODULES: dict[str, tuple[Callable[[], nn.Module], float]] = {
    "Conv2d": (lambda: nn.Conv2d(4, 6, 3, 2, 1), 0.5),
    "Conv2d, reflect": (lambda: nn.Conv2d(4, 6, 3, padding=1, padding_mode="reflect"), 1),
    "ConvTranspose2d": (lambda: nn.ConvTranspose2d(4, 6, 4, 2, 1), 2),
    "MaxPool2d": (lambda: nn.MaxPool2d(3, 2, 1), 0.5),
    "AvgPool2d": (lambda: nn.AvgPool2d(3, 2, 1, count_include_pad=False), 0.5),
    "LPPool2d": (lambda: nn.LPPool2d(2, 3, stride=2), 0.5),
    "Upsample": (lambda: nn.Upsample(scale_factor=2, mode="bicubic"), 2),
    "UpsamplingBilinear2d": (lambda: nn.UpsamplingBilinear2d(scale_factor=2), 2),
    "padding": (lambda: nn.Sequential(nn.ZeroPad2d((2, 1, 1, 1)), nn.ReLU(), nn.Conv2d(4, 6, (3, 4))), 1),
    "ReflectionPad2d": (lambda: nn.Sequential(nn.ReflectionPad2d(1), nn.MaxPool2d(3, 1)), 1),
    "ReplicationPad2d": (lambda: nn.Sequential(nn.ReplicationPad2d(1), nn.AvgPool2d(3, 1)), 1),
    "Unfold, Fold": (
        lambda: nn.Sequential(nn.Unfold(3, padding=1, stride=2), nn.Fold((8, 16), 3, padding=1, stride=2)),
        1,
    ),
}


@pytest.mark.parametrize("name", MODULES)
def test_each_module_turns_with_its_input(name: str) -> None:
    make, ratio = MODULES[name]
    model, images = make(), x()
    rows = model(images).shape[-2]
    model, report = rc.convert(model)
    assert report.converted
    assert not report.left
    y = model(images)
    assert y.shape[-2:] == (rows, 16 * ratio)
    close(model(images.roll(4, -1)), y.roll(round(4 * ratio), -1), 1e-6)
    with rc.seamless():
        close(model(images), y, 1e-6)
    with rc.seamless(enabled=False):
        assert not torch.equal(model(images), y)


@pytest.mark.parametrize("name", MODULES)
def test_converted_modules_are_copied_pickled_and_restored(name: str) -> None:
    model, images = MODULES[name][0](), x()
    before = model(images)
    model, _ = rc.convert(model)
    y = model(images)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        same(twin(images), y)
        assert repr(twin) == repr(model)
        same(rc.restore(twin)(images), before)
    same(model(images), y)


@scripts
@traces
def test_converted_modules_compile_export_and_trace() -> None:
    """One network that has them all: compiled, exported with an open batch, traced."""
    layers = [
        nn.Conv2d(4, 6, 3, 2, 1),
        nn.Upsample(scale_factor=2, mode="bicubic"),
        nn.AvgPool2d(3, 2, 1, count_include_pad=False),
        nn.Conv2d(6, 6, 3, padding=1, padding_mode="reflect"),
        nn.ConvTranspose2d(6, 4, 3, 2, 1, 1),
        nn.MaxPool2d(3, 1, 1),
        nn.LPPool2d(2, 2, 1),
    ]
    model, images = rc.convert(nn.Sequential(*layers).eval())[0], x()
    check_compiled(model, images, tolerance=1e-6)
    check_compiled(model[0], images, x(32), tolerance=1e-6)
    padding = rc.convert(nn.Sequential(nn.ZeroPad2d((2, 1, 1, 1)), nn.ReLU(), nn.Conv2d(4, 6, (3, 4))))[0]
    folding = rc.convert(MODULES["Unfold, Fold"][0]())[0]
    for each in (model, padding, folding):
        check_exported(each, images, 1e-6)
        traced = torch.jit.trace(each, images)
        close(traced(images.flip(0)), each(images.flip(0)), 1e-6)


def test_indices_of_a_pool_find_their_way_back() -> None:
    pool, unpool, images = rc.convert(nn.MaxPool2d(3, 2, 1, return_indices=True))[0], nn.MaxUnpool2d(2), x()
    y, indices = pool(images)
    back = unpool(y, indices, output_size=images.shape)
    assert torch.equal(back[back != 0].sort()[0].unique(), y.unique())
    rolled = unpool(*pool(images.roll(4, -1)), output_size=images.shape)
    same(rolled, back.roll(4, -1))


def test_output_size_chooses_the_height_alone() -> None:
    layer = nn.ConvTranspose2d(4, 3, 3, 2, 1)
    images = x()
    rows = layer(images, output_size=(16, 32)).shape[-2]
    layer = rc.convert(layer)[0]  # type: ignore[assignment]
    assert layer(images, output_size=(16, 32)).shape[-2:] == (rows, 32)
    assert layer(images, output_size=(15, 32)).shape[-2:] == (15, 32)
    with pytest.raises(ValueError, match="requested an output size"):
        layer(images, output_size=(40, 32))


def test_everything_of_a_module_stays() -> None:
    model = nn.Sequential(nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4), nn.Conv2d(4, 4, 3, padding=1))
    model[2].weight = model[0].weight  # tied
    model.add_module("again", model[0])  # shared
    model[0].register_forward_hook(lambda module, args, y: 2 * y)
    model[0].own = "attribute"
    model.double().eval()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    parts, parameters = list(model.modules()), list(model.parameters())
    converted, report = rc.convert(model)
    assert converted is model
    assert [id(part) for part in model.modules()] == [id(part) for part in parts]
    assert [id(p) for p in model.parameters()] == [id(p) for p in parameters]
    assert model[2].weight is model[0].weight
    assert model.again is model[0]  # type: ignore[comparison-overlap]
    assert model[0].own == "attribute"
    assert isinstance(model[0], nn.Conv2d)
    assert not model[0].training
    assert [entry.name for entry in report.converted] == ["0", "2"]
    images = x().double()
    plain = windows.conv2d(images, model[0].weight, model[0].bias, padding=1)
    close(model[0](images), 2 * plain)
    model(images).sum().backward()
    optimizer.step()
    assert all(p.grad is not None for p in model.parameters())
    twice, report = rc.convert(model)
    assert len(report.converted) == 2
    rc.restore(twice)
    assert {type(module) for module in model.modules()} == {nn.Sequential, nn.Conv2d, nn.BatchNorm2d}


@pytest.mark.parametrize(
    "parametrized",
    [
        lambda m: parametrizations.weight_norm(m),
        lambda m: parametrizations.spectral_norm(m),
        lambda m: nn.utils.spectral_norm(m),
    ],
    ids=["weight norm", "spectral norm", "spectral norm by hook"],
)
def test_parametrisations_stay_and_may_go(parametrized: Callable[[nn.Module], nn.Module]) -> None:
    layer = parametrized(nn.Conv2d(4, 6, 3, padding=1)).eval()
    keys, images, kind = set(layer.state_dict()), x(), type(layer).__name__
    before = layer(images)
    rc.convert(layer)
    assert set(layer.state_dict()) == keys
    y = layer(images)
    close(layer(images.roll(5, -1)), y.roll(5, -1), 1e-6)
    assert not torch.equal(y, before)
    with torch.no_grad():
        layer(images)  # leaves a weight without a history, which alone can be copied
    twin = copy.deepcopy(layer)
    same(twin(images), y)
    same(rc.restore(twin)(images), before)
    assert type(twin).__name__ == kind
    if parametrize.is_parametrized(layer):
        parametrize.remove_parametrizations(layer, "weight")
        close(layer(images), y, 1e-6)
        close(rc.restore(layer)(images), before, 1e-6)
        assert type(layer) is nn.Conv2d


def test_a_parametrisation_put_on_later() -> None:
    layer, images = rc.convert(nn.Conv2d(4, 6, 3, padding=1))[0], x()
    y = layer(images)
    parametrizations.weight_norm(layer)
    close(layer(images), y, 1e-6)
    rc.restore(layer)
    assert parametrize.is_parametrized(layer)
    assert not torch.allclose(layer(images), y, atol=1e-3)


def test_a_copy_leaves_the_model_alone() -> None:
    model, images = nn.Sequential(nn.Conv2d(4, 4, 3, padding=1)), x()
    y = model(images)
    twin, _ = rc.convert(model, inplace=False)
    assert twin is not model
    assert type(model[0]) is nn.Conv2d
    same(model(images), y)
    close(twin(images.roll(3, -1)), twin(images).roll(3, -1), 1e-6)


class OwnForward(nn.Conv2d):
    def forward(self, input: Tensor) -> Tensor:
        return F.conv2d(F.pad(input, (1, 1, 1, 1)), self.weight, self.bias)


class OwnConvolution(nn.Conv2d):
    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return super()._conv_forward(input, 2 * weight, bias)


class Renamed(nn.Conv2d):
    """A subclass that adds nothing to the forward."""


def test_subclasses() -> None:
    model = nn.Sequential(OwnForward(4, 4, 3), OwnConvolution(4, 4, 3, padding=1), Renamed(4, 4, 3, padding=1))
    model, report = rc.convert(model)
    assert [(e.name, e.type, e.converted) for e in report.entries] == [
        ("0", "OwnForward", False),
        ("1", "OwnConvolution", False),
        ("2", "Renamed", True),
    ]
    assert all("seamless() reaches" in entry.reason for entry in report.left)
    assert isinstance(model[2], Renamed)
    images = x()
    assert rc.check(rc.seamless(model), images).stride == 1
    same(pickle.loads(pickle.dumps(model))(images), model(images))


@pytest.mark.parametrize(
    ("options", "converted"),
    [
        ({}, ["0.0", "0.1", "1"]),
        ({"include": "0"}, ["0.0", "0.1"]),
        ({"include": "0.*"}, ["0.0", "0.1"]),
        ({"include": nn.MaxPool2d}, ["0.1"]),
        ({"exclude": ["0.1", "1"]}, ["0.0"]),
        ({"exclude": lambda name, module: isinstance(module, nn.Conv2d)}, ["0.1"]),
        ({"include": [nn.MaxPool2d, "1"], "exclude": ["1"]}, ["0.1"]),
    ],
)
def test_include_and_exclude(options: dict[str, Any], converted: list[str]) -> None:
    model = nn.Sequential(nn.Sequential(nn.Conv2d(4, 4, 3), nn.MaxPool2d(2)), nn.Conv2d(4, 4, 3))
    _, report = rc.convert(model, **options)
    assert [entry.name for entry in report.converted] == converted
    assert all(entry.reason == "left out by include or exclude" for entry in report.left)


def test_the_report_says_what_was_left_and_why() -> None:
    model = nn.Sequential(
        nn.Conv2d(4, 4, 3, padding=1),
        nn.UpsamplingBilinear2d(scale_factor=2),
        nn.AdaptiveAvgPool2d(1),
        nn.AdaptiveAvgPool2d((None, 7)),  # type: ignore[arg-type]
        nn.FractionalMaxPool2d(2, 4),
        nn.LSTM(4, 4),
        nn.LazyConv2d(4, 3),
        nn.Linear(4, 4),
    )
    _, report = rc.convert(model)
    assert str(report).splitlines() == [
        "2 converted",
        "  0  Conv2d",
        "  1  UpsamplingBilinear2d: align_corners=True stretches to the ends, which a ring has not: half-pixel centres "
        "in the width",
        "4 left",
        "  3  AdaptiveAvgPool2d: keeps rolls only where its 7 columns divide the ring",
        "  4  FractionalMaxPool2d: draws its windows at random",
        "  5  LSTM: reads columns one after the other, from the first on",
        "  6  LazyConv2d: has no shape yet: run the model once first",
    ]
    assert report.to_dict()["entries"][0] == {"name": "0", "type": "Conv2d", "converted": True, "reason": ""}


def test_another_rule_for_the_rows() -> None:
    images = x()
    layer, _ = rc.convert(nn.Conv2d(4, 6, 3, padding=1), height="symmetric")
    expected = rc.functional.ring_conv2d(images, layer.weight, layer.bias)
    close(layer(images), expected, 1e-6)
    with rc.seamless():
        close(layer(images), expected, 1e-6)
        assert not torch.equal(F.conv2d(images, layer.weight, layer.bias, padding=1), expected)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_layouts_and_dtypes(dtype: torch.dtype) -> None:
    model = nn.Sequential(nn.Conv2d(4, 6, 3, 2, 1), nn.MaxPool2d(3, 1, 1)).to(dtype)
    images = x().to(dtype)
    model = rc.convert(model)[0].to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    y = model(images.contiguous(memory_format=torch.channels_last))
    assert y.dtype == dtype
    assert y.is_contiguous(memory_format=torch.channels_last)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert rc.convert(nn.Conv2d(4, 6, 3, padding=1))[0](x()).dtype == torch.bfloat16


@pytest.mark.parametrize(
    ("model", "options", "error", "message"),
    [
        (torch.relu, {}, TypeError, "model must be a torch.nn.Module that Python runs, got builtin_function"),
        (nn.Identity(), {"height": "mirror"}, ValueError, "height='mirror' is not one of 'symmetric'"),
        (nn.Identity(), {"include": [3]}, TypeError, r"include=3 must be a name, a type or a predicate"),
        (nn.Identity(), {"exact": True}, ValueError, "exact=True needs input="),
        (
            nn.Sequential(nn.Flatten(), nn.Linear(4 * 8 * 16, 3)),
            {"exact": True, "input": torch.randn(1, 4, 8, 16)},
            ValueError,
            "exact=True needs a model that some roll leaves intact, but flatten to linear: 1",
        ),
    ],
)
def test_bad_input_by_name(model: Any, options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"convert: {message}"):
        rc.convert(model, **options)
