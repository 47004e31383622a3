"""Pictures of what the change detector finds on held-out pairs.

    python experiments/table_change.py --entries ours --keep runs/change
    python experiments/change_gallery.py --weights runs/change --out runs/change/gallery.png

For every pair the view before, the view after turned to its heading, and the answer over the view before: green where
it is right, red where it marks too much, blue where it misses. The panoramas are not ours to publish, and so the
pictures stay out of the tree.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from _change import score
from PIL import Image
from safetensors.torch import load_file
from table_change import ENTRIES, FOLDS, ROLLS, SEED, build, load, predict
from torch import Tensor

from ringconv.data import Pairs, folds, roll_views
from ringconv.functional import ring_roll
from ringconv.models import ChangeUNet
from ringconv.models.detect import THRESHOLD

RIGHT, TOO_MUCH, MISSED = (0.1, 0.8, 0.2), (0.9, 0.1, 0.1), (0.1, 0.3, 1.0)


@torch.inference_mode()
def picture(model: ChangeUNet, pair: Pairs) -> Tensor:
    """``(3, 3 H, W)``: three views, one below the other."""
    found = model.detect(pair.views)
    before, after = pair.views[0]
    marked, mask = found.logits[0].sigmoid() > THRESHOLD, pair.masks[0]
    answer = before.clone()
    for where, colour in ((marked & mask, RIGHT), (marked & ~mask, TOO_MUCH), (mask & ~marked, MISSED)):
        answer = torch.where(where, 0.45 * answer + 0.55 * torch.tensor(colour).view(3, 1, 1), answer)
    return torch.cat([before, ring_roll(after, int(found.roll.nearest)), answer], 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--weights", type=Path, required=True, metavar="DIR", help="what table_change.py --keep wrote")
    parser.add_argument("--entry", choices=[n for n in ENTRIES if n.startswith("ours")], default="ours")
    parser.add_argument("--count", type=int, default=3, help="pairs of every fold: the worst, the best, those between")
    parser.add_argument("--out", type=Path, required=True, help="the picture to write")
    args = parser.parse_args()
    pairs = roll_views(load(ENTRIES[args.entry]), ROLLS[0])
    rows = []
    for fold, (_, held_out) in enumerate(folds(len(pairs), FOLDS, SEED)):
        path = args.weights / f"{args.entry}_{fold}.safetensors"
        if not path.exists():
            continue
        model = build(ENTRIES[args.entry]).eval()
        model.load_state_dict(load_file(path))
        held = pairs.take(held_out)
        scores = torch.tensor(list(score(lambda views: predict(model, views), held, THRESHOLD)["images"].values()))  # noqa: B023
        ranks = scores.argsort()[torch.linspace(0, len(held) - 1, args.count).long()]
        for i in ranks.tolist():
            print(f"fold {fold}, pair {held.names[i]}: F1 {scores[i]:.1f} %")
            rows.append(picture(model, held.take(torch.tensor([i]))))
    if not rows:
        raise SystemExit(f"{args.weights} holds no weights of {args.entry}: table_change.py --keep writes them")
    columns = 3
    rows += [torch.ones_like(rows[0])] * (-len(rows) % columns)
    sheet = torch.cat([torch.cat(rows[i : i + columns], 2) for i in range(0, len(rows), columns)], 1)
    pixels = (sheet.clamp(0, 1) * 255).round().to(torch.uint8).permute(1, 2, 0)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels.numpy()).resize((2 * sheet.shape[2], 2 * sheet.shape[1]), Image.Resampling.NEAREST).save(
        args.out
    )


if __name__ == "__main__":
    main()
