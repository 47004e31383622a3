"""What train, eval, predict and info share: the data, the networks, and a run read back from its folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from torch import nn

from .._checks import one_of
from ..data import ImageFolder, Images, cifar10, digits, mnist
from ..models import RingClassifier
from ..nn import RingConv2d
from ..paper import CIFAR10Net, MNISTNet
from ..train import checkpoint

SETS: dict[str, Callable[[str], Images]] = {"digits": digits, "mnist": mnist, "cifar10": cifar10}
MODELS = ("classifier", "mnist", "cifar10")
# Circular padding is the ring with zeros above and below: what F.pad(mode="circular") and a Conv2d give.
LAYERS: dict[str, Callable[..., nn.Module]] = {
    "ring": RingConv2d,
    "circular-pad": partial(RingConv2d, height="zeros"),
    "planar": nn.Conv2d,
}
EXACTNESS = ("polyphase", "canonical", "none")


def open_data(
    name: str, split: str, shape: tuple[int, int, int], classes: Sequence[str] | None = None
) -> Images | ImageFolder:
    """A data set by name, or a folder of images of ``shape``."""
    if name in SETS:
        return SETS[name](split)
    if not Path(name).is_dir():
        raise ValueError(f"data {name!r} is neither a folder nor one of {', '.join(SETS)}")
    return ImageFolder(name, shape[1:], shape[0], classes)


def build(model: str, layer: str, exact: str, channels: int, classes: int) -> nn.Module:
    """A network before training."""
    one_of("train", "model", model, MODELS)
    one_of("train", "layer", layer, LAYERS)
    wanted = None if one_of("train", "exact", exact, EXACTNESS) == "none" else exact
    if layer == "planar" and wanted:
        raise ValueError(f"train: exact={exact!r} needs a ring; with layer='planar' say exact='none'")
    if model == "classifier":
        if layer == "planar":
            raise ValueError(
                f"train: model={model!r} has no planar form; layer='planar' works with 'mnist' and 'cifar10'"
            )
        height = "zeros" if layer == "circular-pad" else "symmetric"
        return RingClassifier(channels, classes, exact=wanted, height=height)
    paper = MNISTNet if model == "mnist" else CIFAR10Net
    return paper(LAYERS[layer], channels, classes, exact=wanted)


def settings(folder: Path) -> dict[str, Any]:
    """What a run was told, from its ``run.json``."""
    path = folder / "run.json"
    if not path.exists():
        raise FileNotFoundError(f"{folder} holds no training run (no run.json); make one with 'ringconv train'")
    found: dict[str, Any] = json.loads(path.read_text())
    if "model" not in found:
        raise ValueError(f"{path} is of no run that 'ringconv train' made")
    return found


def trained(folder: Path, told: Mapping[str, Any]) -> nn.Module:
    """The network of a run with its newest weights, in evaluation mode."""
    model = build(told["model"], told["layer"], told["exact"], told["shape"][0], len(told["classes"]))
    model.load_state_dict(checkpoint.weights(folder))
    return model.eval()
