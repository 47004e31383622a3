"""Every network, in its exact forms, at every roll; and the plain forms, which fail the same test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from ringconv.models import RingClassifier, RingResNet, RingUNet
from ringconv.nn import RingConv2d
from ringconv.paper import ChangeNet, CIFAR10Net, MNISTNet, PanoramaNet, TorusCCL

from ..helpers import check_compiled, check_exported, close, scripts


@dataclass(frozen=True)
class Network:
    """A network small enough for every roll, an input's shape, and how its output turns."""

    build: Callable[..., nn.Module]
    shape: tuple[int, ...]
    dense: bool = False

    def exact(self, **options: Any) -> nn.Module:
        torch.manual_seed(5)
        model = self.build(**options).eval()
        for layer in model.modules():
            if isinstance(layer, nn.BatchNorm2d):
                nn.init.uniform_(layer.running_mean, -0.5, 0.5)
                nn.init.uniform_(layer.running_var, 0.5, 2)
        return model

    def images(self, count: int, dtype: torch.dtype = torch.float32) -> Tensor:
        return torch.randn(count, *self.shape, dtype=dtype)


FFT = partial(RingConv2d, algorithm="spectral")
NETWORKS = {
    "classifier": Network(RingClassifier, (1, 28, 28)),
    "colour classifier": Network(partial(RingClassifier, 3, channels=(8, 8, 8)), (3, 32, 32)),
    "classifier with blur": Network(partial(RingClassifier, channels=(8, 8, 8), blur=3), (1, 12, 16)),
    "ResNet-18": Network(partial(RingResNet, 18, classes=5), (3, 8, 32)),
    "ResNet-50 with blur": Network(partial(RingResNet, 50, classes=5, blur=3), (3, 4, 32)),
    "U-Net": Network(partial(RingUNet, 2, 3, (6, 8, 8)), (2, 7, 16), dense=True),
    "U-Net with blur": Network(partial(RingUNet, 2, 3, (6, 8), blur=3), (2, 7, 16), dense=True),
    "MNIST": Network(partial(MNISTNet, RingConv2d), (1, 28, 28)),
    "MNIST by FFT": Network(partial(MNISTNet, FFT), (1, 28, 28)),
    "MNIST as released": Network(partial(MNISTNet, TorusCCL), (1, 28, 28)),
    "CIFAR-10": Network(partial(CIFAR10Net, RingConv2d), (3, 8, 12)),
    "panoramas": Network(partial(PanoramaNet, RingConv2d, height=16), (1, 16, 20)),
    "change": Network(partial(ChangeNet, RingConv2d, channels=6), (2, 1, 12, 32), dense=True),
    "change as released": Network(partial(ChangeNet, TorusCCL, channels=6), (2, 1, 12, 32), dense=True),
}
each_network = pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS.keys())
each_form = pytest.mark.parametrize("exact", ["canonical", "polyphase"])


@torch.inference_mode()
def worst(network: Network, model: nn.Module, x: Tensor) -> tuple[float, int]:
    """The largest difference that any roll makes, in spreads of the output, and how many decisions change.

    A network that was not trained gives all inputs one class: decisions are between what sets an input apart.
    """
    y = model(x)
    usual = 0 if network.dense else y.mean(0)
    error, changed = 0.0, 0
    for k in range(1, x.shape[-1]):
        rolled, expected = model(x.roll(k, -1)), y.roll(k, -1) if network.dense else y
        error = max(error, ((rolled - expected).abs().max() / (y - usual).std()).item())
        changed += 0 if network.dense else int(((rolled - usual).argmax(-1) != (y - usual).argmax(-1)).sum())
    return error, changed


@each_network
@each_form
def test_every_roll(network, exact):
    error, changed = worst(network, network.exact(exact=exact), network.images(16))
    assert error <= 1e-5
    assert changed == 0
    assert worst(network, network.exact(exact=exact).double(), network.images(2, torch.float64))[0] <= 1e-12


@each_network
def test_the_plain_form_fails_the_same_test(network):
    error, changed = worst(network, network.exact(exact=None), network.images(16))
    assert error > 1e-3
    assert network.dense or changed > 0


@pytest.mark.slow
@each_network
@each_form
def test_a_thousand_inputs(network, exact):
    model = network.exact(exact=exact)
    for _ in range(10):
        error, changed = worst(network, model, network.images(100))
        assert error <= 1e-5
        assert changed == 0


@each_network
def test_one_set_of_parameters(network):
    forms = [network.exact(exact=exact) for exact in (None, "canonical", "polyphase")]
    for form in forms[1:]:
        form.load_state_dict(forms[0].state_dict())
        assert [(n, p.shape) for n, p in form.named_parameters()] == [
            (n, p.shape) for n, p in forms[0].named_parameters()
        ]


@each_network
def test_polyphase_is_equivariant_in_itself(network):
    """Without the turn to the origin, which settles rounding alone, it is the same function."""
    model, x = network.exact(exact="polyphase").double(), network.images(3, torch.float64)
    expected = model(x)
    model.align = lambda x, stride, first=1: model.settle(x, first) if first > 1 else (x, None)
    close(model(x), expected, 1e-10)


@each_network
@each_form
def test_training_reaches_everything(network, exact):
    model, x = network.exact(exact=exact).train(), network.images(4).requires_grad_()
    model(x).square().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
    assert sum(p.grad.abs().sum() for p in model.parameters()) > 0
    assert x.grad.isfinite().all()
    assert x.grad.count_nonzero()


@scripts
def test_compiled_exported_and_cast():
    network = NETWORKS["MNIST"]
    model, x = network.exact(exact="polyphase").requires_grad_(False), network.images(3)
    check_compiled(model, x, tolerance=1e-6)
    check_exported(network.exact().requires_grad_(False), x, 1e-6)
    with torch.autocast("cpu", torch.bfloat16):
        assert worst(network, model, x) == (0, 0)


def test_bad_options_and_widths_by_name():
    with pytest.raises(ValueError, match="RingClassifier: exact='yes' is not one of None, 'canonical', 'polyphase'"):
        RingClassifier(exact="yes")
    with pytest.raises(ValueError, match="MNISTNet: exact=True is not one of"):
        MNISTNet(RingConv2d, exact=True)
    with pytest.raises(ValueError, match=r"PanoramaNet: a ring of W=26 samples cannot take stride s=4.*24 and 28"):
        PanoramaNet(RingConv2d, height=16, exact="canonical")(torch.zeros(1, 1, 16, 26))


def test_the_classifier_is_small():
    for channels, parameters in ((1, 90_562), (3, 90_994)):
        assert sum(p.numel() for p in RingClassifier(channels).parameters()) == parameters
