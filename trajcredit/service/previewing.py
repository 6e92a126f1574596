"""What a trainer will see of a run before it is written: counted over the run, token by token for one trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from trajcredit.errors import InputError
from trajcredit.exporters import Exporter, Jsonl, Parquet, TokenExporter
from trajcredit.exporters.branches import left_by
from trajcredit.exporters.whitening import rewhitened
from trajcredit.service.exporting import credits_of_run, finished
from trajcredit.service.preview_counts import Looked, looked_at
from trajcredit.store import Store, documents, ids
from trajcredit.store.run_inputs import Member
from trajcredit.store.runs import Run
from trajcredit.tokens import Counted, Renderer, TokenRow

__all__ = ["MOST_TOKENS", "MOST_TRAJECTORIES", "Preview", "RowPreview", "preview"]

MOST_TRAJECTORIES = 1_000
"""Looked at for the counts; the rest of a larger run is not, which is said."""
MOST_TOKENS = 2_000
"""Response tokens of a row in one answer."""
MOST_PROMPT = 200
"""Prompt tokens of a row in one answer, its last."""
BEFORE = 16
"""Tokens before a window that are read with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPreview:
    """One row as exported. Lists have one entry a response token of the window `start`, `start` + 1, ..."""

    trajectory: str
    row: int
    uid: str
    ids_source: str
    prompt_tokens: int
    prompt_ids: list[int]
    """The last of them, at most 200."""
    prompt_texts: list[str] | None
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
    totals: Counted | None
    """None of an exporter of spans."""
    advantage_mean: float | None = None
    """sum(advantage mask) / sum(mask); None where nothing is trained."""
    span_rows: int | None = None
    """How many rows an exporter of spans writes, one a span; None of an exporter of tokens."""
    rows: list[RowPreview] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def preview(
    store: Store, project: str, run: str, exporter: Exporter, trajectory: str | None = None, start: int = 0
) -> Preview:
    """What `exporter` would write of a finished run, counted over its first 1,000 trajectories.

    `trajectory` (an id, ours or `ext:` and the log's own) is the one whose rows are shown, else the first that has
    any; 2,000 response tokens of each from `start` on. Failed alignments are counted, whatever the exporter would do
    about them; counts are kept for the next look. Of an exporter of spans its rows are counted. InputError where the
    exporter writes neither or the trajectory is not in the run, NotFoundError where nothing is stored under a name.
    """
    found, members = finished(store, project, run)
    shown = None if trajectory is None else _of_run(store, project, members, trajectory)
    if isinstance(exporter, Jsonl | Parquet):
        spans = sum(member.n_spans for member in members)
        return Preview(run=found.id, of=len(members), looked_at=len(members), totals=None, span_rows=spans)
    if not isinstance(exporter, TokenExporter):
        raise InputError("this exporter writes no tokens: there is nothing to align")
    seen = list(members[:MOST_TRAJECTORIES])
    exporter, remarks = replace(exporter, misaligned="drop"), []
    if len(seen) < len(members):
        remarks.append(f"counted over {len(seen)} of {len(members)} trajectories")
        if exporter.whiten != "none":
            exporter = replace(exporter, whiten="none")
            remarks.append("advantages are shown before whitening, which takes the whole export")
    looked = looked_at(store, found, seen, len(members), exporter)
    if looked.refused is not None:
        remarks.append(f"the export is refused: {looked.refused}")
    if shown is None and looked.first is not None:
        shown = _of_run(store, project, members, f"ext:{looked.first}")
    rows = [] if shown is None else _rows(store, found, members, shown, exporter, looked)
    renderer = exporter.renderer() if rows else None
    return Preview(
        run=found.id,
        of=len(members),
        looked_at=len(seen),
        totals=looked.counted,
        advantage_mean=looked.counted.advantage_mean,
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


def _rows(
    store: Store, run: Run, members: Sequence[Member], shown: tuple[Member, str], exporter: TokenExporter, of: Looked
) -> list[TokenRow]:
    """The rows of one trajectory as they would be written, which depend on the earlier branches of its trace."""
    member, name = shown
    at = [one.id for one in members].index(member.id)
    piece = members[_root(store, run, members, member) : at + 1]
    rows = [row for row in exporter.rows(credits_of_run(store, run, piece), Counted()) if row.trajectory_id == name]
    return [rewhitened(row, exporter.whiten, of.moments) for row in rows]


def _root(store: Store, run: Run, members: Sequence[Member], member: Member) -> int:
    """Where the trace of a branch begins; of any other trajectory its own place."""
    places = {one.id: at for at, one in enumerate(members)}
    at = places[member.id]
    while True:
        with store.read() as conn:
            [trajectory] = [graph.trajectory for graph in documents.graphs(conn, run.project, [members[at].id])]
            left = left_by(trajectory)
            known = {} if left is None else ids.known(conn, run.project, [f"ext:{left}"])
        before = next((places[one.id] for one in known.values() if one.id in places), at)
        if before >= at:
            return at
        at = before


def _row(row: TokenRow, start: int, renderer: Renderer | None) -> RowPreview:
    window = slice(start, start + MOST_TOKENS)
    owners = np.full(len(row.response_ids), -1)
    for owned in row.spans:
        owners[owned.start : owned.end] = owned.span
    ids = row.response_ids[window].tolist()
    first = max(0, len(row.prompt_ids) - MOST_PROMPT)
    return RowPreview(
        trajectory=row.trajectory_id,
        row=row.row,
        uid=row.uid,
        ids_source=row.ids_source,
        prompt_tokens=len(row.prompt_ids),
        prompt_ids=row.prompt_ids[first:].tolist(),
        prompt_texts=None if renderer is None else _texts(renderer, row.prompt_ids.tolist(), first),
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
