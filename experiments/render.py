"""Draw every figure from the JSON under ``results``: nothing is trained or measured here.

python experiments/render.py
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "ringconv"

import matplotlib.pyplot as plt  # noqa: E402  the backend comes first

RESULTS = Path(__file__).parent / "results"
FIGURES = Path(__file__).parent.parent / "docs" / "figures"
TABLES_AT = Path(__file__).parent.parent / "docs" / "tables"


def equivariance(result: dict[str, Any]) -> plt.Figure:
    """ε against resolution: a panel for each algorithm, a line for each depth, dashed with ReLU."""
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
    for panel, algorithm in zip(panels, ("direct", "spectral"), strict=True):
        for curve in (c for c in result["curves"] if c["algorithm"] == algorithm):
            color = {1: "tab:blue", 3: "tab:orange", 5: "tab:green"}[curve["layers"]]
            label = f"{curve['layers']} layer{'s' * (curve['layers'] > 1)}{', ReLU' * curve['relu']}"
            panel.plot(
                result["resolutions"], curve["errors"], ".-" if not curve["relu"] else ".--", color=color, label=label
            )
        panel.axhline(5e-7, color="gray", linewidth=0.8)
        panel.set(title=algorithm, xlabel="columns around the ring", ylim=(-2e-8, 6e-7))
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("equivariance error ε")
    panels[0].annotate("the paper's curves stay below", (500, 5e-7), ha="right", va="bottom", fontsize=8, color="gray")
    panels[0].legend(fontsize=8, ncols=2, loc="center")  # where the curves are all 0
    return figure


def change(results: list[dict[str, Any]]) -> str:
    """Change detection: a line for every entry, mean and deviation over the folds that were run."""
    lines = [
        "# Change detection on TSUNAMI, every view turned by an angle of its own",
        "",
        "Per cent, mean ± standard deviation over the folds. Heading: pairs whose turn is found within 1 % of the",
        "ring of the one they are laid out with. Largest change: of any probability, by any roll of view one or two.",
        "",
        "| network | folds | precision | recall | F1 | F1 per image | heading | largest change |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in sorted({result["entry"] for result in results}):
        runs = [result for result in results if result["entry"] == name]
        cells = [_mean([run["rolls_1"][key] for run in runs]) for key in ("precision", "recall", "f1", "f1_per_image")]
        headings = [run["rolls_1"].get("heading") for run in runs]
        cells.append(_mean([h["within_1_percent"] for h in headings]) if all(headings) else "none is found")
        worst = [max(run["largest_change_by_a_roll"][view] for run in runs) for view in ("of_view_one", "of_view_two")]
        cells.append(" / ".join(f"{value:.1e}" for value in worst))
        size = " x ".join(map(str, runs[0]["size"]))
        lines.append(f"| {name}, {size}, {runs[0]['epochs']} epochs | {len(runs)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _mean(values: list[float]) -> str:
    mean = sum(values) / len(values)
    deviation = (sum((v - mean) ** 2 for v in values) / max(1, len(values) - 1)) ** 0.5
    return f"{mean:.1f} ± {deviation:.1f}"


TABLES = {"change_*_[0-9]": ("change.md", change)}
DRAWINGS = {"fig_equivariance": ("equivariance.svg", equivariance)}


def main() -> None:
    """Draw what has a result."""
    argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0]).parse_args()
    FIGURES.mkdir(parents=True, exist_ok=True)
    for name, (file, draw) in DRAWINGS.items():
        path = RESULTS / f"{name}.json"
        if path.exists():
            draw(json.loads(path.read_text())).savefig(FIGURES / file, metadata={"Date": None})
            print(FIGURES / file)
    TABLES_AT.mkdir(parents=True, exist_ok=True)
    for pattern, (file, tell) in TABLES.items():
        found = [json.loads(path.read_text()) for path in sorted(RESULTS.glob(f"{pattern}.json"))]
        if found:
            (TABLES_AT / file).write_text(tell(found))
            print(TABLES_AT / file)


if __name__ == "__main__":
    main()
