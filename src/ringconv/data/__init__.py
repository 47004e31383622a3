"""Data sets on the ring: read from disk in their official formats, verified, never downloaded."""

from ._files import Source, data_root

__all__ = ["Source", "data_root"]
