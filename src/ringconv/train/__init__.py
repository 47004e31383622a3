"""Training that can be killed at any moment and goes on as if it had not been."""

from . import checkpoint
from .evaluate import evaluate, outputs
from .fit import fit
from .recipe import Recipe

__all__ = ["Recipe", "checkpoint", "evaluate", "fit", "outputs"]
