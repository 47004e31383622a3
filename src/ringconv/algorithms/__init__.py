"""Ways to compute the correlation on the cylinder: one per file, all the same function."""

from ._engine import instruction_set
from .choose import ALGORITHMS, candidates, choose, correlate, correlate_adjoint
from .cost import Case, predict
from .direct import surround
from .extend import RULES, extend, fold
from .geometry import Geometry
from .spectra import Spectra
from .tuning import autotune, machine, measure

__all__ = [
    "ALGORITHMS",
    "RULES",
    "Case",
    "Geometry",
    "Spectra",
    "autotune",
    "candidates",
    "choose",
    "correlate",
    "correlate_adjoint",
    "extend",
    "fold",
    "instruction_set",
    "machine",
    "measure",
    "predict",
    "surround",
]
