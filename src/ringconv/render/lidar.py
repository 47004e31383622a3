"""From a laser scan to a range image: the nearest return of every beam in every direction."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
import torch
from torch import Tensor

from .. import _checks
from .cylinder import Array

# PLY's names of numbers, old and new, as NumPy's.
_PLY_TYPES = {
    **{"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4"},
    **{"int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4"},
    **{"float": "f4", "double": "f8", "float32": "f4", "float64": "f8"},
}
_PLY_ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_INTENSITY = ("intensity", "reflectance", "remission", "scalar_intensity", "scalar_Intensity")


def range_image(
    points: Array | Tensor,
    height: int,
    width: int,
    elevations: tuple[float, float] | Sequence[float],
    *,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    r"""What a scanner at the origin sees: range, intensity and mask on a ring of directions.

    A point falls into column :math:`\lfloor \varphi W / 2\pi \rfloor`, φ being its azimuth from x towards y, and into
    the row whose beam is nearest to its elevation; row 0 is the highest beam. Points further above the highest beam
    or below the lowest than half the angle to the next are left out. Where several fall into a pixel, the nearest
    wins, and of equally near ones the first. Turning the scan by :math:`2\pi k / W` rolls the picture by k columns.

    A scanner looks outwards, so azimuth grows to the left for it: ``image.roll(W // 2, -1).flip(-1)`` is the picture
    as it sees it, with the direction of x in the middle, which is how range images of KITTI are mostly shown.

    Args:
        points: ``(N, 3)`` x, y, z or ``(N, 4)`` with an intensity; further columns are not read. A point that is not
            finite, or at the origin, is no return.
        height, width: H beams and W directions.
        elevations: of the beams, in degrees: all H of them, in any order; or, for more than two, the lowest and the
            highest, with the others at even angles between.
        dtype: of the picture.

    Returns:
        ``(3, H, W)``: range (distance from the origin), intensity, and mask, 1 where something returned and 0 where
        nothing did; range and intensity are 0 there too.

    >>> range_image(np.array([[0, 2.0, 0], [0, 3.0, 0], [-4, -1e-9, 4]]), 2, 4, (0, 45))[0]
    tensor([[0.0000, 0.0000, 5.6569, 0.0000],
            [0.0000, 2.0000, 0.0000, 0.0000]])
    """
    where = "range_image"
    height, width = _checks.integer(where, "height", height), _checks.integer(where, "width", width)
    beams = _beams(where, height, elevations)
    cloud = np.asarray(points, np.float64)
    if cloud.ndim != 2 or cloud.shape[1] < 3:
        raise ValueError(f"{where}: points must be (N, 3) or (N, 4), got shape {cloud.shape}")
    cloud = cloud[np.isfinite(cloud[:, :3]).all(1)]
    x, y, z = cloud[:, :3].T
    distance = np.sqrt(x * x + y * y + z * z)
    column = np.floor(np.arctan2(y, x) * (width / (2 * np.pi))).astype(np.int64) % width
    row = _rows(np.degrees(np.arctan2(z, np.hypot(x, y))), beams)
    seen = np.flatnonzero((row >= 0) & (distance > 0))
    pixel = row[seen] * width + column[seen]
    order = np.lexsort((distance[seen], pixel))
    pixel, first = np.unique(pixel[order], return_index=True)
    nearest = seen[order[first]]
    image = np.zeros((3, height * width))
    image[0, pixel], image[2, pixel] = distance[nearest], 1
    if cloud.shape[1] > 3:
        image[1, pixel] = cloud[nearest, 3]
    return torch.from_numpy(image.reshape(3, height, width)).to(dtype)


def read_points(path: str | os.PathLike[str], columns: int | None = None) -> Array:
    """The points of a scan, ``(N, 3)`` or ``(N, 4)`` with their intensity, in float32 or as they are stored.

    Args:
        path: ``.bin``, numbers in float32 and nothing else, four to a point as KITTI stores them; ``.pcd.bin``, five
            as nuScenes does, whose last, the beam's number, is dropped; ``.npy``; or ``.ply``, text or binary, whose
            intensity is a property of that name (or ``reflectance``, ``remission``).
        columns: numbers to a point of a ``.bin``, where they are other than these.
    """
    where, path = "read_points", Path(path)
    if path.suffix == ".bin":
        columns = columns or (5 if path.name.endswith(".pcd.bin") else 4)
        numbers = np.fromfile(path, "<f4")
        if path.stat().st_size % (4 * _checks.integer(where, "columns", columns, 3)):
            raise ValueError(
                f"{where}: {path} has {path.stat().st_size} bytes, no multiple of {columns} float32 numbers a point; "
                "give columns="
            )
        points = numbers.reshape(-1, columns)
    elif path.suffix == ".npy":
        points = np.load(path)
    elif path.suffix == ".ply":
        points = _read_ply(path)
    else:
        raise ValueError(f"{where}: {path} is none of .bin, .pcd.bin, .npy, .ply")
    if points.ndim != 2 or points.shape[1] < 3:
        raise ValueError(f"{where}: {path} holds an array of shape {points.shape}, no points (N, 3) or (N, 4)")
    return points[:, :4]


def _beams(where: str, height: int, elevations: Sequence[float]) -> Array:
    """The elevation of every row, from the highest to the lowest."""
    given = np.sort(np.asarray(elevations, np.float64))[::-1]
    if given.shape == (2,) and height > 2:
        given = np.linspace(given[0], given[1], height)
    if given.shape != (height,) or not np.isfinite(given).all() or (np.diff(given) == 0).any():
        raise ValueError(
            f"{where}: elevations={elevations!r} must be the {height} distinct angles of the beams, or the lowest and "
            "the highest"
        )
    return given


def _rows(elevation: Array, beams: Array) -> Array:
    """The nearest beam, or −1 for a point beyond all of them; a single beam takes every point."""
    if len(beams) == 1:
        return np.zeros(len(elevation), np.int64)
    between = (beams[1:] + beams[:-1]) / 2
    edges = np.array([2 * beams[0] - between[0], *between, 2 * beams[-1] - between[-1]])
    row = len(beams) - np.searchsorted(edges[::-1], elevation, side="right")
    return np.where(row < len(beams), row, -1)


def _read_ply(path: Path) -> Array:
    with path.open("rb") as file:
        order, count, fields = _ply_header(path, file)
        if order == "":
            rows = np.loadtxt(file, max_rows=count, ndmin=2) if count else np.zeros((0, len(fields)))
            if rows.shape != (count, len(fields)):
                raise ValueError(f"read_points: {path} has {len(rows)} vertices where its header says {count}")
            data = {name: rows[:, i] for i, (name, _) in enumerate(fields)}
        else:
            table = np.fromfile(file, np.dtype([(name, order + kind) for name, kind in fields]), count)
            if len(table) != count:
                raise ValueError(f"read_points: {path} has {len(table)} vertices where its header says {count}")
            data = {name: table[name] for name, _ in fields}
    wanted = ["x", "y", "z", *[name for name in _INTENSITY if name in data][:1]]
    if missing := [name for name in wanted if name not in data]:
        raise ValueError(f"read_points: {path} has vertices without {', '.join(missing)}")
    return np.stack([data[name] for name in wanted], 1)


def _ply_header(path: Path, file: BinaryIO) -> tuple[str, int, list[tuple[str, str]]]:
    """Byte order, number of vertices, and their properties; the file then stands at the first vertex."""
    if file.readline().strip() != b"ply":
        raise ValueError(f"read_points: {path} is no PLY file")
    order, count, fields, element = None, 0, [], None
    for line in iter(file.readline, b""):
        word, *rest = line.decode("ascii", "replace").split() or [""]
        if word == "format":
            order = _PLY_ORDERS.get(rest[0])
        elif word == "element":
            if element is None and rest[0] != "vertex":
                raise ValueError(f"read_points: {path} does not begin with its vertices")
            element = rest[0]
            count = int(rest[1]) if element == "vertex" else count
        elif word == "property" and element == "vertex":
            if rest[0] not in _PLY_TYPES:
                raise ValueError(f"read_points: {path} has vertices with a {' '.join(rest)}")
            fields.append((rest[1], _PLY_TYPES[rest[0]]))
        elif word == "end_header":
            break
    if order is None or not fields:
        raise ValueError(f"read_points: {path} has a header without format or vertices")
    return order, count, fields
