"""``ringconv train``: a classifier for images on a ring."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def train(
    data: Annotated[str, typer.Argument(help="digits, mnist, cifar10, or a folder with a folder of images per class.")],
    out: Annotated[Path, typer.Option("--out", help="Folder of the run; the same command goes on where it stopped.")],
    model: Annotated[str, typer.Option(help="classifier (ours), or the paper's mnist or cifar10.")] = "classifier",
    layer: Annotated[str, typer.Option(help="ring, circular-pad or planar.")] = "ring",
    exact: Annotated[
        str | None, typer.Option(help="polyphase, canonical or none. [default: polyphase for ring, else none]")
    ] = None,
    rolled: Annotated[bool, typer.Option("--rolled", help="Turn every training image anew in every epoch.")] = False,
    size: Annotated[str, typer.Option(metavar="HxW", help="Size that a folder's images are resized to.")] = "32x128",
    channels: Annotated[int, typer.Option(help="3 to read a folder's images in colour, 1 in grey.")] = 3,
    held_out: Annotated[float, typer.Option(help="Share of the images to watch and not to train on.")] = 0.1,
    epochs: Annotated[int, typer.Option(help="Passes over the training images.")] = 25,
    batch_size: Annotated[int, typer.Option(help="Images in a step, over all devices together.")] = 64,
    learning_rate: Annotated[float, typer.Option(help="Of Adam: the highest of its schedule.")] = 3e-3,
    schedule: Annotated[str, typer.Option(help="one-cycle or constant.")] = "one-cycle",
    weight_decay: Annotated[float, typer.Option(help="Decoupled, of weights alone.")] = 0.0,
    precision: Annotated[str, typer.Option(help="float32 or bfloat16.")] = "float32",
    accumulate: Annotated[int, typer.Option(help="Parts that a batch is computed in.")] = 1,
    channels_last: Annotated[bool, typer.Option("--channels-last", help="Keep channels last in memory.")] = False,
    seed: Annotated[int, typer.Option(help="Of weights, order and rolls.")] = 0,
    devices: Annotated[int, typer.Option(help="Processes that share every batch.")] = 1,
    workers: Annotated[int, typer.Option(help="Processes that read images.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on stderr.")] = False,
) -> None:
    """Train a classifier, measure it on held-out images upright and turned, and keep what is needed to go on.

    Example: ringconv train digits --out runs/digits --epochs 2
    """
    import torch
    from torch.nn.functional import cross_entropy
    from torch.utils.data import random_split
    from torchmetrics.classification import MulticlassAccuracy

    from ..data import Rolled
    from ..train import Recipe, fit
    from ._classify import build, open_data

    recipe = Recipe(
        epochs=epochs,
        batch_size=batch_size,
        learning_rate=learning_rate,
        schedule=schedule,
        weight_decay=weight_decay,
        precision=precision,
        accumulate=accumulate,
        channels_last=channels_last,
        seed=seed,
    )
    images = open_data(data, "train", (channels, *_size(size)))
    shape, classes, samples = images.shape, images.classes, len(images)
    watched = round(held_out * samples)
    if not 0 < watched < samples:
        raise ValueError(f"train: held_out={held_out} of {samples} images leaves {samples - watched} to train on")
    trained, validation = random_split(images, [samples - watched, watched], generator=torch.Generator().manual_seed(0))
    exact = exact or ("polyphase" if layer == "ring" else "none")
    torch.manual_seed(seed)
    network = build(model, layer, exact, shape[0], len(classes))
    notes = {
        "data": data,
        "model": model,
        "layer": layer,
        "exact": exact,
        "rolled": rolled,
        "held_out": held_out,
        "shape": shape,
        "classes": classes,
        "mean": getattr(images, "mean", 0.5),
        "std": getattr(images, "std", 0.5),
    }
    fit(
        network,
        Rolled(trained, seed) if rolled else trained,
        {"valid": validation, "turned": Rolled(validation, seed)},
        cross_entropy,
        {"accuracy": MulticlassAccuracy(len(classes), average="micro")},
        recipe=recipe,
        out=out,
        notes=notes,
        devices=devices,
        workers=workers,
        progress=not quiet,
    )


def _size(text: str) -> tuple[int, int]:
    height, _, width = text.partition("x")
    if not (height.isdecimal() and width.isdecimal()):
        raise ValueError(f"train: size={text!r} must be HxW, such as 32x128")
    return int(height), int(width)
