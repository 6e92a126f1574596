"""What can be said of a choice and its result without knowing the task: the events of a rollout, from columns alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trajcredit.arrays import BOOL, F64, I64, U64
from trajcredit.batching import Batch, decisions, turns_of
from trajcredit.graph import EDGE_KINDS
from trajcredit.kernels import centre, members
from trajcredit.model import KIND_CODES

__all__ = ["Events", "better", "events_of", "numbered"]

CLAIMED = 0.25
"""Edges below this weight are candidates."""
RESTS_ON = tuple(EDGE_KINDS.index(kind) for kind in ("value", "state", "explicit", "override"))
CALL = KIND_CODES["tool_call"]
MESSAGE, LAST_MESSAGE = -1, -2
"""Stand for a tool where there is none: a message, and one that nothing follows."""


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """D decisions (`batching.decisions`), trajectory by trajectory.

    span     i64[D]   position in the batch; owner i64[D] its trajectory, turn i64[D] its policy invocation
    act      i64[D]   index of the tool called; MESSAGE or LAST_MESSAGE
    last     i64[D]   the last call before the turn and whether it failed, numbered; the start too
    origin   i64[D]   which tools' results, and texts of which kind, its values come from, numbered: the graph's claims
    repeat   bool[D]  the same call was made before in this trajectory
    failed   bool[D]  its result is an error
    told     i64[D]   whether results of its turn told anything new: 1 yes, 0 no, -1 no turn follows
    """

    span: I64
    owner: I64
    turn: I64
    act: I64
    last: I64
    origin: I64
    repeat: BOOL
    failed: BOOL
    told: I64


def events_of(batch: Batch) -> Events:
    """The events of a batch; no text is read, no outcome and no reward."""
    span = np.flatnonzero(decisions(batch))
    owner = np.searchsorted(batch.span_offsets, span, side="right") - 1
    turn = turns_of(batch)[span]
    is_call = batch.kind[span] == CALL
    ends = np.append(owner[1:] != owner[:-1], True)[: len(span)]
    act = np.where(is_call, batch.tool[span], np.where(ends, LAST_MESSAGE, MESSAGE))
    failed = batch.is_error[span] & is_call
    opens = np.append(True, turn[1:] != turn[:-1])[: len(span)]
    first = np.flatnonzero(opens)[np.cumsum(opens) - 1] if len(span) else span
    before = np.maximum(first - 1, 0)
    starts = (first == 0) | (owner[before] != owner) if len(span) else opens
    last = numbered(np.where(starts, -3, act[before]), np.where(starts, 0, failed[before]))
    return Events(
        span=span,
        owner=owner,
        turn=turn,
        act=act,
        last=last,
        origin=_origin(batch, span),
        repeat=_repeat(batch, span, owner) & is_call,
        failed=failed,
        told=_told(batch, span, owner, turn),
    )


def numbered(*columns: I64 | BOOL) -> I64:
    """Rows that are equal in all columns get equal numbers, from 0."""
    found: I64 = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        code = np.unique(column, return_inverse=True)[1].astype(np.int64)
        found = np.unique(found * (int(code.max(initial=0)) + 1) + code, return_inverse=True)[1].astype(np.int64)
    return found


def better(batch: Batch) -> F64:
    """How well each rollout did beside those of its task f64[T]: 1 above their mean, 0 below, 0.5 at it; NaN where it
    is unscored or all did alike: that says nothing. Of outcomes 0 and 1 it is the outcome itself."""
    against = centre(batch.outcome, batch.group)
    differs = np.bincount(batch.group, np.nan_to_num(np.abs(against)), len(batch.group_ids))[batch.group] > 0
    known = ~np.isnan(against) & differs & (members(batch.outcome, batch.group) > 1)
    return np.where(known, 0.5 + 0.5 * np.sign(np.where(known, against, 0.0)), np.nan)


def _origin(batch: Batch, span: I64) -> I64:
    """A number for each set of sources: tools of results and calls, kinds of other spans."""
    child = np.repeat(np.arange(batch.n_spans), np.diff(batch.parent_offsets))
    claimed = (batch.parent_weight >= CLAIMED) & np.isin(batch.parent_kind, RESTS_ON)
    child, parent = child[claimed], batch.parents[claimed]
    tool = batch.tool[parent]
    source = np.where(tool >= 0, tool + len(KIND_CODES), batch.kind[parent].astype(np.int64))
    pairs = np.unique(np.stack([child, source], axis=1), axis=0)
    mark = np.zeros(batch.n_spans, dtype=np.uint64)
    np.add.at(mark, pairs[:, 0], _mixed(pairs[:, 1].astype(np.uint64)))
    found: I64 = np.unique(mark[span], return_inverse=True)[1].astype(np.int64)
    return found


def _mixed(number: U64) -> U64:
    """The finish of splitmix64 (Steele et al. 2014): sums of such hashes tell sets apart."""
    with np.errstate(over="ignore"):
        z = (number + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed: U64 = z ^ (z >> np.uint64(31))
    return mixed


def _repeat(batch: Batch, span: I64, owner: I64) -> BOOL:
    key = np.unique(batch.call_key[span], return_inverse=True)[1]
    same = owner * (int(key.max(initial=0)) + 1) + key
    repeat = np.ones(len(span), dtype=bool)
    repeat[np.unique(same, return_index=True)[1]] = False
    return repeat


def _told(batch: Batch, span: I64, owner: I64, turn: I64) -> I64:
    """Whether the state before the next turn is another one than before this."""
    told = np.full(len(span), -1, dtype=np.int64)
    opens = np.flatnonzero(np.append(True, turn[1:] != turn[:-1])[: len(span)])
    which = np.cumsum(np.append(True, turn[1:] != turn[:-1])[: len(span)]) - 1
    following = np.append(opens[1:], len(span))[which] if len(span) else span
    inside = following < len(span)
    inside[inside] = owner[following[inside]] == owner[inside]
    told[inside] = batch.state_key[span[inside]] != batch.state_key[span[following[inside]]]
    return told
