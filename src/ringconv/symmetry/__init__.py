"""Symmetry measured: how far a model is from commuting with rotations, and what breaks it."""

from .check import check
from .error import equivariance_error
from .report import Culprit, Layer, Report

__all__ = ["Culprit", "Layer", "Report", "check", "equivariance_error"]
