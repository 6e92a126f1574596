"""Decisions: the choices a critic forecasts; every call, and of a turn without calls its last words."""

from __future__ import annotations

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.batching.batch import Batch
from trajcredit.model import KIND_CODES

__all__ = ["decisions", "spread", "turns_of"]

CALL, SAYS = KIND_CODES["tool_call"], KIND_CODES["assistant"]


def turns_of(batch: Batch) -> I64:
    """A number i64[N] for every policy invocation of the batch, ascending; -1 on observations."""
    owner = np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))
    actions = np.flatnonzero(batch.action_mask)
    turn = np.full(batch.n_spans, -1, dtype=np.int64)
    if len(actions):
        new = (np.diff(owner[actions]) != 0) | (np.diff(batch.turn[actions]) != 0)
        turn[actions] = np.concatenate(([0], np.cumsum(new)))
    return turn


def decisions(batch: Batch) -> BOOL:
    """bool[N]: the spans that stand for a choice, each choice once.

    Of a turn with calls these are its calls: its reasoning and text led to all of them. Of a turn without calls it is
    the last assistant text, or the last action where there is only reasoning.
    """
    turn = turns_of(batch)
    calls: BOOL = batch.action_mask & (batch.kind == CALL)
    has_call = np.zeros(int(turn.max(initial=-1)) + 1, dtype=bool)
    has_call[turn[calls]] = True
    chosen = calls.copy()
    last = np.full(len(has_call), -1, dtype=np.int64)
    for among in (batch.action_mask, batch.action_mask & (batch.kind == SAYS)):
        spans = np.flatnonzero(among)
        last[turn[spans]] = spans  # the last one written stays
    chosen[last[~has_call]] = True
    return chosen


def spread(batch: Batch, column: F64, chosen: BOOL) -> F64:
    """A number of every decision f64[N] -> one of every action: words beside decisions carry the sum of their turn."""
    turn = turns_of(batch)
    total = np.bincount(turn[chosen], column[chosen], int(turn.max(initial=-1)) + 1).astype(np.float64)
    out = np.full(batch.n_spans, np.nan)
    words = batch.action_mask & ~chosen
    out[words] = total[turn[words]]
    out[chosen] = column[chosen]
    return out
