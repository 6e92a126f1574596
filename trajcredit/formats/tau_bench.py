"""tau-bench result files: one row a task and trial.

| note | says |
| --- | --- |
| `failure-label` | what a person found wrong at this message, from a file of labels beside the log |
| `run-error` | the run ended in an exception of the harness: its reward is no verdict on the agent |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from trajcredit.errors import ParseError
from trajcredit.formats.chat import Message, logged_id, outcome_of, transcript_of
from trajcredit.formats.document import Document, Match, trajectories
from trajcredit.formats.failure_labels import with_failures
from trajcredit.formats.split import Record
from trajcredit.model import Note, Trajectory
from trajcredit.registry import formats

__all__ = ["TauBench"]

FORMAT = "tau_bench"


class Info(msgspec.Struct, gc=False):
    """Of the harness's own notes only whether it crashed: the reference actions in them must not reach the graph."""

    error: Any = None
    traceback: Any = None


class Row(msgspec.Struct, gc=False):
    """One task, attempted once."""

    task_id: str | int
    traj: list[Message]
    reward: float | bool | None = None
    trial: str | int | None = None
    info: Info | str | list[Any] | None = None


decode_row = msgspec.json.Decoder(Row).decode


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class TauBench:
    """tau-bench results: OpenAI messages under `traj`, grouped by task, one trial a row.

    Left out: the reference actions and the costs of the simulated user. The log holds no times.
    """

    def sniff(self, document: Document) -> Match:
        """Its rows have these three keys."""
        return Match.YES if {"task_id", "reward", "traj"} <= document.keys else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory a row."""
        return trajectories(document, decode_row, _trajectory)


def _trajectory(document: Document, record: Record, row: Row, notes: list[Note]) -> Trajectory:
    transcript = transcript_of(row.traj)
    dataset, task, trial = document.dataset_of(record), str(row.task_id), logged_id(row.trial)
    found = Trajectory(
        id=":".join(part for part in (dataset or document.name, task, trial) if part is not None),
        dataset=dataset,
        task=task,
        trial=trial,
        rewards=outcome_of(row.reward),
        spans=transcript.spans,
        report=[*notes, *transcript.notes, *_crash(row.info)],
        source=document.origin_of(FORMAT, record),
    )
    return with_failures(document, found) if len(document.records) == 1 else found


def _crash(info: Any) -> list[Note]:
    error = (info.error or info.traceback) if isinstance(info, Info) else None
    return [Note("run-error", f"the harness reports: {str(error).strip()[:500]}")] if error else []
