"""Work done on a Ray cluster: the one that RAY_ADDRESS names, else one of this machine alone."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, TypeVar

from trajcredit.engines.base import ATTEMPTS, Name, cores
from trajcredit.engines.pool import AHEAD, ONE_THREAD
from trajcredit.errors import EngineError, InputError

__all__ = ["OnRay"]

T = TypeVar("T")
R = TypeVar("R")

VARIABLE = "RAY_ADDRESS"
"""The address of a cluster, as Ray reads it."""


class OnRay:
    """A connection to a cluster, for as long as the block lasts; one that was there before stays.

    Every node needs this package, in the same version, and paths that name the same files on all of them.
    """

    name: ClassVar[Name] = "ray"

    def __init__(self, workers: int | None = None) -> None:
        try:
            import ray
        except ModuleNotFoundError as error:
            raise InputError("the engine ray needs its package: pip install 'trajcredit[ray]'") from error
        self._ray: Any = ray
        self._asked = workers
        self.workers = workers or cores()
        self._ours = False

    def __enter__(self) -> OnRay:
        ray = self._ray
        if not ray.is_initialized():
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anybody
            own = os.environ.get(VARIABLE) is None
            where = {"address": "local", "num_cpus": self.workers, "include_dashboard": False} if own else {}
            environment = {"env_vars": ONE_THREAD}
            try:
                ray.init(log_to_driver=False, configure_logging=False, runtime_env=environment, **where)
            except (OSError, RuntimeError, ValueError) as error:  # ConnectionError is an OSError
                place = "on this machine" if own else f"at the address that {VARIABLE} names"
                raise EngineError(f"no Ray {place}: {type(error).__name__}") from error
            self._ours = True
        if self._asked is None:
            self.workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
        return self

    def __exit__(self, *_: object) -> None:
        if self._ours:
            self._ray.shutdown()

    def map(self, work: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """As `Engine.map`; Ray begins a task again whose worker died."""
        remote = self._ray.remote(num_cpus=1, max_retries=ATTEMPTS - 1)(work)
        waiting: deque[Any] = deque()
        left = iter(tasks)
        try:
            for task in left:
                waiting.append(remote.remote(task))
                if len(waiting) >= AHEAD * self.workers:
                    yield self._taken(waiting.popleft())
            while waiting:
                yield self._taken(waiting.popleft())
        finally:
            for one in waiting:
                self._ray.cancel(one, force=True)

    def _taken(self, reference: Any) -> Any:
        exceptions = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except exceptions.RayTaskError as error:
            raise error.cause from None
        except (exceptions.WorkerCrashedError, exceptions.OutOfMemoryError, exceptions.NodeDiedError) as error:
            raise EngineError(
                f"workers died {ATTEMPTS} times at a task: killed, out of memory, or a crash in native code"
            ) from error
