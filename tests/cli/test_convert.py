"""``ringconv check``, ``convert`` and ``export``: one network from its module to ONNX, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from ringconv.cli._model import load_model

from .test_cli import run

SOURCE = """
import torch
from torch import nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, 2, 1)
    def forward(self, x):
        return F.interpolate(self.conv(x), scale_factor=2, mode="bilinear")

def flat():
    return nn.Sequential(nn.Flatten(), nn.Linear(3 * 4 * 16, 2))

number = int
"""
SIZE = ("--input", "3x4x16")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some_networks.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [str(tmp_path), *__import__("sys").path])
    monkeypatch.delitem(__import__("sys").modules, "some_networks", raising=False)


def test_check_names_the_culprit(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run("check", "some_networks:Net", *SIZE, "--picture", "before.png") == 1
    printed = capsys.readouterr().out
    assert "zero padding in W: conv (Conv2d), conv2d" in " ".join(printed.split())
    assert (tmp_path / "before.png").exists()
    assert run("check", "torch.nn:Identity", *SIZE, "--json") == 0
    assert json.loads(capsys.readouterr().out)["shifts"] == "all"


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")  # of torch's own exporter
def test_a_network_becomes_seam_free_then_onnx(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model, shape = load_model("some_networks:Net")
    assert shape is None
    save_file({name: value + 1 for name, value in model.state_dict().items()}, "weights.safetensors")
    assert run("convert", "some_networks:Net", "out", *SIZE, "--weights", "weights.safetensors") == 0
    printed = capsys.readouterr().out
    assert "1 converted\n  conv  Conv2d\n" in printed
    assert "out: equivariant; shifts: multiples of 2" in printed
    converted, shape = load_model("out")
    assert shape == (3, 4, 16)
    assert torch.equal(converted.conv.weight, model.conv.weight + 1)  # type: ignore[operator,union-attr]
    assert run("check", "out") == 0
    assert "multiples of 2" in capsys.readouterr().out
    assert run("export", "out", "net.onnx", "--width", "fixed") == 0
    assert "net.onnx: batch any, width fixed; differs from torch by" in capsys.readouterr().out
    assert (tmp_path / "net.onnx").exists()


def test_exact_and_what_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("convert", "some_networks:Net", "exact", *SIZE, "--exact") == 0
    model, _ = load_model("exact")
    x = torch.randn(1, 3, 4, 16)
    y = model(x)
    assert torch.equal(model(x.roll(5, -1)), y.roll(5, -1))
    assert run("convert", "some_networks:Net", "left", *SIZE, "--exclude", "conv", "--no-functions") == 1
    assert "left out by include or exclude" in capsys.readouterr().out
    assert json.loads(Path("left/convert.json").read_text())["exclude"] == ["conv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "some_networks:Net", "--input", "4x16"], "--input='4x16' must be channels x rows x columns"),
        (["check", "some_networks:Net"], "--input is missing"),
        (["check", "nowhere", *SIZE], "MODEL='nowhere' is neither a folder nor module.path:callable"),
        (["check", "some_networks:Nets", *SIZE], "MODEL='some_networks:Nets': module 'some_networks' has no attribute"),
        (["check", "no_networks:Net", *SIZE], "MODEL='no_networks:Net': No module named 'no_networks'"),
        (["check", "some_networks:number", *SIZE], "MODEL='some_networks:number' returned int, not a torch.nn.Module"),
        (["convert", "some_networks:flat", "out", *SIZE, "--exact"], "--exact needs a model that some roll leaves"),
        (["convert", "some_networks:Net", "out", *SIZE, "--height", "up"], "convert: height='up' is not one of"),
        (["export", "some_networks:Net", "n.onnx", *SIZE, "--width", "any"], "export_onnx: width='any' is not one of"),
    ],
)
def test_what_is_refused(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*arguments) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(f"ringconv: {message}")
    assert printed.err.count("\n") == 1


def test_a_folder_that_holds_no_model(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert run("check", "empty", *SIZE) == 2
    assert "empty holds no training run" in capsys.readouterr().err


def test_a_training_run_is_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    """One epoch on the digits that come with scikit-learn, then checked at the size that it was trained with."""
    assert run("train", "digits", "--out", "run", "--epochs", "1", "--quiet") == 0
    capsys.readouterr()
    assert run("check", "run", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["symmetry"], found["stride"]) == ("invariant", 1)
