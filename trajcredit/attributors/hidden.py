"""What siblings got for the same choice, asked of an attributor that does not see the outcome in question."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.attributors.base import Attributor
from trajcredit.batching import Batch
from trajcredit.model import KIND_CODES

__all__ = ["MOST_PASSES", "same_calls", "told_by_siblings"]

MOST_PASSES = 16
"""Times an attributor is asked: in larger groups several rollouts are hidden at once."""


def told_by_siblings(batch: Batch, attributor: Attributor, chosen: BOOL) -> F64:
    """Mean credit f64[N] of the same call in scored siblings, with one more counted as 0; 0 on all but chosen calls.

    The attributor is asked once for each rollout of a group, whose reward it does not see (of very large groups once
    for several), so the number of a call says nothing of how its own rollout ended. Rollouts without a reward are told
    of as well. `attributor` has to score groups apart.
    """
    owner = np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))
    calls = np.flatnonzero(chosen & (batch.kind == KIND_CODES["tool_call"]))
    same = same_calls(batch, calls, owner)
    width = int(same.max(initial=-1)) + 1
    told = np.zeros(batch.n_spans)
    for hidden in _passes(batch):
        seen = replace(
            batch,
            outcome=np.where(hidden, np.nan, batch.outcome),
            rewards=np.where(hidden[owner], np.nan, batch.rewards),
        )
        credit = attributor(seen).credit[calls]
        known = ~np.isnan(credit)
        total = np.bincount(same[known], credit[known], width)
        count = np.bincount(same[known], minlength=width)
        asked = hidden[owner[calls]]
        told[calls[asked]] = (total / (count + 1))[same[asked]]
    return told


def same_calls(batch: Batch, calls: I64, owner: I64) -> I64:
    """A number i64[C] for every call: the same for the same tool and arguments in one group."""
    key = np.unique(batch.call_key[calls], return_inverse=True)[1].astype(np.int64)
    group = batch.group[owner[calls]]
    numbers: I64 = np.unique(group * (int(key.max(initial=0)) + 1) + key, return_inverse=True)[1].astype(np.int64)
    return numbers


def _passes(batch: Batch) -> Iterator[BOOL]:
    """Which trajectories are hidden, bool[T]: each once, one of a group at a time; told apart by their names, so that
    the order they come in changes nothing."""
    names = np.array(batch.trajectory_ids, dtype=object)
    order = np.array(sorted(range(batch.n_trajectories), key=lambda t: (batch.group[t], names[t])), dtype=np.int64)
    group = batch.group[order]
    place = np.empty(batch.n_trajectories, dtype=np.int64)
    place[order] = np.arange(batch.n_trajectories) - np.searchsorted(group, group)
    for n in range(min(int(place.max(initial=-1)) + 1, MOST_PASSES)):
        yield place % MOST_PASSES == n
