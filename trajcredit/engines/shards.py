"""A batch cut into shards of whole groups, and what is said of them put together again."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from trajcredit.arrays import I64
from trajcredit.batching import Batch

__all__ = ["Shard", "cut"]

OF_TRAJECTORIES = frozenset({"outcome", "terminated", "truncated", "policy_version", "bootstrap", "score_start"})
APART = frozenset({"span_offsets", "parent_offsets", "parents", "parent_weight", "parent_kind", "group", "pool"})
"""Columns that are numbered anew."""


@dataclass(frozen=True, slots=True, eq=False)
class Shard:
    """Some groups of a batch, whole, as a batch of their own, its trajectories in the order they had.

    spans    i64[n]  positions in the whole batch of the shard's spans
    batch            without graphs: what reads texts is not cut
    """

    spans: I64
    batch: Batch


def cut(batch: Batch, n_shards: int) -> list[Shard]:
    """At most `n_shards` shards of about as many spans each; groups are never split, so that there may be fewer."""
    sizes = np.bincount(batch.group, np.diff(batch.span_offsets), minlength=len(batch.group_ids))
    before = np.cumsum(sizes) - sizes
    total = max(float(sizes.sum()), 1.0)
    shard_of_group = np.minimum((before * n_shards / total).astype(np.int64), n_shards - 1)
    shard_of = shard_of_group[batch.group]
    return [_taken(batch, np.flatnonzero(shard_of == n)) for n in np.unique(shard_of)]


def _taken(batch: Batch, some: I64) -> Shard:
    """The trajectories `some` (positions, ascending) as a batch of their own; tools and policies keep their numbers."""
    spans, span_offsets = _ranges(batch.span_offsets[some], batch.span_offsets[some + 1])
    edges, parent_offsets = _ranges(batch.parent_offsets[spans], batch.parent_offsets[spans + 1])
    n_edges = np.diff(parent_offsets)
    moved = np.repeat(span_offsets[:-1] - batch.span_offsets[some], np.diff(span_offsets))
    groups, group = np.unique(batch.group[some], return_inverse=True)
    new: dict[str, Any] = {
        "trajectory_ids": tuple(batch.trajectory_ids[t] for t in some.tolist()),
        "group_ids": tuple(batch.group_ids[g] for g in groups.tolist()),
        "span_offsets": span_offsets,
        "parent_offsets": parent_offsets,
        "parents": batch.parents[edges] + np.repeat(moved, n_edges),
        "parent_weight": batch.parent_weight[edges],
        "parent_kind": batch.parent_kind[edges],
        "group": group.astype(np.int64),
        "pool": np.unique(batch.pool[some], return_inverse=True)[1].astype(np.int64),
        "graphs": None,
        "notes": (),
        "findings": (),
    }
    for field in fields(batch):
        column = getattr(batch, field.name)
        if isinstance(column, np.ndarray) and field.name not in APART:
            new[field.name] = column[some if field.name in OF_TRAJECTORIES else spans]
    return Shard(spans, replace(batch, **new))


def _ranges(starts: I64, stops: I64) -> tuple[I64, I64]:
    """The positions start..stop-1 of every range, end to end, and the offsets of the ranges in them."""
    lengths = stops - starts
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])
    positions: I64 = np.arange(int(offsets[-1])) + np.repeat(starts - offsets[:-1], lengths)
    return positions, offsets
