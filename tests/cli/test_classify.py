"""train, eval, predict and info: one run, made, measured, used and described."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
import torch
from PIL import Image
from torch import Tensor

from ringconv.cli import _classify
from ringconv.data import Images
from ringconv.train import checkpoint

from .test_cli import run


def bright_rows(split: str) -> Images:
    """Images whose class is the place of a bright row: learnable in an epoch."""
    labels = torch.arange(120) % 3
    images = torch.randint(60, (120, 1, 8, 16), generator=torch.Generator().manual_seed(len(split)))
    for image, label in zip(images, labels, strict=True):
        image[:, 2 * label + 1] += 180
    return Images(images.to(torch.uint8), labels, ("low", "mid", "high"), mean=0.3, std=0.4)


@pytest.fixture(autouse=True)
def rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(_classify.SETS, "rows", bright_rows)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "rows"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(_classify.SETS, "rows", bright_rows)
        assert run("train", "rows", "--out", str(out), *TRAINING) == 0
    return out


TRAINING = ["--epochs", "2", "--batch-size", "12", "--learning-rate", "1e-2", "--quiet"]


def test_a_trained_run_is_right_at_every_turn(folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run("eval", str(folder), "--rolls", "all", "--json", "--plot", str(tmp_path / "curve.svg")) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found["rolls"]) == [str(i) for i in range(16)]
    assert len(set(found["rolls"].values())) == 1
    assert found["rolls"]["0"] > 0.9
    assert found["images"] == 120
    assert "<svg" in (tmp_path / "curve.svg").read_text()


def test_the_same_as_a_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("eval", str(folder), "--rolls", "0,5", "--shifts", "0,2,-7") == 0
    printed = capsys.readouterr().out
    assert "lowest" in printed
    assert all(f" {amount} " in printed for amount in ("5", "2", "-7"))


def test_the_command_again_goes_on(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = checkpoint.weights(folder)
    assert run("train", "rows", "--out", str(folder), *TRAINING) == 0
    for name, value in checkpoint.weights(folder).items():
        assert torch.equal(value, before[name])
    assert run("train", "rows", "--out", str(folder), *TRAINING, "--rolled") == 2
    assert "rolled was False, now True" in capsys.readouterr().err


def test_info(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("info", str(folder), "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["epochs"], found["model"], found["classes"]) == ("2 of 2", "classifier", ["low", "mid", "high"])
    assert found["parameters"] == sum(value.numel() for value in _classify.trained(folder, found).parameters())
    assert Path(found["weights"]).exists()
    assert found["last"]["valid_accuracy"] > 0.9
    assert run("info", str(folder)) == 0
    printed = capsys.readouterr().out
    assert "classes     low, mid, high\n" in printed
    assert "batch_size 12" in printed

    (tmp_path / "run.json").write_text((folder / "run.json").read_text())
    assert run("info", str(tmp_path), "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["epochs"], found["weights"], found["last"]) == ("0 of 2", None, {})
    assert run("predict", str(tmp_path), "x.png") == 2
    assert "holds no trained weights" in capsys.readouterr().err
    (tmp_path / "run.json").write_text('{"recipe": {}}')
    assert run("info", str(tmp_path)) == 2
    assert "is of no run that 'ringconv train' made" in capsys.readouterr().err


def picture(path: Path, label: int) -> str:
    image = next(x for x, y in zip(bright_rows("test").images, bright_rows("test").labels, strict=True) if y == label)
    Image.fromarray(image[0].numpy()).resize((64, 32), Image.Resampling.NEAREST).save(path)
    return str(path)


def test_predict_reads_images_of_any_size(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [picture(tmp_path / f"{label}.png", label) for label in (2, 0, 1)]
    assert run("predict", str(folder), *paths) == 0
    read = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [line["image"] for line in read] == paths
    assert [line["class"] for line in read] == ["high", "low", "mid"]
    assert all(0.4 < float(line["probability"]) <= 1 for line in read)


def test_predict_reports_what_it_cannot_read_and_goes_on(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.png").write_text("no image")
    good = picture(tmp_path / "good.png", 1)
    assert run("predict", str(folder), str(tmp_path / "bad.png"), good, "--format", "jsonl") == 1
    printed = capsys.readouterr()
    assert [json.loads(line)["class"] for line in printed.out.splitlines()] == ["mid"]
    assert "bad.png' is no image that can be read" in printed.err


@pytest.mark.parametrize("layer", ["ring", "circular-pad", "planar"])
def test_a_folder_of_images_trains_any_layer(layer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for label in ("low", "high"):
        (tmp_path / "data" / label).mkdir(parents=True)
        for i in range(6):
            picture(tmp_path / "data" / label / f"{i}.png", 0 if label == "low" else 2)
    out, data = tmp_path / "run", str(tmp_path / "data")
    options = ["--model", "mnist", "--layer", layer, "--size", "20x24", "--channels", "1", "--rolled", "--quiet"]
    options += ["--epochs", "1", "--batch-size", "4", "--held-out", "0.2"]
    assert run("train", data, "--out", str(out), *options) == 0
    assert run("eval", str(out)) == 2
    assert "name one to test on by --data" in capsys.readouterr().err
    assert run("eval", str(out), "--data", data, "--json") == 0
    assert json.loads(capsys.readouterr().out)["images"] == 12
    assert _classify.settings(out)["exact"] == ("polyphase" if layer == "ring" else "none")
    assert run("eval", str(out), "--data", "digits") == 2
    assert "images of digits are (1, 8, 16), the run's are (1, 20, 24)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rows", "--held-out", "1"], "train: held_out=1.0 of 120 images leaves 0 to train on"),
        (["nowhere"], "data 'nowhere' is neither a folder nor one of digits, mnist, cifar10, rows"),
        (["rows", "--size", "8"], "train: size='8' must be HxW, such as 32x128"),
        (["rows", "--model", "resnet"], "train: model='resnet' is not one of 'classifier', 'mnist', 'cifar10'"),
        (["rows", "--layer", "sphere"], "train: layer='sphere' is not one of 'ring', 'circular-pad', 'planar'"),
        (
            ["rows", "--layer", "planar"],
            "train: model='classifier' has no planar form; layer='planar' works with 'mn",
        ),
        (["rows", "--exact", "nearly"], "train: exact='nearly' is not one of 'polyphase', 'canonical', 'none'"),
        (["rows", "--model", "mnist", "--layer", "planar", "--exact", "polyphase"], "needs a ring"),
        (["rows", "--epochs", "0"], "Recipe: epochs=0 must be an integer of at least 1"),
    ],
)
def test_bad_settings_are_one_line(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("train", *arguments, "--out", str(tmp_path / "run")) == 2
    printed = capsys.readouterr().err
    assert printed.startswith("ringconv: ")
    assert message in printed
    assert len(printed.splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_bad_amounts_and_formats_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("eval", str(folder), "--rolls", "few") == 2
    assert "eval: rolls='few' must be 'all' or numbers such as 0,1,8" in capsys.readouterr().err
    assert run("predict", str(folder), "x.png", "--format", "xml") == 2
    assert "predict: format='xml' is not one of 'csv', 'jsonl'" in capsys.readouterr().err
    assert run("info", str(folder.parent)) == 2
    assert "holds no training run (no run.json)" in capsys.readouterr().err


def test_circular_padding_is_what_people_write() -> None:
    """Around the ring wrapped, above and below zeros: F.pad and a Conv2d."""
    for kernel, stride in ((3, 1), (3, 2), (5, 1), (1, 1)):
        layer = _classify.LAYERS["circular-pad"](2, 4, kernel, stride)
        x, p = torch.randn(3, 2, 12, 16), kernel // 2
        padded = torch.nn.functional.pad(x, (p, p, 0, 0), mode="circular")
        weight, bias = layer.weight, layer.bias
        assert isinstance(weight, Tensor)
        assert isinstance(bias, Tensor)
        expected = torch.nn.functional.conv2d(padded, weight, bias, stride, (p, 0))
        assert torch.allclose(layer(x), expected, atol=1e-5)
