"""The change detector: it turns with view one, not with view two, finds the turn, and learns."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ringconv.models import ChangeDetector, ChangeUNet
from ringconv.models.change import _similarity
from ringconv.models.detect import SHIPPED, _block, _reduce

from ..helpers import close, same


def network(**options: object) -> ChangeUNet:
    """A small network in evaluation mode whose normalisations do something."""
    net = ChangeUNet(channels=4, **options)  # type: ignore[arg-type]
    for layer in net.modules():
        if isinstance(layer, nn.BatchNorm2d):
            nn.init.normal_(layer.running_mean, std=0.3)  # type: ignore[arg-type]
            nn.init.uniform_(layer.running_var, 0.05, 0.2)  # type: ignore[arg-type]
    nn.init.normal_(net.out.weight)
    return net.eval()


def scene(height: int, width: int, channels: int = 3) -> Tensor:
    return torch.rand(1, 2, channels, height, width)


@pytest.mark.parametrize("size", [(8, 32), (5, 9), (1, 6), (6, 1)])
def test_it_turns_with_view_one_and_not_with_view_two(size: tuple[int, int]) -> None:
    """At every roll, whatever the two show: the peak of chance is the same peak."""
    net, pair = network(), scene(*size)
    with torch.inference_mode():
        still = net.detect(pair)
        assert still.logits.shape == (1, *size)
        assert size[1] == 1 or still.logits.std() > 1e-2
        for t in range(size[1]):
            turned = torch.stack([pair[:, 0].roll(t, -1), pair[:, 1].roll(3 * t + 1, -1)], 1)
            found = net.detect(turned)
            close(found.logits, still.logits.roll(t, -1), 1e-5)
            same(found.roll.nearest, (still.roll.nearest + t - 3 * t - 1) % size[1])


def test_a_planar_encoder_does_neither() -> None:
    net, pair = network(encoder=nn.Conv2d), scene(8, 32)
    with torch.inference_mode():
        still = net(pair)
        turned = net(torch.stack([pair[:, 0].roll(7, -1), pair[:, 1]], 1))
    assert (turned - still.roll(7, -1)).abs().max() > 1e-3
    assert net.state_dict().keys() == network().state_dict().keys()


def test_it_finds_the_turn_and_then_the_headings_do_not_matter() -> None:
    net = network()
    view = torch.rand(3, 3, 8, 32)
    turns = torch.tensor([0, 5, 20])
    after = torch.stack([v.roll(-int(t), -1) for v, t in zip(view, turns, strict=True)])
    with torch.inference_mode():
        found = net.detect(torch.stack([view, after], 1))
        aligned = net(torch.stack([view, view], 1))
    same(found.roll.nearest, turns)
    close(found.logits, aligned, 1e-6)


def test_a_mirrored_pair_gives_the_mirrored_answer() -> None:
    net, pair = network(), scene(8, 16)
    pair[:, 1] = pair[:, 0].roll(3, -1)
    with torch.inference_mode():
        close(net(pair.flip(-1)), net(pair).flip(-1), 1e-5)


def test_pairs_of_a_batch_do_not_see_each_other() -> None:
    net, pairs = network(), torch.rand(3, 2, 3, 8, 16)
    with torch.inference_mode():
        close(net(pairs), torch.cat([net(pair[None]) for pair in pairs]), 1e-5)


def test_similarity_is_the_cosine_with_every_neighbour() -> None:
    one, two = torch.randn(2, 5, 3, 7), torch.randn(2, 5, 3, 7)
    found = _similarity(one, two, 2)
    expected = []
    for up in (-1, 0, 1):
        for columns in (2, 1, 0, -1, -2):
            rows = [min(max(i + up, 0), 2) for i in range(3)]
            expected.append(F.cosine_similarity(one, two[:, :, rows].roll(-columns, -1), dim=1))
    close(found, torch.stack(expected, 1), 1e-5)


def test_guided_training_reaches_every_parameter_and_learns() -> None:
    net = ChangeUNet(channels=4, dropout=0.0).train()
    view = torch.rand(4, 3, 8, 16)
    turns = torch.tensor([3, 0, 8, 5])
    mask = torch.zeros(4, 8, 16)
    mask[:, 2:6, 4:9] = 1
    after = torch.where(mask[:, None] > 0, 1 - view, view)
    after = torch.stack([v.roll(-int(t), -1) for v, t in zip(after, turns, strict=True)])
    at = F.one_hot(turns, 16).float()
    optimizer = torch.optim.Adam(net.parameters(), 0.01)
    losses = []
    for _ in range(40):
        logits, misplaced = net.guided(torch.stack([view, after], 1), turns, at)
        loss = F.binary_cross_entropy_with_logits(logits, mask) + misplaced
        optimizer.zero_grad()
        loss.backward()
        assert all(p.grad is not None and p.grad.isfinite().all() for p in net.parameters())
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]
    found = net.detect(torch.stack([view, after], 1))
    same(found.roll.nearest, turns)
    assert ((found.logits > 0) == (mask > 0)).float().mean() > 0.95


def test_dropout_is_for_training_alone() -> None:
    net, pair = network(dropout=0.5), scene(8, 16)
    with torch.inference_mode():
        same(net(pair), net(pair))
        net.train()
        assert not torch.equal(net(pair), net(pair))


@pytest.mark.parametrize(("width", "block"), [(256, 1), (128, 1), (1024, 4), (1000, 4), (2048, 8), (997, 1), (1, 1)])
def test_views_are_reduced_to_a_ring_near_to_that_of_the_training(width: int, block: int) -> None:
    assert _block(width, 256) == block


def test_a_reduced_view_is_the_mean_of_blocks_that_begin_where_the_view_says() -> None:
    view = torch.rand(3, 7, 24)
    small, start = _reduce(view, 4)
    rows = torch.cat([view, view[:, -1:]], 1).roll(-start, -1)
    close(small, rows.unflatten(2, (-1, 4)).unflatten(1, (-1, 4)).mean((2, 4)), 1e-6)
    for t in range(24):
        turned, at = _reduce(view.roll(t, -1), 4)
        assert (at - start - t) % 4 == 0
        same(turned, small.roll((start + t - at) // 4, -1))


@pytest.fixture(scope="module")
def detector() -> ChangeDetector:
    torch.manual_seed(1)
    return ChangeDetector(network(), 16)


def test_the_detector_turns_with_the_views_at_every_column(detector: ChangeDetector) -> None:
    """Also between the blocks over which it averages."""
    before, after = torch.rand(3, 10, 64), torch.rand(3, 10, 64)
    still = detector(before, after)
    assert still.probability.shape == (10, 64)
    for t in range(0, 64, 3):
        found = detector(before.roll(t, -1), after.roll(5 * t, -1))
        close(found.probability, still.probability.roll(t, -1), 1e-6)
        assert abs((found.degrees - still.degrees + 4 * t * 360 / 64 + 180) % 360 - 180) < 1e-6
        assert found.confidence == still.confidence


def test_the_detector_finds_the_angle(detector: ChangeDetector) -> None:
    view = torch.rand(3, 16, 64)
    for t in (0, 1, 7, 32, 50):
        turned = detector(view, view.roll(-t, -1)).degrees
        assert abs((turned - t * 360 / 64 + 180) % 360 - 180) < 1e-3


def test_saved_and_loaded(detector: ChangeDetector, tmp_path: Path) -> None:
    detector.save(tmp_path / "small.safetensors")
    loaded = ChangeDetector.load(tmp_path / "small.safetensors")
    assert loaded.columns == 16
    before, after = torch.rand(3, 8, 16), torch.rand(3, 8, 16)
    close(loaded(before, after).probability, detector(before, after).probability, 0.05)
    assert not loaded.model.training
    for name, weight in loaded.model.state_dict().items():
        close(weight.double(), detector.model.state_dict()[name].double(), 1e-3)


def test_other_files_are_refused(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    path = tmp_path / "other.safetensors"
    for metadata in (None, {"columns": "16"}, {"columns": "wide"}):
        save_file({"weight": torch.zeros(1)}, path, metadata)
        with pytest.raises(ValueError, match=r"other.safetensors holds no change detector"):
            ChangeDetector.load(path)
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError, match=r"other.safetensors holds no change detector"):
        ChangeDetector.load(path)
    with pytest.raises(FileNotFoundError):
        ChangeDetector.load(tmp_path / "nothing.safetensors")


def test_the_shipped_weights_are_small_and_know_a_change() -> None:
    """A street without a change, turned, has none; a dark block where there was sky and wall is one."""
    assert SHIPPED.stat().st_size < 1_000_000
    detector = ChangeDetector.load()
    torch.manual_seed(3)
    walls = F.interpolate(torch.rand(1, 3, 14, 32), (112, 512), mode="bilinear")[0] * 0.6 + 0.2
    walls[:, :40] = 0.8
    found = detector(walls, walls.roll(-200, -1))
    assert abs(found.degrees - 200 * 360 / 512) % 360 < 1
    assert found.probability.gt(0.5).float().mean() < 0.1
    built = walls.clone()
    built[:, 30:90, 100:180] = torch.tensor([0.5, 0.2, 0.1]).view(3, 1, 1)
    found = detector(built, walls.roll(-200, -1))
    assert found.probability[40:85, 110:170].mean() > found.probability[:, 250:450].mean() + 0.3


X = torch.rand(1, 2, 3, 8, 16)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: network()(X[0]), "ChangeUNet: input must be (B, 2, 3, H, W), got shape (2, 3, 8, 16)"),
        (lambda: network()(X[:, :1]), "input must be (B, 2, 3, H, W), got shape (1, 1, 3, 8, 16)"),
        (lambda: network()(X.int()), "input must be of a real floating-point dtype, got torch.int32"),
        (lambda: network()(X[..., :0]), "got shape (1, 2, 3, 8, 0)"),
        (lambda: ChangeUNet(channels=0), "ChangeUNet: channels=0 must be an integer of at least 1"),
        (lambda: ChangeUNet(radius=-1), "radius=-1 must be an integer of at least 0"),
        (lambda: ChangeUNet(in_channels=1.5), "in_channels=1.5 must be an integer"),  # type: ignore[arg-type]
        (lambda: ChangeDetector(network(), 16)(X[0, 0, :1], X[0, 0]), "before must be (3, H, W), got shape (1, 8, 16)"),
        (lambda: ChangeDetector(network(), 16)(X[0, 0], X[0]), "after must be (3, H, W), got shape (2, 3, 8, 16)"),
        (lambda: ChangeDetector(network(), 16)(X[0, 0], X[0, 0, :, :4]), "before and after must be of one size"),
    ],
)
def test_bad_input_by_name(call: object, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        call()  # type: ignore[operator]
