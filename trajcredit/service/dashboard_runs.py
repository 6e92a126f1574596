"""Which runs a dashboard speaks of: those asked for, else the newest finished ones that read the same data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trajcredit.errors import InputError
from trajcredit.store import Store, run_inputs, run_numbers, runs
from trajcredit.store.overrides import Edits
from trajcredit.store.runs import Run

__all__ = ["MOST_READ", "MOST_RUNS", "NO_RUN", "Chosen", "RunRef", "chosen"]

MOST_READ = 10_000
"""Trajectories that a panel over credits reads: the newest of the filter."""
MOST_RUNS = 8
LOOKED_AT = 200
"""Of the newest runs, where none is asked for."""
NO_RUN = "a finished run: score the project first (trajcredit run dag, or a new run on screen)"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRef:
    """A run as people call it."""

    id: str
    number: int
    attributor: str
    label: str
    stale: bool
    stale_reason: str | None
    total: int
    """Trajectories it read."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The runs, and how many more finished ones there would be to choose from."""

    runs: tuple[RunRef, ...]
    others: int
    edits: tuple[Edits, ...]
    """Of each run the overrides of edges that it saw."""


def chosen(store: Store, project: str, names: Sequence[str], most: int = MOST_RUNS) -> Chosen:
    """Finished runs: those of `names` (ids, or attributors: the newest of each), in that order.

    Without names the newest `dag`, else the newest of any, and of every other label the newest that read the same data
    set. InputError where more are named than are shown, or one is not finished.
    """
    with store.read() as conn:
        if names:
            found = list({run.id: run for run in (runs.find(conn, project, name) for name in names)}.values())
            others = 0
        else:
            newest = [run for run in runs.page(conn, project, limit=LOOKED_AT).runs if run.state == "done"]
            found, others = _default(newest, most)
        numbers = run_numbers.numbers(conn, project, [run.id for run in found])
    if len(found) > most:
        raise InputError(f"run: {len(found)} are named, at most {most} are shown here")
    for run in found:
        if run.state != "done":
            raise InputError(
                f"run: {run.asked.label!r} (#{numbers[run.id]}) is {run.state}; only finished runs are shown"
            )
    refs = tuple(_ref(run, numbers[run.id]) for run in found)
    return Chosen(refs, others, tuple(map(run_inputs.edits_seen, found)))


def _default(newest: Sequence[Run], most: int) -> tuple[list[Run], int]:
    """The one to begin with, then the newest of each other label over the same data set; and how many are left out."""
    first = next((run for run in newest if run.asked.attributor == "dag"), next(iter(newest), None))
    if first is None:
        return [], 0
    labels = {first.asked.label: first}
    for run in newest:
        if run.asked.filters == first.asked.filters:
            labels.setdefault(run.asked.label, run)
    found = list(labels.values())[:most]
    return found, len(newest) - len(found)


def _ref(run: Run, number: int) -> RunRef:
    return RunRef(
        id=run.id,
        number=number,
        attributor=run.asked.attributor,
        label=run.asked.label,
        stale=run.stale is not None,
        stale_reason=run.stale,
        total=run.total or 0,
    )
