"""Credit rows as JSON lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Any, BinaryIO, ClassVar

import msgspec

from trajcredit.batching import Batch
from trajcredit.exporters.credit import Credit
from trajcredit.exporters.rows import SCHEMA, Exported, SpanColumns, span_columns
from trajcredit.model import KIND_CODES
from trajcredit.registry import exporters

__all__ = ["CreditRow", "Jsonl"]

ROWS_A_WRITE = 1 << 16
"""Rows encoded at a time: bounds memory, costs nothing."""

_KINDS = list(KIND_CODES)
_encoder = msgspec.json.Encoder()


class CreditRow(msgspec.Struct, frozen=True, gc=False, tag_field="schema", tag=SCHEMA):
    """One span and one attributor; the order of the fields is the order of the keys. msgspec writes NaN as null."""

    trajectory_id: str
    group_id: str
    project: str
    role: str | None
    agent: str | None
    span_index: int
    message_index: int | None
    tool_call_id: str | None
    kind: str
    turn: int
    name: str | None
    is_action: bool
    attributor: str
    run_id: str | None
    credit: float | None
    advantage: float | None
    reward: float | None
    outcome: float | None


@exporters.register("jsonl")
@dataclass(frozen=True, slots=True)
class Jsonl:
    """One JSON object a line, every key on every line, null where nothing was scored."""

    suffix: ClassVar = ".jsonl"

    def __call__(self, scored: Iterable[Credit], out: BinaryIO) -> Exported:
        written, batch = 0, None
        for credit in scored:
            if credit.batch is not batch:
                batch, columns = credit.batch, span_columns(credit.batch)
                before = _before_attributor(batch, columns)
                after = [columns.reward.tolist(), columns.outcome.tolist()]
            for start in range(0, batch.n_spans, ROWS_A_WRITE):
                piece = slice(start, start + ROWS_A_WRITE)
                out.write(_encoder.encode_lines(list(_rows(credit, before, after, piece))))
            written += batch.n_spans
        return Exported(written)


def _rows(credit: Credit, before: list[list[Any]], after: list[list[Any]], piece: slice) -> Iterator[CreditRow]:
    return map(
        CreditRow,
        *(column[piece] for column in before),
        repeat(credit.attributor),
        repeat(credit.run_id),
        credit.credit[piece].tolist(),
        credit.advantage[piece].tolist(),
        *(column[piece] for column in after),
    )


def _before_attributor(batch: Batch, columns: SpanColumns) -> list[list[Any]]:
    """The columns from trajectory_id to is_action, as lists."""
    owner = columns.owner.tolist()
    groups = [batch.group_ids[g] for g in batch.group.tolist()]
    return [
        [batch.trajectory_ids[t] for t in owner],
        [groups[t] for t in owner],
        [columns.projects[t] for t in owner],
        [columns.roles[t] for t in owner],
        columns.agents,
        columns.span_index.tolist(),
        columns.message_indices,
        columns.call_ids,
        [_KINDS[code] for code in columns.kind.tolist()],
        columns.turn.tolist(),
        [batch.tool_names[code] if code >= 0 else None for code in columns.tool.tolist()],
        columns.is_action.tolist(),
    ]
