"""Work survives the workers: the same bytes from one process, from several, from a cluster, and from what is left."""

from __future__ import annotations

import functools
import multiprocessing
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from ringconv.render import Rendering, engines
from ringconv.render.engines import run_local, run_ray
from ringconv.render.shards import Shard, render_shard

from .shapes import write_shapes


@pytest.fixture(scope="module")
def meshes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_shapes(tmp_path_factory.mktemp("meshes"), 3, 1)


def rendering(meshes: Path, out: Path) -> Rendering:
    made = Rendering(meshes, out, height=8, width=12, shard_size=3)
    made.start()
    return made


def files(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in out.iterdir()}


def render_once_dying(mark: str, shard: Shard) -> int:
    """The first process to come to the third shard is killed there, as the kernel would for want of memory."""
    if shard.path.endswith("00002.npz"):
        try:
            Path(mark).touch(exist_ok=False)
        except FileExistsError:
            return render_shard(shard)
        os.kill(os.getpid(), signal.SIGKILL)
    return render_shard(shard)


def die(_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def expected(meshes: Path, out: Path) -> dict[str, bytes]:
    alone = rendering(meshes, out)
    assert sum(alone.run(jobs=1)) == 20
    alone.finish()
    return files(out)


def test_a_killed_process_is_survived(meshes: Path, tmp_path: Path) -> None:
    shared = rendering(meshes, tmp_path / "shared")
    task = functools.partial(render_once_dying, str(tmp_path / "mark"))
    assert sum(run_local(task, shared.shards(), 2)) == 20
    assert (tmp_path / "mark").exists()
    shared.finish()
    assert files(tmp_path / "shared") == expected(meshes, tmp_path / "alone")


def test_processes_that_die_for_ever_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "RETRIES", 0)
    with pytest.raises(RuntimeError, match="worker processes died more than 0 times with 1 pieces of work left"):
        list(run_local(die, [1], 2))


def test_a_worker_ends_with_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()
    parent = type("Parent", (), {"join": lambda self: None})()
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: parent)
    monkeypatch.setattr(os, "_exit", lambda status: ended.set())
    engines._follow_parent()
    assert ended.wait(10)


@pytest.mark.filterwarnings("ignore")  # those of ray itself
def test_a_killed_worker_of_a_cluster_is_survived(
    meshes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray = pytest.importorskip("ray")
    monkeypatch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    mark = str(tmp_path / "mark")

    def task(shard: Shard) -> int:  # by value: the workers know nothing of the tests
        if shard.path.endswith("00002.npz") and not os.path.exists(mark):  # noqa: PTH110
            open(mark, "w").close()  # noqa: PTH123
            os.kill(os.getpid(), signal.SIGKILL)
        return render_shard(shard)

    shared = rendering(meshes, tmp_path / "shared")
    assert sum(run_ray(task, shared.shards(), 2)) == 20
    assert not ray.is_initialized()
    assert Path(mark).exists()
    shared.finish()
    assert files(tmp_path / "shared") == expected(meshes, tmp_path / "alone")


def test_without_ray_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'ringconv\[ray\]'"):
        list(run_ray(render_shard, [], 2))


class FakeRay:
    """A cluster that is there already, and whose workers die."""

    class WorkerCrashedError(Exception): ...

    class NodeDiedError(Exception): ...

    def __init__(self) -> None:
        self.exceptions = self

    def is_initialized(self) -> bool:
        return True

    def remote(self, **_: Any) -> Any:
        return lambda task: type("Remote", (), {"remote": staticmethod(task)})

    def cluster_resources(self) -> dict[str, float]:
        return {}

    def wait(self, pending: list[Any]) -> tuple[list[Any], list[Any]]:
        return pending[:1], pending[1:]

    def get(self, done: list[Any]) -> list[Any]:
        if None in done:
            raise self.WorkerCrashedError
        return done


def test_a_cluster_that_is_joined_stays_joined_and_may_give_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", FakeRay())  # type: ignore[arg-type]
    assert list(run_ray(abs, [-1, -2, -3, -4, -5], 1)) == [1, 2, 3, 4, 5]
    with pytest.raises(RuntimeError, match="worker processes died"):
        list(run_ray(lambda _: None, [1], 1))
