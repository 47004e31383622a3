"""Deep learning on data that wraps around: exact correlation on the cylinder for PyTorch."""

from . import functional, nn
from .functional import rotate
from .symmetry import equivariance_error

__version__ = "0.1.0"

__all__ = ["__version__", "equivariance_error", "functional", "nn", "rotate"]
