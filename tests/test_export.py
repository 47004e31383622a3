"""ONNX that says what torch says, for batches and widths that it has not seen, or no file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import ringconv as rc

from .zoo import ZOO

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),  # of torch's own exporter
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def run(path: Path, x: Tensor) -> np.ndarray:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: x.numpy()})[0]


def wraps(path: Path) -> bool:
    """Whether a Pad of mode ``wrap`` is in the graph or in one of its functions."""
    model = onnx.load(path)
    nodes = [*model.graph.node, *(node for function in model.functions for node in function.node)]
    return any(a.s == b"wrap" for node in nodes if node.op_type == "Pad" for a in node.attribute)


def net() -> nn.Module:
    layers = [nn.Conv2d(3, 4, 3, 2, 1), nn.ReLU(), nn.ConvTranspose2d(4, 3, 4, 2, 1)]
    return rc.convert(nn.Sequential(*layers))[0]


def test_batch_and_width_are_open(tmp_path: Path) -> None:
    model, path = net().train(), tmp_path / "net.onnx"
    done = rc.export_onnx(model, torch.randn(1, 3, 8, 16), path)
    assert (done.path, done.width_step) == (path, 2)
    assert done.error <= 1e-5
    assert model.training
    assert not wraps(path)
    for shape in [(1, 3, 8, 16), (5, 3, 8, 16), (2, 3, 8, 36)]:
        x = torch.randn(shape)
        expected = model(x).detach().numpy()
        assert np.abs(run(path, x) - expected).max() <= 1e-5 * np.abs(expected).max()
    assert list(tmp_path.iterdir()) == [path]


class Fixed(nn.Module):
    """Holds its width fast, by a table with a value for each column."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(1, 3, 1, 16))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.table


def test_a_width_that_is_held_fast(tmp_path: Path) -> None:
    x = torch.randn(2, 3, 4, 16)
    with pytest.raises(ValueError, match="export_onnx: width='open' in steps of 1, but the model holds it fast"):
        rc.export_onnx(Fixed(), x, tmp_path / "fixed.onnx", width="open")
    assert rc.export_onnx(Fixed(), x, tmp_path / "fixed.onnx").width_step is None
    assert rc.export_onnx(nn.ReLU(), x, tmp_path / "relu.onnx", width="fixed").width_step is None


def test_a_model_that_differs_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(session: Any, names: None, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
        return [np.zeros_like(x) for x in inputs.values()]

    monkeypatch.setattr(onnxruntime.InferenceSession, "run", wrong)
    model = nn.Sigmoid().train()
    with pytest.raises(RuntimeError, match=r"differ by 1\.0e\+00 of the largest output, more than tolerance=1e-05"):
        rc.export_onnx(model, torch.ones(2, 3, 4, 16), tmp_path / "relu.onnx", width="fixed")
    assert not list(tmp_path.iterdir())
    assert model.training


@pytest.mark.slow
@pytest.mark.parametrize("animal", ZOO.values(), ids=list(ZOO))
def test_the_zoo(animal: Any, tmp_path: Path) -> None:
    model = rc.seamless(rc.convert(animal.model())[0])
    done = rc.export_onnx(model, animal.x(32), tmp_path / "model.onnx", width="fixed")
    assert done.error <= 1e-5
    assert not wraps(done.path)


@pytest.mark.parametrize(
    ("x", "options", "message"),
    [
        (torch.zeros(3, 4, 4), {}, r"input must be \(B, C, H, W\), got shape \(3, 4, 4\)"),
        (torch.zeros(0, 3, 4, 4), {}, r"input must be \(B, C, H, W\)"),
        (torch.zeros(1, 3, 4, 4), {"width": "any"}, "width='any' is not one of 'auto', 'open', 'fixed'"),
    ],
)
def test_bad_input_by_name(x: Tensor, options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"export_onnx: {message}"):
        rc.export_onnx(nn.ReLU(), x, tmp_path / "net.onnx", **options)
