"""Data sets on the ring: read from disk in their official formats, verified, never downloaded."""

from ._files import Source, data_root
from ._images import Images
from .augmented import Augmented
from .cifar import cifar10
from .digits import digits
from .folder import ImageFolder, read_resized
from .meshes import Panoramas
from .mnist import mnist
from .rolled import Rolled, shift_rows

__all__ = [
    "Augmented",
    "ImageFolder",
    "Images",
    "Panoramas",
    "Rolled",
    "Source",
    "cifar10",
    "data_root",
    "digits",
    "mnist",
    "read_resized",
    "shift_rows",
]
