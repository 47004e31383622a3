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


if __name__ == "__main__":
    main()
