"""What trajectories bring to a batch, their rewards and groups apart: what the store keeps packed, one row each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from trajcredit.arrays import BOOL, F64, I64, U8, U64, offsets_of
from trajcredit.batching.keys import call_keys, state_keys
from trajcredit.graph import SpanGraph
from trajcredit.model import KIND_CODES, Span

__all__ = ["Columns", "columns_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """T trajectories of N spans and M edges, end to end. Unknown: NaN, or -1.

    span_offsets    i64[T+1]
    kind            u8[N]
    turn            i64[N]
    result_of       i64[N]    position in the batch of the call a result answers; -1
    tool            i64[N]    index into tool_names; -1
    is_write, is_error bool[N]
    n_tokens        i64[N]
    values          f64[N]
    call_key, state_key u64[N]
    parent_offsets  i64[N+1]; parents i64[M] positions in the batch; parent_weight f64[M]; parent_kind u8[M]
    tool_names      names that `tool` counts through
    tool_sets       T sets of names: the tools declared, else those used
    declared        bool[T]   whether tool_sets[t] was declared
    """

    span_offsets: I64
    kind: U8
    turn: I64
    result_of: I64
    tool: I64
    is_write: BOOL
    is_error: BOOL
    n_tokens: I64
    values: F64
    call_key: U64
    state_key: U64
    parent_offsets: I64
    parents: I64
    parent_weight: F64
    parent_kind: U8
    tool_names: tuple[str, ...]
    tool_sets: tuple[frozenset[str], ...]
    declared: BOOL


def columns_of(graphs: Sequence[SpanGraph]) -> Columns:
    """The columns of many graphs, in order."""
    trajectories = [graph.trajectory for graph in graphs]
    spans = list(chain.from_iterable(t.spans for t in trajectories))
    offsets = offsets_of(len(t.spans) for t in trajectories)
    keys = [call_keys(t) for t in trajectories]
    texts: dict[str, int] = {}
    states = [state_keys(g.trajectory, k, g.is_write, texts) for g, k in zip(graphs, keys, strict=True)]
    tools: dict[str, int] = {}
    tool = [tools.setdefault(s.name, len(tools)) if s.name is not None and _has_tool(s) else -1 for s in spans]
    result_of = np.array([-1 if s.result_of is None else s.result_of for s in spans], dtype=np.int64)
    first = np.repeat(offsets[:-1], np.diff(offsets))
    return Columns(
        span_offsets=offsets,
        kind=np.array([KIND_CODES[s.kind] for s in spans], dtype=np.uint8),
        turn=np.array([s.turn for s in spans], dtype=np.int64),
        result_of=np.where(result_of < 0, -1, result_of + first),
        tool=np.array(tool, dtype=np.int64),
        is_write=_joined([g.is_write for g in graphs], np.bool_),
        is_error=_joined([g.is_error for g in graphs], np.bool_),
        n_tokens=np.array([_n_tokens(s) for s in spans], dtype=np.int64),
        values=np.array([np.nan if s.value is None else s.value for s in spans], dtype=np.float64),
        call_key=np.fromiter(chain.from_iterable(keys), np.uint64, len(spans)),
        state_key=np.fromiter(chain.from_iterable(states), np.uint64, len(spans)),
        parent_offsets=offsets_of(_joined([np.diff(g.parent_offsets) for g in graphs], np.int64)),
        parents=_joined([g.parents + at for g, at in zip(graphs, offsets.tolist(), strict=False)], np.int64),
        parent_weight=_joined([g.weight for g in graphs], np.float64),
        parent_kind=_joined([g.kind for g in graphs], np.uint8),
        tool_names=tuple(tools),
        tool_sets=tuple(
            frozenset(tool.name for tool in t.tools)
            or frozenset(s.name for s in t.spans if s.kind == "tool_call" and s.name is not None)
            for t in trajectories
        ),
        declared=np.array([bool(t.tools) for t in trajectories], dtype=bool),
    )


def _n_tokens(span: Span) -> int:
    tokens = span.tokens
    if tokens is None:
        return -1
    return tokens.n if tokens.n is not None else len(tokens.ids) if tokens.ids is not None else -1


def _has_tool(span: Span) -> bool:
    return span.kind in ("tool_call", "tool_result")


def _joined(pieces: Sequence[npt.NDArray[Any]], dtype: type) -> npt.NDArray[Any]:
    return np.concatenate(pieces) if pieces else np.zeros(0, dtype=dtype)
