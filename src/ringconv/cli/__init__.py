"""The ``ringconv`` command: parsing and printing only."""

from .main import main

__all__ = ["main"]
