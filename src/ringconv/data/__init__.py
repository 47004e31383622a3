"""Data sets on the ring: read from disk in their official formats, verified, never downloaded."""

from ._files import Source, data_root
from ._images import Images
from .augmented import Augmented
from .change import Pairs, folds, pair_folder, read_image, released_split, roll_views, shrink, tsunami
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
    "Pairs",
    "Panoramas",
    "Rolled",
    "Source",
    "cifar10",
    "data_root",
    "digits",
    "folds",
    "mnist",
    "pair_folder",
    "read_image",
    "read_resized",
    "released_split",
    "roll_views",
    "shift_rows",
    "shrink",
    "tsunami",
]
