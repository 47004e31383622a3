"""The training loop: one recipe, one folder, the same weights however often it is interrupted."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from lightning_fabric import Fabric
from torch import Tensor, nn
from torch.utils.data import Dataset
from torchmetrics import Metric

from .. import _checks
from . import checkpoint
from .batches import batches_in_order, count, loader, seed_everything, shuffled_batches, steps_per_epoch
from .progress import Progress
from .recipe import Recipe

Loss = Callable[[Tensor, Tensor], Tensor]
Row = dict[str, float]


def fit(
    model: nn.Module,
    train: Dataset[Any],
    validation: Dataset[Any] | Mapping[str, Dataset[Any]],
    loss: Loss,
    metrics: Mapping[str, Metric] | None = None,
    *,
    recipe: Recipe,
    out: str | os.PathLike[str],
    notes: Mapping[str, Any] | None = None,
    devices: int = 1,
    accelerator: str = "auto",
    workers: int = 0,
    progress: bool = True,
) -> list[Row]:
    """Train a model in place by Adam, measuring and saving it after every epoch.

    Called again with the same arguments, it goes on after the last epoch that was completed, and ends with the
    weights it would have had without the interruption: on CPU, with the same number of threads, bit for bit. What
    is random in an epoch is drawn from ``recipe.seed`` and the epoch's number. A data set that has a method
    ``set_epoch`` is told that number before each epoch.

    Args:
        model: from a batch of inputs to outputs; its parameters are where training starts, the trained ones when
            this returns.
        train: a map-style data set of ``(input, target, …)``; what follows the target is ignored.
        validation: such data sets by name, or one, which is then called ``valid``.
        loss: from ``(outputs, targets)`` to the mean over the samples, one number.
        metrics: each by name, updated with ``(outputs, targets)``, of training and validation alike.
        recipe: the settings.
        out: the folder of the run: ``run.json``, ``log.csv`` and the newest checkpoint.
        notes: what else makes this run what it is, in JSON's types: written to ``run.json``, and compared when the
            run goes on.
        devices: processes that share every batch, on one machine; under ``torchrun`` as many as that started.
        accelerator: where to compute, by Fabric's names: ``"auto"``, ``"cpu"``, ``"cuda"``, …
        workers: processes that read the data; 0 reads in this one.
        progress: whether to show on stderr how far it is, and a line for every epoch.

    Returns:
        A row for every epoch, as in ``log.csv``: ``epoch``, ``seconds``, ``samples_per_second``, ``learning_rate``,
        ``train_loss`` and ``train_METRIC``, and ``NAME_loss`` and ``NAME_METRIC`` for every validation set.
    """
    run = Path(out)
    fabric = _fabric(_checks.integer("fit", "devices", devices), accelerator, recipe)
    _open_run(run, {"recipe": asdict(recipe), **(notes or {})})
    fabric.launch()
    sets = validation if isinstance(validation, Mapping) else {"valid": validation}
    loop = _Loop(fabric, model, train, sets, loss, metrics or {}, recipe, workers)
    if fabric.is_global_zero:
        checkpoint.tidy(run)
    rows = loop.resume(run)
    _log(fabric, run, rows)
    with Progress(progress and fabric.is_global_zero, recipe, loop.steps, len(rows)) as bar:
        for epoch in range(len(rows), recipe.epochs):
            rows.append(loop.epoch(epoch, bar))
            if fabric.is_global_zero:
                checkpoint.save(run, epoch + 1, model, {"optimizer": loop.optimizer.state_dict(), "rows": rows})
            fabric.barrier()
            _log(fabric, run, rows)
            bar.line(rows[-1])
    return rows


class _Loop:
    """A model in training: everything an epoch needs, held together."""

    def __init__(
        self,
        fabric: Fabric,
        model: nn.Module,
        train: Dataset[Any],
        validation: Mapping[str, Dataset[Any]],
        loss: Loss,
        metrics: Mapping[str, Metric],
        recipe: Recipe,
        workers: int,
    ) -> None:
        self.fabric, self.recipe, self.loss, self.workers = fabric, recipe, loss, workers
        self.bare, self.train, self.validation = model, train, validation
        self.steps = steps_per_epoch(count(train), recipe)
        self.layout = torch.channels_last if recipe.channels_last else torch.contiguous_format
        if recipe.channels_last:
            model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.model, self.optimizer = fabric.setup(model, torch.optim.AdamW(_groups(model, recipe)))
        self.metrics = {name: metric.clone().to(fabric.device) for name, metric in metrics.items()}
        self.reset()

    def resume(self, run: Path) -> list[Row]:
        """Go back to the newest checkpoint; the rows of the epochs that lie behind it."""
        newest = checkpoint.latest(run)
        if newest is None:
            return []
        self.bare.load_state_dict(checkpoint.weights(run))
        state = checkpoint.state(newest)
        self.optimizer.load_state_dict(state["optimizer"])
        rows: list[Row] = state["rows"]
        return rows

    def epoch(self, epoch: int, bar: Progress) -> Row:
        """Train for one epoch and measure."""
        fabric, recipe = self.fabric, self.recipe
        seed_everything(recipe, epoch, fabric.global_rank)
        if hasattr(self.train, "set_epoch"):
            self.train.set_epoch(epoch)
        batches = shuffled_batches(count(self.train), recipe, epoch, fabric.global_rank, fabric.world_size)
        often = math.ceil(self.steps / 50)
        start = time.perf_counter()
        self.model.train()
        for part, batch in enumerate(loader(self.train, batches, self.workers)):
            step, unfinished = divmod(part + 1, recipe.accumulate)
            with fabric.no_backward_sync(self.model, enabled=bool(unfinished)):
                output, target = self._answer(batch)
                value = self.loss(output, target)
                fabric.backward(value / recipe.accumulate)
            self._score(output.detach(), target, value.detach())
            if not unfinished:
                rate = self._step(epoch * self.steps + step - 1)
                if step % often == 0:
                    bar.show(epoch, step, self._scores())
        seconds = time.perf_counter() - start
        row = {"epoch": epoch + 1, "seconds": seconds}
        row |= {"samples_per_second": self.steps * recipe.batch_size / seconds, "learning_rate": rate}
        row |= self._scored("train")
        if not math.isfinite(row["train_loss"]):
            raise FloatingPointError(
                f"fit: the loss is {row['train_loss']} in epoch {epoch + 1}; try a lower learning_rate than "
                f"{recipe.learning_rate:g}, or clip"
            )
        for name, data in self.validation.items():
            row |= self._validate(name, data)
        return row

    def _step(self, step: int) -> float:
        rate = self.recipe.rate(step, self.recipe.epochs * self.steps)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        if self.recipe.clip is not None:
            self.fabric.clip_gradients(self.model, self.optimizer, max_norm=self.recipe.clip)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return rate

    @torch.no_grad()
    def _validate(self, name: str, data: Dataset[Any]) -> Row:
        fabric = self.fabric
        self.model.eval()
        mine = batches_in_order(count(data), self.recipe.batch_size * 4, fabric.global_rank, fabric.world_size)
        for batch in loader(data, mine, self.workers):
            output, target = self._answer(batch)
            self._score(output, target, self.loss(output, target))
        return self._scored(name)

    def _answer(self, batch: list[Tensor]) -> tuple[Tensor, Tensor]:
        input, target, *_ = self.fabric.to_device(batch)
        if input.ndim == 4:
            input = input.contiguous(memory_format=self.layout)
        output: Tensor = self.model(input)
        return output, target

    def reset(self) -> None:
        """Forget what was scored."""
        self.losses = torch.zeros(2, device=self.fabric.device)  # their sum, and of how many
        for metric in self.metrics.values():
            metric.reset()

    def _score(self, output: Tensor, target: Tensor, value: Tensor) -> None:
        self.losses += torch.stack([value, torch.ones_like(value)]) * len(target)
        for metric in self.metrics.values():
            metric.update(output, target)

    def _scores(self) -> Row:
        """Loss and metrics since the last reset, over all processes."""
        losses = self.fabric.all_reduce(self.losses.clone(), reduce_op="sum")
        assert isinstance(losses, Tensor)
        return {
            "loss": float(losses[0] / losses[1]),
            **{name: float(metric.compute()) for name, metric in self.metrics.items()},
        }

    def _scored(self, name: str) -> Row:
        scores = self._scores()
        self.reset()
        return {f"{name}_{score}": value for score, value in scores.items()}


def _fabric(devices: int, accelerator: str, recipe: Recipe) -> Fabric:
    if torch.distributed.is_torchelastic_launched():
        devices = int(os.environ["LOCAL_WORLD_SIZE"])
    precision = {"float32": "32-true", "bfloat16": "bf16-mixed"}[recipe.precision]
    strategy = "ddp" if devices > 1 else "auto"
    return Fabric(accelerator=accelerator, devices=devices, strategy=strategy, precision=precision)  # type: ignore[arg-type]


def _groups(model: nn.Module, recipe: Recipe) -> list[dict[str, Any]]:
    """Parameters with and without weight decay."""
    trained = [p for p in model.parameters() if p.requires_grad]
    groups = [([p for p in trained if p.ndim >= 2], recipe.weight_decay), ([p for p in trained if p.ndim < 2], 0.0)]
    return [{"params": part, "weight_decay": decay} for part, decay in groups if part]


def _open_run(run: Path, settings: dict[str, Any]) -> None:
    """Make the run's folder, or see that the one that is there is of the same run."""
    path = run / "run.json"
    settings = json.loads(json.dumps(settings))
    if path.exists():
        before = json.loads(path.read_text())
        if before != settings:
            raise ValueError(
                f"fit: out={os.fspath(run)!r} holds a run with other settings ({_difference(before, settings)}); go "
                "on with the same ones, or name another folder"
            )
        return
    run.mkdir(parents=True, exist_ok=True)
    checkpoint.write(path, json.dumps(settings, indent=2) + "\n")


def _difference(before: Any, now: Any, name: str = "") -> str:
    """The first setting in which two runs differ, in words."""
    if isinstance(before, dict) and isinstance(now, dict):
        key = next(key for key in (*before, *now) if before.get(key) != now.get(key))
        return _difference(before.get(key), now.get(key), f"{name}.{key}" if name else key)
    return f"{name} was {before!r}, now {now!r}"


def _log(fabric: Fabric, run: Path, rows: list[Row]) -> None:
    """``log.csv``, from the checkpoint's own rows: never a line more or less."""
    if rows and fabric.is_global_zero:
        lines = [",".join(rows[0]), *(",".join(f"{value:.9g}" for value in row.values()) for row in rows)]
        checkpoint.write(run / "log.csv", "\n".join(lines) + "\n")
