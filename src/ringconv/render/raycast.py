"""From a mesh to a panorama: what the wall of a cylinder sees when it looks at its axis."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import _checks
from .cylinder import Array, Cylinder, fit_cylinder

CHANNELS = {"depth": 1, "hit": 1, "normal": 3, "last": 1, "count": 1}
# x, y, z of the upright frame, by the axis of the file that points upwards: turned, not mirrored.
UPRIGHT = {"x": (1, 2, 0), "y": (2, 0, 1), "z": (0, 1, 2)}
# Rays start and end this far beyond wall and axis, in radii, so that what lies on them is seen; and surfaces closer
# together than this count as one. The ray caster's own rounding (float32, coordinates of at most 1) is far smaller.
_SKIN = 1e-5
_LISTED = 100_000  # triangles that embreex is handed as lists; more would take memory


def panorama(
    mesh: Any,
    height: int = 48,
    width: int = 100,
    channels: Sequence[str] = ("depth",),
    *,
    cylinder: Cylinder | str = "tight",
    up: str = "z",
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    r"""What a cylinder around an object sees: from each pixel of its wall a ray goes straight to the axis.

    Pixel (i, j) looks inwards from azimuth :math:`\varphi_j = 2\pi (j + ½) / W`, counted from x towards y, at height
    :math:`z_i = top - (i + ½)(top - bottom) / H`. Row 0 is the top, and larger columns lie to the right for one who
    stands outside. Turning the object by :math:`2\pi k / W` about the axis rolls the picture by k columns, as
    ``torch.roll(picture, k, -1)`` does: every channel is told in the frame of its own ray.

    ========== ===================================================================================================
    channel
    ========== ===================================================================================================
    ``depth``  how far the ray goes until it first meets the object: 0 at the wall, 1 at the axis or if it meets
               nothing
    ``hit``    1 where the ray meets the object, 0 where it does not
    ``normal`` three channels: the unit normal of the surface met first, outwards, along φ and upwards; its first
               entry is never negative. 0 where nothing is met
    ``last``   the depth at which the ray last meets the object; 1 if it meets nothing
    ``count``  how many surfaces the ray meets; those closer together than 1e-5 radii count as one
    ========== ===================================================================================================

    Embree (single precision, watertight) finds which triangle each ray meets; where it meets it is computed in double
    precision. The mesh needs to be neither closed nor consistently wound.

    Args:
        mesh: a :class:`trimesh.Trimesh`, a :class:`trimesh.Scene` of several parts, or ``(vertices, faces)``, arrays
            ``(V, 3)`` and ``(F, 3)``.
        height, width: H and W, pixels of the wall.
        channels: which of the above, in the order wanted.
        cylinder: the one to look from, or how to fit one by :func:`fit_cylinder`: ``"tight"`` or ``"uniform"``. What
            lies outside a given cylinder is not seen.
        up: the axis of the mesh that points upwards: ``"x"``, ``"y"`` or ``"z"``.
        dtype: of the picture.

    Returns:
        ``(C, H, W)``, C being 1 for each channel and 3 for ``normal``.

    >>> square = [[1, -1, 0], [1, 1, 0], [1, 1, 1], [1, -1, 1]], [[0, 1, 2], [2, 3, 0]]
    >>> panorama(square, 1, 4, cylinder=Cylinder(2, 0, 1)).round(decimals=2)
    tensor([[[0.2900, 1.0000, 1.0000, 0.2900]]])
    """
    where = "panorama"
    height, width = _checks.integer(where, "height", height), _checks.integer(where, "width", width)
    check_channels(where, channels)
    _checks.one_of(where, "up", up, UPRIGHT)
    vertices, faces = mesh_arrays(where, mesh)
    vertices = vertices[:, UPRIGHT[up]]
    if isinstance(cylinder, str):
        used = np.zeros(len(vertices), bool)
        used[faces] = True
        cylinder = fit_cylinder(vertices[used], cylinder)
    elif not isinstance(cylinder, Cylinder):
        raise TypeError(f"{where}: cylinder must be a Cylinder, 'tight' or 'uniform', got {type(cylinder).__name__}")
    view = _View(cylinder.unit(vertices), faces, height, width)
    planes = [plane for name in channels for plane in getattr(view, name)(cylinder)]
    return torch.from_numpy(np.stack(planes).reshape(-1, height, width)).to(dtype)


def check_channels(where: str, channels: Sequence[str]) -> None:
    """Refuse unknown channels, none at all, or one twice."""
    if isinstance(channels, str) or not channels or len(set(channels)) < len(channels):
        raise ValueError(f"{where}: channels={channels!r} must be a list of distinct names, of {', '.join(CHANNELS)}")
    for name in channels:
        _checks.one_of(where, "channels", name, CHANNELS)


class _View:
    """A mesh in the unit cylinder, and the rays that look at it; each channel is a method that gives its planes."""

    def __init__(self, vertices: Array, faces: Array, height: int, width: int) -> None:
        self.coordinates, self.faces = np.ascontiguousarray(vertices.T), faces
        self.scene = embree_scene(vertices, faces)
        self.outwards, self.heights = _directions(height, width)

    @functools.cached_property
    def first(self) -> tuple[Array, Array]:
        return self.cast(np.full(len(self.heights), -_SKIN), inwards=True)

    def cast(self, start: Array, inwards: bool, rays: Array | slice = slice(None)) -> tuple[Array, Array]:
        """The triangle that each ray meets first, or −1, and at which depth, from depths ``start`` (N,) on."""
        outwards, heights = self.outwards[rays], self.heights[rays]
        origins = outwards * (1 - start)[:, None]
        origins[:, 2] = heights
        length = 1 + _SKIN - start if inwards else start + _SKIN
        triangle = self.scene.run(
            origins.astype(np.float32),
            (-outwards if inwards else outwards).astype(np.float32),
            length.astype(np.float32),
        )
        depth = np.ones(len(start))
        hit = np.flatnonzero(triangle >= 0)
        depth[hit] = self._depth(triangle[hit], outwards[hit].T, heights[hit])
        return triangle, depth

    def _depth(self, triangle: Array, outwards: Array, heights: Array) -> Array:
        """The depth at which each ray meets the plane of its triangle, within the depths of the triangle's corners.

        That limit holds the value where ray and plane are all but parallel, and gives it where they are quite so.
        """
        a, b, c = self._corners(triangle)
        normal = _cross(b - a, c - a)
        slope = normal[0] * outwards[0] + normal[1] * outwards[1]
        offset = normal[0] * a[0] + normal[1] * a[1] + normal[2] * (a[2] - heights)
        near, middle, far = (1 - corner[0] * outwards[0] - corner[1] * outwards[1] for corner in (a, b, c))
        with np.errstate(divide="ignore", invalid="ignore"):
            depth: Array = np.fmin(1 - offset / slope, np.maximum(np.maximum(near, middle), far))
        depth = np.maximum(depth, np.minimum(np.minimum(near, middle), far))
        return depth.clip(0, 1)

    def _corners(self, triangle: Array) -> Array:
        """The corners of each triangle, ``(3 corners, 3 coordinates, N)``."""
        corners: Array = self.coordinates[:, self.faces[triangle].T].swapaxes(0, 1)
        return corners

    def depth(self, _: Cylinder) -> list[Array]:
        return [self.first[1]]

    def hit(self, _: Cylinder) -> list[Array]:
        return [(self.first[0] >= 0).astype(np.float64)]

    def normal(self, cylinder: Cylinder) -> list[Array]:
        triangle, (cosine, sine, _) = self.first[0], self.outwards.T
        a, b, c = self._corners(triangle)
        # Back from the unit cylinder, which may be stretched: normals go by the transposed of the way points came.
        x, y, z = _cross(b - a, c - a) * cylinder.scale[:, None]
        local = np.stack([x * cosine + y * sine, y * cosine - x * sine, z])
        length = np.linalg.norm(local, axis=0) * np.where(local[0] < 0, -1, 1)
        return list(np.divide(local, length, out=np.zeros_like(local), where=(triangle >= 0) & (length != 0)))

    def last(self, _: Cylinder) -> list[Array]:
        return [self.cast(np.full(len(self.heights), 1 + _SKIN), inwards=False)[1]]

    def count(self, _: Cylinder) -> list[Array]:
        triangle, depth = self.first
        live, total = np.flatnonzero(triangle >= 0), np.zeros(len(depth))
        while len(live):
            total[live] += 1
            triangle, depth = self.cast(depth[triangle >= 0] + _SKIN, inwards=True, rays=live)
            live = live[triangle >= 0]
        return [total]


@functools.lru_cache(maxsize=4)
def _directions(height: int, width: int) -> tuple[Array, Array]:
    """For every ray the unit vector from the axis to the wall, ``(H · W, 3)``, and its height in [−1, 1]."""
    azimuth = (np.arange(width) + 0.5) * (2 * np.pi / width)
    outwards = np.tile(np.stack([np.cos(azimuth), np.sin(azimuth), np.zeros(width)], 1), (height, 1))
    heights = np.repeat(1 - (2 * np.arange(height) + 1) / height, width)
    outwards.flags.writeable = heights.flags.writeable = False  # everybody's
    return outwards, heights


def _cross(u: Array, v: Array) -> Array:
    """The vector products of ``(3, N)`` and ``(3, N)``; :func:`numpy.cross` takes several times as long."""
    return np.stack([u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]])


def embree_scene(vertices: Array, faces: Array) -> Any:
    """Triangles that rays can be cast at."""
    try:
        from embreex.mesh_construction import TriangleMesh
        from embreex.rtcore_scene import EmbreeScene
    except ModuleNotFoundError:
        raise ModuleNotFoundError("panorama: ray casting needs embreex: pip install 'ringconv[app]'") from None
    scene = EmbreeScene(robust=True)
    vertices = vertices.astype(np.float32)
    if len(faces) <= _LISTED:
        # embreex copies number by number through Python, where lists and boxed numbers take a third of the time.
        rows = np.empty(len(faces), object)
        rows[:] = faces.tolist()
        vertices, faces = vertices.astype(object), rows
    TriangleMesh(scene, vertices, faces)
    return scene


def mesh_arrays(where: str, mesh: Any) -> tuple[Array, Array]:
    """``(V, 3)`` float64 and ``(F, 3)`` int32, checked."""
    if hasattr(mesh, "to_mesh"):
        mesh = mesh.to_mesh()
    pair = mesh if isinstance(mesh, tuple) else (getattr(mesh, "vertices", None), getattr(mesh, "faces", None))
    if len(pair) != 2 or pair[0] is None or pair[1] is None:
        raise TypeError(
            f"{where}: mesh must be a trimesh.Trimesh, a trimesh.Scene or (vertices, faces), got {type(mesh).__name__};"
            " a cloud of points is for range_image"
        )
    vertices, faces = np.asarray(pair[0], np.float64), np.asarray(pair[1])
    if faces.size == 0:
        raise ValueError(f"{where}: mesh has no faces: there is nothing to see")
    if vertices.ndim != 2 or vertices.shape[1] != 3 or faces.ndim != 2 or faces.shape[1] != 3:
        raise ValueError(
            f"{where}: mesh must have vertices (V, 3) and triangles (F, 3), got {vertices.shape} and {faces.shape}"
        )
    if faces.dtype.kind not in "iu" or faces.min() < 0 or faces.max() >= len(vertices):
        raise ValueError(f"{where}: mesh has faces that are no indices of its {len(vertices)} vertices")
    broken = np.logical_not(np.isfinite(vertices).all(1))
    if broken.any() and (lost := int(broken[faces].any(1).sum())):
        raise ValueError(f"{where}: mesh has {lost} faces with a vertex that is not finite")
    return vertices, np.ascontiguousarray(faces, np.int32)
