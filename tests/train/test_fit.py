"""The loop: that it learns, that nothing can keep it from ending with the same weights, and what it leaves behind."""

from __future__ import annotations

import csv
import json
import multiprocessing
import random
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import TensorDataset

from ringconv.train import Recipe, checkpoint, fit

from .. import helpers
from . import runs

CURVES = ("train_loss", "train_accuracy", "valid_loss", "valid_accuracy")


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    """As many as the runs in other processes have: the order of sums depends on it."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def same_weights(one: Path, other: Path) -> None:
    left, right = checkpoint.weights(one), checkpoint.weights(other)
    assert left.keys() == right.keys()
    for name in left:
        helpers.same(left[name], right[name])


def curves(rows: list[dict[str, float]]) -> Tensor:
    return torch.tensor([[row[name] for name in CURVES] for row in rows])


def test_it_learns_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net = runs.model()
    rows = runs.run(tmp_path / "run", replace(runs.RECIPE, epochs=8), model=net, progress=True)
    assert rows[0]["valid_accuracy"] < rows[-1]["valid_accuracy"] > 0.85
    assert rows[0]["train_loss"] > rows[-1]["train_loss"]
    assert [row["epoch"] for row in rows] == list(range(1, 9))
    for name, value in checkpoint.weights(tmp_path / "run").items():
        helpers.same(net.state_dict()[name], value)
    with (tmp_path / "run/log.csv").open() as log:
        read = list(csv.DictReader(log))
    for line, row in zip(read, rows, strict=True):
        assert {name: float(value) for name, value in line.items()} == pytest.approx(row)
    assert json.loads((tmp_path / "run/run.json").read_text())["recipe"]["epochs"] == 8
    assert [path.name for path in sorted((tmp_path / "run").iterdir())] == ["epoch-0008", "log.csv", "run.json"]
    shown = capsys.readouterr().err
    assert "epoch 8/8" in shown
    assert "valid_accuracy" in shown


@pytest.mark.parametrize("change", [{}, {"precision": "bfloat16"}, {"channels_last": True}])
def test_two_runs_of_one_recipe_are_one_run(tmp_path: Path, change: dict[str, Any]) -> None:
    recipe = replace(runs.RECIPE, **change, epochs=2)
    for name in ("a", "b"):
        torch.manual_seed(hash(name))
        runs.run(tmp_path / name, recipe)
    same_weights(tmp_path / "a", tmp_path / "b")
    runs.run(tmp_path / "c", replace(recipe, seed=1))
    with pytest.raises(AssertionError):
        same_weights(tmp_path / "a", tmp_path / "c")


class StopError(Exception):
    pass


@pytest.mark.parametrize("at", [1, 12, 13, 30, 47])
def test_an_interrupted_run_ends_with_the_same_weights(tmp_path: Path, at: int) -> None:
    """By an exception, in the first epoch, at the first step of the second, in the last."""
    expected = runs.run(tmp_path / "whole")
    net, seen = runs.model(), []

    def stop(*_: object) -> None:
        seen.append(0)
        if len(seen) == at:
            raise StopError

    net.register_forward_hook(stop)
    with pytest.raises(StopError):
        runs.run(tmp_path / "run", model=net)
    rows = runs.run(tmp_path / "run")
    same_weights(tmp_path / "run", tmp_path / "whole")
    helpers.same(curves(rows), curves(expected))


def test_a_run_killed_again_and_again_ends_with_the_same_weights(tmp_path: Path) -> None:
    """By SIGKILL, at random moments: whatever was being computed or written."""
    expected = runs.run(tmp_path / "whole")
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload([runs.__name__])
    draw, killed = random.Random(0), 0
    for attempt in range(40):
        seconds = draw.uniform(0.02, 0.12) * (1 + attempt / 2)  # at last long enough, however slow the machine
        process = server.Process(target=runs.run_slowly, args=(str(tmp_path / "run"), seconds))
        process.start()
        process.join()
        if process.exitcode == 0:
            break
        assert process.exitcode == -signal.SIGKILL
        killed += 1
    assert process.exitcode == 0
    assert killed >= 3
    same_weights(tmp_path / "run", tmp_path / "whole")
    rows = runs.run(tmp_path / "run")
    helpers.same(curves(rows), curves(expected))
    assert sorted(path.name for path in (tmp_path / "run").glob("epoch-*")) == ["epoch-0004"]


def test_a_finished_run_is_not_run_again(tmp_path: Path) -> None:
    rows = runs.run(tmp_path)
    (tmp_path / "log.csv").unlink()
    net = runs.model()
    assert runs.run(tmp_path, model=net) == rows
    assert (tmp_path / "log.csv").exists()
    for name, value in checkpoint.weights(tmp_path).items():
        helpers.same(net.state_dict()[name], value)


def test_a_checkpoint_half_written_is_none(tmp_path: Path) -> None:
    runs.run(tmp_path, replace(runs.RECIPE, epochs=1))
    newest = checkpoint.latest(tmp_path)
    (tmp_path / ".epoch-0002").mkdir()
    (tmp_path / ".epoch-0002" / checkpoint.WEIGHTS).write_bytes(b"part")
    assert checkpoint.latest(tmp_path) == newest
    assert (checkpoint.epochs(tmp_path), checkpoint.epochs(tmp_path / "nothing")) == (1, 0)
    with pytest.raises(FileNotFoundError, match="holds no trained weights"):
        checkpoint.weights(tmp_path / "nothing")


def test_parts_add_up_to_the_whole_batch(tmp_path: Path) -> None:
    whole = curves(runs.run(tmp_path / "whole", dropout=0.0))
    parts = curves(runs.run(tmp_path / "parts", replace(runs.RECIPE, accumulate=4), dropout=0.0))
    helpers.close(parts, whole, 1e-5)


def test_two_processes_give_the_curve_of_one(tmp_path: Path) -> None:
    expected = runs.run(tmp_path / "one", dropout=0.0)
    command = [sys.executable, "-m", runs.__name__, str(tmp_path / "two"), "2"]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "two/log.csv").open() as log:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(log)]
    helpers.close(curves(rows), curves(expected), 1e-5)
    for name, value in checkpoint.weights(tmp_path / "one").items():
        helpers.close(checkpoint.weights(tmp_path / "two")[name], value, 1e-5)


def test_weight_decay_leaves_biases_and_scales_alone(tmp_path: Path) -> None:
    class Nothing(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight, self.bias = nn.Parameter(torch.ones(2, 2)), nn.Parameter(torch.ones(2))

        def forward(self, x: Tensor) -> Tensor:
            return x + 0 * (self.weight.sum() + self.bias.sum())

    net, data = Nothing(), TensorDataset(torch.ones(8, 1), torch.ones(8, 1))
    recipe = Recipe(epochs=1, batch_size=8, learning_rate=0.1, weight_decay=0.5, schedule="constant")
    fit(net, data, data, F.mse_loss, recipe=recipe, out=tmp_path, progress=False)
    helpers.close(net.weight.detach(), torch.full((2, 2), 0.95), 1e-6)
    helpers.same(net.bias.detach(), torch.ones(2))


def test_another_recipe_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    runs.run(tmp_path, notes={"data": "stripes"})
    with pytest.raises(ValueError, match=r"holds a run with other settings \(recipe.batch_size was 8, now 10\)"):
        runs.run(tmp_path, replace(runs.RECIPE, batch_size=10), notes={"data": "stripes"})
    with pytest.raises(ValueError, match=r"\(data was 'stripes', now 'dots'\); go on with the same ones, or name an"):
        runs.run(tmp_path, notes={"data": "dots"})
    with pytest.raises(ValueError, match=r"\(data was 'stripes', now None\)"):
        runs.run(tmp_path)


def test_a_loss_that_is_no_number_ends_the_run_before_it_is_saved(tmp_path: Path) -> None:
    data = TensorDataset(torch.full((8, 2), torch.nan), torch.zeros(8, 2))
    recipe = Recipe(epochs=2, batch_size=4, learning_rate=0.5)
    with pytest.raises(FloatingPointError, match=r"the loss is nan in epoch 1; try a lower learning_rate than 0\.5"):
        fit(nn.Linear(2, 2), data, data, F.mse_loss, recipe=recipe, out=tmp_path, progress=False)
    assert checkpoint.latest(tmp_path) is None


def test_devices_are_counted(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="devices=0 must be an integer of at least 1"):
        runs.run(tmp_path, devices=0)
