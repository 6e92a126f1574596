"""The credit row (`trajcredit.credit/1`): its columns, and what of them the batch alone decides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO, ClassVar, Protocol

import numpy as np

from trajcredit.arrays import BOOL, F64, I64, U8
from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.exporters.credit import Credit
from trajcredit.tokens import Counted

__all__ = ["COLUMNS", "SCHEMA", "Exported", "Exporter", "SpanColumns", "span_columns"]

SCHEMA = "trajcredit.credit/1"
COLUMNS = (
    "schema",
    "trajectory_id",
    "group_id",
    "project",
    "role",
    "agent",
    "span_index",
    "message_index",
    "tool_call_id",
    "kind",
    "turn",
    "name",
    "is_action",
    "attributor",
    "run_id",
    "credit",
    "advantage",
    "reward",
    "outcome",
)
"""Keys of a JSON row and columns of a table, in this order."""


@dataclass(frozen=True, slots=True, eq=False)
class Exported:
    """What an exporter wrote."""

    rows: int
    counted: Counted | None = None
    """Of a file of tokens: what it holds, how it was aligned, what was left out; None of a file of spans."""


class Exporter(Protocol):
    """A frozen dataclass registered under a name: credits in, bytes of one file out."""

    suffix: ClassVar[str]
    """The ending of its files, dot included."""

    def __call__(self, scored: Iterable[Credit], out: BinaryIO) -> Exported:
        """Write every credit in turn."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class SpanColumns:
    """What a row says about its span whichever attributor scored it; made once a batch.

    owner       i64[N]  the trajectory of every span
    span_index  i64[N]  0-based among all spans of the trajectory
    kind        u8[N]   model.KIND_CODES
    tool        i64[N]  index into the batch's tool_names, the `name` of calls and results; -1 elsewhere
    reward      f64[N]  r_k of action spans; NaN on observations and where the trajectory is not scored
    projects, roles                    T values, None where the log has none
    agents, call_ids, message_indices  N values, None where the log has none
    """

    owner: I64
    span_index: I64
    kind: U8
    tool: I64
    turn: I64
    is_action: BOOL
    reward: F64
    outcome: F64
    projects: list[str]
    roles: list[str | None]
    agents: list[str | None]
    call_ids: list[str | None]
    message_indices: list[int | None]


def span_columns(batch: Batch) -> SpanColumns:
    """The columns that every attributor's rows share."""
    if batch.graphs is None:
        raise InputError("this batch was loaded without its transcripts, and rows name calls and messages from them")
    trajectories = [graph.trajectory for graph in batch.graphs]
    owner = np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))
    return SpanColumns(
        owner=owner,
        span_index=np.arange(batch.n_spans) - batch.span_offsets[owner],
        kind=batch.kind,
        tool=batch.tool,
        turn=batch.turn,
        is_action=batch.action_mask,
        reward=np.where(batch.action_mask, batch.rewards, np.nan),
        outcome=batch.outcome[owner],
        projects=[t.project for t in trajectories],
        roles=[t.role for t in trajectories],
        agents=[s.agent for t in trajectories for s in t.spans],
        call_ids=[s.call_id for t in trajectories for s in t.spans],
        message_indices=[s.message_index for t in trajectories for s in t.spans],
    )
