"""Training that can be killed at any moment and goes on as if it had not been."""

from .evaluate import evaluate, outputs
from .fit import fit
from .recipe import Recipe

__all__ = ["Recipe", "evaluate", "fit", "outputs"]
