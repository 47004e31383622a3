"""The equivariance error: 0 for what commutes, large for what does not, by the paper's formula."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import ringconv as rc


def test_exact_models_have_no_error() -> None:
    x = torch.randn(8, 3, 10, 12)
    assert rc.equivariance_error(lambda x: x + x.roll(1, -1), x) == 0
    assert rc.equivariance_error(lambda x: x.amax((-2, -1)), x) == 0
    assert rc.equivariance_error(rc.nn.RingConv2d(3, 4, 5), x) < 1e-7


def test_it_is_the_formula_of_the_paper() -> None:
    x, rolls = torch.randn(5, 2, 4, 9), torch.tensor([1, -3, 2, 8, 30])
    model = nn.Conv2d(2, 3, 3, padding=1)
    ratios = []
    with torch.no_grad():
        for image, k in zip(x, rolls.tolist(), strict=True):
            plain = model(image)
            ratios.append((plain.roll(k, -1) - model(image.roll(k, -1))).std() / plain.std())
    expected = torch.stack(ratios).mean().item()
    assert rc.equivariance_error(model, x, rolls) == pytest.approx(expected, rel=1e-6)
    assert rc.equivariance_error(model, x, rolls) > 0.1


@pytest.mark.parametrize("layers", [1, 5])
@pytest.mark.parametrize("width", [10, 300])
def test_chains_of_spectral_layers_stay_within_the_papers_bound(layers: int, width: int) -> None:
    chain = nn.Sequential(*(rc.nn.RingConv2d(8, 8, 3, algorithm="spectral") for _ in range(layers)))
    assert 0 < rc.equivariance_error(chain, torch.randn(4, 8, 100, width)) < 5e-7


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("zero padding", lambda x: F.conv2d(x, torch.ones(1, 3, 3, 3), padding=1)),
        ("the last column left out", lambda x: x * (torch.arange(12) < 11)),
        ("a mirror", lambda x: x.flip(-1)),
        ("a flattened classifier", lambda x: x.flatten(1) @ torch.arange(360.0).view(-1, 2).cos().repeat(2, 1)[:360]),
    ],
)
def test_it_sees_what_breaks_the_symmetry(name: str, model: object) -> None:
    assert rc.equivariance_error(model, torch.randn(8, 3, 10, 12)) > 0.05  # type: ignore[arg-type]


def test_a_strided_model_commutes_with_multiples_of_its_stride_alone() -> None:
    layer, x = rc.nn.RingConv2d(3, 4, 3, stride=2), torch.randn(8, 3, 10, 12)
    assert rc.equivariance_error(layer, x, 4) < 1e-6
    assert rc.equivariance_error(layer, x, 3) > 0.1


def test_a_coarser_output_turns_by_the_same_angle() -> None:
    """A pure wave, halved in resolution, is turned by an odd roll without loss: between its grid points."""
    angles = torch.arange(16, dtype=torch.float64) * (2 * torch.pi / 16)
    x = (2 * angles).cos().view(1, 1, 1, 16).expand(1, 1, 3, 16)
    assert rc.equivariance_error(lambda x: x[..., ::2], x, 3) < 1e-12


def test_output_says_what_an_axis_means() -> None:
    x = torch.randn(4, 2, 6, 8)

    def profile(x: Tensor) -> Tensor:
        return x.mean((1, 2))

    assert rc.equivariance_error(profile, x) > 0.5
    assert rc.equivariance_error(profile, x, output="equivariant") == 0
    assert rc.equivariance_error(lambda x: x.amax(-1), x) > 0.5
    assert rc.equivariance_error(lambda x: x.amax(-1), x, output="invariant") == 0


def test_draws_are_seeded_and_never_the_identity() -> None:
    seen: list[Tensor] = []

    def watch(x: Tensor) -> Tensor:
        seen.append(x.clone())
        return x

    x = torch.arange(3.0).expand(64, 1, 1, 3)
    for seed in (0, 0, 1):
        rc.equivariance_error(watch, x, seed=seed)
    first, again, other = seen[1::2]
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert {tuple(row) for row in first.view(64, 3).tolist()} == {(2, 0, 1), (1, 2, 0)}


def test_a_ring_of_one_column_and_a_model_that_gives_nan() -> None:
    assert rc.equivariance_error(lambda x: x, torch.randn(2, 1, 3, 1)) == 0
    error = rc.equivariance_error(lambda x: x * float("nan"), torch.randn(2, 1, 3, 4))
    assert error != error


@pytest.mark.parametrize(
    ("model", "input", "rolls", "error", "message"),
    [
        (nn.Identity(), torch.zeros(3, 4, 4), None, ValueError, r"input must be \(B, C, H, W\).*got shape \(3, 4, 4\)"),
        (nn.Identity(), torch.zeros(0, 3, 4, 4), None, ValueError, "B of at least 1"),
        (
            nn.Identity(),
            torch.ones(2, 1, 4, 4),
            torch.tensor([1]),
            ValueError,
            "rolls must be an integer or 2 integers",
        ),
        (nn.Identity(), torch.ones(2, 1, 4, 4), torch.tensor([1.0, 2.0]), ValueError, r"got torch\.float32"),
        (nn.Identity(), torch.ones(2, 1, 4, 4), 1.5, TypeError, r"rolls=1\.5 must be an integer"),
        (lambda x: (x,), torch.ones(2, 1, 4, 4), 1, ValueError, "model must give one tensor with 2 samples, got tuple"),
        (lambda x: x.sum(), torch.ones(2, 1, 4, 4), 1, ValueError, r"got \(\)"),
        (lambda x: x.sum((1, 2, 3)), torch.ones(2, 1, 4, 4), 1, ValueError, "one number a sample"),
    ],
)
def test_bad_input_by_name(model: object, input: Tensor, rolls: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"equivariance_error: .*{message}"):
        rc.equivariance_error(model, input, rolls)  # type: ignore[arg-type]


def test_bad_output_option_by_name() -> None:
    with pytest.raises(ValueError, match="output='same' is not one of 'auto', 'equivariant', 'invariant'"):
        rc.equivariance_error(nn.Identity(), torch.ones(2, 1, 4, 4), output="same")
