"""Seam-free functions inside a forward: by a mode of this thread, for as long as it is asked for."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import ringconv as rc

from ..helpers import check_compiled, check_exported, close, same, scripts, traces


class Net(nn.Module):
    """Every function that has a seam-free twin, but for F.pad."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 3, 3, 3))

    def forward(self, x: Tensor, twice: bool = False) -> Tensor:
        y = F.conv2d(x, self.weight, padding=1)
        y = F.max_pool2d(y, 3, 2, 1) + F.avg_pool2d(y, 3, 2, 1) + F.lp_pool2d(y.abs() + 1, 2, 2)
        y = F.fold(F.unfold(y, 3, padding=1), y.shape[-2:], 3, padding=1)
        y = F.interpolate(y, scale_factor=2, mode="bilinear")
        return 2 * y if twice else y


class Padded(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(3)

    def forward(self, x: Tensor) -> Tensor:
        return self.conv(torch.cat([F.relu(self.norm(F.pad(x, (1, 1, 1, 1))))], 1))


def x() -> Tensor:
    return torch.randn(2, 3, 8, 16)


@pytest.mark.parametrize("make", [Net, Padded])
def test_a_model_for_good(make: type[nn.Module]) -> None:
    model, images = make().eval(), x()
    y = model(images)
    assert rc.seamless(model) is model
    assert isinstance(model, make)
    assert rc.check(model, images).stride == (2 if make is Net else 1)
    assert model(images).shape == y.shape
    assert rc.seamless(model) is model
    with rc.seamless(enabled=False):
        same(model(images), y)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        same(twin(images), model(images))
    same(rc.restore(model)(images), y)


def test_arguments_pass_through() -> None:
    model, images = rc.seamless(Net()), x()
    close(model(images, twice=True), 2 * model(images))


def test_contexts_nest() -> None:
    model, images = Net(), x()
    y = model(images)
    with rc.seamless():
        inside = model(images)
        with rc.seamless():
            same(model(images), inside)
        with rc.seamless(enabled=False):
            same(model(images), y)
            with rc.seamless():
                same(model(images), inside)
        same(model(images), inside)
        with pytest.raises(RuntimeError, match="as planned"), rc.seamless(enabled=False):
            raise RuntimeError("as planned")
        same(model(images), inside)
    same(model(images), y)
    assert not torch.equal(inside, y)
    assert not torch.overrides._get_current_function_mode_stack()


def test_threads_do_not_see_each_other() -> None:
    model, images = Net(), x()
    y, seen = model(images), []
    thread = threading.Thread(target=lambda: seen.append(model(images)))
    with rc.seamless():
        thread.start()
        thread.join()
        inside = model(images)
    same(seen[0], y)
    assert not torch.equal(inside, y)


def test_nothing_of_torch_is_patched() -> None:
    before = (F.conv2d, F.pad, F.interpolate, nn.Conv2d.forward, nn.Conv2d._conv_forward)
    with rc.seamless():
        assert before == (F.conv2d, F.pad, F.interpolate, nn.Conv2d.forward, nn.Conv2d._conv_forward)


def test_indices_and_both_names_of_a_pool() -> None:
    images = x()
    with rc.seamless():
        y, indices = F.max_pool2d(images, 3, 1, 1, return_indices=True)
        same(torch.max_pool2d(images, 3, 1, 1), y)
    same(images.flatten(-2).gather(-1, indices.flatten(-2)), y.flatten(-2))


def test_a_margin_goes_with_the_image_and_not_with_a_crop() -> None:
    images = x()
    with rc.seamless():
        y = F.pad(images, (2, 1))
        same(F.max_pool2d(torch.cat([y, y], 1)[:, :3] + 0, (1, 4), 1), F.max_pool2d(y, (1, 4), 1))
        assert F.max_pool2d(-y, (1, 4), 1).shape[-1] == 16
        assert F.max_pool2d(y[..., 2:-1], (1, 4), 1).shape[-1] == 16


def test_another_rule_for_the_rows() -> None:
    model, images = nn.Conv2d(3, 4, 3, padding=1), x()
    expected = rc.functional.ring_conv2d(images, model.weight, model.bias, height="replicate")
    with rc.seamless(height="replicate"):
        close(model(images), expected, 1e-6)
    close(rc.seamless(model, height="replicate")(images), expected, 1e-6)


@scripts
@traces
@pytest.mark.parametrize("make", [Net, Padded])
def test_seamless_models_export_and_compile(make: type[nn.Module]) -> None:
    model, images = rc.seamless(make().eval()), x()
    check_exported(model, images, 1e-6)
    program: Any = torch.export.export(model, (images,)).module()
    check_compiled(program, images, tolerance=1e-6)
    traced = torch.jit.trace(model, images)
    close(traced(images), model(images), 1e-6)


@scripts
def test_a_seamless_model_compiles_and_refuses_what_the_compiler_hides() -> None:
    images = x()
    check_compiled(rc.seamless(Net().eval()), images, tolerance=1e-5)
    torch.compiler.reset()
    with pytest.raises(Exception, match=r"torch\.compile does not show F\.pad.*torch\.export"):
        torch.compile(rc.seamless(Padded().eval()), backend="eager", fullgraph=True)(images)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"model": torch.relu}, TypeError, "model must be a torch.nn.Module that Python runs"),
        ({"model": nn.Identity(), "enabled": False}, ValueError, "enabled=False is for a context"),
        ({"height": "valid"}, ValueError, "height='valid' is not one of"),
    ],
)
def test_bad_input_by_name(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"seamless: {message}"):
        rc.seamless(**arguments)
