"""Runs of a project: asked for, looked at, stopped. Who works on them is `runner`, how is `executing`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from trajcredit.batching import GROUP_FIELDS
from trajcredit.errors import InputError
from trajcredit.model import REWARD_SOURCES, Note
from trajcredit.service import hearing
from trajcredit.service.asking import Configured, configured
from trajcredit.service.asking import compares_across_groups as across_groups
from trajcredit.service.notes import NoteCount, count_of
from trajcredit.service.versions import code_version, edge_version
from trajcredit.store import Store, pages, rewards, run_numbers, runs
from trajcredit.store.filters import Filters
from trajcredit.store.runs import Asked, Run, State

__all__ = [
    "ENDED",
    "RunList",
    "RunView",
    "Wanted",
    "again",
    "ask",
    "ask_for",
    "cancel",
    "compares_across_groups",
    "condensed",
    "counted",
    "find",
    "listed",
]

ENDED = frozenset({"done", "failed", "cancelled"})
SHOWN_NAMES = 10
SHOWN_NOTES = 3
"""Notes of one kind that a list of runs shows; the rest is counted."""
MORE = "and {:,} more like these"
_MORE = re.compile(MORE.format(0).replace("0", "([0-9,]+)"))
PAGE = 100


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a run is to read: which trajectories, whose reward, what makes a group."""

    reward: str | None = None
    """A source, else the name of a reward."""
    group_by: str | None = None
    dataset: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """A run as people see it."""

    id: str
    number: int
    attributor: str
    label: str
    parameters: Mapping[str, Any]
    reward_source: str | None
    """The source that was read; until then the one asked for."""
    reward_name: str | None
    """Of the only rewards that are read, where one was asked for."""
    group_by: str | None
    dataset: str | None
    state: State
    done: int
    total: int
    error: str | None
    stale: bool
    stale_reason: str | None
    code_version: str
    edge_version: str
    watermark: int
    seed: int | None
    created: str
    started: str | None
    finished: str | None
    notes: tuple[Note, ...]
    critic: str | None
    """Whose forecasts it read; null where it asked no critic, or has not asked one yet."""
    critic_fingerprint: str | None
    """Of what they follow from: the same one, the same forecasts."""
    judge: str | None
    """Whom it heard: a judge by name, the id of a judging, or several joined by +; null where none, or not yet."""
    judge_fingerprint: str | None
    """Of all that was said: the same one, the same opinions."""


@dataclass(frozen=True, slots=True)
class RunList:
    """Some runs, newest first, and where the next page begins; null on the last."""

    items: tuple[RunView, ...]
    next: str | None


def ask(store: Store, project: str, name: str, parameters: Mapping[str, Any], wanted: Wanted) -> RunView:
    """A queued run of the attributor of that name."""
    return ask_for(store, project, configured(name, parameters), wanted)


def ask_for(store: Store, project: str, made: Configured, wanted: Wanted) -> RunView:
    """The same with an attributor made already; InputError where nothing could be scored."""
    _check_fields(wanted.group_by)
    if made.judge is not None:
        hearing.check(store, project, made.judge)
    filters = Filters(dataset=wanted.dataset)
    asked = Asked(
        attributor=made.name,
        label=made.label,
        parameters=made.parameters,
        code_version=code_version(),
        edge_version=edge_version(),
        reward=wanted.reward,
        group_by=wanted.group_by,
        filters=filters,
    )
    with store.write() as conn:
        if not pages.page(conn, project, filters, limit=1).total:
            of = "" if wanted.dataset is None else f" of data set {wanted.dataset!r}"
            raise InputError(f"project {project!r} has no trajectories{of}: nothing to score")
        name = asked.reward_name
        if name is not None and not rewards.is_named(conn, project, filters, name):
            names = rewards.names(conn, project, filters, SHOWN_NAMES)
            there = f"; and no reward of that name, but {', '.join(names)}" if names else ""
            raise InputError(f"no reward source {name!r}; known: {', '.join(REWARD_SOURCES)}{there}")
        run = runs.create(conn, project, asked)
        return _view(run, run_numbers.numbers(conn, project, [run.id])[run.id])


def again(store: Store, project: str, run: str) -> RunView:
    """A queued run that is asked for as that one was: over the trajectories and rewards of now, by the code of now."""
    with store.read() as conn:
        asked = runs.find(conn, project, run).asked
    wanted = Wanted(asked.reward, asked.group_by, asked.filters.dataset)
    return ask(store, project, asked.attributor, asked.parameters, wanted)


def find(store: Store, project: str, run: str) -> RunView:
    """The run of that id, or the newest finished one of an attributor or label of that name; with all that it noted."""
    with store.read() as conn:
        found = runs.find(conn, project, run)
        return replace(_view(found, run_numbers.numbers(conn, project, [found.id])[found.id]), notes=found.notes)


def listed(
    store: Store, project: str, attributor: str | None = None, cursor: str | None = None, limit: int = PAGE
) -> RunList:
    """Runs of a project, newest first; of one attributor, where one is named."""
    found: list[Run] = []
    with store.read() as conn:
        while True:
            page = runs.page(conn, project, cursor, limit - len(found))
            found += [run for run in page.runs if attributor is None or run.asked.attributor == attributor]
            cursor = page.next
            if cursor is None or len(found) == limit:
                break
        numbers = run_numbers.numbers(conn, project, [run.id for run in found])
    return RunList(tuple(_view(run, numbers[run.id]) for run in found), cursor)


def cancel(store: Store, project: str, run: str) -> RunView:
    """The run, which does not go on; one that ended stays as it is."""
    with store.write() as conn:
        found = runs.cancel(conn, project, run)
        return _view(found, run_numbers.numbers(conn, project, [found.id])[found.id])


def compares_across_groups(run: Run) -> bool:
    """Whether what a run says of one group depends on others."""
    return across_groups(run.asked.attributor, run.asked.parameters)


def condensed(notes: Sequence[Note], most: int) -> tuple[Note, ...]:
    """At most so many notes of one kind, and how many more there are; notes condensed before count in full."""
    shown: list[Note] = []
    for same in _by_code(notes):
        first, count = same[:most], _count(same)
        shown += first
        if count > len(first):
            shown.append(Note(first[0].code, MORE.format(count - len(first))))
    return tuple(shown)


def counted(notes: Sequence[Note]) -> Iterator[NoteCount]:
    """One line a kind of note, with the first of them."""
    for same in _by_code(notes):
        yield count_of("run", same[0], _count(same))


def _by_code(notes: Sequence[Note]) -> list[list[Note]]:
    ordered = sorted(notes, key=lambda note: note.code)
    return [list(same) for _, same in groupby(ordered, key=lambda note: note.code)]


def _count(notes: Sequence[Note]) -> int:
    """How many these are, with those that were left out of them before."""
    left_out = [_MORE.fullmatch(note.message) for note in notes]
    return sum(1 if found is None else int(found[1].replace(",", "")) for found in left_out)


def _check_fields(group_by: str | None) -> None:
    unknown = [name for name in (group_by or "project").split("+") if name not in GROUP_FIELDS]
    if unknown:
        raise InputError(f"cannot group by {', '.join(unknown)}; known: {', '.join(GROUP_FIELDS)}")


def _view(run: Run, number: int) -> RunView:
    name = run.asked.reward_name
    return RunView(
        id=run.id,
        number=number,
        attributor=run.asked.attributor,
        label=run.asked.label,
        parameters=run.asked.parameters,
        reward_source=run.reward_used or (run.asked.reward if name is None else None),
        reward_name=name,
        group_by=run.asked.group_by,
        dataset=run.asked.filters.dataset,
        state=run.state,
        done=run.done,
        total=run.total or 0,
        error=run.error,
        stale=run.stale is not None,
        stale_reason=run.stale,
        code_version=run.asked.code_version,
        edge_version=run.asked.edge_version,
        watermark=run.watermark or 0,
        seed=run.asked.seed,
        created=run.created,
        started=run.started,
        finished=run.finished,
        notes=condensed(run.notes, SHOWN_NOTES),
        critic=run.critic,
        critic_fingerprint=run.critic_fingerprint,
        judge=run.judge,
        judge_fingerprint=run.judge_fingerprint,
    )
