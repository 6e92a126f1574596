"""Two checkpoints, models or runs on the same tasks, paired."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np

from trajcredit.arrays import F64
from trajcredit.diagnostics.intervals import bootstrap
from trajcredit.diagnostics.seen import Seen
from trajcredit.diagnostics.table import Table
from trajcredit.errors import InputError

__all__ = ["MEASURES", "Comparison", "Difference", "compare"]

MEASURES = ("reward", "pass rate", "length", "repeated calls")
"""What is compared, as far as some common task has it on both sides."""

FIELDS: dict[str, Callable[[Seen], str | None]] = {
    "policy version": lambda one: one.policy_version,
    "model": lambda one: one.model,
    "data set": lambda one: one.dataset,
    "training step": lambda one: None if one.step is None else str(one.step),
}
"""What a name may be of: the first in which both are found counts."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One measure: means over common tasks, b minus a with its 95 % interval (bootstrap over tasks), and how many tasks
    went up, down, or stayed. The interval is null where one task is common."""

    measure: str
    unit: str
    a: float
    b: float
    difference: float
    low: float | None
    high: float | None
    tasks: int
    up: int
    down: int
    same: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """`field` is what a and b are names of; tasks of only one side are left out and counted."""

    a: str
    b: str
    field: str
    rollouts_a: int
    rollouts_b: int
    common: int
    only_a: int
    only_b: int
    differences: tuple[Difference, ...]


def compare(table: Table, a: str, b: str) -> Comparison:
    """Every task counts once, with the mean of its rollouts on each side.

    InputError where a name is not found, or the two have no task in common.
    """
    field, rows_a, rows_b = _sides(table, a, b)
    keys = [_key(one, field) for one in table.seen]
    tasks_a, tasks_b = (_by_task(keys, rows) for rows in (rows_a, rows_b))
    common = [key for key in tasks_a if key in tasks_b]
    if not common:
        raise InputError(f"{field} {a!r} and {b!r} have no task in common: `task` must name the same ones in both")
    lengths, unit = table.lengths()
    calls = np.array([len(one.calls) or np.nan for one in table.seen])
    again = np.array([len(one.repeats) for one in table.seen]) / calls
    units = ("reward", "share", unit, "share of calls")
    columns = (table.outcome, np.where(table.scored, table.passed, np.nan), lengths, again)
    found = [
        _difference(name, own, values, [(tasks_a[key], tasks_b[key]) for key in common])
        for name, own, values in zip(MEASURES, units, columns, strict=True)
    ]
    return Comparison(
        a=a,
        b=b,
        field=field,
        rollouts_a=len(rows_a),
        rollouts_b=len(rows_b),
        common=len(common),
        only_a=len(tasks_a) - len(common),
        only_b=len(tasks_b) - len(common),
        differences=tuple(one for one in found if one is not None),
    )


def _sides(table: Table, a: str, b: str) -> tuple[str, list[int], list[int]]:
    if a == b:
        raise InputError(f"cannot compare {a!r} with itself")
    for field, of in FIELDS.items():
        names = [of(one) for one in table.seen]
        if a in names and b in names:
            rows_a, rows_b = ([t for t, name in enumerate(names) if name == side] for side in (a, b))
            return field, rows_a, rows_b
    known = {
        field: sorted({name for one in table.seen if (name := of(one)) is not None}) for field, of in FIELDS.items()
    }
    there = "; ".join(f"{field}: {', '.join(names[:10])}" for field, names in known.items() if names)
    raise InputError(f"{a!r} and {b!r} are not two names of one kind; known: {there or 'none'}")


def _key(one: Seen, field: str) -> Hashable | None:
    if one.task is None:
        return None
    return one.task if field == "data set" else (one.dataset, *one.task)


def _by_task(keys: list[Hashable | None], rows: list[int]) -> dict[Hashable, list[int]]:
    found: dict[Hashable, list[int]] = {}
    for t in rows:
        if keys[t] is not None:
            found.setdefault(keys[t], []).append(t)
    return found


def _difference(name: str, unit: str, values: F64, tasks: list[tuple[list[int], list[int]]]) -> Difference | None:
    pairs = []
    for sides in tasks:
        a, b = (values[rows][~np.isnan(values[rows])] for rows in sides)
        if len(a) and len(b):
            pairs.append((float(a.mean()), float(b.mean())))
    if not pairs:
        return None
    means = np.array(pairs)
    gaps = means[:, 1] - means[:, 0]
    found = bootstrap(gaps, np.ones(len(gaps)))
    wide = len(gaps) > 1
    return Difference(
        measure=name,
        unit=unit,
        a=float(means[:, 0].mean()),
        b=float(means[:, 1].mean()),
        difference=float(gaps.mean()),
        low=found.low if wide else None,
        high=found.high if wide else None,
        tasks=len(gaps),
        up=int((gaps > 0).sum()),
        down=int((gaps < 0).sum()),
        same=int((gaps == 0).sum()),
    )
