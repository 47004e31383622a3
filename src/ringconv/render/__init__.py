"""Panoramas of things: what a cylinder around a mesh sees, or a laser scanner amid a scene."""

from .cylinder import Cylinder, fit_cylinder
from .folder import Rendering
from .layouts import MeshFile, find_sources
from .lidar import range_image, read_points
from .portrait import portrait
from .raycast import CHANNELS, panorama
from .shards import load_mesh

__all__ = [
    "CHANNELS",
    "Cylinder",
    "MeshFile",
    "Rendering",
    "find_sources",
    "fit_cylinder",
    "load_mesh",
    "panorama",
    "portrait",
    "range_image",
    "read_points",
]
