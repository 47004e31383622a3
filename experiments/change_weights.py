"""Train the change detector that comes with the package, on all 100 pairs of TSUNAMI.

    python experiments/change_weights.py            about five minutes on one core
    python experiments/change_weights.py --smoke    seconds: two epochs on synthetic pairs, nothing written

Writes ``src/ringconv/models/change.safetensors`` and ``experiments/results/change_weights.json``. What the same
training gives on pairs that it has not seen is in the table of ``experiments/table_change.py``.
"""

from __future__ import annotations

import argparse
import hashlib
import sys

import torch
from _change import fit, score
from _results import write
from table_change import ENTRIES, ROLLS, SEED, load, predict, synthetic

from ringconv.data import roll_views
from ringconv.models import ChangeDetector, ChangeUNet
from ringconv.models.detect import SHIPPED


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--entry", choices=[n for n in ENTRIES if n.startswith("ours")], default="ours", help="recipe")
    parser.add_argument("--smoke", action="store_true", help="two epochs on synthetic pairs, nothing written")
    args = parser.parse_args()
    entry = ENTRIES[args.entry]
    pairs = roll_views(synthetic(entry) if args.smoke else load(entry), ROLLS[0])
    torch.manual_seed(SEED)
    epochs = 2 if args.smoke else entry.epochs
    model = fit(ChangeUNet(), pairs, epochs, SEED)
    found = score(lambda views: predict(model, views), pairs)
    print(f"F1 on the pairs trained on: {found['f1']:.2f} %", file=sys.stderr)
    if not args.smoke:
        ChangeDetector(model, entry.size[1]).save(SHIPPED)
        data = {"entry": args.entry, "epochs": epochs, "seed": SEED, "size": entry.size, "training_f1": found["f1"]}
        data["sha256"] = hashlib.sha256(SHIPPED.read_bytes()).hexdigest()
        print(write("change_weights", data), file=sys.stderr)


if __name__ == "__main__":
    main()
