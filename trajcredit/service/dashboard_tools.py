"""Credit by tool: what a run says of the calls of each, over the newest trajectories of a filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.model import KIND_CODES
from trajcredit.service.dashboard_figures import settled
from trajcredit.service.dashboard_runs import MOST_READ, NO_RUN, RunRef, chosen
from trajcredit.store import Store
from trajcredit.store.border import finite
from trajcredit.store.filters import Filters
from trajcredit.store.slices import Slice, newest, slices

__all__ = ["LEAST", "Calls", "ToolRow", "ToolsPanel", "by_tool", "tool_rows"]

LEAST = 20
"""Scored calls from which a tool is ranked."""
MOST_TOOLS = 100
PERCENTILES = (5, 95)
NO_CALLS = "tool calls: no trajectory that matches has one"
_CALL = KIND_CODES["tool_call"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRow:
    """The calls of one tool. Null where none of them is scored."""

    tool: str
    calls: int
    scored: int
    errors: int
    trajectories: int
    mean: float | None
    sd: float | None
    """Divided by n - 1; null of a single one."""
    low: float | None
    """5th percentile."""
    high: float | None
    """95th percentile."""
    negative: float | None
    """Share of all negative credit, on messages and reasoning too, that these calls carry; null where there is none."""
    ranked: bool
    """Whether there are enough scored calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsPanel:
    """Ranked tools by mean credit, the lowest first; then the others by their calls."""

    run: RunRef | None
    read: int
    matching: int
    unread: int
    """Of those read here, trajectories that the run did not read: their calls count, without credit."""
    least: int
    tools: int
    elsewhere: float | None
    """Share of all negative credit that no call carries: messages and reasoning."""
    items: tuple[ToolRow, ...]
    """At most MOST_TOOLS."""
    needs: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Calls:
    """C calls of some trajectories. `negative`: the sum of all credit below zero, on whatever action span."""

    tool: tuple[str, ...]
    trajectory: I64
    credit: F64
    """NaN where not scored."""
    failed: BOOL
    negative: float


def by_tool(store: Store, project: str, filters: Filters, run: Sequence[str] = ()) -> ToolsPanel:
    """Of the first of the runs named, else of the newest."""
    of = chosen(store, project, run).runs[:1]
    with store.read() as conn:
        found = newest(conn, project, filters, MOST_READ)
        some = [(_calls(one), one.read) for one in slices(conn, found, [one.id for one in of])]
    calls = _joined([one for one, _ in some])
    rows = tool_rows(calls)
    carried = sum(row.negative or 0.0 for row in rows)
    return ToolsPanel(
        run=of[0] if of else None,
        read=len(found.members),
        matching=found.matching,
        unread=sum(int((~read[0]).sum()) for _, read in some) if of else 0,
        least=LEAST,
        tools=len(rows),
        elsewhere=max(0.0, 1.0 - carried) if calls.negative < 0 else None,
        items=tuple(rows[:MOST_TOOLS]),
        needs=NO_RUN if not of else None if rows else NO_CALLS,
    )


def tool_rows(calls: Calls) -> list[ToolRow]:
    """One a tool, as the panel sorts them."""
    number: dict[str, int] = {}
    code = np.array([number.setdefault(name, len(number)) for name in calls.tool], dtype=np.int64)
    rows = [_row(name, calls, np.flatnonzero(code == n)) for name, n in number.items()]
    return sorted(rows, key=lambda row: (not row.ranked, row.mean if row.ranked else -row.calls, row.tool))


def _row(tool: str, calls: Calls, own: I64) -> ToolRow:
    credit = calls.credit[own]
    credit = np.sort(credit[~np.isnan(credit)])
    some = len(credit) > 0
    low, high = np.percentile(credit, PERCENTILES).tolist() if some else (None, None)
    return ToolRow(
        tool=tool,
        calls=len(own),
        scored=len(credit),
        errors=int(calls.failed[own].sum()),
        trajectories=len(np.unique(calls.trajectory[own])),
        mean=finite(settled(float(credit.mean()), float(np.abs(credit).mean()))) if some else None,
        sd=finite(float(credit.std(ddof=1))) if len(credit) > 1 else None,
        low=low,
        high=high,
        negative=float(credit[credit < 0].sum()) / calls.negative if some and calls.negative < 0 else None,
        ranked=len(credit) >= LEAST,
    )


def _calls(some: Slice) -> Calls:
    columns = some.columns
    at = np.flatnonzero((columns.kind == _CALL) & (columns.tool >= 0))
    credit = some.credit[0] if len(some.credit) else np.full(len(columns.kind), np.nan)
    return Calls(
        tool=tuple(columns.tool_names[code] for code in columns.tool[at].tolist()),
        trajectory=np.array([member.key for member in some.members], dtype=np.int64)[some.owner[at]],
        credit=credit[at],
        failed=columns.is_error[at],
        negative=float(credit[credit < 0].sum()),
    )


def _joined(pieces: Sequence[Calls]) -> Calls:
    return Calls(
        tool=tuple(name for piece in pieces for name in piece.tool),
        trajectory=np.concatenate([np.zeros(0, dtype=np.int64), *(piece.trajectory for piece in pieces)]),
        credit=np.concatenate([np.zeros(0), *(piece.credit for piece in pieces)]),
        failed=np.concatenate([np.zeros(0, dtype=bool), *(piece.failed for piece in pieces)]),
        negative=sum((piece.negative for piece in pieces), 0.0),
    )
