"""Ways to compute the correlation on the cylinder: one per file, all the same function."""

from .choose import ALGORITHMS, choose, correlate
from .direct import correlate_adjoint, surround
from .extend import RULES, extend, fold
from .geometry import Geometry

__all__ = ["ALGORITHMS", "RULES", "Geometry", "choose", "correlate", "correlate_adjoint", "extend", "fold", "surround"]
