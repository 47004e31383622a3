"""Deep learning on data that wraps around: exact correlation on the cylinder for PyTorch."""

from . import functional, models, nn, paper
from ._version import __version__
from .algorithms import autotune
from .convert import convert, restore, seamless
from .export import export_onnx
from .functional import estimate_roll, rotate
from .nn.explain import explain
from .symmetry import check, equivariance_error

__all__ = [
    "__version__",
    "autotune",
    "check",
    "convert",
    "equivariance_error",
    "estimate_roll",
    "explain",
    "export_onnx",
    "functional",
    "models",
    "nn",
    "paper",
    "restore",
    "rotate",
    "seamless",
]
