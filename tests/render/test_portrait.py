"""Portraits: a sphere is a lit disc, and the eye stands where it is told to."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import trimesh

from ringconv.render import portrait

from ..helpers import same


def test_a_ball_is_a_disc_lit_from_the_right_and_above() -> None:
    picture = portrait(trimesh.creation.icosphere(5), 100)
    ticks = ((2 * torch.arange(100) + 1) / 100 - 1) * 1.05
    radius = torch.hypot(ticks[:, None], ticks[None, :])
    assert picture[radius < 0.99].isfinite().all()
    assert picture[radius > 1.01].isnan().all()
    row, column = divmod(int(picture.nan_to_num(-1).argmax()), 100)
    assert row < 45
    assert column > 52
    assert picture.nan_to_num(0.5).min() > 0.2
    assert picture.nan_to_num(0.5).max() <= 1


def test_the_eye_stands_where_it_is_told() -> None:
    mesh = trimesh.util.concatenate(
        [trimesh.creation.box((1, 1, 1)), trimesh.creation.box((0.2, 0.2, 0.2)).apply_translation((0, 1, 0.4))]
    )
    level = portrait(mesh, 60, azimuth=0, elevation=0).isfinite()
    assert level[:, 45:].any()  # y is at the right of x for one who stands outside
    assert level[:30, 45:].sum() == level[:, 45:].sum()  # and the small box high up
    behind = portrait(mesh, 60, azimuth=180, elevation=0).isfinite()
    same(behind, level.flip(-1))
    x, y, z = mesh.vertices.T
    same(portrait((np.stack([y, z, x], 1), mesh.faces), 60, up="y").nan_to_num(), portrait(mesh, 60).nan_to_num())


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="portrait: mesh has no faces"):
        portrait(trimesh.Trimesh())
    with pytest.raises(ValueError, match="size=0"):
        portrait(trimesh.creation.box(), 0)
    with pytest.raises(ValueError, match="up='w'"):
        portrait(trimesh.creation.box(), up="w")
