"""The U-Net: every height, every way up, and a task that it learns."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from ringconv.models import RingUNet


@pytest.mark.parametrize("up", ["zeros", "nearest", "bilinear"])
@pytest.mark.parametrize("exact", ["canonical", "polyphase"])
@pytest.mark.parametrize("rows", [1, 7, 8])
def test_every_height_and_every_way_up(up, exact, rows):
    model, x = RingUNet(2, 3, (4, 6), exact=exact, up=up).eval(), torch.randn(3, 2, rows, 12)
    with torch.no_grad():
        y = model(x)
        assert y.shape == (3, 3, rows, 12)
        assert all(torch.equal(model(x.roll(k, -1)), y.roll(k, -1)) for k in range(12))


def test_one_level_has_no_stride():
    model, x = RingUNet(2, 3, (4,), exact=None).eval(), torch.randn(1, 2, 4, 5)
    assert torch.allclose(model(x.roll(2, -1)), model(x).roll(2, -1), atol=1e-6)


def test_a_constant_image_stays_constant_around_the_ring():
    y = RingUNet(1, 1, (4, 6, 6)).eval()(torch.full((1, 1, 8, 16), 0.7))
    assert torch.allclose(y, y[..., :1], atol=1e-6)


def test_it_learns_to_mark_the_brightest_column_at_every_angle():
    torch.manual_seed(0)
    model = RingUNet(1, 1, (8, 16))
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    x = torch.rand(32, 1, 6, 16)
    target = (x == x.amax(-1, keepdim=True)).float()
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = F.binary_cross_entropy_with_logits(model(x), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]
    model.eval()
    x = torch.rand(8, 1, 6, 16)
    assert torch.equal(model(x.roll(5, -1)), model(x).roll(5, -1))


def test_bad_options_by_name():
    with pytest.raises(ValueError, match=r"RingUNet: channels=\(\) must name at least one level"):
        RingUNet(channels=())
    with pytest.raises(ValueError, match="RingUNet: up='linear' is not one of 'zeros', 'nearest'"):
        RingUNet(up="linear")
    with pytest.raises(ValueError, match="RingUNet: a ring of W=12 samples cannot take stride s=8"):
        RingUNet()(torch.zeros(1, 3, 8, 12))
