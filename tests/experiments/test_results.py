"""What stands beside every experiment's figures."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

EXPERIMENTS = Path(__file__).parent.parent.parent / "experiments"


def test_no_result_tells_whose_machine_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Paths are kept as typed if relative, from the project's root if inside, and by their name elsewhere."""
    monkeypatch.syspath_prepend(str(EXPERIMENTS))
    import _results

    inside = str(EXPERIMENTS / "fig.py")
    monkeypatch.setattr(sys, "argv", [inside, "--weights", str(tmp_path / "published"), "some/folder"])
    assert _results.provenance()["command"] == "python experiments/fig.py --weights published some/folder"


def test_committed_results_hold_no_absolute_path() -> None:
    files = [*EXPERIMENTS.rglob("*.json"), *(EXPERIMENTS.parent / "benchmarks").rglob("*.json")]
    assert files
    for file in files:
        run = json.loads(file.read_text()).get("run", {})
        assert not any(word.startswith("/") for word in run.get("command", "").split()), file
