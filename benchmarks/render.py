"""How fast meshes become panoramas, against a plain loop over :meth:`trimesh.ray.intersects_location`.

    python benchmarks/render.py

Solids of about 1,000 triangles, convex and not; 48 x 100. The picture alone, from a mesh in memory, is timed against
the loop in one process, interleaved, the minimum of many rounds. The whole way, from files to a data set on the disk,
is timed on two cores, against the loop over the same files on one, as it is written. Writes
``benchmarks/results/render.json``.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import trimesh

sys.path.insert(0, str(Path(__file__).parent.parent / "experiments"))

from _results import write

from ringconv.render import Rendering, panorama

HEIGHT, WIDTH = 48, 100
RESULTS = Path(__file__).parent / "results"
MAKERS = {
    "ball": lambda: trimesh.creation.icosphere(3, 0.7),
    "ring": lambda: trimesh.creation.torus(1, 0.3, major_sections=32, minor_sections=16),
    "tube": lambda: trimesh.creation.annulus(0.6, 0.8, 1.0, sections=128),
    "rod": lambda: trimesh.creation.capsule(1, 0.5, count=(22, 24)),
    "stud plate": lambda: trimesh.util.concatenate(
        [trimesh.creation.box((4, 3, 0.5))]
        + [
            trimesh.creation.cylinder(0.3, 0.25, sections=20).apply_translation((x - 1.5, y - 1, 0.37))
            for x in range(4)
            for y in range(3)
        ]
    ),
}


def plain(mesh: trimesh.Trimesh, multiple_hits: bool = True) -> Any:
    """Depth as a careful reader of trimesh's documentation would compute it."""
    low, high = mesh.bounds
    centre = (low + high)[:2] / 2
    radius = np.hypot(*(mesh.vertices[:, :2] - centre).T).max()
    azimuth = (np.arange(WIDTH) + 0.5) * 2 * np.pi / WIDTH
    outwards = np.tile(np.stack([np.cos(azimuth), np.sin(azimuth), 0 * azimuth], 1), (HEIGHT, 1))
    origins = radius * outwards
    origins[:, :2] += centre
    origins[:, 2] = np.repeat(high[2] - (np.arange(HEIGHT) + 0.5) * (high[2] - low[2]) / HEIGHT, WIDTH)
    places, ray, _ = mesh.ray.intersects_location(origins, -outwards, multiple_hits=multiple_hits)
    depth = np.full(HEIGHT * WIDTH, radius)
    np.minimum.at(depth, ray, np.linalg.norm(places - origins[ray], axis=1))
    return depth.reshape(HEIGHT, WIDTH) / radius


def pictures(rounds: int) -> dict[str, Any]:
    """Milliseconds a picture, each mesh new to its ray caster every time, as the meshes of a collection are."""
    found = {}
    for name, make in MAKERS.items():
        made = make()
        ways = {"ringconv": panorama, "loop": plain, "loop, first hit": lambda mesh: plain(mesh, False)}
        best = dict.fromkeys(ways, np.inf)
        results = {}
        for _ in range(rounds):
            for way, run in ways.items():
                mesh = trimesh.Trimesh(made.vertices, made.faces, process=False)
                start = time.perf_counter()
                results[way] = np.asarray(run(mesh)).reshape(HEIGHT, WIDTH)
                best[way] = min(best[way], time.perf_counter() - start)
        difference = np.abs(results["ringconv"] - results["loop"])
        found[name] = {
            "triangles": len(made.faces),
            "milliseconds": {way: round(1e3 * seconds, 3) for way, seconds in best.items()},
            "times_as_fast": {way: round(best[way] / best["ringconv"], 2) for way in ways if way != "ringconv"},
            "pixels_that_differ_by_more_than_1e-5": int((difference > 1e-5).sum()),
        }
    return found


def collections(copies: int, jobs: int) -> dict[str, Any]:
    """Panoramas a second from files to files, once the worker processes have started."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "meshes")
        for name, make in MAKERS.items():
            (root / name).mkdir(parents=True)
            content = make().export(file_type="off")
            for copy in range(copies):
                (root / name / f"{copy:04d}.off").write_text(content)
        rendering = Rendering(root, Path(folder, "panoramas"), shard_size=25)
        rendering.start()
        finished = [(time.perf_counter(), count) for count in rendering.run(jobs=jobs)]
        # The first shards end when their worker has started: what came after them is what was done since.
        since, after = finished[jobs - 1][0], sum(count for _, count in finished[jobs:])
        speed = after / (finished[-1][0] - since)
        files = sorted(root.rglob("*.off"))[:: max(1, copies // 8)]
        start = time.perf_counter()
        np.savez(Path(folder, "plain.npz"), depth=np.stack([plain(trimesh.load(path)) for path in files]))
        loop = len(files) / (time.perf_counter() - start)
        children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return {
        "meshes": len(rendering.sources),
        "processes": jobs,
        "panoramas_per_second": round(speed, 1),
        "loop_panoramas_per_second": round(loop, 1),
        "times_as_fast": round(speed / loop, 2),
        "peak_memory_of_a_process_mb": round(children / 1024),
    }


def large(triangles: int) -> dict[str, Any]:
    """One mesh of very many triangles: a wavy wall around the axis."""
    side = int((triangles / 2) ** 0.5)
    angle, height = np.meshgrid(np.arange(side) * 2 * np.pi / side, np.linspace(-1, 1, side + 1))
    radius = 1 + 0.1 * np.sin(9 * angle) * np.cos(20 * height)
    vertices = np.stack([radius * np.cos(angle), radius * np.sin(angle), height], -1).reshape(-1, 3)
    corner = np.arange(side * side).reshape(side, side)
    right, above = np.roll(corner, -1, 1), corner + side
    faces = np.stack([corner, right, above, above, right, np.roll(above, -1, 1)], -1).reshape(-1, 3)
    start = time.perf_counter()
    picture = panorama((vertices, faces))
    return {
        "triangles": len(faces),
        "seconds": round(time.perf_counter() - start, 2),
        "pixels_hit": int((picture < 1).sum()),
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40, help="rounds of each picture (default: 40)")
    parser.add_argument("--copies", type=int, default=400, help="meshes of each kind in the collection (default: 400)")
    parser.add_argument("--triangles", type=int, default=10_000_000, help="of the largest mesh (default: 10 million)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--smoke", action="store_true", help="two rounds, few and small meshes, nothing written")
    args = parser.parse_args()
    if args.smoke:
        args.rounds, args.copies, args.triangles, args.jobs = 2, 12, 20_000, 1
    data = {
        "size": [HEIGHT, WIDTH],
        "one_process": pictures(args.rounds),
        "files_to_data_set": collections(args.copies, args.jobs),
        "one_large_mesh": large(args.triangles),
    }
    print(json.dumps(data, indent=1))
    if not args.smoke:
        write("render", data, RESULTS)


if __name__ == "__main__":
    main()
