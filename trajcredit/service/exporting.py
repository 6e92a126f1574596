"""The credit of a stored run, as `score` gives it to the same log, bit for bit: read and written piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from trajcredit.arrays import I64
from trajcredit.batching import Batch, assemble
from trajcredit.errors import InputError, NotFoundError
from trajcredit.exporters import Credit, Exported, Exporter
from trajcredit.service.files import written_whole
from trajcredit.service.plugins import exported
from trajcredit.store import Store, documents, run_inputs, runs
from trajcredit.store.run_inputs import Member
from trajcredit.store.runs import Run

__all__ = ["credits_of_run", "export", "export_file", "finished"]

PIECE_SPANS = 20_000
PIECE_TRAJECTORIES = 500
"""What of a run is in memory at a time. The database is let go before a piece is written: readers may be slow."""


def export(store: Store, project: str, run: str, exporter: Exporter, out: BinaryIO) -> Exported:
    """Write the credit of a finished run in the order of the log: its rows, or what a trainer wants of them.

    `run` is an id, or the attributor or label whose newest finished run is meant. Rows hold the rewards that the run
    saw. Whoever wrote part of them when an error comes has half an export.
    """
    return exported(exporter, credits_of_run(store, *finished(store, project, run)), out)


def export_file(store: Store, project: str, run: str, exporter: Exporter, out: Path) -> Exported:
    """The same to a file, which appears whole or not at all."""
    if not store.is_postgres and str(out.resolve()).startswith(str(Path(store.name).resolve())):
        raise InputError(f"cannot write {out}: it is the database")
    with written_whole(out) as file:
        return export(store, project, run, exporter, file)


def finished(store: Store, project: str, run: str) -> tuple[Run, Sequence[Member]]:
    """The run of that id, attributor or label, with its trajectories; InputError where it has no rows to export."""
    with store.read() as conn:
        found = runs.find(conn, project, run)
        if found.state != "done":
            why = "its rows are there once it is done" if found.state in ("queued", "running") else "it has no rows"
            raise InputError(f"run {run!r} is {found.state}: {why}")
        return found, run_inputs.members(conn, found)


def credits_of_run(store: Store, run: Run, members: Sequence[Member]) -> Iterator[Credit]:
    """What a run said of some of its trajectories, a piece of them at a time, with their transcripts."""
    for piece in _pieces(members):
        ids = [member.id for member in piece]
        try:
            with store.read() as conn:
                loaded = run_inputs.seen(conn, run, ids)
                graphs = documents.graphs(conn, run.project, ids, run_inputs.edits_seen(run))
                numbers = run_inputs.credits_among(conn, run, ids)
        except NotFoundError as error:
            raise InputError("a trajectory was deleted or replaced during the export: export again") from error
        batch = assemble(loaded.heads, loaded.columns, loaded.rewards, run.reward_used, graphs=graphs)
        yield Credit(
            batch=_grouped(batch, [member.group_name for member in piece]),
            attributor=run.asked.attributor,
            parameters=run.asked.parameters,
            credit=np.concatenate([numbers[one].credit for one in ids]),
            advantage=np.concatenate([numbers[one].advantage for one in ids]),
            run_id=run.id,
        )


def _pieces(members: Sequence[Member]) -> Iterator[list[Member]]:
    """Consecutive members of so many spans together, at least one."""
    piece: list[Member] = []
    spans = 0
    for member in members:
        if piece and (spans + member.n_spans > PIECE_SPANS or len(piece) == PIECE_TRAJECTORIES):
            yield piece
            piece, spans = [], 0
        piece.append(member)
        spans += member.n_spans
    if piece:
        yield piece


def _grouped(batch: Batch, names: Sequence[str]) -> Batch:
    """The batch with the groups that the run had: a piece alone might name them otherwise."""
    numbers: dict[str, int] = {}
    group: I64 = np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)
    return replace(batch, group=group, group_ids=tuple(numbers))
