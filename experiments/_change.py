"""How the change detectors are trained and scored, for the table and for the weights that ship.

The loop is not that of ``ringconv.train``: a step here draws a turn for either view and tells the model, and what is
scored is the running average of the weights.
"""

from __future__ import annotations

import copy
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ringconv.data import Pairs
from ringconv.functional import ring_roll
from ringconv.models import ChangeUNet

BATCH = 8
RATE, DECAY, WARM_UP = 4e-3, 0.05, 0.15
ALIGN, DICE = 0.3, 0.5
AVERAGE = 0.98
THRESHOLDS = tuple(i / 20 for i in range(2, 19))
# Sizes in columns and rows are those at 128 columns and grow with the ring.
BASE = 128

Predict = Callable[[Tensor], tuple[Tensor, Tensor | None]]


def fit(model: ChangeUNet, pairs: Pairs, epochs: int, seed: int, *, quiet: bool = False) -> ChangeUNet:
    """Train ``model`` on ``pairs`` and return the running average of its weights, in evaluation mode.

    The loss is the cross-entropy of every pixel, one less the F1 of the batch, and the cross-entropy of the known
    turn among all turns. The views are compared at the known turn, give or take a column.
    """
    torch.manual_seed(seed)
    matrices = [p for p in model.parameters() if p.ndim > 1]
    others = [p for p in model.parameters() if p.ndim <= 1]
    groups = [{"params": matrices, "weight_decay": DECAY}, {"params": others, "weight_decay": 0.0}]
    steps = epochs * (len(pairs) // BATCH)
    optimizer = torch.optim.AdamW(groups, RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps, pct_start=WARM_UP)
    average, step, start = copy.deepcopy(model), 0, time.monotonic()
    model.train()
    for epoch in range(epochs):
        total = 0.0
        order = torch.randperm(len(pairs))
        for batch in order[: len(pairs) // BATCH * BATCH].split(BATCH):
            loss = _loss(model, *augment(pairs.take(batch)))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            step += 1
            follow(average, model, min(AVERAGE, step / (step + 10)))
            total += loss.item() * BATCH / len(pairs)
        if not quiet and epoch % 10 == 9:
            print(f"epoch {epoch + 1}: loss {total:.3f}, {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    return average.eval()


def fit_published(network: nn.Module, pairs: Pairs, epochs: int, seed: int) -> nn.Module:
    """Train the paper's network as its released code does: Adam at 0.001, one pair at a time, nothing augmented."""
    torch.manual_seed(seed)
    optimizer = torch.optim.Adam(network.parameters(), 1e-3)
    network.train()
    for epoch in range(epochs):
        total = 0.0
        for i in torch.randperm(len(pairs)).split(1):
            loss = F.binary_cross_entropy(network(2 * pairs.views[i] - 1), pairs.masks[i].float())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() / len(pairs)
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1}: loss {total:.3f}", file=sys.stderr, flush=True)
    return network.eval()


@torch.inference_mode()
def best_threshold(predict: Predict, pairs: Pairs) -> tuple[float, float]:
    """The probability above which marking a pixel gives the best F1 over all pixels of ``pairs``, and that F1."""
    probability = torch.cat([predict(pairs.views[i : i + 1])[0].sigmoid() for i in range(len(pairs))])
    true = int(pairs.masks.sum())
    tried = []
    for threshold in THRESHOLDS:
        found = probability > threshold
        tried.append((_f1(int((found & pairs.masks).sum()), int(found.sum()), true), threshold))
    f1, threshold = max(tried)
    return threshold, f1


@torch.inference_mode()
def score(predict: Predict, pairs: Pairs, threshold: float = 0.5) -> dict[str, Any]:
    """Precision, recall and F1 in per cent over all pixels of ``pairs``, F1 per image, and how the headings fit.

    A pixel is marked whose probability is above ``threshold``.
    """
    hits, marked, true, per_image, errors = 0, 0, 0, [], []
    width = pairs.masks.shape[-1]
    for i in range(len(pairs)):
        logits, turn = predict(pairs.views[i : i + 1])
        found, mask = logits[0].sigmoid() > threshold, pairs.masks[i]
        both, here, there = (int(x.sum()) for x in (found & mask, found, mask))
        hits, marked, true = hits + both, marked + here, true + there
        per_image.append(_f1(both, here, there))
        if turn is not None:
            off = (float(turn) - int(pairs.turns[i]) + width / 2) % width - width / 2
            errors.append(abs(off) / width)
    result: dict[str, Any] = {
        "precision": 100 * hits / max(1, marked),
        "recall": 100 * hits / max(1, true),
        "f1": _f1(hits, marked, true),
        "f1_per_image": sum(per_image) / len(per_image),
        "images": dict(zip(pairs.names, per_image, strict=True)),
    }
    return result | ({"heading_errors": errors} if errors else {})


def augment(pairs: Pairs) -> tuple[Tensor, Tensor, Tensor]:
    """Views, masks and turns as they might have been: mirrored, rolled, moved up or down, in another light."""
    views, masks, turns = pairs.views, pairs.masks.float(), pairs.turns
    B, W = len(views), views.shape[-1]
    mirror = torch.rand(B) < 0.5
    views = torch.where(mirror.view(B, 1, 1, 1, 1), views.flip(-1), views)
    masks = torch.where(mirror.view(B, 1, 1), masks.flip(-1), masks)
    turns = torch.where(mirror, -turns, turns)
    rolls = torch.randint(W, (2, B))
    one, two = ring_roll(views[:, 0], rolls[0]), ring_roll(views[:, 1], rolls[1])
    masks, turns = ring_roll(masks, rolls[0]), (turns + rolls[0] - rolls[1]) % W
    most = max(1, W // BASE)
    up = torch.randint(-most, most + 1, (2, B))
    one, masks, two = _raise(one, up[0]), _raise(masks[:, None], up[0])[:, 0], _raise(two, up[1])
    return _light(torch.stack([one, two], 1)), masks, turns


def follow(average: nn.Module, model: nn.Module, share: float) -> None:
    """Move the running average of the weights towards those of ``model``, and keep ``share`` of it."""
    with torch.no_grad():
        for mean, now in zip(average.state_dict().values(), model.state_dict().values(), strict=True):
            if mean.is_floating_point():
                mean.lerp_(now, 1 - share)


def _loss(model: ChangeUNet, views: Tensor, masks: Tensor, turns: Tensor) -> Tensor:
    width = views.shape[-1]
    distance = (torch.arange(width) - turns[:, None]) % width
    distance = torch.minimum(distance, width - distance) * (BASE / width)
    at = torch.exp(-0.5 * (distance / 0.6) ** 2)
    jitter = torch.randint(-1, 2, turns.shape) * max(1, width // BASE)
    logits, misplaced = model.guided(views, turns + jitter, at / at.sum(-1, keepdim=True))
    p = logits.sigmoid()
    dice = 1 - 2 * (p * masks).sum() / (p.sum() + masks.sum()).clamp_min(1.0)
    return F.binary_cross_entropy_with_logits(logits, masks) + DICE * dice + ALIGN * misplaced


def _raise(x: Tensor, rows: Tensor) -> Tensor:
    """``(B, C, H, W)``, each sample moved down by rows of its own, the border repeated."""
    B, C, H, W = x.shape
    at = (torch.arange(H) - rows[:, None]).clamp(0, H - 1)
    return x.gather(-2, at.view(B, 1, H, 1).expand(B, C, H, W))


def _light(views: Tensor) -> Tensor:
    """Gamma, exposure, colour, brightness, contrast and noise, drawn for every view ``(B, 2, C, H, W)``."""
    B, _, C = views.shape[:3]

    def draw(amount: float, channels: int = 1) -> Tensor:
        return amount * (2 * torch.rand(B, 2, channels, 1, 1) - 1)

    x = views.clamp_min(1e-3) ** draw(0.4).exp()
    x = x * (draw(0.25) + draw(0.1, C)).exp() + draw(0.1)
    mean = x.mean((-2, -1), keepdim=True)
    x = (x - mean) * draw(0.2).exp() + mean
    return x + 0.02 * torch.rand(B, 2, 1, 1, 1) * torch.randn_like(x)


def _f1(both: int, found: int, true: int) -> float:
    return 100 * 2 * both / (found + true) if found + true else 100.0


def heading_summary(errors: list[float], width: int) -> dict[str, float]:
    """The median error of the headings in columns, and the share of pairs within 1 % and 2 % of the ring."""
    e = torch.tensor(errors, dtype=torch.float64)
    within = {f"within_{p}_percent": 100 * float((e <= p / 100).double().mean()) for p in (1, 2)}
    return {"median_columns": float(e.quantile(0.5)) * width if len(e) else math.nan, **within}
