"""One figure with its direction and budget, a peer that is not here, medians of rounds, growth of curves."""

from __future__ import annotations

import gc
import importlib
import statistics
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["FLAT", "Measure", "NotHere", "best", "growth", "timed"]

ROUNDS = 5
FLAT, FROM = 1.5, 10_000
"""Times as much as a smaller size takes that a span may take, from so many spans up."""
LEAST = 64
"""Bytes a span below which growth of memory is that of the allocator."""


@dataclass(frozen=True)
class Measure:
    """One figure. `per_second`: what one core does, for the cost model; it is no claim."""

    name: str
    value: float
    better: Literal["lower", "higher"]
    unit: str
    budget: float | None = None
    per_second: float | None = None

    @property
    def held(self) -> bool | None:
        """Whether the budget holds; null where there is none."""
        if self.budget is None:
            return None
        return self.value <= self.budget if self.better == "lower" else self.value >= self.budget


@dataclass(frozen=True)
class NotHere:
    """A peer or a device that this machine does not have, and what therefore was not measured."""

    name: str


def timed(contestants: dict[str, Callable[[], Any]], rounds: int = ROUNDS) -> dict[str, float]:
    """Median seconds of each, in interleaved rounds after one warm-up."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(rounds + 1):
        for name, work in contestants.items():
            gc.collect()
            start = time.perf_counter()
            work()
            if number:
                seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(took) for name, took in seconds.items()}


def best(contestants: dict[str, Callable[[], Any]], torches: Collection[str]) -> dict[str, float]:
    """The same; those that run on torch also with one of its threads, where they are at times faster: the better."""
    took = timed(contestants)
    if torches:
        torch: Any = importlib.import_module("torch")
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            single = timed({name: contestants[name] for name in torches})
        finally:
            torch.set_num_threads(before)
        took |= {name: min(took[name], seconds) for name, seconds in single.items()}
    return took


def growth(points: Sequence[Mapping[str, Any]], figure: str) -> float | None:
    """How many times as much a span of any size takes as one of a smaller size, from FROM up; null for fewer than two.

    `figure`: `ns` or `bytes`. Bytes below LEAST count as LEAST.
    """
    told = [
        max(float(one[figure]), LEAST if figure == "bytes" else 0.0)
        for one in sorted(points, key=lambda one: float(one["spans"]))
        if one["spans"] >= FROM / 2 and one[figure] is not None  # the runs come to about so many
    ]
    return max((now / min(told[:k]) for k, now in enumerate(told) if k), default=None)
