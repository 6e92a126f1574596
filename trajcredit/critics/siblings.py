"""What siblings tell of the very values that a choice used: which of a task's answers were the right ones.

A critic describes where values come from, not what they are, so that its features recur from task to task. Inside one
task the values themselves recur: of eight rollouts five may search the one airport and three the other. What the
critic's forecasts leave of the outcomes of a group is therefore taken for a sum of effects of the values its members
gave to arguments, and luck:

    R_i - sum_k c_ik = group mean + sum over (argument p, value v) that i used of u_pv + luck,   u_pv ~ N(0, tau_p^2)

How much the values of an argument matter, tau_p^2, is told by the groups that the critic is fitted to: restricted
maximum likelihood by minorisation (Zhou, Hu, Qiao, Cho, Zhou 2019), believed as far as it stands out from its error.
The effects themselves are predicted (best linear unbiased prediction, Henderson 1975) for every member from the
outcomes of the others alone. A choice gets the effects of its values, less the mean effect of what the others gave
there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import frexp

import numpy as np

from trajcredit.arrays import F64, I64
from trajcredit.critics.components import contrasts
from trajcredit.critics.story import Story

__all__ = ["NO_USES", "Task", "Uses", "matters", "placed", "tasks_of", "told_by_siblings", "uses_of"]

ROUNDS = 40
FIRST = 0.05
"""tau_p^2 to begin with, in parts of the variance of luck."""
BELIEVED = 4.0
"""z^2, of a tau_p^2 by its error, that is believed by half: what luck alone reaches once in twenty times."""
LEAST_LUCK = 1e-6
"""Share of the variance of what is left that is luck at the least: few runs can be told without any."""
TINY = 1e-12
NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """One group of n runs that used m values.

    runs    i64[n]     which of the pool they are
    used    f64[n, m]  1 where a run used a value
    kind    i64[m]     the argument that a value was given to
    first   i64[n, m]  the decision of the pool that used it first; NEVER where none did
    """

    runs: I64
    used: F64
    kind: I64
    first: I64


@dataclass(frozen=True, slots=True, eq=False)
class Uses:
    """The values that the decisions of some stories gave to arguments: U of them, by decision.

    decision, argument, value  i64[U]  values are numbered: equal where argument and value are equal
    arguments                          (tool, path in its arguments) of each number
    """

    decision: I64
    argument: I64
    value: I64
    arguments: tuple[tuple[str, str], ...]


_NONE = np.zeros(0, dtype=np.int64)
NO_USES = Uses(_NONE, _NONE, _NONE, ())


def uses_of(stories: Sequence[Story]) -> Uses:
    """What the choices of the stories, in order, gave to arguments."""
    arguments: dict[tuple[str, str], int] = {}
    values: dict[tuple[int, str], int] = {}
    found = [
        (d, argument, values.setdefault((argument, str(leaf)), len(values)))
        for d, choice in enumerate(choice for story in stories for choice in story.choices)
        for path, leaf in choice.arguments
        for argument in (arguments.setdefault((choice.tool, path), len(arguments)),)
    ]
    table = np.array(found, dtype=np.int64).reshape(-1, 3)
    return Uses(table[:, 0], table[:, 1], table[:, 2], tuple(arguments))


def placed(uses: Uses, arguments: Sequence[tuple[str, str]]) -> Uses:
    """The uses with the numbers of other arguments; those that are not among them are left out."""
    known = {argument: number for number, argument in enumerate(arguments)}
    place = np.array([known.get(argument, -1) for argument in uses.arguments], dtype=np.int64)
    argument = place[uses.argument]
    kept = argument >= 0
    return Uses(uses.decision[kept], argument[kept], uses.value[kept], tuple(arguments))


def tasks_of(uses: Uses, owner: I64, groups: I64) -> list[Task]:
    """Every group some of whose runs used a value that others did not, by number.

    owner   i64[D]  story of each decision, ascending
    groups  i64[T]  task of each story
    """
    found = []
    of = groups[owner[uses.decision]]
    order = np.argsort(of, kind="stable")
    ends = np.searchsorted(of[order], np.arange(int(groups.max(initial=-1)) + 2))
    for group in range(len(ends) - 1):
        task = _task(uses, order[ends[group] : ends[group + 1]], owner, np.flatnonzero(groups == group))
        if not task.used.all():
            found.append(task)
    return found


def _task(uses: Uses, mine: I64, owner: I64, runs: I64) -> Task:
    _, at, column = np.unique(uses.value[mine], return_index=True, return_inverse=True)
    row = np.searchsorted(runs, owner[uses.decision[mine]])
    first = np.full((len(runs), len(at)), NEVER, dtype=np.int64)
    np.minimum.at(first, (row, column), uses.decision[mine])
    return Task(runs, (first < NEVER).astype(np.float64), uses.argument[mine][at], first)


def told_by_siblings(tasks: Sequence[Task], left: F64, mattering: F64, n: int) -> F64:
    """What siblings add to the forecast of each of n decisions, f64[n].

    left       f64[T]  what forecasts of a model that did not see these tasks leave of the outcome; NaN where there is
                       none: such a run is told, and tells nothing
    mattering  f64[P]  how much the values of each argument matter (`matters`)
    """
    added = np.zeros(n)
    for task in tasks:
        _add(added, task, left, mattering)
    return added


def matters(tasks: Sequence[Task], left: F64, n_kinds: int) -> F64:
    """How much the values of each argument matter in these tasks: tau_p^2 over the variance of luck f64[P], as far as
    it stands out from its error, z^2 / (z^2 + BELIEVED) of it. 0 where nothing is left of any outcome.

    left  f64[T]  what forecasts leave of the outcome of each run of the pool; NaN where there is none
    """
    sizes = list(_by_size(tasks, left))
    largest = max((float(np.abs(size.left).max()) for size in sizes), default=0.0)
    if largest == 0.0:
        return np.zeros(n_kinds)
    exponent = frexp(largest)[1]
    sizes = [replace(size, left=np.ldexp(size.left, -exponent)) for size in sizes]
    variance = sum(float((size.left**2).sum()) for size in sizes) / sum(size.left.size for size in sizes)
    luck = variance
    values = np.full(n_kinds, FIRST * luck)
    for _ in range(ROUNDS):
        squares, traces = np.zeros(n_kinds), np.zeros(n_kinds)
        own = own_traces = 0.0
        for size in sizes:
            inverse = np.linalg.inv(size.variance(values, luck))
            weights = np.einsum("tij,tj->ti", inverse, size.left)
            of = weights[size.task]
            squares += np.bincount(size.kind, np.einsum("qi,qij,qj->q", of, size.gram, of), n_kinds)
            traces += np.bincount(size.kind, np.einsum("qij,qij->q", inverse[size.task], size.gram), n_kinds)
            own += float((weights**2).sum())
            own_traces += float(np.einsum("tii->", inverse))
        values = values * np.sqrt(np.maximum(squares, 0.0) / np.maximum(traces, TINY))
        luck = max(luck * float(np.sqrt(own / own_traces)), LEAST_LUCK * variance)
    z_squared = values**2 * _information(sizes, values, luck)
    believed: F64 = values / luck * z_squared / (z_squared + BELIEVED)
    return believed


def _information(sizes: Sequence[_Size], values: F64, luck: float) -> F64:
    """Expected information f64[P] on each tau_p^2: half of tr(V^-1 K_p V^-1 K_p), over tasks."""
    found = np.zeros(len(values))
    for size in sizes:
        inverse = np.linalg.inv(size.variance(values, luck))
        moved = inverse[size.task] @ size.gram
        found += 0.5 * np.bincount(size.kind, np.einsum("qij,qji->q", moved, moved), len(values))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Size:
    """B tasks with as many scored runs, n: what is left of their outcomes and which values they used, as contrasts.

    left  f64[B, n - 1]
    task  i64[Q], kind i64[Q], gram f64[Q, n - 1, n - 1]  of every argument in every task: products of runs
    """

    left: F64
    task: I64
    kind: I64
    gram: F64

    def variance(self, values: F64, luck: float) -> F64:
        """Variance f64[B, n - 1, n - 1] of what is left, of each task."""
        found = np.zeros((*self.left.shape, self.left.shape[1]))
        found[:] = luck * np.eye(self.left.shape[1])
        np.add.at(found, self.task, values[self.kind, None, None] * self.gram)
        return found


def _by_size(tasks: Sequence[Task], left: F64) -> Iterator[_Size]:
    """The tasks with as many scored runs, one number of them at a time."""
    scored = [task.runs[~np.isnan(left[task.runs])] for task in tasks]
    counts = np.array([len(runs) for runs in scored], dtype=np.int64)
    for n in np.unique(counts[counts > 1]).tolist():
        rows: list[F64] = []
        grams: list[F64] = []
        places: list[int] = []
        kinds: list[int] = []
        for t in np.flatnonzero(counts == n).tolist():
            used = tasks[t].used[np.isin(tasks[t].runs, scored[t])]
            apart = contrasts(np.column_stack([used, left[scored[t]]]), np.zeros(n, dtype=np.int64))
            differs = used.any(axis=0) & ~used.all(axis=0)
            for kind in np.unique(tasks[t].kind[differs]).tolist():
                mine = apart[:, :-1][:, differs & (tasks[t].kind == kind)]
                places.append(len(rows))
                kinds.append(kind)
                grams.append(mine @ mine.T)
            rows.append(apart[:, -1])
        of = np.array(places, dtype=np.int64), np.array(kinds, dtype=np.int64)
        yield _Size(np.array(rows), *of, np.array(grams).reshape(-1, n - 1, n - 1))


def _add(added: F64, task: Task, left: F64, mattering: F64) -> None:
    """Put what the others of a task tell of each of its runs' values on the decisions that used them first."""
    prior = mattering[task.kind]
    scored = ~np.isnan(left[task.runs])
    for i in range(len(task.runs)):
        others = scored.copy()
        others[i] = False
        if others.sum() < 2:
            continue
        effect = _effects(task.used[others], left[task.runs[others]], prior)
        effect -= _usual(task.used[others], effect, task.kind, len(mattering))[task.kind]
        mine = task.used[i] > 0
        np.add.at(added, task.first[i, mine], effect[mine])


def _effects(used: F64, left: F64, prior: F64) -> F64:
    """Predicted effect f64[m] of every value, from n runs: used f64[n, m], left f64[n], prior f64[m] over luck."""
    apart = used - used.mean(axis=0)
    weighed = apart * prior
    effect: F64 = weighed.T @ np.linalg.solve(weighed @ apart.T + np.eye(len(left)), left - left.mean())
    return effect


def _usual(used: F64, effect: F64, kind: I64, n_kinds: int) -> F64:
    """Mean effect f64[P] of the values that these runs gave to each argument; 0 where they gave none."""
    times = used.sum(axis=0)
    total = np.bincount(kind, times * effect, n_kinds)
    mean: F64 = total / np.maximum(np.bincount(kind, times, n_kinds), 1.0)
    return mean
