"""What runs say of one trajectory, and of one span of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trajcredit.arrays import F64
from trajcredit.batching import Batch
from trajcredit.model import Note
from trajcredit.service.headline import not_read
from trajcredit.service.laws import Law
from trajcredit.service.reasons import PathStep, Reason, Why, why
from trajcredit.service.replaying import as_one_group
from trajcredit.service.running import ENDED
from trajcredit.service.scales import Scale, scale_of
from trajcredit.service.summing import Group, Sum, summed_up
from trajcredit.store import Store, documents, ids, remarks, run_credits, run_inputs, run_numbers, runs
from trajcredit.store import span_credits as of_spans
from trajcredit.store.run_credits import Scored
from trajcredit.store.runs import Run
from trajcredit.store.shown import check_span

__all__ = ["CreditColumns", "PathStep", "Reason", "SpanCredit", "SpanCredits", "Why", "credits", "span_credits", "why"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditColumns:
    """What one run says of one trajectory; columns have one entry a span, null where it is not scored."""

    run: str
    label: str
    stale: bool
    law: Law
    """`free` where nothing is scored."""
    total: float | None
    headline: str
    scale: float
    advantage_scale: float
    dataset_scale: float | None
    """Null too while the run is not finished."""
    dataset_advantage_scale: float | None
    credit: tuple[float | None, ...]
    advantage: tuple[float | None, ...]
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class SpanCredit:
    """What one finished run says of one span."""

    run: str
    number: int
    label: str
    stale: bool
    stale_reason: str | None
    credit: float | None
    advantage: float | None


@dataclass(frozen=True, slots=True)
class SpanCredits:
    """All finished runs that scored the trajectory, newest first; of runs with the same label only the newest."""

    span: int
    items: tuple[SpanCredit, ...]


def credits(store: Store, project: str, ref: str, run: str) -> CreditColumns:  # noqa: A001 - the noun of the whole program
    """What a run says of a trajectory: all null where it did not read it, which the headline then says."""
    notes: tuple[Note, ...] = ()
    with store.read() as conn:
        found = runs.find(conn, project, run)
        one = documents.head(conn, project, ref).listed
        said = run_credits.said_of(conn, found, one.id)
        if said is None:
            nothing = np.full(one.n_spans, np.nan)
            said = Scored(one.id, one.external_id, one.group_name, nothing, nothing)
            amount = Sum("free", None, not_read(found, one.dataset, one.created))
        else:
            own, kept = run_inputs.seen(conn, found, [one.id]), said
            alone = as_one_group(found, own, said.group_name)
            given = [
                reward
                for reward in remarks.rewards_given(conn, project, one.id)
                if found.asked.reward_name in (None, reward.name)
            ]

            def group() -> Group:
                members = run_inputs.members(conn, found, kept.group_name)
                loaded = run_inputs.seen(conn, found, [member.id for member in members])
                batch = as_one_group(found, loaded, kept.group_name)
                return Group(batch, loaded.ids.index(kept.id), run_inputs.is_whole(conn, found))

            notes = _notes(found, alone, said)
            later = [reward.source for reward in given[len(own.own[0]) :]]
            amount = summed_up(found, alone, said, notes, later, group)
    scale = scale_of(store, project, found.id) if found.state in ENDED else Scale(None, None)
    return CreditColumns(
        run=found.id,
        label=found.asked.label,
        stale=found.stale is not None,
        law=amount.law,
        total=amount.total,
        headline=amount.headline,
        scale=_largest(said.credit),
        advantage_scale=_largest(said.advantage),
        dataset_scale=scale.credit,
        dataset_advantage_scale=scale.advantage,
        credit=_column(said.credit),
        advantage=_column(said.advantage),
        notes=notes,
    )


def span_credits(store: Store, project: str, ref: str, span: int) -> SpanCredits:
    """What every finished run that scored a trajectory says of one span of it."""
    with store.read() as conn:
        one = ids.find(conn, project, ref)
        check_span(span, one.n_spans, ref)
        found = of_spans.of_span(conn, project, one.id, span)
        numbers = run_numbers.numbers(conn, project, [said.run for said in found])
    items = (
        SpanCredit(s.run, numbers[s.run], s.label, s.stale is not None, s.stale, s.credit, s.advantage) for s in found
    )
    return SpanCredits(span, tuple(items))


def _notes(run: Run, alone: Batch, said: Scored) -> tuple[Note, ...]:
    """What the batch noted of this trajectory, then what the run kept of it or of its group."""
    kept = [
        note
        for note in run.notes
        if note.trajectory == said.external_id or (note.trajectory is None and note.group == said.group_name)
    ]
    return tuple(dict.fromkeys((*alone.notes, *kept)))


def _column(numbers: F64) -> tuple[float | None, ...]:
    return tuple(None if number != number else number for number in numbers.tolist())  # NaN differs from itself


def _largest(numbers: F64) -> float:
    scored = np.abs(numbers[~np.isnan(numbers)])
    return float(scored.max()) if len(scored) else 0.0
