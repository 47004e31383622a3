"""``ringconv show``: pictures of panoramas, meshes and scans, for people to look at."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from torch import Tensor

_SCANS = (".bin", ".npy")
_BEAMS = (-25.0, 3.0)  # of KITTI's and many other scanners, lowest and highest


def show(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="Meshes, scans (.bin .npy), shards (.npz), or folders written by `ringconv render`."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The picture; .png, or another format by its ending.")] = Path("show.png"),
    index: Annotated[int, typer.Option(help="Which panorama of a shard or folder.")] = 0,
    roll: Annotated[int | None, typer.Option(help="Show each beside itself rolled by so many columns.")] = None,
    size: Annotated[str, typer.Option(help="Rows x columns to render meshes and scans at.")] = "48x100",
    fit: Annotated[str, typer.Option(help="Cylinder around a mesh: tight or uniform.")] = "tight",
    up: Annotated[str, typer.Option(help="Axis of a mesh that points upwards.")] = "z",
) -> None:
    """Draw each file as a row: what it is, its panorama, and, with --roll, the rolled panorama.

    Example: ringconv show chair.off --roll 25 --out chair.png
    """
    from .main import refuse

    rows = re.fullmatch(r"(\d+)x(\d+)", size)
    if not rows:
        refuse(f"--size={size!r} must be rows x columns, as 48x100")
    try:
        shown = [_read(path, index, int(rows[1]), int(rows[2]), fit, up) for path in files]
        _draw(shown, roll, out)
    except (ValueError, TypeError, OSError, ModuleNotFoundError) as error:
        refuse(str(error))
    print(out)


Row = tuple[str, "Tensor | None", "Tensor"]  # a title, a picture of the thing, its panorama


def _read(path: Path, index: int, height: int, width: int, fit: str, up: str) -> Row:
    if path.is_dir() or path.suffix == ".npz":
        return _stored(path, index)
    from ..render import load_mesh, panorama, portrait, range_image, read_points

    if path.suffix in _SCANS:
        image = range_image(read_points(path), height, width, _BEAMS)
        return f"{path.name}, range", None, image[0].where(image[2] > 0, float("nan"))
    mesh = load_mesh(path)
    depth, hit = panorama(mesh, height, width, ("depth", "hit"), cylinder=fit, up=up)
    return f"{path.name}, {len(mesh.faces):,} triangles", portrait(mesh, up=up), depth.where(hit > 0, float("nan"))


def _stored(path: Path, index: int) -> Row:
    """Panorama ``index`` of a shard, or counted through all shards of a folder."""
    import numpy as np
    import torch

    shards = sorted(path.glob("shard-*.npz")) if path.is_dir() else [path]
    count = 0
    for shard in shards:
        with np.load(shard) as found:
            if "panoramas" not in found:
                raise ValueError(f"show: {shard} is no shard that `ringconv render` wrote")
            if count <= index < count + len(found["label"]):
                row = index - count
                return str(found["source"][row]), None, torch.from_numpy(found["panoramas"][row, 0])
            count += len(found["label"])
    raise ValueError(f"show: --index={index} must lie in 0 … {count - 1}, of which {path} holds a panorama")


def _draw(shown: list[Row], roll: int | None, out: Path) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    columns = 1 + any(thing is not None for _, thing, _ in shown) + (roll is not None)
    figure, panels = plt.subplots(
        len(shown), columns, figsize=(5.2 * columns, 2.9 * len(shown)), squeeze=False, layout="constrained"
    )
    for line, (title, thing, picture) in zip(panels, shown, strict=True):
        drawn = [] if thing is None else [(title, thing, "gray")]
        drawn.append((title if thing is None else "panorama: depth", picture, "viridis_r"))
        if roll is not None:
            drawn.append((f"rolled by {roll}", picture.roll(roll, -1), "viridis_r"))
        for panel in line[len(drawn) :]:
            panel.axis("off")
        for panel, (name, image, colours) in zip(line, drawn, strict=False):
            aspect = "equal" if colours == "gray" else "auto"
            panel.imshow(image.numpy(), cmap=colours, interpolation="nearest", aspect=aspect, vmin=0)
            panel.set(title=name, xticks=[], yticks=[])
    figure.savefig(out, dpi=110)
    plt.close(figure)
