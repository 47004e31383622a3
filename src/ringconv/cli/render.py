"""``ringconv render``: a folder of meshes to a data set of panoramas."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

SHOWN = 20  # failed meshes told one by one; all of them stand in dataset.json


def render(
    source: Annotated[Path, typer.Argument(metavar="IN", help="Folder of meshes: .off .obj .ply .stl .glb.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder of the data set; a part of it is completed.")],
    size: Annotated[str, typer.Option(help="Rows x columns of a panorama.")] = "48x100",
    channels: Annotated[str, typer.Option(help="Of depth, hit, normal, last, count; with commas.")] = "depth",
    fit: Annotated[str, typer.Option(help="Cylinder around each object: tight or uniform (keeps proportions).")] = (
        "tight"
    ),
    radius: Annotated[float | None, typer.Option(help="One cylinder for all, around the origin: its radius.")] = None,
    bottom: Annotated[float, typer.Option(help="Where that cylinder's wall begins.")] = -1.0,
    top: Annotated[float, typer.Option(help="Where that cylinder's wall ends.")] = 1.0,
    up: Annotated[str | None, typer.Option(help="Axis that points upwards.  [default: y for ShapeNet, else z]")] = None,
    layout: Annotated[str, typer.Option(help="modelnet, shapenet, folders, or auto.")] = "auto",
    splits: Annotated[Path | None, typer.Option(help="ShapeNet's split CSV.  [default: IN/all.csv]")] = None,
    test: Annotated[float, typer.Option(help="Of plain class folders, the fraction to set apart.")] = 0.0,
    shard_size: Annotated[int, typer.Option(help="Meshes in a file of the data set.")] = 256,
    engine: Annotated[str, typer.Option(help="local, or ray: the cluster that RAY_ADDRESS names.")] = "local",
    jobs: Annotated[int | None, typer.Option(help="Processes.  [default: all cores]")] = None,
) -> int:
    """Cast rays at every mesh of a folder and write the panoramas as a data set.

    Killed at any moment and run again, it goes on where it was. A mesh that cannot be rendered is named at the end,
    and the status is then 1.

    Example: ringconv render ModelNet40 panoramas --size 48x100
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from ..render import Cylinder, Rendering
    from .main import refuse

    rows = re.fullmatch(r"(\d+)x(\d+)", size)
    if not rows:
        refuse(f"--size={size!r} must be rows x columns, as 48x100")
    try:
        rendering = Rendering(
            source,
            out,
            layout=layout,
            splits=splits,
            test=test,
            height=int(rows[1]),
            width=int(rows[2]),
            channels=channels.split(","),
            cylinder=fit if radius is None else Cylinder(radius, bottom, top),
            up=up,
            shard_size=shard_size,
        )
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True)) as progress:
            task = progress.add_task("rendering", total=len(rendering.sources), completed=rendering.start())
            for meshes in rendering.run(engine, jobs):
                progress.advance(task, meshes)
        summary = rendering.finish()
    except (ValueError, OSError, ModuleNotFoundError, RuntimeError) as error:
        refuse(str(error))
    counts = ", ".join(f"{count} {split}" for split, count in summary["panoramas"].items())
    print(f"{out}: {counts or 'no'} panoramas of {size} in {len(summary['classes'])} classes ({summary['layout']})")
    for failure in summary["failed"][:SHOWN]:
        print(f"failed: {failure['source']}: {failure['error']}", file=sys.stderr)
    if len(summary["failed"]) > SHOWN:
        print(f"failed: {len(summary['failed']) - SHOWN} more, in {out / 'dataset.json'}", file=sys.stderr)
    return 1 if summary["failed"] else 0
