"""Outputs and metrics over a data set."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.utils.data import TensorDataset
from torchmetrics.classification import MulticlassAccuracy

from ringconv.train import evaluate, outputs

ACCURACY = {"accuracy": MulticlassAccuracy(5, average="micro")}


@pytest.mark.parametrize("batch_size", [1, 4, 500])
def test_outputs_are_the_models_in_order(batch_size: int) -> None:
    model, x = nn.Linear(3, 5), torch.randn(11, 3)
    data = TensorDataset(x, torch.zeros(11))
    assert torch.allclose(outputs(model, data, batch_size=batch_size), model(x), atol=1e-6)
    assert torch.allclose(outputs(model, data, transform=torch.neg), model(-x), atol=1e-6)


def test_metrics_count_every_sample_once_whatever_the_batch() -> None:
    model, x = nn.Linear(3, 5), torch.randn(11, 3)
    target = model(x).argmax(1)
    target[:2] = (target[:2] + 1) % 5
    data = TensorDataset(x, target, torch.zeros(11))
    for batch_size in (1, 4, 500):
        assert evaluate(model, data, ACCURACY, batch_size=batch_size)["accuracy"] == pytest.approx(9 / 11)
    assert evaluate(model, data, ACCURACY, transform=lambda x: x * 0)["accuracy"] < 9 / 11


def test_the_model_is_measured_in_evaluation_mode_and_left_as_it_was() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5))
    data = TensorDataset(torch.randn(7, 3), torch.zeros(7))
    assert torch.equal(outputs(model, data), outputs(model, data))
    assert model.training
    model.eval()
    outputs(model, data)
    assert not model.training


def test_a_batch_of_none_is_refused() -> None:
    with pytest.raises(ValueError, match="batch_size=0 must be an integer of at least 1"):
        outputs(nn.Identity(), TensorDataset(torch.zeros(3), torch.zeros(3)), batch_size=0)
