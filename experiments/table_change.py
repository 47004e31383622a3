"""Change detection on TSUNAMI with every view turned by an angle of its own: the paper's table, and what ours gives.

    python experiments/table_change.py                       every entry and fold that has no result yet: hours
    python experiments/table_change.py --entries ours        five folds, about 15 minutes on one core
    python experiments/table_change.py --smoke               seconds: two epochs on a few pairs, nothing written

The pairs lie under ``~/.cache/ringconv/tsunami`` or ``RINGCONV_DATA``. Five folds of 80 training and 20 held-out pairs,
the same for every entry. The paper's network is trained as its released code does it. A pixel is marked where its
probability is above the threshold that gives the best F1 on the training pairs; the scores at ½ are given too. Every
fold of every entry writes ``experiments/results/change_ENTRY_FOLD.json``; ``experiments/render.py`` makes the table.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from _change import best_threshold, fit, fit_published, heading_summary, score
from _results import RESULTS, write
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from ringconv.data import Pairs, folds, roll_views, tsunami
from ringconv.models import ChangeUNet
from ringconv.paper import ChangeNet, TorusCCL

FOLDS = 5
SEED = 0
ROLLS = (1, 2)


@dataclass(frozen=True)
class Entry:
    """One line of the table.

    Attributes:
        network: ``"paper"`` or ``"ours"``.
        layer: what the paper's network, or our encoder, is built with: ``"ring"`` or ``"planar"``.
        epochs: of training.
        size: of the views, (H, W).
    """

    network: str
    layer: str
    epochs: int
    size: tuple[int, int] = (28, 128)


ENTRIES = {
    "ours": Entry("ours", "ring", 40),
    "ours-planar": Entry("ours", "planar", 40),
    "paper-conv": Entry("paper", "planar", 40),
    "paper-ccl": Entry("paper", "ring", 40),
    "ours-56x256": Entry("ours", "ring", 40, (56, 256)),
}


def build(entry: Entry) -> nn.Module:
    """The untrained network of one line."""
    planar = entry.layer == "planar"
    if entry.network == "paper":
        return ChangeNet(nn.Conv2d if planar else TorusCCL, offset=(0, 1) if planar else (0, 0))
    return ChangeUNet(encoder=nn.Conv2d) if planar else ChangeUNet()


def train(entry: Entry, pairs: Pairs, epochs: int, fold: int) -> nn.Module:
    """The network of one line, trained on ``pairs``."""
    torch.manual_seed(SEED + fold)
    network = build(entry)
    if isinstance(network, ChangeUNet):
        return fit(network, pairs, epochs, SEED + fold)
    return fit_published(network, pairs, epochs, SEED + fold)


def predict(model: nn.Module, views: Tensor) -> tuple[Tensor, Tensor | None]:
    """Logits, and the turn where the network finds one."""
    if isinstance(model, ChangeUNet):
        found = model.detect(views)
        return found.logits, found.roll.columns
    return torch.logit(model(2 * views - 1)), None


@torch.inference_mode()
def largest_change(model: nn.Module, views: Tensor) -> dict[str, float]:
    """The largest difference that any roll of one view makes to the probabilities, against what it should make."""
    still = predict(model, views)[0].sigmoid()
    worst = {"of_view_one": 0.0, "of_view_two": 0.0}
    for t in range(1, views.shape[-1]):
        for i, name in enumerate(worst):
            turned = views.clone()
            turned[:, i] = turned[:, i].roll(t, -1)
            expected = still.roll(t, -1) if i == 0 else still
            difference = (predict(model, turned)[0].sigmoid() - expected).abs().max()
            worst[name] = max(worst[name], float(difference))
    return worst


def train_or_load(entry: Entry, pairs: Pairs, epochs: int, fold: int, path: Path | None) -> tuple[nn.Module, float]:
    """The trained network and the seconds it took; from ``path`` if that is there, which else is written."""
    if path and path.exists():
        model = build(entry).eval()
        with safe_open(path, "pt") as file:
            model.load_state_dict({name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118
            return model, float(file.metadata()["training_seconds"])
    start = time.monotonic()
    model = train(entry, pairs, epochs, fold)
    seconds = round(time.monotonic() - start, 1)
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        save_file(model.state_dict(), path, {"training_seconds": str(seconds)})
    return model, seconds


def run(name: str, fold: int, pairs: Pairs, epochs: int, kept: Path | None) -> dict[str, Any]:
    """Train and score one fold of one line."""
    entry = ENTRIES[name]
    train_on, held_out = folds(len(pairs), FOLDS, SEED)[fold]
    seen = roll_views(pairs, ROLLS[0]).take(train_on)
    model, seconds = train_or_load(entry, seen, epochs, fold, kept)
    threshold, training_f1 = best_threshold(lambda views: predict(model, views), seen)
    data: dict[str, Any] = {
        "entry": name,
        "fold": fold,
        "epochs": epochs,
        "seed": SEED + fold,
        "size": entry.size,
        "parameters": sum(p.numel() for p in model.parameters()),
        "training_seconds": seconds,
        "threshold": threshold,
        "training_f1": training_f1,
    }
    for rolls in ROLLS:
        held = roll_views(pairs, rolls).take(held_out)
        found = score(lambda views: predict(model, views), held, threshold)
        if "heading_errors" in found:
            found["heading"] = heading_summary(found["heading_errors"], entry.size[1])
        data[f"rolls_{rolls}"] = found
    at_half = score(lambda views: predict(model, views), held)
    data["at_one_half"] = {key: at_half[key] for key in ("precision", "recall", "f1")}
    data["largest_change_by_a_roll"] = largest_change(model, held.take(torch.tensor([0])).views)
    return data


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--entries", nargs="+", choices=ENTRIES, default=list(ENTRIES), help="lines (default: all)")
    parser.add_argument("--folds", nargs="+", type=int, choices=range(FOLDS), default=list(range(FOLDS)))
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the trained weights there, and use them")
    parser.add_argument("--again", action="store_true", help="also run what has a result")
    parser.add_argument("--smoke", action="store_true", help="two epochs on synthetic pairs, nothing written")
    args = parser.parse_args()
    for name in args.entries:
        entry = ENTRIES[name]
        pairs = synthetic(entry) if args.smoke else load(entry)
        for fold in args.folds[:1] if args.smoke else args.folds:
            result = f"change_{name}_{fold}"
            if not args.smoke and not args.again and (RESULTS / f"{result}.json").exists():
                continue
            kept = args.keep / f"{name}_{fold}.safetensors" if args.keep else None
            data = run(name, fold, pairs, 2 if args.smoke else entry.epochs, kept)
            print(f"{name}, fold {fold}: F1 {data[f'rolls_{ROLLS[0]}']['f1']:.2f} %", flush=True)
            if not args.smoke:
                print(write(result, data), file=sys.stderr, flush=True)


def load(entry: Entry) -> Pairs:
    """The pairs as the line's network takes them: the paper's sees luminance alone."""
    return tsunami(size=entry.size, grey=entry.network == "paper")


def synthetic(entry: Entry) -> Pairs:
    """Ten small pairs of noise, a block of the second view in another light, to see the program work."""
    torch.manual_seed(0)
    before = torch.rand(10, 1 if entry.network == "paper" else 3, 8, 32)
    masks = torch.zeros(10, 8, 32, dtype=torch.bool)
    masks[:, 2:6, 8:20] = True
    after = torch.where(masks[:, None], 1 - before, before)
    names = tuple(f"{i:08}" for i in range(10))
    return Pairs(torch.stack([before, after], 1), masks, names, torch.zeros(10, dtype=torch.int64))


if __name__ == "__main__":
    main()
