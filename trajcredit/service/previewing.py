"""What a trainer will see of a run before it is written: counted over the run, token by token for one trajectory."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, BinaryIO, cast

import numpy as np

from trajcredit.errors import InputError
from trajcredit.exporters import Credit, Exporter, TokenExporter
from trajcredit.exporters.whitening import whitened
from trajcredit.service.exporting import credits_of_run, finished
from trajcredit.store import Store, ids
from trajcredit.store.run_inputs import Member
from trajcredit.tokens import Counted, Renderer, TokenRow

__all__ = ["MOST_TOKENS", "MOST_TRAJECTORIES", "AlignmentFailure", "Preview", "RowPreview", "Totals", "preview"]

MOST_TRAJECTORIES = 1_000
"""Looked at for the counts; the rest of a larger run is not, which is said."""
MOST_TOKENS = 2_000
"""Response tokens of a row in one answer."""
BEFORE = 16
"""Tokens before a window that are read with it."""


@dataclass(frozen=True, slots=True)
class AlignmentFailure:
    """Where a trajectory's tokens do not fit its spans."""

    trajectory: str
    turn: int
    span: int | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Sums over the trajectories looked at. `advantage_mean` is sum(advantage mask) / sum(mask)."""

    trajectories: int
    rows: int
    tokens: int
    trained: int
    advantage_sum: float
    advantage_mean: float | None
    exact: int
    retokenized: int
    failed: int
    left_out: dict[str, int]
    notes: dict[str, int]
    failures: list[AlignmentFailure]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPreview:
    """One row as exported. Lists have one entry a response token of the window `start`, `start` + 1, ..."""

    trajectory: str
    row: int
    uid: str
    ids_source: str
    prompt_tokens: int
    response_tokens: int
    trained: int
    start: int
    ids: list[int]
    texts: list[str] | None
    """What each token reads as; None without a tokenizer."""
    mask: list[int]
    advantages: list[float]
    spans: list[int]
    """The span that owns it; -1 where nobody trains it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """Counts of an export, and the rows of one trajectory."""

    run: str
    of: int
    """Trajectories of the run."""
    looked_at: int
    totals: Totals
    rows: list[RowPreview]
    remarks: list[str] = field(default_factory=list)


def preview(
    store: Store, project: str, run: str, exporter: Exporter, trajectory: str | None = None, start: int = 0
) -> Preview:
    """What `exporter` would write of a finished run, counted over its first 1,000 trajectories.

    `trajectory` (an id, ours or `ext:` and the log's own) is the one whose rows are shown, else the first that has
    any; 2,000 response tokens of each from `start` on. Failed alignments are counted, whatever the exporter would do
    about them. InputError where the exporter writes no tokens or the trajectory is not in the run, NotFoundError where
    nothing is stored under a name.
    """
    if not isinstance(exporter, TokenExporter):
        raise InputError("this exporter writes spans, one row each, not tokens: there is nothing to align")
    found, members = finished(store, project, run)
    shown = None if trajectory is None else _of_run(store, project, members, trajectory)
    seen = list(members[:MOST_TRAJECTORIES])
    exporter, remarks = replace(exporter, misaligned="drop"), []
    if len(seen) < len(members):
        remarks.append(f"counted over {len(seen)} of {len(members)} trajectories")
        if exporter.whiten != "none":
            exporter = replace(exporter, whiten="none")
            remarks.append("advantages are shown before whitening, which takes the whole export")
    counted = Counted()
    scored = credits_of_run(store, found, seen)
    rows, refused = _shown(exporter, scored, counted, None if shown is None else shown[1])
    if refused is not None:
        remarks.append(f"the export is refused: {refused}")
    if shown is not None and shown[0] not in seen:
        rows = list(exporter.rows(credits_of_run(store, found, [shown[0]]), Counted()))
    renderer = exporter.renderer()
    return Preview(
        run=found.id,
        of=len(members),
        looked_at=len(seen),
        totals=_totals(counted),
        rows=[_row(row, start, renderer) for row in rows],
        remarks=remarks,
    )


def _of_run(store: Store, project: str, members: Sequence[Member], trajectory: str) -> tuple[Member, str]:
    """The member of the run that is this trajectory, and the log's own id of it."""
    with store.read() as conn:
        known = ids.find(conn, project, trajectory)
    member = next((one for one in members if one.id == known.id), None)
    if member is None:
        raise InputError(f"trajectory {trajectory[:200]!r} is not in this run")
    return member, known.external_id


def _shown(
    exporter: TokenExporter, scored: Iterator[Credit], counted: Counted, trajectory: str | None
) -> tuple[list[TokenRow], str | None]:
    """The rows of one trajectory out of all, as they would be written, and why the trainer's file cannot be."""
    kept: list[TokenRow] = []

    def passing() -> Iterator[TokenRow]:
        for row in whitened(exporter.rows(scored, counted), exporter.whiten, counted):
            wanted = trajectory if trajectory is not None else kept[0].trajectory_id if kept else row.trajectory_id
            if row.trajectory_id == wanted:
                kept.append(row)
            yield row

    rows, refused = passing(), None
    try:
        exporter.encode(rows, cast(BinaryIO, Nowhere()))
    except InputError as error:
        refused = str(error)
    for _ in rows:  # the rest is counted all the same
        pass
    return kept, refused


class Nowhere(io.RawIOBase):
    """Takes bytes and keeps none."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return len(data)


def _row(row: TokenRow, start: int, renderer: Renderer | None) -> RowPreview:
    window = slice(start, start + MOST_TOKENS)
    owners = np.full(len(row.response_ids), -1)
    for owned in row.spans:
        owners[owned.start : owned.end] = owned.span
    ids = row.response_ids[window].tolist()
    return RowPreview(
        trajectory=row.trajectory_id,
        row=row.row,
        uid=row.uid,
        ids_source=row.ids_source,
        prompt_tokens=len(row.prompt_ids),
        response_tokens=len(row.response_ids),
        trained=row.trained,
        start=start,
        ids=ids,
        texts=None if renderer is None else _texts(renderer, row.response_ids.tolist(), start),
        mask=row.response_mask[window].tolist(),
        advantages=row.advantages[window].astype(np.float32).tolist(),  # as files hold them
        spans=owners[window].tolist(),
    )


def _texts(renderer: Renderer, ids: Sequence[int], start: int) -> list[str] | None:
    """What each id from `start` on reads as, at most so many; None where they cannot be read one by one.

    A few before them are read too: a window may begin within a letter, which the first of its ids has.
    """
    first = max(0, start - BEFORE)
    try:
        text, starts = renderer.spelled(ids[first : start + MOST_TOKENS])
    except InputError:
        return None
    return [text[begin:end] for begin, end in pairwise([*starts.tolist(), len(text)])][start - first :]


def _totals(counted: Counted) -> Totals:
    return Totals(
        trajectories=counted.trajectories,
        rows=counted.rows,
        tokens=counted.tokens,
        trained=counted.trained,
        advantage_sum=counted.advantage_sum,
        advantage_mean=counted.advantage_mean,
        exact=counted.exact,
        retokenized=counted.retokenized,
        failed=counted.failed,
        left_out=dict(counted.left_out),
        notes=dict(counted.notes),
        failures=[AlignmentFailure(f.trajectory_id, f.turn, f.span, f.reason) for f in counted.failures],
    )
