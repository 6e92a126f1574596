"""How far a judge of a database can be trusted: the report of `trusting`, from kept opinions."""

from __future__ import annotations

from dataclasses import replace

from trajcredit.batching import assemble
from trajcredit.errors import InputError
from trajcredit.judges.estimates import Sampling
from trajcredit.judges.reliability import PASSED
from trajcredit.service.hearing import Hearing
from trajcredit.service.trusting import Trust, trust
from trajcredit.store import Store, batches, documents, judgings

__all__ = ["MOST_SPANS", "of_judging"]

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

    NotFoundError where there is no such judging, InputError where it has judged nothing yet.
    """
    with store.read() as conn:
        found = judgings.find(conn, project, judging)
        if not found.judged:
            raise InputError(f"judging {found.id} has judged nothing yet: it is {found.state}")
        loaded = batches.load(conn, project, found.asked.filters)
        if len(loaded.columns.kind) > MOST_SPANS:
            raise InputError(f"more than {MOST_SPANS:,} spans: report on a data set, or with `trajcredit trust`")
        graphs = tuple(documents.graphs(conn, project, loaded.ids))
    batch = assemble(loaded.heads, loaded.columns, loaded.rewards, reward, group_by)
    batch = replace(batch, graphs=graphs)
    heard = Hearing(store, project, loaded.ids)
    return trust(
        heard(batch, judging),
        found.asked.label,
        "credit" if found.asked.scale == "credit" else "state",
        repeats=[heard(batch, repeat)] if repeat is not None else [],
        others={against: heard(batch, against)} if against is not None else {},
        pass_at=pass_at,
        sampling=Sampling(draws),
    )
