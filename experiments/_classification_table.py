"""The classification tables in the documentation, from the results of ``table_classification.py``."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

TITLES = {"mnist": "MNIST", "cifar10": "CIFAR-10"}
LABELS = {
    "conv": "Conv2d",
    "circular-pad": "circular padding",
    "torus": "CCL as released (torus)",
    "dct-product": "CCL of the paper's text (DCT product)",
    "ccl": "CCL (ours)",
    "ccl-exact": "CCL (ours), exact form",
    "recommended": "our recommended model",
}
# Table 1 of arXiv 2107.12480, in per cent.
PAPER = {
    "mnist": {"Conv2d": (93.96, 16.81, 46.64), "CCL": (95.27, 95.15, 95.35)},
    "cifar10": {"Conv2d": (76.29, 49.11, 66.07), "CCL": (79.40, 79.24, 79.02)},
}
NOT_RUN = "not run"


def table(data: str, results: Path) -> str:
    """One data set's table in Markdown; cells without a run say so."""
    title = TITLES[data]
    heads = [f"{title} → {title}", f"{title} → R-{title}", f"R-{title} → R-{title}"]
    lines = [
        ["", "parameters", *heads, "plain-trained, worst roll", "images a roll changes", "epochs", "seeds"],
        ["---"] + ["---:"] * 8,
    ]
    lines += [
        [f"the paper: {name}", "", *(f"{x:.2f}" for x in row), "", "", "", ""] for name, row in PAPER[data].items()
    ]
    found = [json.loads(path.read_text()) for path in sorted((results / "table_classification").glob(f"{data}-*.json"))]
    for variant, label in LABELS.items():
        budgets = sorted({run["recipe"]["epochs"] for run in found if run["variant"] == variant}, reverse=True)
        for epochs in budgets or [None]:
            lines.append([label, *_cells(found, variant, epochs)])
    if data == "cifar10":
        lines += _published(results)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _cells(found: list[dict[str, Any]], variant: str, epochs: int | None) -> list[str]:
    runs = [run for run in found if run["variant"] == variant and run["recipe"]["epochs"] == epochs]
    if not runs:
        return ["", *[NOT_RUN] * 3, "", "", "", ""]
    plain, rolled = ([run for run in runs if run["training"] == name] for name in ("plain", "rolled"))
    return [
        f"{runs[0]['parameters']:,}",
        _mean([run["accuracy"]["plain"] for run in plain]),
        _mean([run["accuracy"]["rolled"] for run in plain]),
        _mean([run["accuracy"]["rolled"] for run in rolled]),
        _mean([min(run["accuracy"]["at_every_roll"]) for run in plain]),
        ", ".join(f"{run['changed']:,}" for run in plain) or NOT_RUN,
        str(epochs),
        " + ".join(str(len(runs)) for runs in (plain, rolled)),
    ]


def _mean(values: list[float]) -> str:
    """Mean ± standard deviation, as far as there are values."""
    if not values:
        return NOT_RUN
    mean = f"{statistics.mean(values):.2f}"
    return mean if len(values) == 1 else f"{mean} ± {statistics.stdev(values):.2f}"


def _published(results: Path) -> list[list[str]]:
    """The released weights, tested as they are, at the rolls that were measured."""
    path = results / "published_cifar10.json"
    networks = json.loads(path.read_text())["networks"] if path.exists() else {}
    lines = []
    for name, label in {"cnn": "released weights, Conv2d", "ccl": "released weights, CCL"}.items():
        if name not in networks:
            lines.append([label, "", NOT_RUN, NOT_RUN, "", "", "", "", ""])
            continue
        accuracy = networks[name]["accuracy"]
        plain, worst = (f"{value:.2f}" for value in (accuracy["0"], min(accuracy.values())))
        lines.append([label, f"{networks[name]['parameters']:,}", plain, "", "", worst, "", "", ""])
    return lines
