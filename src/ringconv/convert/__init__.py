"""Existing models made seam-free, and back."""

from .functions import seamless
from .modules import convert, restore
from .report import Conversion

__all__ = ["Conversion", "convert", "restore", "seamless"]
