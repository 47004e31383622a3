"""Symmetry measured: how far a model is from commuting with rotations."""

from .error import equivariance_error

__all__ = ["equivariance_error"]
