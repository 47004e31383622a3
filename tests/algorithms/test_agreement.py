"""All algorithms are one function: against the oracle, and against each other to rounding."""

import pytest
import torch
from hypothesis import given

from .. import helpers
from ..helpers import ALGORITHMS, CASES, Case, close, with_heights

PRECISION = {torch.float64: 1e-12, torch.float32: 2e-6}


@pytest.mark.parametrize("case", with_heights(CASES))
def test_agree(case):
    for dtype, tolerance in PRECISION.items():
        x, w, b = case.x(dtype), case.weight(dtype), case.bias(dtype)
        direct, spectral = (case.correlate(x, w, b, algorithm) for algorithm in ALGORITHMS)
        assert spectral.dtype == direct.dtype == dtype
        close(spectral, direct, tolerance)


@given(helpers.cases())
def test_any_configuration(case):
    for algorithm in ALGORITHMS:
        helpers.check_correlation(case, algorithm)


@pytest.mark.parametrize("height", helpers.HEIGHTS)
def test_rounding_on_a_large_image(height):
    """64 × 256 by a kernel of 9 × 11: each algorithm in float32 against float64."""
    case = Case(size=(64, 256), kernel=(9, 11), channels=(8, 2), height=height, batch=1)
    x, w = case.x(), case.weight()
    exact = case.correlate(x, w)
    close(case.correlate(x, w, algorithm="spectral"), exact)
    for algorithm in ALGORITHMS:
        close(case.correlate(x.float(), w.float(), algorithm=algorithm).double(), exact, 2e-6)
