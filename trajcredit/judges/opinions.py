"""Opinions of a file laid over a batch: joined by trajectory, and whatever does not fit is said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from trajcredit.batching import Batch
from trajcredit.errors import InputError, ParseError
from trajcredit.graph import SpanGraph
from trajcredit.judges.base import Case, Verdict
from trajcredit.judges.columns import with_verdicts
from trajcredit.judges.opinion_rows import SCHEMA, Opinion, digest, read, to_row
from trajcredit.model import ACTION_KINDS, Note

__all__ = ["SCHEMA", "Opinion", "by_trajectory", "digest", "misfit", "on", "read", "shared_ids", "to_row"]

MOST_NAMED = 3
"""Rows that an error names; the others are counted."""


def on(batch: Batch, opinions: Iterable[Opinion | ParseError], name: str) -> Batch:
    """The batch with the columns of `with_verdicts`, from opinions of one judge; `name` is the file's, for messages.

    A trajectory without a row that fits it is not judged: NaN, and an `unjudged` note that says why. Notes name rows
    that are no opinions (`unusable-opinion`) or of trajectories that are not here (`unmatched-opinion`), and rows that
    rest on another basis than the first (`mixed-basis`). InputError where rows are of several judges or scales, where a
    trajectory has two that were judged, or where no row fits anything here.
    """
    if batch.graphs is None:
        raise InputError(f"{name}: opinions are checked against texts, and this batch was loaded without them")
    rows, errors = list[Opinion](), list[ParseError]()
    for one in opinions:
        rows.append(one) if isinstance(one, Opinion) else errors.append(one)
    known = by_trajectory(rows)
    here, shared = set(batch.trajectory_ids), shared_ids(batch.graphs)
    if not any(row in here for row in known):
        raise InputError(_nothing(batch, known, errors, name))
    notes = [Note("unusable-opinion", str(error)) for error in errors]
    notes += [
        Note("unmatched-opinion", f"{row.where} is of {row.trajectory_id!r}, which was not read")
        for row in known.values()
        if row.trajectory_id not in here
    ]
    notes += _bases(rows)
    cases, verdicts = list[Case](), list[Verdict | None]()
    for trajectory_id, graph in zip(batch.trajectory_ids, batch.graphs, strict=True):
        row = known.get(trajectory_id)
        why = None if row is None else misfit(row, graph)
        if row is not None and row.digest is None and trajectory_id in shared:
            why = f"{row.where}: several logs have the id {trajectory_id!r}, and the row has no digest to tell them by"
        cases.append(Case(graph, () if row is None else row.segments))
        verdicts.append(
            row.verdict if row is not None and why is None else _unjudged(why or f"{name} has no row of it")
        )
    filled = with_verdicts(batch, rows[0].judge, rows[0].scale, cases, verdicts)
    return replace(filled, notes=(*filled.notes, *notes))


def by_trajectory(rows: Sequence[Opinion]) -> dict[str, Opinion]:
    """The opinion on each trajectory: a later row takes the place of one that is `missing`.

    InputError where a trajectory has two that were judged, or the rows are of several judges or scales.
    """
    known: dict[str, Opinion] = {}
    for row in rows:
        for what, own, other in (("judge", rows[0].judge, row.judge), ("scale", rows[0].scale, row.scale)):
            if own != other:
                where = f"{rows[0].where} is of the {what} {own!r}"
                raise InputError(f"{where}, line {row.line} of {other!r}: expected one {what} a file")
        before = known.get(row.trajectory_id)
        if before is not None and before.verdict.missing is None:
            raise InputError(
                f"{row.where}: {row.trajectory_id!r} was judged in line {before.line} already: expected one row a "
                "trajectory, or a later one where it was missing"
            )
        known[row.trajectory_id] = row
    return known


def shared_ids(graphs: Iterable[SpanGraph]) -> frozenset[str]:
    """Ids that several logs had, of which all but the first got a number: `x` where there is an `x#1` made so."""
    return frozenset(
        graph.trajectory.id.rpartition("#")[0]
        for graph in graphs
        if any(note.code == "duplicate-id" for note in graph.trajectory.report)
    )


def misfit(row: Opinion, graph: SpanGraph) -> str | None:
    """Why an opinion cannot be of that trajectory, as it is now; null where it can."""
    spans = graph.trajectory.spans
    if row.digest is not None and row.digest != digest(graph.trajectory):
        return f"{row.where}: the trajectory has changed since it was judged"
    if row.verdict.missing is not None:
        return None
    for k, one in enumerate(row.segments):
        if one.spans[-1] >= len(spans):
            return f"{row.where}: `segments[{k}].spans` has {one.spans[-1]}, and it has {len(spans)} spans"
        for i in one.actions:
            if spans[i].kind not in ACTION_KINDS:
                return f"{row.where}: `segments[{k}].actions` has {i}, a {spans[i].kind}, which is no action"
    for k, fault in enumerate(row.verdict.findings):
        if fault.span >= len(spans):
            return f"{row.where}: `findings[{k}].span` is {fault.span}, and it has {len(spans)} spans"
    return None


def _unjudged(why: str) -> Verdict:
    return Verdict((), 0.0, missing=why)


def _bases(rows: Sequence[Opinion]) -> list[Note]:
    """Rows that rest on another model, prompt or set of rules than the first: their scores may not compare."""
    other = [row for row in rows if row.basis != rows[0].basis]
    if not other:
        return []
    said = f"{other[0].where} and {len(other) - 1} more" if len(other) > 1 else other[0].where
    return [Note("mixed-basis", f"{said}: another model, prompt or version of the judge than {rows[0].where}")]


def _nothing(batch: Batch, known: dict[str, Opinion], errors: Sequence[ParseError], name: str) -> str:
    """That no row can be used, and why."""
    some = ", ".join(map(repr, batch.trajectory_ids[:MOST_NAMED]))
    what = (
        f"none of its {len(known)} rows is of a trajectory that was read, e.g. {some}" if known else "no opinion in it"
    )
    return "; ".join([f"{name}: {what}", *map(str, errors[:MOST_NAMED])])
