"""The paper's networks: one definition for every layer, and the released checkpoint format."""

from __future__ import annotations

import pickle
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ringconv.nn import RingConv2d
from ringconv.paper import (
    ChangeNet,
    CIFAR10Net,
    DCTProductCCL,
    MNISTNet,
    PanoramaNet,
    TorusCCL,
    load_published,
)

LAYERS = [nn.Conv2d, RingConv2d, TorusCCL, DCTProductCCL]
RINGS = LAYERS[1:]
INPUTS = {
    MNISTNet: (1, 28, 28),
    CIFAR10Net: (3, 32, 32),
    PanoramaNet: (1, 48, 100),
    ChangeNet: (2, 1, 28, 128),
}
OUTPUTS = {MNISTNet: (10,), CIFAR10Net: (10,), PanoramaNet: (55,), ChangeNet: (28, 128)}
PARAMETERS = {MNISTNet: 1_922, CIFAR10Net: 904_062, PanoramaNet: 189_007, ChangeNet: 144_801}
each_network = pytest.mark.parametrize("network", INPUTS)
each_layer = pytest.mark.parametrize("layer", LAYERS)
each_ring = pytest.mark.parametrize("layer", RINGS)


def count(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


@each_network
@each_layer
def test_one_definition(network, layer):
    """Every layer gives the same parameters under the same names, and the same output's shape."""
    model, planar = network(layer), network(nn.Conv2d)
    assert [(n, p.shape) for n, p in model.named_parameters()] == [(n, p.shape) for n, p in planar.named_parameters()]
    assert count(model) == PARAMETERS[network]
    planar.load_state_dict(model.state_dict())
    y = model(torch.randn(2, *INPUTS[network]))
    assert y.shape == (2, *OUTPUTS[network])
    if network is ChangeNet:
        assert ((y > 0) & (y < 1)).all()
    else:
        assert torch.allclose(y.exp().sum(-1), torch.ones(2))


SMALL = {
    MNISTNet: (MNISTNet, (1, 28, 28)),
    CIFAR10Net: (CIFAR10Net, (3, 20, 20)),
    PanoramaNet: (partial(PanoramaNet, height=16, channels=(8, 8, 8, 8)), (1, 16, 24)),
    ChangeNet: (partial(ChangeNet, channels=6), (2, 1, 12, 32)),
}


def loss_of(network: type[nn.Module], y: Tensor) -> Tensor:
    if network is ChangeNet:
        return F.binary_cross_entropy(y, torch.ones_like(y))
    return F.nll_loss(y, torch.arange(len(y)))


@each_network
@each_layer
def test_a_training_step_lowers_the_loss(network, layer):
    build, shape = SMALL[network]
    model, x = build(layer), torch.randn(2, *shape)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    before = loss_of(network, model(x))
    before.backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
    optimizer.step()
    assert loss_of(network, model(x)) < before


@each_ring
@pytest.mark.parametrize("network", [MNISTNet, PanoramaNet])
def test_classifiers_are_invariant_by_their_total_stride(network, layer):
    build, shape = SMALL[network]
    model, x = build(layer).double(), torch.randn(2, *shape, dtype=torch.float64)
    for roll in (4, 8, 24):
        assert torch.allclose(model(x.roll(roll, -1)), model(x), rtol=0, atol=1e-12)
    assert not torch.allclose(model(x.roll(1, -1)), model(x), rtol=0, atol=1e-9)


def test_planar_classifier_is_not_invariant():
    x, model = torch.randn(2, 1, 28, 28, dtype=torch.float64), MNISTNet(nn.Conv2d).double()
    assert not torch.allclose(model(x.roll(8, -1)), model(x), rtol=0, atol=1e-6)


@each_ring
def test_change_follows_view_one_and_ignores_where_view_two_looks(layer):
    model = ChangeNet(layer, channels=6).double()
    one, two = torch.randn(2, 3, 1, 12, 64, dtype=torch.float64)
    plain = model(torch.stack([one, two], 1))
    turned = model(torch.stack([one.roll(48, -1), two.roll(16, -1)], 1))
    assert torch.allclose(turned, plain.roll(48, -1), rtol=0, atol=1e-12)


def test_a_pool_that_does_not_divide_the_ring_tears_it():
    x, model = torch.randn(1, 1, 16, 26, dtype=torch.float64), PanoramaNet(RingConv2d, height=16).double()
    assert not torch.allclose(model(x.roll(4, -1)), model(x), rtol=0, atol=1e-9)


def test_unpadded_planar_layers_are_centred_where_the_size_is_kept():
    assert MNISTNet(nn.Conv2d).conv1.padding == (0, 0)
    assert ChangeNet(nn.Conv2d).conv1.padding == "same"
    own = partial(nn.Conv2d, padding=1, padding_mode="circular")
    assert PanoramaNet(own, height=44).conv3.padding == (1, 1)


def test_panorama_refuses_other_heights():
    with pytest.raises(ValueError, match=r"PanoramaNet: input must be \(B, C, 16, W\), .* got shape \(1, 1, 20, 24\)"):
        PanoramaNet(RingConv2d, height=16)(torch.zeros(1, 1, 20, 24))


@pytest.mark.parametrize("shape", [(2, 1, 28, 128), (1, 3, 1, 28, 128), (1, 2, 1, 30, 128), (1, 2, 1, 28, 120)])
def test_change_refuses_other_shapes(shape):
    with pytest.raises(ValueError, match=r"ChangeNet: input must be \(B, 2, C, H, W\) .*, got shape"):
        ChangeNet(RingConv2d, channels=2)(torch.zeros(shape))


@pytest.mark.parametrize(
    ("network", "operator", "layer"),
    [
        (MNISTNet, "ccl", TorusCCL),
        (MNISTNet, "cnn", nn.Conv2d),
        (CIFAR10Net, "ccl", TorusCCL),
        (CIFAR10Net, "cnn", nn.Conv2d),
        (ChangeNet, "ccl", TorusCCL),
    ],
)
def test_published_checkpoints_load(network, operator, layer, tmp_path):
    model, path, x = network(layer), tmp_path / "model.pt", torch.randn(2, *INPUTS[network])
    torch.save(model.state_dict(), path)
    loaded = load_published(path, operator)
    assert type(loaded) is network
    assert type(loaded.conv1) is layer
    assert not loaded.training
    with torch.no_grad():
        assert torch.equal(loaded(x), model(x))


class PlanarChange(nn.Module):
    """The planar network for change detection as released, its decoder of transposed convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 50, (3, 7), 1, (1, 3))
        self.conv2 = nn.Conv2d(50, 50, (3, 7), 1, (1, 3))
        self.conv3 = nn.ConvTranspose2d(50, 50, (3, 5), (2, 4), (1, 1), (1, 1))
        self.conv4 = nn.ConvTranspose2d(50, 50, (3, 7), (2, 4), (1, 2), (1, 1))
        self.conv5 = nn.ConvTranspose2d(50, 1, (3, 7), 1, (1, 3))

    def forward(self, x: Tensor) -> Tensor:
        for layer in (self.conv1, self.conv2):
            x = F.max_pool2d(layer(x.flatten(0, 1)), (2, 4)).relu().unflatten(0, (-1, 2))
        x = x[:, 0] + x[:, 1].mean((-2, -1), keepdim=True)
        x = self.conv5(self.conv4(self.conv3(x).relu()).relu())
        return x.sigmoid().squeeze(1)


def test_planar_change_detection_as_released(tmp_path):
    released = PlanarChange()
    torch.save(released.state_dict(), tmp_path / "change.pt")
    loaded = load_published(tmp_path / "change.pt", "cnn")
    x = torch.randn(2, 2, 1, 28, 128, dtype=torch.float64)
    assert count(loaded) == count(released) == PARAMETERS[ChangeNet]
    with torch.no_grad():
        assert torch.allclose(loaded.double()(x), released.double()(x), rtol=0, atol=1e-12)


def test_checkpoints_run_nothing(tmp_path):
    path = tmp_path / "evil.pt"
    torch.save({"conv5.weight": print}, path)
    with pytest.raises(pickle.UnpicklingError):
        load_published(path, "ccl")


def test_bad_checkpoints_by_name(tmp_path):
    path = tmp_path / "other.pt"
    torch.save({"stem.weight": torch.zeros(1)}, path)
    with pytest.raises(ValueError, match=r"load_published: .*other.pt' holds stem.weight; a published checkpoint"):
        load_published(path, "ccl")
    with pytest.raises(ValueError, match="load_published: operator='torus' is not one of 'ccl', 'cnn'"):
        load_published(path, "torus")
