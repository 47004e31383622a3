"""Deep learning on data that wraps around: exact correlation on the cylinder for PyTorch."""

from . import functional, models, nn, paper
from ._version import __version__
from .functional import estimate_roll, rotate
from .symmetry import equivariance_error

__all__ = ["__version__", "equivariance_error", "estimate_roll", "functional", "models", "nn", "paper", "rotate"]
