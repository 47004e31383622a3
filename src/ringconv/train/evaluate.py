"""What a model says to a whole data set, and how good that is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import Dataset
from torchmetrics import Metric

from .. import _checks
from .batches import batches_in_order, count, loader

Transform = Callable[[Tensor], Tensor]


def evaluate(
    model: nn.Module,
    data: Dataset[Any],
    metrics: Mapping[str, Metric],
    *,
    transform: Transform | None = None,
    batch_size: int = 500,
    workers: int = 0,
) -> dict[str, float]:
    """The metrics of a model's outputs on a data set.

    Args:
        model: from a batch of inputs to outputs, in evaluation mode while this runs.
        data: a map-style data set of ``(input, target, …)``; what follows the target is ignored.
        metrics: each by the name it is to have, updated with ``(outputs, targets)``.
        transform: applied to each batch of inputs first, for example a roll.
        batch_size: samples at a time.
        workers: processes that read the data; 0 reads in this one.

    >>> from torch.utils.data import TensorDataset
    >>> from torchmetrics.classification import MulticlassAccuracy
    >>> data = TensorDataset(torch.eye(3), torch.tensor([0, 1, 1]))
    >>> found = evaluate(nn.Identity(), data, {"accuracy": MulticlassAccuracy(3, average="micro")})
    >>> print(f"{found['accuracy']:.3f}")
    0.667
    """
    metrics = {name: metric.clone().to(_device(model)) for name, metric in metrics.items()}
    for metric in metrics.values():
        metric.reset()
    for output, target in _answers(model, data, transform, batch_size, workers):
        for metric in metrics.values():
            metric.update(output, target)
    return {name: float(metric.compute()) for name, metric in metrics.items()}


def outputs(
    model: nn.Module,
    data: Dataset[Any],
    *,
    transform: Transform | None = None,
    batch_size: int = 500,
    workers: int = 0,
) -> Tensor:
    """All outputs of a model on a data set, in its order; arguments are those of :func:`evaluate`."""
    return torch.cat([output for output, _ in _answers(model, data, transform, batch_size, workers)])


@torch.inference_mode()
def _answers(
    model: nn.Module, data: Dataset[Any], transform: Transform | None, batch_size: int, workers: int
) -> Iterator[tuple[Tensor, Tensor]]:
    batches = batches_in_order(count(data), _checks.integer("evaluate", "batch_size", batch_size))
    device, training = _device(model), model.training
    model.eval()
    try:
        for input, target, *_ in loader(data, batches, workers):
            input = input.to(device)
            yield model(input if transform is None else transform(input)), target.to(device)
    finally:
        model.train(training)


def _device(model: nn.Module) -> torch.device:
    return next((value.device for value in model.parameters()), torch.device("cpu"))
