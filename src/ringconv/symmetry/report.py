"""What :func:`check` found: as an object, as JSON, as a table, and as a picture."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class Layer:
    """One call of one submodule.

    ``stride`` is the ring's width over that of this output (½ after upsampling), ``error`` the largest deviation from
    the symmetry that fits best, relative to the largest value, and ``profile`` that error in every column.
    """

    name: str
    type: str
    shape: tuple[int, ...]
    symmetry: str
    stride: Fraction | None
    error: float
    profile: tuple[float, ...] = ()


@dataclass(frozen=True)
class Culprit:
    """The first function that breaks what reaches the output: in which module, why, and in a sentence."""

    module: str
    type: str
    function: str
    cause: str
    detail: str

    def __str__(self) -> str:
        place = f"{self.module} ({self.type})" if self.module else self.type
        return f"{self.cause}: {place}, {self.function}: {self.detail}"


@dataclass(frozen=True)
class Report:
    """The symmetry of a model, layer by layer.

    Attributes:
        symmetry: of the whole output: ``"equivariant"``, ``"invariant"`` or ``"neither"``.
        stride: the total stride: the output follows rolls by its multiples; 1 is every roll, ``None`` none.
        error: of the output at ``rolls``, relative to its largest value.
        first: what breaks it, or ``None``.
        layers: every submodule's call, in order of execution.
        width: of the ring at the input.
        rolls: columns by which the input was turned to measure the layers.
        tolerance: errors up to here are rounding.
    """

    symmetry: str
    stride: int | None
    error: float
    first: Culprit | None
    layers: tuple[Layer, ...]
    width: int
    rolls: tuple[int, ...]
    tolerance: float

    @property
    def shifts(self) -> str:
        """The group of shifts that the output follows, in words."""
        if self.stride is None:
            return "none"
        return "all" if self.stride == 1 else f"multiples of {self.stride}"

    def to_dict(self) -> dict[str, Any]:
        """All of it as what JSON knows."""
        layers = [
            {**asdict(layer), "stride": None if layer.stride is None else float(layer.stride)} for layer in self.layers
        ]
        return {**asdict(self), "shifts": self.shifts, "layers": layers}

    def to_json(self) -> str:
        """:meth:`to_dict` as text."""
        return json.dumps(self.to_dict(), indent=2)

    def __str__(self) -> str:
        verdict = "neither equivariant nor invariant" if self.stride is None else self.symmetry
        lines = [f"{verdict}; shifts: {self.shifts}; error {self.error:.1e}"]
        lines.append(f"first to break: {self.first or 'none'}")
        return "\n".join(lines)

    def table(self) -> Table:
        """The layers as a table for a terminal. Takes rich, of the extra ``app``."""
        from rich.table import Table

        table = Table(title=str(self).replace("[", r"\["), title_justify="left", title_style="")
        for column in ("layer", "type", "output", "stride", "symmetry", "error"):
            table.add_column(column, overflow="fold", justify="right" if column in ("stride", "error") else "left")
        for layer in self.layers:
            marked = self.first is not None and layer.name == self.first.module and layer.symmetry == "neither"
            table.add_row(
                layer.name or "(output)",
                layer.type,
                "×".join(map(str, layer.shape)),
                "" if layer.stride is None else str(layer.stride),
                layer.symmetry,
                f"{layer.error:.1e}",
                style="red" if marked else "dim" if layer.symmetry == "neither" else "",
            )
        return table

    def picture(self, path: str | Path) -> Path:
        """Draw the error along the azimuth, one row for each layer with a ring. Takes matplotlib (extra ``app``)."""
        import numpy as np
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.colors import LogNorm
        from matplotlib.figure import Figure

        rows = [layer for layer in self.layers if layer.profile]
        if not rows:
            raise ValueError(f"Report.picture: none of {len(self.layers)} layers has a ring to draw")
        columns = max(len(layer.profile) for layer in rows)
        image = np.array([np.interp(_centres(columns), _centres(len(r.profile)), r.profile) for r in rows])
        figure = Figure(figsize=(8, 1.6 + 0.22 * len(rows)), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        norm = LogNorm(1e-8, 1, clip=True)
        drawn = axes.imshow(image, norm=norm, aspect="auto", interpolation="nearest", extent=(0, 360, len(rows), 0))
        names = [f"{layer.name or '(output)'}  {layer.type}" for layer in rows]
        axes.set_yticks(np.arange(len(rows)) + 0.5, names, fontsize=7)
        axes.set_xticks(range(0, 361, 60))
        axes.set_xlabel("azimuth in degrees")
        axes.set_title(
            f"first to break: {self.first.cause if self.first else 'none'}; shifts: {self.shifts}", fontsize=9
        )
        figure.colorbar(drawn, ax=axes, label="relative error")
        path = Path(path)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
        return path


def _centres(n: int) -> list[float]:
    return [(j + 0.5) / n for j in range(n)]
