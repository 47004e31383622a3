"""Sizes and offsets against an enumeration of everything that is read."""

from hypothesis import given

from ringconv.algorithms import Geometry

from .. import oracle
from ..helpers import cases


@given(cases())
def test_reads_what_the_formula_reads(case):
    at = Geometry(case.size, case.kernel, case.stride, case.dilation, *case.pads, case.height)
    (H, W), (s_h, s_w), (d_h, d_w) = case.size, case.stride, case.dilation
    places = oracle.windows(case.size, case.kernel, case.stride, case.dilation, case.padding, case.height)
    assert at.out_size == oracle.out_size(places)
    assert at.rows == case.rows
    rows = [i * s_h + u * d_h - at.top for i, j in places for u in range(case.kernel[0])]
    columns = [j * s_w + v * d_w - at.left for i, j in places for v in range(case.kernel[1])]
    assert (-min(rows), -min(columns)) == (at.top, at.left)
    assert (max(0, max(rows) - H + 1), max(0, max(columns) - W + 1)) == (at.below, at.right)
    assert at.unread == (H + at.bottom - 1 - max(rows), W + at.reach[1] - at.left - 1 - max(columns))


def test_kernel_is_centred_on_the_ring():
    """p_w = d_w (k_w − 1) // 2, an even kernel's spare tap to the right."""
    for taps, dilation, left in [(1, 1, 0), (2, 1, 0), (3, 1, 1), (4, 1, 1), (2, 3, 1), (4, 3, 4), (5, 2, 4)]:
        assert Geometry((1, 8), (1, taps), (1, 1), (1, dilation), 0, 0, "zeros").left == left
