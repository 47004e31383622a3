"""Where shards are rendered: on the cores of this machine, or on a Ray cluster. The same task, the same bytes."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any, NoReturn, TypeVar

import torch

T = TypeVar("T")
R = TypeVar("R")
RETRIES = 3


def run_local(task: Callable[[T], R], work: Sequence[T], jobs: int) -> Iterator[R]:
    """``task`` of each piece of ``work`` in ``jobs`` processes, as they finish.

    A process that dies, by a signal or for lack of memory, is replaced and its work given out again, up to three
    times. When this process dies, by whatever signal, they end by themselves.
    """
    if jobs == 1:
        yield from map(task, work)
        return
    left, deaths = dict(enumerate(work)), 0
    while left:
        pool = ProcessPoolExecutor(
            min(jobs, len(left)), multiprocessing.get_context("spawn"), initializer=_follow_parent
        )
        try:
            futures = {pool.submit(task, piece): number for number, piece in left.items()}
            for future in as_completed(futures):
                result = future.result()
                del left[futures[future]]
                yield result
        except BrokenProcessPool:
            deaths += 1
            if deaths > RETRIES:
                _give_up(len(left))
        finally:
            pool.shutdown(cancel_futures=True)


def run_ray(task: Callable[[T], R], work: Sequence[T], jobs: int) -> Iterator[R]:
    """``task`` of each piece of ``work`` on a Ray cluster, as they finish.

    The cluster is the one that this process has joined, or that ``RAY_ADDRESS`` names, or else one of ``jobs``
    processes on this machine. Its nodes see the same files under the same paths and have the same packages. Ray
    gives the work of a process or node that dies to another, up to three times.
    """
    try:
        import ray
    except ModuleNotFoundError:
        raise ModuleNotFoundError("run_ray: engine='ray' needs ray: pip install 'ringconv[ray]'") from None
    joined = ray.is_initialized()
    if not joined:
        local = {} if os.environ.get("RAY_ADDRESS") else {"num_cpus": jobs, "include_dashboard": False}
        ray.init(log_to_driver=False, **local)
    try:
        remote = ray.remote(max_retries=RETRIES)(task)
        # Enough for every core to find its next piece waiting, few enough for the scheduler to hold.
        limit = 2 * max(1, int(ray.cluster_resources().get("CPU", jobs)))
        waiting = iter(work)
        pending: list[Any] = []
        while True:
            pending += map(remote.remote, itertools.islice(waiting, limit - len(pending)))
            if not pending:
                return
            done, pending = ray.wait(pending)
            yield from ray.get(done)
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError):
        _give_up(len(pending) + 1)
    finally:
        if not joined:
            ray.shutdown()


ENGINES: dict[str, Callable[[Callable[[Any], Any], Sequence[Any], int], Iterator[Any]]] = {
    "local": run_local,
    "ray": run_ray,
}


def _give_up(left: int) -> NoReturn:
    raise RuntimeError(
        f"worker processes died more than {RETRIES} times with {left} pieces of work left: out of memory, or a mesh "
        "that crashes the ray caster. What is finished is kept; run again to go on, with jobs=1 to see where it ends"
    )


def _follow_parent() -> None:
    """In a worker: one thread, for the others have the other cores; and the end of the parent is its own."""
    torch.set_num_threads(1)

    def follow() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
