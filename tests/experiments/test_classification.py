"""The classification experiment: its runs, the table drawn from them, and that the page shows what was measured."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
shared, tables, render = (
    importlib.import_module(name) for name in ("_classification", "_classification_table", "render")
)
sys.path.pop(0)


def result(variant: str, training: str, seed: int, plain: float, rolled: float, epochs: int = 25) -> dict[str, object]:
    accuracy = {"plain": plain, "rolled": rolled, "at_every_roll": [plain, rolled, plain]}
    told = {"variant": variant, "training": training, "seed": seed, "recipe": {"epochs": epochs}}
    return {**told, "parameters": 1922, "accuracy": accuracy, "changed": 7}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "table_classification"
    folder.mkdir()
    runs = [
        result("conv", "plain", 0, 97.0, 20.0),
        result("conv", "plain", 1, 98.0, 30.0),
        result("conv", "rolled", 0, 50.0, 60.0),
        result("conv", "plain", 0, 90.0, 10.0, epochs=5),
        result("ccl", "plain", 0, 97.25, 97.25),
    ]
    for i, run in enumerate(runs):
        (folder / f"mnist-{i}.json").write_text(json.dumps(run))
    accuracy = {"0": 79.0, "1": 78.0}
    networks = {"ccl": {"parameters": 904062, "accuracy": accuracy}}
    (tmp_path / "published_cifar10.json").write_text(json.dumps({"networks": networks}))
    return tmp_path


def cells(table: str, label: str) -> list[list[str]]:
    lines = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in table.splitlines()]
    return [line[1:] for line in lines if line[0] == label]


def test_a_row_is_the_mean_over_its_runs_and_each_budget_has_its_own(results: Path) -> None:
    table = tables.table("mnist", results)
    assert cells(table, "Conv2d") == [
        ["1,922", "97.50 ± 0.71", "25.00 ± 7.07", "60.00", "25.00 ± 7.07", "7, 7", "25", "2 + 1"],
        ["1,922", "90.00", "10.00", "not run", "10.00", "7", "5", "1 + 0"],
    ]
    assert cells(table, "CCL (ours)")[0][:3] == ["1,922", "97.25", "97.25"]
    assert cells(table, "our recommended model")[0][1:4] == ["not run"] * 3
    assert cells(table, "the paper: CCL")[0][1:4] == ["95.27", "95.15", "95.35"]
    assert len({line.count("|") for line in table.splitlines()}) == 1


def test_the_released_weights_have_rows_of_their_own(results: Path) -> None:
    table = tables.table("cifar10", results)
    assert cells(table, "released weights, CCL")[0][:5] == ["904,062", "79.00", "", "", "78.00"]
    assert cells(table, "released weights, Conv2d")[0][1] == "not run"


def test_a_table_takes_its_place_and_nothing_else() -> None:
    page = "before\n<!-- t -->\n\nold\n<!-- end of t -->\nafter\n"
    page = render.replace_table(page, "t", "| new |\n")
    assert page == "before\n<!-- t -->\n\n| new |\n\n<!-- end of t -->\nafter\n"
    assert render.replace_table(page, "t", "| new |\n") == page
    with pytest.raises(ValueError, match="no place for the table 'u'"):
        render.replace_table(page, "u", "")


@pytest.mark.parametrize("name", render.PLACES)
def test_the_pages_show_what_the_results_say(name: str) -> None:
    file, write = render.PLACES[name]
    page = (ROOT / "docs" / file).read_text()
    assert render.replace_table(page, name, write(ROOT / "experiments/results")) == page, "run experiments/render.py"


@pytest.mark.parametrize("data", ["mnist", "cifar10"])
def test_all_variants_of_the_papers_network_start_as_one(data: str) -> None:
    networks = {name: shared.Run(data, name, "plain", 3).network() for name in shared.VARIANTS}
    ours = networks.pop("recommended")
    assert sum(p.numel() for p in ours.parameters()) < 100_000
    expected = networks.pop("conv").state_dict()
    assert sum(value.numel() for value in expected.values()) == {"mnist": 1922, "cifar10": 904_062}[data]
    for network in networks.values():
        assert network.state_dict().keys() == expected.keys()
        for name, value in network.state_dict().items():
            assert torch.equal(value, expected[name])


def test_the_data_are_held_out_and_turned_as_told() -> None:
    task = shared.noise(shared.TASKS["cifar10"])
    torch.manual_seed(0)
    plain, validation = task.data("plain", 0)
    rolled, _ = task.data("rolled", 0)
    assert len(plain) == len(rolled) == 8
    assert len(validation["valid"]) == len(validation["rolled"]) == 16
    assert len(plain[0]) == 2
    assert len(rolled[0]) == 3


def test_labels_are_those_of_the_variants() -> None:
    module: ModuleType = tables
    assert set(module.LABELS) == set(shared.VARIANTS)
    assert set(module.TITLES) == set(shared.TASKS)
