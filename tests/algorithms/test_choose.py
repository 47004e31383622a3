"""Which algorithm ``auto`` takes: by prediction, by measurement, in a trace, and under what nobody may see through."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

import ringconv as rc
from ringconv import algorithms
from ringconv.algorithms import Geometry, choose, instruction_set, native, tuning
from ringconv.functional import ring_conv2d

from ..helpers import scripts

native_only = pytest.mark.skipif(instruction_set() is None, reason="installed without the native engine")


def chosen(kernel: tuple[int, int], channels: int = 8, size: tuple[int, int] = (64, 64), dtype=torch.float64) -> str:
    at = Geometry(size, kernel, (1, 1), (1, 1), kernel[0] // 2, kernel[0] // 2, "symmetric")
    return choose(
        torch.empty(2, channels, *size, dtype=dtype), torch.empty(channels, channels, *kernel, dtype=dtype), at, 1
    )


def test_predicted() -> None:
    assert chosen((3, 3)) == "direct"
    assert chosen((63, 63)) == "spectral"


@native_only
def test_float32_goes_native_where_it_can() -> None:
    assert chosen((7, 7), 64, (64, 256), torch.float32) == "native"
    assert chosen((3, 101), 2, (8, 128), torch.float32) != "native"


def test_auto_is_one_of_them() -> None:
    for kernel in [(3, 3), (31, 31)]:
        x, w = torch.randn(2, 2, 8, 32), torch.randn(3, 2, *kernel)
        auto = ring_conv2d(x, w)
        assert any(torch.equal(auto, ring_conv2d(x, w, algorithm=name)) for name in algorithms.ALGORITHMS[1:])


@native_only
@scripts
def test_followed_calls_do_without_the_engine() -> None:
    """Function transforms and forward mode are what the engine has no rules for: ``auto`` takes what has."""
    x, w = torch.randn(3, 2, 16, 8, 32), torch.randn(16, 16, 7, 7)
    looped = torch.stack([ring_conv2d(one, w) for one in x])
    assert torch.allclose(torch.func.vmap(lambda x: ring_conv2d(x, w))(x), looped, atol=1e-3)
    slope = torch.func.jvp(lambda x: ring_conv2d(x, w), (x[0],), (x[1],))[1]
    assert torch.allclose(slope, looped[1], atol=1e-3)


@native_only
def test_a_trace_chooses_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiled program calls the engine; an exported one leaves the process and holds torch's operators alone."""
    layer = rc.nn.RingConv2d(64, 64, 7)
    x = torch.randn(1, 64, 16, 32)
    torch.compiler.reset()
    graphs = []
    torch.compile(layer, fullgraph=True, backend=lambda graph, inputs: graphs.append(graph) or graph)(x)
    assert "ringconv.derivative" in str(graphs[0].graph)
    assert "ringconv" not in str(torch.export.export(layer, (x,)).graph)


@pytest.fixture
def measurements(monkeypatch: pytest.MonkeyPatch) -> tuning._State:
    """A process that has measured nothing yet."""
    state = tuning._State()
    monkeypatch.setattr(tuning, "_state", state)
    return state


def test_autotune_measures_once_and_remembers(measurements: tuning._State, monkeypatch: pytest.MonkeyPatch) -> None:
    x, w = torch.randn(2, 3, 8, 16), torch.randn(4, 3, 3, 3)
    ring_conv2d(x, w)
    assert not measurements.best
    with rc.autotune():
        ring_conv2d(x, w)
        (case,) = measurements.best
        ring_conv2d(x, w)
        ring_conv2d(x.requires_grad_(), w)
    assert [c.training for c in measurements.best] == [False, True]
    measurements.best[case] = "spectral"
    assert choose(x.detach(), w, case.at, 1) == "spectral"
    assert not measurements.enabled


def test_autotune_is_a_switch_too(measurements: tuning._State) -> None:
    rc.autotune()
    assert measurements.enabled
    with rc.autotune(False):
        ring_conv2d(torch.randn(2, 3, 8, 16), torch.randn(4, 3, 3, 3))
        assert not measurements.best
    assert measurements.enabled


def test_autotune_keeps_a_file(measurements: tuning._State, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The file says which machine it speaks of; the next process measures nothing."""
    file = tmp_path / "times.json"
    x, w = torch.randn(2, 3, 8, 16), torch.randn(4, 3, 3, 3)
    with rc.autotune(file=file):
        ring_conv2d(x, w)
    content = json.loads(file.read_text())
    (times,) = content["machines"][tuning.machine()].values()
    assert set(times) <= set(algorithms.ALGORITHMS)
    assert list(tmp_path.iterdir()) == [file]

    times.update(spectral=0.0)
    content["machines"]["another"] = {"its": {"direct": 1.0}}
    file.write_text(json.dumps(content))
    monkeypatch.setattr(tuning, "_state", fresh := tuning._State())
    monkeypatch.setattr(tuning, "measure", lambda *_: pytest.fail("measured again"))
    with rc.autotune(file=file):
        ring_conv2d(x, w)
    assert list(fresh.best.values()) == ["spectral"]
    monkeypatch.setattr(tuning, "measure", lambda *_: {"direct": 1.0})
    with rc.autotune(file=file):
        ring_conv2d(x[:1], w)
    assert set(json.loads(file.read_text())["machines"]) == {"another", tuning.machine()}


def test_autotune_refuses_another_file(tmp_path: Path) -> None:
    for content in ("{", "[1]", '{"format": "else"}'):
        (tmp_path / "it").write_text(content)
        with pytest.raises(ValueError, match=r"autotune: file='.*it'"):
            rc.autotune(file=tmp_path / "it")
    assert not tuning._state.enabled


@pytest.mark.parametrize("training", [False, True])
def test_explain(capsys: pytest.CaptureFixture[str], training: bool) -> None:
    layer = rc.nn.RingConv2d(3, 4, 3)
    with torch.set_grad_enabled(training):
        rc.explain(layer, torch.randn(3, 8, 16))
    first, head, *lines = capsys.readouterr().out.splitlines()
    assert "RingConv2d(3, 4" in first
    assert "(1, 3, 8, 16)" in first
    assert ("training" in head) == training
    assert {line.split()[0] for line in lines} <= set(algorithms.ALGORITHMS)
    assert sum("<- auto" in line for line in lines) == 1
    assert all(" ms" in line for line in lines)
    with pytest.raises(TypeError, match="explain: layer must be a RingConv2d, got Conv2d"):
        rc.explain(torch.nn.Conv2d(3, 3, 3), torch.randn(3, 8, 16))


def test_predictions_name_what_is_possible() -> None:
    x, w = torch.randn(2, 3, 8, 16), torch.randn(4, 3, 3, 3)
    at = Geometry((8, 16), (3, 3), (1, 1), (1, 1), 1, 1, "symmetric")
    predicted = algorithms.predict(algorithms.Case.of(x, w, at, 1))
    assert ("native" in predicted) == (native.obstacle(x, at) is None)
    assert min(predicted.values()) > 0
    depthwise = algorithms.predict(algorithms.Case.of(x, torch.randn(3, 1, 3, 3), at, 3))
    assert depthwise["direct"] < predicted["direct"]
