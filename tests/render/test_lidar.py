"""Range images against a loop over the points, and scans in the formats in which they come."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import trimesh
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from ringconv.render import range_image, read_points

from ..helpers import close, same


def image(points: Any, height: int, width: int, elevations: Any) -> Tensor:
    return range_image(points, height, width, elevations, dtype=torch.float64)


def oracle(points: Any, width: int, beams: list[float]) -> Tensor:
    """Point by point, by the definition; beams from the highest."""
    found = torch.zeros(3, len(beams), width, dtype=torch.float64)
    for x, y, z, intensity in points.tolist():
        distance = math.sqrt(x * x + y * y + z * z)
        elevation = math.degrees(math.atan2(z, math.hypot(x, y)))
        row = min(range(len(beams)), key=lambda i: abs(beams[i] - elevation))
        if len(beams) > 1:
            beside = abs(beams[row] - beams[row + 1 if row == 0 else row - 1])
            outside = elevation > beams[0] or elevation < beams[-1]
            if outside and abs(beams[row] - elevation) > beside / 2:
                continue
        column = math.floor(math.atan2(y, x) % (2 * math.pi) / (2 * math.pi) * width) % width
        if not found[2, row, column] or distance < found[0, row, column]:
            found[:, row, column] = torch.tensor([distance, intensity, 1], dtype=torch.float64)
    return found


def scan(n: int, seed: int) -> Any:
    return np.random.default_rng(seed).normal(size=(n, 4)) * (1, 1, 0.4, 1)


@given(st.integers(0, 300), st.integers(1, 9), st.integers(1, 12), st.integers(0, 10**6))
def test_the_loop_s_for_any_scan(n: int, height: int, width: int, seed: int) -> None:
    points = scan(n, seed)
    beams = sorted(np.random.default_rng(seed).uniform(-40, 40, height).tolist(), reverse=True)
    close(image(points, height, width, beams[::-1]), oracle(points, width, beams))
    if height > 2:
        even = np.linspace(30, -25, height).tolist()
        close(image(points, height, width, (-25, 30)), oracle(points, width, even))


def test_the_nearest_return_wins_and_of_equals_the_first() -> None:
    points = np.array([[2, 0.1, 0, 1], [1, 0.05, 0, 2], [1, 0.05, 0, 3], [3, 0.1, 0, 4]], float)
    same(image(points, 1, 4, [0])[1:, 0, 0], torch.tensor([2.0, 1.0], dtype=torch.float64))
    assert image(points, 1, 4, [0])[2].sum() == 1


def test_turning_the_scan_rolls_the_picture() -> None:
    points, width = scan(5000, 0), 90
    upright = image(points, 16, width, (-20, 20))
    for k in (1, 30, 89):
        angle = 2 * np.pi * k / width
        x, y = points[:, 0], points[:, 1]
        turned = points.copy()
        turned[:, 0], turned[:, 1] = np.cos(angle) * x - np.sin(angle) * y, np.sin(angle) * x + np.cos(angle) * y
        close(image(turned, 16, width, (-20, 20)), upright.roll(k, -1))


def test_the_picture_that_is_mostly_shown_of_kitti() -> None:
    points, width = scan(2000, 1), 64
    shown = image(points, 1, width, [0]).roll(width // 2, -1).flip(-1)
    columns = np.floor(0.5 * (1 - np.arctan2(points[:, 1], points[:, 0]) / np.pi) * width).astype(int)
    distances = np.linalg.norm(points[:, :3], axis=1)
    expected = [distances[columns == j].min() for j in range(width)]
    close(shown[0, 0], expected)


def test_what_is_no_return_is_left_out() -> None:
    points = np.array([[0, 0, 0], [np.nan, 1, 0], [1, np.inf, 0], [1, 1, 0]])
    assert image(points, 1, 4, [0])[2].sum() == 1
    assert image(np.zeros((0, 3)), 2, 4, [0, 1]).abs().sum() == 0
    assert image(torch.ones(1, 3), 1, 1, [0]).dtype == torch.float64
    assert range_image(points, 1, 4, [0]).dtype == torch.float32


@pytest.mark.parametrize(
    ("points", "size", "elevations", "message"),
    [
        (np.zeros((3, 2)), (2, 4), (0, 1), r"points must be \(N, 3\) or \(N, 4\), got shape \(3, 2\)"),
        (np.zeros((3, 3)), (0, 4), (0, 1), "height=0"),
        (np.zeros((3, 3)), (2, 4), (0, 1, 2), "must be the 2 distinct angles"),
        (np.zeros((3, 3)), (3, 4), (1, 1), "must be the 3 distinct angles"),
        (np.zeros((3, 3)), (3, 4), (0, np.nan), "or the lowest and the highest"),
    ],
)
def test_bad_input_is_named(points: Any, size: tuple[int, int], elevations: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        range_image(points, *size, elevations)


def test_every_format_gives_the_same_points(tmp_path: Path) -> None:
    points = scan(20, 0).astype(np.float32)
    points.tofile(tmp_path / "kitti.bin")
    np.c_[points, np.zeros(20)].astype(np.float32).tofile(tmp_path / "nuscenes.pcd.bin")
    np.save(tmp_path / "scan.npy", points)
    for path in sorted(tmp_path.iterdir()):
        np.testing.assert_array_equal(read_points(path), points)
    np.c_[points, points].tofile(tmp_path / "wide.bin")
    np.testing.assert_array_equal(read_points(tmp_path / "wide.bin", columns=8), points)


HEADER = """ply
format {} 1.0
comment a scan
element vertex {}
{}element face 0
property list uchar int i
end_header
"""


@pytest.mark.parametrize(("name", "order"), [("ascii", ""), ("binary_little_endian", "<"), ("binary_big_endian", ">")])
def test_ply(tmp_path: Path, name: str, order: str) -> None:
    points = scan(7, 0).astype(np.float32)
    fields = [("x", "float", "f4"), ("ring", "uchar", "u1"), ("y", "float32", "f4")]
    fields += [("z", "double", "f8"), ("intensity", "float", "f4")]
    table = np.zeros(7, [(field, (order or "<") + kind) for field, _, kind in fields])
    for field, values in zip(("x", "y", "z", "intensity"), points.T, strict=True):
        table[field] = values
    told = "".join(f"property {kind} {field}\n" for field, kind, _ in fields)
    body = table.tobytes() if order else "\n".join(" ".join(map(str, row)) for row in table.tolist()).encode()
    (tmp_path / "scan.ply").write_bytes(HEADER.format(name, 7, told).encode() + body)
    np.testing.assert_array_equal(read_points(tmp_path / "scan.ply").astype(np.float32), points)
    (tmp_path / "short.ply").write_bytes(HEADER.format(name, 9, told).encode() + body)
    with pytest.raises(ValueError, match="has 7 vertices where its header says 9"):
        read_points(tmp_path / "short.ply")


def test_ply_of_others_without_intensity(tmp_path: Path) -> None:
    cloud = trimesh.PointCloud(scan(9, 0)[:, :3].astype(np.float32))
    cloud.export(tmp_path / "cloud.ply")
    np.testing.assert_allclose(read_points(tmp_path / "cloud.ply"), cloud.vertices)
    empty = HEADER.format("ascii", 0, "property float x\nproperty float y\nproperty float z\n")
    (tmp_path / "empty.ply").write_text(empty)
    assert read_points(tmp_path / "empty.ply").shape == (0, 3)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("torn.bin", b"12345", "has 5 bytes, no multiple of 4 float32 numbers a point; give columns="),
        ("scan.pcd", b"", r"is none of \.bin, \.pcd\.bin, \.npy, \.ply"),
        ("no.ply", b"nothing", "is no PLY file"),
        ("odd.ply", b"ply\nformat ascii 1.0\nelement face 1\n", "does not begin with its vertices"),
        ("list.ply", b"ply\nformat ascii 1.0\nelement vertex 1\nproperty list uchar int i\n", "a list uchar int i"),
        ("new.ply", b"ply\nformat utf8 1.0\nelement vertex 1\nproperty int x\n\nend_header\n", "header without format"),
        ("flat.ply", HEADER.format("ascii", 0, "property int x\n").encode(), "vertices without y, z"),
    ],
)
def test_what_is_no_scan_is_named(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_points(tmp_path / name)


def test_an_array_of_another_shape_is_named(tmp_path: Path) -> None:
    np.save(tmp_path / "scan.npy", np.zeros(6))
    with pytest.raises(ValueError, match=r"an array of shape \(6,\), no points"):
        read_points(tmp_path / "scan.npy")
