"""A mesh as a person sees it: beside its panorama it tells what the panorama shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import _checks
from .raycast import UPRIGHT, embree_scene, mesh_arrays

_LIGHT = np.array([0.6, 0.25, 0.75]) / np.linalg.norm([0.6, 0.25, 0.75])  # towards the eye, its right, and up
_SHADE = 0.25  # of what faces away from the light


def portrait(mesh: Any, size: int = 240, *, azimuth: float = 30.0, elevation: float = 25.0, up: str = "z") -> Tensor:
    """A shaded picture of a mesh from afar, without perspective.

    Args:
        mesh: as for :func:`panorama`.
        size: rows and columns.
        azimuth: where the eye stands, in degrees from x towards y; the panorama's columns count the same way.
        elevation: how high it stands, in degrees.
        up: the axis of the mesh that points upwards.

    Returns:
        ``(size, size)``: brightness from 0 to 1, NaN beside the mesh.
    """
    where = "portrait"
    _checks.integer(where, "size", size)
    _checks.one_of(where, "up", up, UPRIGHT)
    vertices, faces = mesh_arrays(where, mesh)
    frame = _frame(np.radians(azimuth), np.radians(elevation))
    points = vertices[:, UPRIGHT[up]] @ frame.T  # along the gaze, to the right, upwards
    low, high = points[faces].min((0, 1)), points[faces].max((0, 1))
    points = (points - (low + high) / 2) / max(float((high - low).max()) / 2, np.finfo(float).tiny)
    ticks = (2 * np.arange(size) + 1) / size - 1
    origins = np.stack(np.broadcast_arrays(2.0, ticks[None, :], -ticks[:, None]), -1).reshape(-1, 3) * (1, 1.05, 1.05)
    gaze = np.broadcast_to(np.array([-1, 0, 0], np.float32), origins.shape)
    triangle = embree_scene(points, faces).run(origins.astype(np.float32), np.ascontiguousarray(gaze))
    corners = points[faces[triangle]]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal *= np.where(normal[:, :1] < 0, -1, 1)  # towards the eye, however the triangle is wound
    cosine = normal @ _LIGHT / np.maximum(np.linalg.norm(normal, axis=1), np.finfo(float).tiny)
    light = np.where(triangle >= 0, _SHADE + (1 - _SHADE) * np.clip(cosine, 0, 1), np.nan)
    return torch.from_numpy(light.reshape(size, size)).float()


def _frame(azimuth: float, elevation: float) -> Any:
    """Rows: from the object to the eye, the eye's right, the eye's up."""
    out = np.array([np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)])
    right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    return np.stack([out, right, np.cross(out, right)])
