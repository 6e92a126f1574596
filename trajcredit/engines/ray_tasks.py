"""Ray tasks, an item each: on the cluster of RAY_ADDRESS, else on a local one that is begun here and ended again."""

from __future__ import annotations

import os
import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any, Self, TypeVar

from trajcredit.engines.base import ATTEMPTS
from trajcredit.engines.workers import one_thread
from trajcredit.errors import EngineError, InputError

__all__ = ["RayTasks"]

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD = 2
"""Items that are out for each worker."""
STORE_BYTES = 256 << 20
"""Shared memory of a local cluster: items out and results, no more."""


class RayTasks:
    """Items and results travel pickled by this package, so that a worker sets its threads before it imports anything.

    A cluster that this process is connected to already is used and left as it is.
    """

    name = "ray"

    def __init__(self, workers: int | None = None) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no telemetry
        try:
            import ray
        except ImportError as error:
            raise InputError("engine ray needs its extra: pip install 'trajcredit[ray]'") from error
        self._ray: Any = ray
        self._wanted = workers
        self._ours = False
        self.workers = workers or 1

    def map(self, do: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """`do` of every item, in order. Ray gives the item of a worker that died to another."""
        ray = self._ray
        task = ray.remote(num_cpus=1, max_retries=ATTEMPTS - 1)(_done)
        rest = iter(items)
        out: deque[Any] = deque()
        while True:
            while len(out) < AHEAD * self.workers and (more := next(rest, None)) is not None:
                out.append(task.remote(pickle.dumps((do, more), protocol=5)))
            if not out:
                return
            try:
                data = ray.get(out[0])
            except ray.exceptions.RayTaskError as error:
                raise error.cause from None
            except ray.exceptions.RayError as error:
                raise EngineError(
                    f"Ray gave up on a piece of the work after {ATTEMPTS} attempts: {type(error).__name__}; "
                    "its logs on the cluster say more"
                ) from error
            out.popleft()
            yield pickle.loads(data)  # noqa: S301 - what our own function answered

    def __enter__(self) -> Self:
        ray = self._ray
        if not ray.is_initialized():
            address = os.environ.get("RAY_ADDRESS")
            here: dict[str, Any] = {"num_cpus": self._wanted, "object_store_memory": STORE_BYTES}
            local = {"address": "local", "include_dashboard": False, **here}
            try:
                ray.init(**({} if address else local), log_to_driver=False, logging_level="ERROR")
            except (ConnectionError, OSError, RuntimeError, ValueError) as error:
                raise EngineError(f"Ray could not be started or reached: {type(error).__name__}") from error
            self._ours = True
        self.workers = self._wanted or max(1, int(ray.cluster_resources().get("CPU", 1)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the cluster; the local one begun here ends with its workers."""
        if self._ours:
            self._ray.shutdown()
            self._ours = False


def _done(packed: bytes) -> bytes:
    """On the worker: the function and its item, unpacked after the threads are set; the result, packed."""
    one_thread()
    do, item = pickle.loads(packed)  # noqa: S301 - what `map` packed
    return pickle.dumps(do(item), protocol=5)
