"""The table that detectors read: one row a trajectory, columns in parallel."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.diagnostics.seen import Seen
from trajcredit.tokens.versions import version_number

__all__ = ["Scale", "Table", "order_of", "tasks_of"]

ROUNDING = 1e-9
"""What a sum of span rewards may lose, of the size of outcomes."""


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """How far a training run had come when each rollout was sampled.

    place  f64[T]  NaN where the log does not say
    what   "training step", "policy version" or "" where nothing is logged
    """

    place: F64
    what: str

    def thirds(self) -> tuple[BOOL, BOOL, BOOL] | None:
        """Rollouts of the first, middle and last third of the places; None where there are fewer than three."""
        known = np.unique(self.place[~np.isnan(self.place)])
        if len(known) < 3:
            return None
        part = round(len(known) / 3)
        first, last = known[part - 1], known[-part]
        return self.place <= first, (self.place > first) & (self.place < last), self.place >= last


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """T trajectories.

    seen       T        what was read of each transcript
    group      i64[T]   rollouts of one task in one sampling round
    task       i64[T]   the same task whatever the round: the unit that intervals are taken over
    outcome    f64[T]   of the reward that counts; NaN = none
    proxy      f64[T]   the reward that is doubted, `proxy_name`; NaN = none
    trusted    f64[T]   the verdict it is held against, `trusted_name`; NaN = none
    early      bool[T]  some reward comes before the last action
    off_path   f64[T]   size of the credit on actions that no path leads from to the outcome
    credited   f64[T]   size of the credit on all actions; NaN where nothing is scored
    off_calls, credited_calls f64[T]  the same of calls alone
    flat       bool[T]  all actions have one credit
    stray      i64[T]   the span off every path to look at first; -1
    traced     bool[T]  the outcome rests on more than the last action, or there is no more
    calls_made T        call_key of every call, in order
    """

    seen: tuple[Seen, ...]
    group: I64
    task: I64
    scale: Scale
    outcome: F64
    pass_at: float
    proxy: F64
    trusted: F64
    proxy_name: str | None
    trusted_name: str | None
    early: BOOL
    off_path: F64
    credited: F64
    off_calls: F64
    credited_calls: F64
    flat: BOOL
    stray: I64
    traced: BOOL
    attributor: str
    calls_made: tuple[tuple[int, ...], ...]

    @property
    def scored(self) -> BOOL:
        """bool[T]: who has an outcome."""
        known: BOOL = ~np.isnan(self.outcome)
        return known

    @property
    def passed(self) -> BOOL:
        """bool[T]: outcome of at least `pass_at`, but for what sums of span rewards lose by rounding."""
        passed: BOOL = self.outcome >= self.pass_at - ROUNDING * max(1.0, abs(self.pass_at))
        return passed

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The lowest and the highest outcome; None where nothing is scored."""
        known = self.outcome[self.scored]
        return (float(known.min()), float(known.max())) if len(known) else None

    @property
    def split(self) -> str | None:
        """Why the pass mark tells no outcome from another although they differ; None where it does, or they do not."""
        passing, known = int(self.passed.sum()), int(self.scored.sum())
        if self.bounds is None or 0 < passing < known or self.alike(np.flatnonzero(self.scored)):
            return None
        who = "every outcome passes" if passing else "no outcome passes"
        return f"{who} at {self.pass_at:g}: outcomes go from {self.bounds[0]:g} to {self.bounds[1]:g}"

    def alike(self, rows: I64) -> bool:
        """Whether the outcomes of these scored rows are equal, but for what sums of span rewards lose by rounding."""
        largest = float(np.abs(self.outcome[self.scored]).max())
        return bool(np.ptp(self.outcome[rows]) <= ROUNDING * largest)

    def groups(self, least: int = 2) -> list[I64]:
        """The scored members of every group that has so many, in the order of group numbers."""
        scored = [own[self.scored[own]] for own in self.all_groups()]
        return [own for own in scored if len(own) >= least]

    def all_groups(self) -> list[I64]:
        """The members of every group, scored or not, in the order of group numbers."""
        order = np.argsort(self.group, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(self.group[order])) + 1) if len(order) else []

    def lengths(self) -> tuple[F64, str]:
        """Length of every rollout, and its unit: trained tokens where the log has them all, else characters."""
        tokens = [one.sampled.tokens for one in self.seen]
        if tokens and None not in tokens:
            return np.array(tokens, dtype=np.float64), "tokens"
        return np.array([one.sampled.characters for one in self.seen], dtype=np.float64), "characters"

    def centred(self, values: F64, known: BOOL) -> F64:
        """Values minus the mean of the known ones of their group; NaN elsewhere, and where fewer than two are known."""
        count = np.bincount(self.group, known.astype(np.float64))
        total = np.bincount(self.group, np.where(known, values, 0.0))
        enough = known & (count[self.group] > 1)
        return np.where(enough, values - total[self.group] / np.maximum(count[self.group], 1), np.nan)


def order_of(seen: Sequence[Seen]) -> Scale:
    """Training steps where any is logged, else policy versions: by number, else in the order they appear."""
    steps = [np.nan if one.step is None else float(one.step) for one in seen]
    if not np.isnan(steps).all():
        return Scale(np.array(steps), "training step")
    names = list(dict.fromkeys(one.policy_version for one in seen if one.policy_version is not None))
    if not names:
        return Scale(np.full(len(seen), np.nan), "")
    numbers = [version_number(name) for name in names]
    place = {name: float(i) if None in numbers else float(numbers[i] or 0.0) for i, name in enumerate(names)}
    of = [np.nan if one.policy_version is None else place[one.policy_version] for one in seen]
    return Scale(np.array(of), "policy version")


def tasks_of(seen: Sequence[Seen], group: I64) -> I64:
    """A number for each task; where the log names none, the group is one."""
    known: dict[Hashable, int] = {}
    keys: list[Hashable] = [
        ("group", int(g)) if one.task is None else (one.dataset, *one.task)
        for one, g in zip(seen, group.tolist(), strict=True)
    ]
    return np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.int64)
