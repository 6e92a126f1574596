"""What a run would say of a trajectory if its edges were edited: scored for the asker, kept nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from trajcredit.arrays import BOOL, F64
from trajcredit.errors import InputError
from trajcredit.exporters import Credit
from trajcredit.graph import SpanGraph
from trajcredit.model import Note
from trajcredit.service.asking import Configured, configured
from trajcredit.service.attributing import scored
from trajcredit.service.hearing import Hearing
from trajcredit.service.replaying import as_one_group, as_the_run_grouped, filled
from trajcredit.service.versions import code_version
from trajcredit.store import Store, documents, ids, run_credits, run_inputs, runs
from trajcredit.store.batches import Loaded
from trajcredit.store.overrides import Change, Edits
from trajcredit.store.runs import Run

__all__ = ["MOST_CHANGES", "MOST_SPANS", "PROPOSED", "EditPreview", "Numbers", "preview"]

Graphs: TypeAlias = tuple[SpanGraph, ...] | None
MOST_SPANS = 200_000
"""Spans that are scored while somebody waits; more than that is a run."""
MOST_CHANGES = 100
PROPOSED = "proposed"
"""Reason and person of a change that is not made yet."""
TOLERANCE = 1e-9
"""How far a number worked out again may be from the one that was kept, relative to its size where that is above 1."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """Credit and advantage of every span of the trajectory, null where it is not scored."""

    credit: tuple[float | None, ...]
    advantage: tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditPreview:
    """A run's numbers of one trajectory as they are, and as they would be."""

    run: str
    label: str
    before: Numbers
    after: Numbers
    scale: float
    """The largest size of a credit in either."""
    advantage_scale: float
    changed: int
    """Spans whose credit or advantage differs."""
    others_changed: int
    """Other trajectories that were scored with it, and whose numbers differ too."""
    n_trajectories: int
    """Scored for this: the group, or all that the run read where it compares across groups."""
    notes: tuple[Note, ...]


def preview(store: Store, project: str, ref: str, run: str, changes: Sequence[Change]) -> EditPreview:
    """Score a trajectory again as a finished run did, on the edges as they are now with these changes.

    Rewards are those the run saw, and so is what a critic said. InputError where the run did not score it, where its
    numbers do not come out again, or where too many spans would have to be scored.
    """
    if len(changes) > MOST_CHANGES:
        raise InputError(f"changes: at most {MOST_CHANGES} at once, not {len(changes)}")
    with store.read() as conn:
        found = runs.find(conn, project, run)
        one = ids.find(conn, project, ref)
        said = run_credits.said_of(conn, found, one.id)
        if found.state != "done" or said is None:
            why = f"it is {found.state}" if found.state != "done" else "it did not read this trajectory"
            raise InputError(f"run {found.asked.label!r} has no numbers to compare with: {why}")
        made = configured(found.asked.attributor, found.asked.parameters)
        apart = made.attributor.scope == "group"
        members = run_inputs.members(conn, found, said.group_name if apart else None)
        spans = sum(member.n_spans for member in members)
        if spans > MOST_SPANS:
            more = f"{spans:,} spans would be scored for this, more than {MOST_SPANS:,}"
            raise InputError(f"{more}: save the change and run it instead")
        which = [member.id for member in members]
        inputs: list[tuple[Loaded, Graphs]] = []
        for edits in (run_inputs.edits_seen(found), Edits(proposed={one.id: tuple(changes)})):
            loaded = run_inputs.seen(conn, found, which, edits)
            reads = getattr(made.attributor, "reads_texts", False)
            graphs = tuple(documents.graphs(conn, project, which, edits)) if reads else None
            inputs.append((loaded, graphs))
        whole = run_inputs.is_whole(conn, found)
    group = said.group_name if apart else None
    before, after = (_scored(store, found, made, loaded, graphs, group) for loaded, graphs in inputs)
    t = which.index(one.id)
    own = slice(*before.batch.span_offsets[t : t + 2].tolist())
    if not _close(before.credit[own], said.credit):
        raise InputError(_unlike(found, whole))
    pairs = ((said.credit, after.credit[own]), (said.advantage, after.advantage[own]))
    return EditPreview(
        run=found.id,
        label=found.asked.label,
        before=Numbers(_column(said.credit), _column(said.advantage)),
        after=Numbers(_column(after.credit[own]), _column(after.advantage[own])),
        scale=max(map(_largest, pairs[0])),
        advantage_scale=max(map(_largest, pairs[1])),
        changed=int(np.logical_or(*(_differ(a, b) for a, b in pairs)).sum()),
        others_changed=_others(before, after, t),
        n_trajectories=len(which),
        notes=_notes(found, after, one.external_id),
    )


def _scored(store: Store, run: Run, made: Configured, loaded: Loaded, graphs: Graphs, group: str | None) -> Credit:
    batch = as_the_run_grouped(run, loaded) if group is None else as_one_group(run, loaded, group)
    batch = replace(batch, graphs=graphs)
    heard = Hearing(store, run.project, loaded.ids)
    return scored(batch, made.label, made.attributor, run.critic, filled(run, batch), made.judge, heard)


def _notes(run: Run, after: Credit, name: str) -> tuple[Note, ...]:
    """What one should know before believing the numbers, then what the attributor noted of this trajectory."""
    notes = [note for note in after.notes if note.trajectory in (None, name)]
    if run.critic is not None:
        said = f"what the critic {run.critic!r} says is what it said to this run: it was not asked anew of these edges"
        notes.insert(0, Note("critic", said))
    if run.stale is not None:
        said = f"this run is stale ({run.stale}): the numbers before are its own, those after rest on the edges as they"
        notes.insert(0, Note("stale", f"{said} are now, and on the rewards that it saw"))
    return tuple(notes)


def _others(before: Credit, after: Credit, t: int) -> int:
    offsets = before.batch.span_offsets
    differ = _differ(before.credit, after.credit) | _differ(before.advantage, after.advantage)
    return sum(bool(differ[offsets[i] : offsets[i + 1]].any()) for i in range(before.batch.n_trajectories) if i != t)


def _unlike(run: Run, whole: bool) -> str:
    if not whole:
        cause = "a trajectory that it read was replaced or deleted since"
    elif run.asked.code_version != code_version():
        cause = f"the run was made by version {run.asked.code_version}, this is {code_version()}"
    else:
        cause = "what it read is not what is stored now"
    return f"the numbers of run {run.asked.label!r} do not come out again: {cause}. Run it again, then edit"


def _close(again: F64, kept: F64) -> bool:
    return bool(np.allclose(again, kept, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True))


def _differ(a: F64, b: F64) -> BOOL:
    """Where two columns are not the same number; NaN is the same as NaN."""
    return np.not_equal(a, b) & ~(np.isnan(a) & np.isnan(b))


def _column(numbers: F64) -> tuple[float | None, ...]:
    return tuple(None if number != number else number for number in numbers.tolist())  # NaN differs from itself


def _largest(numbers: F64) -> float:
    known = np.abs(numbers[~np.isnan(numbers)])
    return float(known.max()) if len(known) else 0.0
