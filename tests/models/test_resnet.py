"""The residual networks: torchvision's names, torchvision's function but for the seam."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ringconv.models import RingResNet
from ringconv.nn import RingConv2d, RingMaxPool2d

PARAMETERS = {18: 11_689_512, 34: 21_797_672, 50: 25_557_032}  # torchvision's, for 1,000 classes
BLOCKS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3)}


def torchvision_names(depth: int) -> set[str]:
    """The keys of torchvision's ``resnetN().state_dict()``."""
    norm = ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")
    names = {"conv1.weight", "fc.weight", "fc.bias", *(f"bn1.{n}" for n in norm)}
    for i, blocks in enumerate(BLOCKS[depth], 1):
        for j in range(blocks):
            block = f"layer{i}.{j}"
            for k in range(1, 4 if depth == 50 else 3):
                names |= {f"{block}.conv{k}.weight", *(f"{block}.bn{k}.{n}" for n in norm)}
            if j == 0 and (i > 1 or depth == 50):
                names |= {f"{block}.downsample.0.weight", *(f"{block}.downsample.1.{n}" for n in norm)}
    return names


@pytest.mark.parametrize("depth", PARAMETERS)
def test_names_and_numbers_are_those_of_torchvision(depth):
    with torch.device("meta"):
        model = RingResNet(depth)
    assert set(model.state_dict()) == torchvision_names(depth)
    assert sum(p.numel() for p in model.parameters()) == PARAMETERS[depth]
    assert model.state_dict()["layer4.0.downsample.0.weight"].shape[1] == (1024 if depth == 50 else 256)


class Conv(nn.Conv2d):
    """torchvision's convolution, whose zeros at both sides have become what lies behind the seam."""

    def forward(self, x: Tensor) -> Tensor:
        h, w = (k // 2 for k in self.kernel_size)
        x = F.pad(F.pad(x, (w, w, 0, 0), mode="circular"), (0, 0, h, h))
        return F.conv2d(x, self.weight, None, self.stride)


class Pool(nn.Module):
    """torchvision's pool, across the seam."""

    def forward(self, x: Tensor) -> Tensor:
        return F.max_pool2d(F.pad(x, (1, 1, 0, 0), mode="circular"), 3, 2, (1, 0))


def replaced(module: nn.Module) -> nn.Module:
    for name, child in module.named_children():
        if isinstance(child, RingConv2d):
            conv = Conv(child.in_channels, child.out_channels, child.kernel_size, child.stride, bias=False)
            conv.weight = child.weight
            setattr(module, name, conv)
        elif isinstance(child, RingMaxPool2d):
            setattr(module, name, Pool())
        else:
            replaced(child)
    return module


@pytest.mark.parametrize("depth", [18, 50])
def test_it_is_torchvisions_function_but_for_the_seam(depth):
    model = RingResNet(depth, classes=7, exact=None, height="zeros").double().eval()
    for norm in (m for m in model.modules() if isinstance(m, nn.BatchNorm2d)):
        nn.init.uniform_(norm.weight, 0.5, 1)
    x = torch.randn(1, 3, 37, 64, dtype=torch.float64)
    with torch.no_grad():
        y = model(x)
        assert torch.allclose(y, replaced(model)(x), rtol=1e-10)


def test_a_block_begins_as_its_shortcut():
    block = RingResNet(18, classes=2).layer1[0].eval()
    x = torch.rand(1, 64, 4, 4)
    assert torch.equal(block(x), x)


def test_features_and_bad_options():
    model = RingResNet(50, 1, 3)
    assert model.features(torch.randn(2, 1, 40, 64)).shape == (2, 2048, 2, 2)
    with pytest.raises(ValueError, match="RingResNet: depth=101 is not one of 18, 34, 50"):
        RingResNet(101)
    with pytest.raises(ValueError, match="RingResNet: blur=0 must be an integer of at least 1"):
        RingResNet(18, blur=0)
    with pytest.raises(ValueError, match="RingResNet: a ring of W=100 samples cannot take stride s=32"):
        RingResNet(18)(torch.zeros(1, 3, 32, 100))
