"""The transformed kernel that a layer keeps in eval mode: made once, anew after every change, freed, never copied."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable

import pytest
import torch

import ringconv as rc
from ringconv.algorithms import Spectra, instruction_set

pytestmark = pytest.mark.skipif(instruction_set() is None, reason="installed without the native engine")


def layer(algorithm: str = "native") -> rc.nn.RingConv2d:
    return rc.nn.RingConv2d(4, 6, 5, algorithm=algorithm).eval()


def images() -> torch.Tensor:
    return torch.randn(2, 4, 12, 20)


def expected(conv: rc.nn.RingConv2d, x: torch.Tensor) -> torch.Tensor:
    return rc.functional.ring_conv2d(x.double(), conv.weight.double(), conv.bias.double(), algorithm="direct")


def test_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    conv, x = layer(), images()
    y = conv(x)
    kept = conv._spectra._kept
    assert kept is not None
    assert torch.equal(conv(x[:1]), y[:1])
    assert conv._spectra._kept is kept


def test_spectral_keeps_one_too() -> None:
    conv, x = layer("spectral"), images()
    with torch.no_grad():
        for _ in range(2):
            assert torch.allclose(conv(x).double(), expected(conv, x), atol=1e-5)
            kept = conv._spectra._kept
            conv(x)
            assert conv._spectra._kept is kept
            conv.weight.mul_(2)


def test_another_size_is_another_spectrum() -> None:
    conv = layer()
    for size in ((12, 20), (9, 30), (12, 20)):
        x = torch.randn(1, 4, *size)
        assert torch.allclose(conv(x).double(), expected(conv, x), atol=1e-5)


CHANGES: dict[str, Callable[[rc.nn.RingConv2d], object]] = {
    "in place": lambda conv: conv.weight.mul_(2),
    "through data": lambda conv: conv.weight.data.mul_(2),
    "another data": lambda conv: setattr(conv.weight, "data", torch.randn_like(conv.weight)),
    "through numpy": lambda conv: conv.weight.detach().numpy().__imul__(2),
    "one entry": lambda conv: conv.weight[0, 0, 0, 0].add_(1),
    "load": lambda conv: conv.load_state_dict(layer().state_dict()),
    "load, assigned": lambda conv: conv.load_state_dict(layer().state_dict(), assign=True),
    "a new parameter": lambda conv: setattr(conv, "weight", torch.nn.Parameter(torch.randn_like(conv.weight))),
    "an optimizer": lambda conv: torch.nn.utils.vector_to_parameters(torch.randn(606), conv.parameters()),
    "cast and back": lambda conv: conv.bfloat16().float(),
    "moved and back": lambda conv: conv.to("meta").to_empty(device="cpu").load_state_dict(layer().state_dict()),
    "another layout": lambda conv: conv.to(memory_format=torch.channels_last),
}


@pytest.mark.parametrize("change", CHANGES)
@torch.no_grad()
def test_no_change_goes_unseen(change: str) -> None:
    conv, x = layer(), images()
    conv(x)
    CHANGES[change](conv)
    assert torch.allclose(conv(x).double(), expected(conv, x), rtol=1e-5, atol=1e-4)


def test_inference_mode() -> None:
    with torch.inference_mode():
        conv, x = layer(), images()
        for _ in range(2):
            assert torch.allclose(conv(x).double(), expected(conv, x), atol=1e-5)
            conv.weight.mul_(2)


def test_gradients_pass() -> None:
    """A kept spectrum stands for the weight in the result, not in the graph."""
    conv, x = layer(), images().requires_grad_()
    conv(x)
    actual = torch.autograd.grad(conv(x).sum(), (x, conv.weight))
    for a, e in zip(actual, torch.autograd.grad(expected(conv, x).sum(), (x, conv.weight)), strict=True):
        assert torch.allclose(a, e.float(), rtol=1e-4, atol=1e-4)


def test_freed_by_train_and_never_copied() -> None:
    conv, x = layer(), images()
    conv(x)
    assert len(conv._spectra)
    assert not len(copy.deepcopy(conv)._spectra)
    assert not len(pickle.loads(pickle.dumps(conv))._spectra)
    torch.save(conv.state_dict(), file := io.BytesIO())
    assert len(file.getvalue()) < 16_000
    torch.nn.Sequential(conv).train()
    assert not len(conv._spectra)
    conv(x)
    assert not len(conv._spectra)


def test_elsewhere_the_version_stands_for_the_weight() -> None:
    """On a device that a comparison would have to wait for."""
    spectra, weight, made = Spectra(), torch.empty(3, device="meta"), []

    def make() -> torch.Tensor:
        made.append(1)
        return torch.empty(0)

    for change in (lambda: None, lambda: None, lambda: weight.add_(1), lambda: None):
        change()
        spectra.of(weight, "key", make)
    assert len(made) == 2
    spectra.of(torch.empty(3), "key", make)
    assert len(made) == 3
