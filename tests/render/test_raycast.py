"""Panoramas against rays cast one at a time, and against the equations of solids."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import trimesh
from torch import Tensor

from ringconv.render import CHANNELS, Cylinder, load_mesh, panorama

from ..helpers import close, same
from . import oracle

WALL = Cylinder(2.0, -1.5, 1.5)
H, W = 12, 20
FLAT = ("depth", "last", "hit", "count")


def rotation(seed: int) -> Any:
    matrix, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    return matrix * np.linalg.det(matrix)


def placed(mesh: trimesh.Trimesh, turn: Any, shift: Any) -> trimesh.Trimesh:
    return trimesh.Trimesh(mesh.vertices @ turn.T + shift, mesh.faces, process=False)


def about_z(angle: float) -> Any:
    return np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])


def view(mesh: Any, channels: tuple[str, ...] = ("depth",), height: int = H, width: int = W, **options: Any) -> Tensor:
    return panorama(mesh, height, width, channels, **{"cylinder": WALL, "dtype": torch.float64, **options})


def crowd() -> trimesh.Trimesh:
    """Three solids without any common symmetry, one through another."""
    parts = [
        placed(trimesh.creation.box((0.8, 0.5, 1.4)), rotation(1), (0.3, 0.1, 0.0)),
        placed(trimesh.creation.icosphere(2, 0.5), np.eye(3), (-0.6, 0.4, 0.3)),
        placed(trimesh.creation.torus(0.9, 0.2), rotation(2), (0.1, -0.2, -0.2)),
    ]
    return trimesh.util.concatenate(parts)


@pytest.mark.parametrize("seed", range(2))
def test_every_channel_is_the_oracle_s_on_any_mesh(seed: int) -> None:
    mesh = placed(trimesh.creation.icosphere(1, 0.7), rotation(seed), (0.3, -0.2, 0.1))
    mesh = trimesh.util.concatenate([mesh, placed(trimesh.creation.box((1, 2, 0.5)), rotation(seed + 9), (0, 0, 0.2))])
    expected = oracle.picture(oracle.triangles(mesh.vertices, mesh.faces), H, W, 2.0, -1.5, 1.5)
    for name, plane in zip(FLAT, view(mesh, FLAT), strict=True):
        close(plane, expected[name], 1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_a_box_at_any_angle_is_exact(seed: int) -> None:
    sides, shift = np.array([0.9, 1.3, 1.1]), np.array([0.2, -0.1, 0.15])
    meet = oracle.turned(oracle.box(sides), rotation(seed), shift)
    expected = oracle.picture(meet, 2 * H, 2 * W, 2.0, -1.5, 1.5)
    picture = view(placed(trimesh.creation.box(sides), rotation(seed), shift), FLAT, 2 * H, 2 * W)
    for name, plane in zip(FLAT, picture, strict=True):
        close(plane, expected[name], 1e-12)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("meet", "coarse", "fine"),
    [
        (oracle.sphere(0.8), trimesh.creation.icosphere(3, 0.8), trimesh.creation.icosphere(5, 0.8)),
        (
            oracle.rod(0.6, 1.5),
            trimesh.creation.cylinder(0.6, 1.5, sections=64),
            trimesh.creation.cylinder(0.6, 1.5, sections=256),
        ),
        (
            oracle.torus(0.9, 0.3),
            trimesh.creation.torus(0.9, 0.3, major_sections=64, minor_sections=64),
            trimesh.creation.torus(0.9, 0.3, major_sections=256, minor_sections=256),
        ),
    ],
    ids=["sphere", "rod", "torus"],
)
def test_a_curved_solid_at_any_angle_is_met_quadratically(
    meet: oracle.Meet, coarse: trimesh.Trimesh, fine: trimesh.Trimesh, seed: int
) -> None:
    turn, shift = rotation(seed), np.array([0.1, -0.2, 0.05])
    expected = torch.from_numpy(oracle.picture(oracle.turned(meet, turn, shift), H, W, 2.0, -1.5, 1.5)["depth"])
    errors = []
    for mesh in (coarse, fine):
        depth, hit, *normal = view(placed(mesh, turn, shift), ("depth", "hit", "normal"))
        # Where the surface faces the ray: at a silhouette the facets stand a little inside the solid.
        facing = (hit == 1) & (normal[0] > 0.4)
        assert facing.sum() > 40
        errors.append((depth - expected)[facing].abs().max().item())
    assert errors[1] < errors[0] / 10  # facets four times as fine: 16, less where an edge falls otherwise
    assert errors[1] < 5e-4


def test_turning_the_object_rolls_every_channel() -> None:
    mesh = crowd()
    for fit in ("tight", "uniform"):
        upright = view(mesh, tuple(CHANNELS), 48, 100, cylinder=fit)
        smooth = away_from_silhouettes(upright[0])
        assert smooth.float().mean() > 0.5
        for k in (1, 7, 25, 50, 99):
            angle = 2 * np.pi * k / 100
            picture = view(placed(mesh, about_z(angle), (0, 0, 0)), tuple(CHANNELS), 48, 100, cylinder=fit)
            difference = (picture.roll(-k, -1) - upright).abs()
            assert difference[:1, smooth].max() < 1e-11
            assert (difference.amax(0) < 1e-9).float().mean() > 0.995


def away_from_silhouettes(depth: Tensor) -> Tensor:
    """Where depth changes by little over the neighbouring pixels."""
    around = torch.stack([depth.roll((i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)])
    return around.amax(0) - around.amin(0) < 0.05


def test_the_fitted_cylinder_turns_with_the_object() -> None:
    picture = view(crowd(), ("depth",), 48, 100, cylinder="tight")
    turn = 2 * np.pi * 13 / 100
    elsewhere = view(placed(crowd(), about_z(turn) * 3, (5, -7, 2)), ("depth",), 48, 100, cylinder="tight")
    assert (elsewhere.roll(-13, -1) - picture)[0, away_from_silhouettes(picture[0])].abs().max() < 1e-10


def test_up_turns_the_file_s_axis_upwards() -> None:
    mesh = crowd()
    x, y, z = mesh.vertices.T
    same(view((np.stack([y, z, x], 1), mesh.faces), up="y"), view(mesh, up="z"))
    same(view((np.stack([z, x, y], 1), mesh.faces), up="x"), view(mesh, up="z"))


def test_normals_are_those_of_the_surface_in_the_frame_of_the_ray() -> None:
    shift = np.array([0.3, 0.2, 0.1])
    mesh = placed(trimesh.creation.icosphere(5, 0.8), np.eye(3), shift)
    for cylinder in (WALL, Cylinder(2.0, -0.9, 1.1), Cylinder(1.5, -4.0, 4.0)):
        depth, hit, *normal = view(mesh, ("depth", "hit", "normal"), cylinder=cylinder)
        j = (torch.arange(W) + 0.5) * 2 * torch.pi / W
        z = cylinder.top - (torch.arange(H) + 0.5)[:, None] * (cylinder.top - cylinder.bottom) / H
        r = cylinder.radius * (1 - depth)
        x, y = r * j.cos() - shift[0], r * j.sin() - shift[1]
        across = torch.stack([x * j.cos() + y * j.sin(), y * j.cos() - x * j.sin(), (z - shift[2]).expand(H, W)])
        facing = (hit == 1) & (normal[0] > 0.3)
        assert facing.sum() > 15
        assert ((across / 0.8 - torch.stack(normal))[:, facing].abs().max()) < 0.03
        lengths = torch.stack(normal).norm(dim=0)
        close(lengths, hit, 1e-12)
        assert min(plane.min() for plane in normal[:1]) >= 0


def test_winding_does_not_matter_and_surfaces_need_not_close() -> None:
    mesh = crowd()
    backwards = (mesh.vertices, mesh.faces[:, ::-1])
    close(view(backwards, tuple(CHANNELS)), view(mesh, tuple(CHANNELS)), 1e-12)
    sheet = [[1, -1, -1], [1, 1, -1], [1, 1, 1], [1, -1, 1]], [[0, 1, 2], [2, 3, 0]]
    assert view(sheet, ("count",)).unique().tolist() == [0, 1]


def test_coincident_surfaces_count_once_and_near_ones_apart() -> None:
    def boxes(*sizes: float) -> Tensor:
        return view(trimesh.util.concatenate([trimesh.creation.box((s, s, 2)) for s in sizes]), ("count",))

    assert boxes(1, 1).max() == 1
    assert boxes(1, 1.001, 1.002).max() == 3


def test_what_touches_wall_or_axis_is_seen() -> None:
    prism = trimesh.creation.cylinder(1, 2, sections=4 * W)
    assert view(prism, ("hit",), cylinder="tight").min() == 1
    cut = [[0, -1, -1], [0, 1, -1], [0, 1, 1], [0, -1, 1]], [[0, 1, 2], [2, 3, 0]]
    close(view(cut, ("depth", "hit"), cylinder=Cylinder(1, -1, 1)), torch.ones(2, H, W, dtype=torch.float64))


def test_what_lies_outside_a_given_cylinder_is_not_seen() -> None:
    picture = view(trimesh.creation.box((4, 4, 1)), ("hit",), cylinder=Cylinder(1, -1, 1))
    assert picture.sum() == 0


def test_degenerate_triangles_are_passed_through() -> None:
    mesh = crowd()
    vertices = np.concatenate([mesh.vertices, [[0.9, 0.9, 0]] * 3, [[9, 9, np.nan]]])
    n = len(mesh.vertices)
    faces = np.concatenate([mesh.faces, [[n, n + 1, n + 2], [0, 0, 1], [5, 5, 5]]])
    same(view((vertices, faces), tuple(CHANNELS)), view(mesh, tuple(CHANNELS)))


def test_a_scene_is_seen_whole() -> None:
    scene = trimesh.Scene()
    scene.add_geometry(trimesh.creation.box(), transform=trimesh.transformations.translation_matrix((0.5, 0, 0)))
    scene.add_geometry(trimesh.creation.icosphere(2, 0.5), transform=np.diag([1, 1, 2, 1]))
    parts = [placed(trimesh.creation.box(), np.eye(3), (0.5, 0, 0))]
    parts.append(placed(trimesh.creation.icosphere(2, 0.5), np.diag([1, 1, 2]), (0, 0, 0)))
    close(view(scene), view(trimesh.util.concatenate(parts)), 1e-12)


def test_far_from_the_origin_and_of_any_size() -> None:
    mesh = crowd()
    near = view(mesh, ("depth",), 24, 40, cylinder="tight")
    for scale, shift in ((1e-6, 0), (1e6, 0), (1, 1e4)):
        picture = view((mesh.vertices * scale + shift, mesh.faces), ("depth",), 24, 40, cylinder="tight")
        assert ((picture - near).abs() < 1e-8).float().mean() > 0.995


def test_many_triangles() -> None:
    mesh = trimesh.creation.icosphere(7, 0.8)  # 327,680 of them
    depth, count = view(mesh, ("depth", "count"))
    expected = oracle.picture(oracle.sphere(0.8), H, W, 2.0, -1.5, 1.5)
    same((depth < 1).double(), torch.from_numpy(expected["hit"]))
    assert (depth - torch.from_numpy(expected["depth"])).abs().max() < 1e-4
    same(count, torch.from_numpy(expected["count"]))


def test_the_same_twice_and_in_the_dtype_asked_for() -> None:
    same(panorama(crowd()), panorama(crowd()))
    assert panorama(crowd()).shape == (1, 48, 100)
    assert panorama(crowd(), channels=["normal", "depth"]).dtype == torch.float32
    same(view(crowd(), ("depth",), dtype=torch.float32), view(crowd()).float())


SQUARE = ([[1, -1, 0], [1, 1, 0], [1, 1, 1]], [[0, 1, 2]])


@pytest.mark.parametrize(
    ("mesh", "options", "error", "message"),
    [
        (trimesh.Trimesh(), {}, ValueError, "mesh has no faces"),
        (trimesh.Scene(), {}, ValueError, "mesh has no faces"),
        (trimesh.PointCloud(np.eye(3)), {}, TypeError, "got PointCloud; a cloud of points is for range_image"),
        ("box.off", {}, TypeError, "got str"),
        ((np.array([[np.nan, 0, 0], [0, 1, 0], [1, 0, 1]]), [[0, 1, 2]]), {}, ValueError, "1 faces with a vertex that"),
        ((np.eye(3), [[0, 1, 3]]), {}, ValueError, "no indices of its 3 vertices"),
        ((np.eye(3), [[0, 1, -1]]), {}, ValueError, "no indices of its 3 vertices"),
        ((np.eye(3), [[0.0, 1.0, 2.0]]), {}, ValueError, "no indices of its 3 vertices"),
        ((np.eye(4), [[0, 1, 2]]), {}, ValueError, r"got \(4, 4\) and \(1, 3\)"),
        ((np.eye(3), [[0, 1, 2, 0]]), {}, ValueError, r"got \(3, 3\) and \(1, 4\)"),
        (([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]), {}, ValueError, "the object is flat"),
        (([[0, 0, 0], [0, 0, 1], [0, 0, 2]], [[0, 1, 2]]), {}, ValueError, "a vertical line"),
        (SQUARE, {"height": 0}, ValueError, "height=0"),
        (SQUARE, {"width": 1.5}, ValueError, "width=1.5"),
        (SQUARE, {"channels": ["colour"]}, ValueError, "'colour' is not one of 'depth'"),
        (SQUARE, {"channels": []}, ValueError, "channels"),
        (SQUARE, {"channels": "depth"}, ValueError, "must be a list"),
        (SQUARE, {"channels": ["depth", "depth"]}, ValueError, "distinct"),
        (SQUARE, {"up": "w"}, ValueError, "up='w' is not one of 'x', 'y', 'z'"),
        (SQUARE, {"cylinder": "loose"}, ValueError, "'loose' is not one of 'tight', 'uniform'"),
        (SQUARE, {"cylinder": 3}, TypeError, "cylinder must be a Cylinder"),
    ],
)
def test_bad_input_is_named(mesh: Any, options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        panorama(mesh, **options)


def test_without_embreex_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "embreex.rtcore_scene", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'ringconv\[app\]'"):
        panorama(SQUARE)


def test_five_shapes_of_every_kind_of_file(tmp_path: Any) -> None:
    mesh = crowd()
    for suffix in ("off", "obj", "ply", "stl", "glb"):
        path = tmp_path / f"crowd.{suffix}"
        mesh.export(path)
        picture = view(load_mesh(path), ("depth",), 24, 40)
        assert ((picture - view(mesh, ("depth",), 24, 40)).abs() < 1e-5).float().mean() > 0.99
    glued = tmp_path / "glued.off"
    glued.write_text((tmp_path / "crowd.off").read_text().replace("OFF\n", "OFF", 1))  # as many of ModelNet's are
    same(view(load_mesh(glued)), view(load_mesh(tmp_path / "crowd.off")))


@pytest.mark.parametrize(
    "text",
    [
        "OFF\n4 2 0\n1 -1 -1\n1 1 -1\n1 1 1\n1 -1 1\n3 0 1 2\n3 2 3 0\n",
        "OFF # a square\n4 2 0\n1 -1 -1\n1 1 -1\n1 1 1\n1 -1 1\n3 0 1 2\n3 2 3 0\n",
        "OFF\n4 1 0\n1 -1 -1\n1 1 -1\n1 1 1\n1 -1 1\n4 0 1 2 3\n",
        "OFF\n4 2 0\n1 -1 -1\n1 1 -1\n1 1 1\n1 -1 1\n3 0 1 2 255 0 0\n3 2 3 0 255 0 0\n",
    ],
    ids=["triangles", "comment", "quad", "colours"],
)
def test_a_square_however_an_off_file_says_it(text: str, tmp_path: Any) -> None:
    (tmp_path / "square.off").write_text(text)
    square = np.array([[1, -1, -1], [1, 1, -1], [1, 1, 1], [1, -1, 1]]), np.array([[0, 1, 2], [2, 3, 0]])
    close(view(load_mesh(tmp_path / "square.off"), ("depth", "hit")), view(square, ("depth", "hit")))
