"""Draw every figure and table from the JSON under ``results``: nothing is trained or measured here.

python experiments/render.py

A table stands in its page between ``<!-- NAME -->`` and ``<!-- end of NAME -->``; the rest of the page is written by
hand.
"""

from __future__ import annotations

import argparse
import functools
import json
from pathlib import Path
from typing import Any

import _classification_table as classification
import matplotlib as mpl

mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "ringconv"

import matplotlib.pyplot as plt  # noqa: E402  the backend comes first

RESULTS = Path(__file__).parent / "results"
DOCS = Path(__file__).parent.parent / "docs"
FIGURES = DOCS / "figures"
TABLES_AT = DOCS / "tables"


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


def objects(results: list[dict[str, Any]]) -> str:
    """Classification of objects: a line for every network, training and collection, over the seeds that were run."""
    lines = [
        "# Objects by their panoramas, as they stand and turned",
        "",
        "Accuracy in per cent, mean ± standard deviation over the seeds. Named otherwise: test objects that get",
        "another class when they are turned, over all seeds. Largest difference: of any log-probability or",
        "logit, by the turn.",
        "",
        "| collection | trained on | network | seeds | upright | turned | named otherwise | largest difference |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for kind in sorted({(r["data"], r["training"], r["network"]) for r in results}, key=lambda k: (k[0], k[1][::-1])):
        runs = [r for r in results if (r["data"], r["training"], r["network"]) == kind]
        cells = [_mean([run["accuracy"][turned] for run in runs]) for turned in ("upright", "rolled")]
        otherwise = sum(run["objects_named_otherwise"] for run in runs)
        tested = sum(run["panoramas"]["test"] for run in runs)
        largest = max(run["largest_difference"] for run in runs)
        cells += [f"{otherwise} of {tested}", f"{largest:.1e}"]
        name = f"{kind[2]}, {runs[0]['recipe']['epochs']} epochs"
        lines.append(f"| {kind[0]} | {kind[1]} | {name} | {len(runs)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _mean(values: list[float]) -> str:
    mean = sum(values) / len(values)
    deviation = (sum((v - mean) ** 2 for v in values) / max(1, len(values) - 1)) ** 0.5
    return f"{mean:.1f} ± {deviation:.1f}"


def offgrid(result: dict[str, Any]) -> plt.Figure:
    """ε against the part of a column, and against the band of the input: a line for each network."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), sharey=True, layout="constrained")
    # Networks that round alone would draw a line through the floor of a logarithmic axis.
    floor = 1e-6
    for curve in result["curves"]:
        left.semilogy(result["fractions"], [max(e, floor) for e in curve["by_fraction"]], ".-", label=curve["network"])
        right.semilogy(result["bands"], [max(e, floor) for e in curve["by_band"]], ".-", label=curve["network"])
    left.set(xlabel="turn, in columns", ylabel="equivariance error ε (no less than 1e-6)")
    left.set_title(f"harmonics up to {result['setting']['band']} of {result['setting']['columns'] // 2}")
    right.set(xlabel="highest harmonic of the input", title="half a column")
    right.legend(fontsize=8, bbox_to_anchor=(1.02, 0.5), loc="center left")
    for panel in (left, right):
        panel.grid(alpha=0.3)
    return figure


def stability(result: dict[str, Any]) -> plt.Figure:
    """The share of choices that noise moves: a panel for each set of images, dashed for the larger stride."""
    sets = sorted({curve["images"] for curve in result["curves"]}, reverse=True)
    figure, panels = plt.subplots(1, len(sets), figsize=(9, 3.4), sharey=True, layout="constrained")
    for panel, name in zip(panels, sets, strict=True):
        for curve in (c for c in result["curves"] if c["images"] == name):
            color = {"ring_origin": "tab:blue", "ring_phase": "tab:orange", "largest norm": "gray"}[curve["choice"]]
            line = ".-" if curve["stride"] == 2 else ".--"
            label = f"{curve['choice']}, stride {curve['stride']}"
            panel.loglog(result["levels"], [100 * m for m in curve["moved"]], line, color=color, label=label)
        panel.set(title=name, xlabel="noise, in deviations of the images")
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("choices moved, %")
    panels[1].legend(fontsize=8)
    return figure


TABLES = {"change_*_[0-9]": ("change.md", change), "table_objects/*": ("objects.md", objects)}


def invariance(result: dict[str, Any]) -> plt.Figure:
    """Accuracy against rotation and against vertical translation: a line for each network trained upright."""
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
    labels = {"rolls": "rotation, columns", "shifts": "vertical translation, rows (down is positive)"}
    for panel, (action, label) in zip(panels, labels.items(), strict=True):
        for variant, curve in result["curves"].items():
            panel.plot(result[action], curve[action], label=classification.LABELS[variant], linewidth=1.2)
        panel.set(xlabel=label, ylim=(0, 101))
        panel.grid(alpha=0.3)
    panels[0].set_ylabel(f"accuracy on {classification.TITLES[result['data']]}, per cent")
    panels[1].legend(fontsize=8)
    return figure


DRAWINGS = {
    "fig_equivariance": ("equivariance.svg", equivariance),
    "fig_offgrid": ("offgrid.svg", offgrid),
    "fig_stability": ("stability.svg", stability),
    "fig_invariance_mnist": ("invariance_mnist.svg", invariance),
    "fig_invariance_cifar10": ("invariance_cifar10.svg", invariance),
}
# By the name of its place: the page, and what writes it from all results.
PLACES = {
    f"classification_{data}": ("classification.md", functools.partial(classification.table, data))
    for data in classification.TITLES
}


def replace_table(page: str, name: str, table: str) -> str:
    """``page`` with ``table`` in its place."""
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, _, rest = page.partition(start)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"the page has no place for the table {name!r}: it must hold {start.strip()} and {end}")
    return f"{before}{start}\n{table}\n{end}{after}"


def main() -> None:
    """Draw what has a result."""
    argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0]).parse_args()
    FIGURES.mkdir(parents=True, exist_ok=True)
    for name, (file, write) in PLACES.items():
        page = DOCS / file
        page.write_text(replace_table(page.read_text(), name, write(RESULTS)))
        print(page)
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
