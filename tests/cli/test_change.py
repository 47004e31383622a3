"""``ringconv align`` and ``ringconv change``: what they write, print and refuse."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from ringconv.cli.change import change
from ringconv.data import read_image
from ringconv.models.detect import THRESHOLD

from ..helpers import same
from .test_cli import run


def save(path: Path, pixels: torch.Tensor) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels.permute(1, 2, 0).numpy()).save(path)
    return path


@pytest.fixture
def view() -> torch.Tensor:
    return torch.randint(0, 256, (3, 16, 128), dtype=torch.uint8)


@pytest.mark.parametrize("method", ["edges", "phase", "network"])
def test_align(method: str, view: torch.Tensor, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b, out = save(tmp_path / "a.png", view), save(tmp_path / "b.png", view.roll(-32, -1)), tmp_path / "new/out.png"
    assert run("align", str(a), str(b), "--out", str(out), "--method", method) == 0
    printed = capsys.readouterr().out
    assert f"{b} turned by 90.00 degrees lies over {a} (confidence " in printed
    same(read_image(out), view)
    assert run("align", str(a), str(b), "--out", str(out), "--method", method, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["degrees"] == pytest.approx(90, abs=0.01)
    assert 0 < found["confidence"] <= 1
    assert found["out"] == str(out)


def test_align_writes_beside_where_it_runs(view: torch.Tensor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    a = save(tmp_path / "far/a.png", view)
    assert run("align", str(a), str(a)) == 0
    same(read_image("a-aligned.png"), view)


def test_change_of_two_files(view: torch.Tensor, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b, out = save(tmp_path / "a.png", view), save(tmp_path / "b.png", view.roll(-32, -1)), tmp_path / "out"
    assert run("change", str(a), str(b), "--out", str(out)) == 0
    assert "% changed, view after to be turned by 90.0 degrees (confidence " in capsys.readouterr().out
    mask = np.asarray(Image.open(out / "a_mask.png"))
    assert mask.shape == (16, 128)
    assert set(np.unique(mask)) <= {0, 255}
    marked = torch.from_numpy(mask > 127).expand(3, -1, -1)
    overlay = read_image(out / "a_overlay.png")
    same(overlay[~marked], view[~marked])
    assert run("change", str(a), str(b), "--out", str(out), "--threshold", "0", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["name"] == "a"
    assert found["changed"] == 1
    assert found["degrees"] == pytest.approx(90, abs=0.01)
    assert (read_image(out / "a_mask.png") == 255).all()
    tinted = 0.55 * view.double() + 0.45 * 255 * torch.tensor([0.9, 0.1, 0.1]).double().view(3, 1, 1)
    assert (read_image(out / "a_overlay.png") - tinted).abs().max() < 1


def test_the_default_threshold_is_the_networks() -> None:
    assert inspect.signature(change).parameters["threshold"].default == THRESHOLD


def test_change_of_two_folders(view: torch.Tensor, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pair that cannot be compared is told, the others are done."""
    for name in ("one", "two"):
        save(tmp_path / "t0" / f"{name}.png", view)
        save(tmp_path / "t1" / f"{name}.png", view)
    arguments = ["change", str(tmp_path / "t0"), str(tmp_path / "t1"), "--out", str(tmp_path / "out")]
    assert run(*arguments) == 0
    assert capsys.readouterr().out.count("% changed") == 2
    assert len(list((tmp_path / "out").iterdir())) == 4
    save(tmp_path / "t1" / "two.png", view[:, :8])
    assert run(*arguments) == 1
    printed = capsys.readouterr()
    assert printed.out.count("% changed") == 1
    assert "two.png is of 16 x 128 pixels and" in printed.err
    assert printed.err.count("\n") == 1


def test_refused_in_one_line(view: torch.Tensor, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, small = save(tmp_path / "a.png", view), save(tmp_path / "b.png", view[:, :8])
    text, folder = tmp_path / "text.png", tmp_path / "empty"
    text.write_text("no image")
    folder.mkdir()
    save(tmp_path / "t0/c.png", view)
    for arguments, message in [
        (["align", a, small], "both views must be of one size"),
        (["align", a, text], "text.png is no whole image"),
        (["align", a, tmp_path / "none.png"], "none.png is not there"),
        (["align", a, a, "--method", "guess"], "align: --method='guess' is not one of 'edges', 'phase', 'network'"),
        (["change", a, small], "both views must be of one size"),
        (["change", a, folder], "must be two images or two folders"),
        (["change", folder, folder], "empty holds no images"),
        (["change", tmp_path / "t0", folder], "empty holds no image named c"),
        (["change", a, a, "--weights", text], "text.png holds no change detector"),
    ]:
        assert run(*map(str, arguments)) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert message in printed.err
        assert printed.err.count("\n") == 1
