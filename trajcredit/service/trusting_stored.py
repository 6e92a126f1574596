"""How far a judge of a database can be trusted: the report of `trusting`, from kept opinions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from trajcredit.batching import assemble
from trajcredit.errors import InputError
from trajcredit.judges.estimates import Sampling
from trajcredit.judges.reliability import PASSED
from trajcredit.service.hearing import Hearing
from trajcredit.service.trusting import Trust, trust
from trajcredit.service.trusting_repeats import same
from trajcredit.store import Store, batches, documents, judgings
from trajcredit.store.judgings import Judging

__all__ = ["MOST_SPANS", "of_judging"]

LIMITS = frozenset({"repeat", "max_requests", "max_cost"})
"""Parameters in which a judge that is asked again may differ: they change nothing of what it says."""
MOST_SPANS = 1_000_000
"""Spans whose transcripts a report may read at once."""


def of_judging(
    store: Store,
    project: str,
    judging: str,
    against: str | None = None,
    repeat: str | None = None,
    reward: str | None = None,
    group_by: str | None = None,
    pass_at: float = PASSED,
    draws: int = 1000,
) -> Trust:
    """The report on one judging; `against` and `repeat` are other judgings of the same trajectories.

    NotFoundError where there is no such judging, InputError where it has judged nothing yet, is held
    against itself, or `repeat` is of another judge.
    """
    with store.read() as conn:
        found = judgings.find(conn, project, judging)
        if not found.judged:
            raise InputError(f"judging {found.id} has judged nothing yet: it is {found.state}")
        said = [] if repeat is None else _repeated(found, judgings.find(conn, project, repeat))
        if against == found.id:
            raise InputError(f"against: {against} is this judging itself; expected another one")
        loaded = batches.load(conn, project, found.asked.filters)
        if len(loaded.columns.kind) > MOST_SPANS:
            raise InputError(f"more than {MOST_SPANS:,} spans: report on a data set, or with `trajcredit trust`")
        graphs = tuple(documents.graphs(conn, project, loaded.ids))
    batch = assemble(loaded.heads, loaded.columns, loaded.rewards, reward, group_by)
    batch = replace(batch, graphs=graphs)
    heard = Hearing(store, project, loaded.ids)
    report = trust(
        heard(batch, judging),
        found.asked.label,
        "credit" if found.asked.scale == "credit" else "state",
        repeats=[heard(batch, repeat)] if repeat is not None else [],
        others={against: heard(batch, against)} if against is not None else {},
        pass_at=pass_at,
        sampling=Sampling(draws),
    )
    return replace(report, remarks=(*said, *report.remarks))


def _repeated(first: Judging, repeat: Judging) -> list[str]:
    """What to say of a judging as a repeat of another; InputError where it is none."""
    if first.id == repeat.id:
        raise InputError(f"repeat: {repeat.id} is this judging itself; expected the same judge, asked again")
    theirs = _facts(repeat)
    for what, own in _facts(first).items():
        if own != theirs[what]:
            found = f"{what} of {first.id} is {own!r}, of {repeat.id} {theirs[what]!r}"
            raise InputError(f"repeat: expected the same judge, asked again; {found}")
    return [same(repeat.id)] if first.fingerprint and first.fingerprint == repeat.fingerprint else []


def _facts(one: Judging) -> dict[str, Any]:
    asked = one.asked
    return {
        "judge": asked.label if asked.judge == "file" else asked.judge,
        "scale": asked.scale,
        "segments": asked.segments,
        "parameters": {name: value for name, value in asked.parameters.items() if name not in LIMITS},
        "model": one.model,
        "prompt_version": one.prompt_version,
    }
