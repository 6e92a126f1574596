"""Trajectories of a batch that share a model: which they are, and what a critic reads of them."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from trajcredit.arrays import BOOL, F64, I64, U64
from trajcredit.batching import Batch
from trajcredit.critics.story import Story, story_of
from trajcredit.errors import InputError
from trajcredit.model import Note

__all__ = ["LEAST_GROUPS", "Members", "has_texts", "learning_pools", "members_of"]

LEAST_GROUPS = 8
"""Groups with siblings that a pool needs: fewer tasks say nothing about another one."""


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """T trajectories of one batch, in its order.

    at       i64[T]  which of the batch they are
    groups   i64[T]  task of each, numbers 0 to G - 1; names, one a task
    outcome  f64[T]  NaN where there is none
    ids      their names
    """

    at: I64
    stories: list[Story]
    groups: I64
    names: list[str]
    outcome: F64
    ids: list[str]

    def marks(self) -> U64:
        """A number u64[T] of each trajectory: equal where its name and all its texts are, whatever its group."""
        return np.array([_mark(*one) for one in zip(self.ids, self.stories, strict=True)], dtype=np.uint64)


def members_of(batch: Batch, chosen: BOOL, at: I64) -> Members:
    """These trajectories of a batch with graphs; `chosen` bool[N] marks decisions."""
    assert batch.graphs is not None
    ends = batch.span_offsets
    stories = [story_of(batch.graphs[t], chosen[ends[t] : ends[t + 1]]) for t in at.tolist()]
    known, groups = np.unique(batch.group[at], return_inverse=True)
    names = [batch.group_ids[g] for g in known.tolist()]
    ids = [batch.trajectory_ids[t] for t in at.tolist()]
    return Members(at, stories, groups.astype(np.int64), names, batch.outcome[at], ids)


def _mark(name: str, story: Story) -> int:
    said = [choice.text for choice in story.choices]
    called = [f"{choice.tool} {choice.arguments_key}" for choice in story.choices]
    texts = (name, *story.requests, *story.results, *said, *called)
    digest = blake2b("".join(f"{len(text)}:{text}" for text in texts).encode(errors="surrogatepass"), digest_size=8)
    return int.from_bytes(digest.digest(), "little")


def has_texts(batch: Batch, kind: str) -> None:
    """InputError where the batch has no graphs."""
    if batch.graphs is None:
        raise InputError(
            f"critic {kind!r} reads texts, and this batch was loaded from packed rows without them: "
            "score the logs themselves (`trajcredit score`)"
        )


def learning_pools(batch: Batch) -> tuple[I64, list[Note]]:
    """Pool i64[T] of every trajectory; -1 where there is too little to learn from."""
    scored = ~np.isnan(batch.outcome)
    n_groups = len(batch.group_ids)
    siblings = np.bincount(batch.group[scored], minlength=n_groups) > 1
    pool = batch.pool.copy()
    teaching = siblings[batch.group]
    pairs = np.unique(pool[teaching] * max(n_groups, 1) + batch.group[teaching])
    small = np.bincount(pairs // max(n_groups, 1), minlength=int(pool.max(initial=-1)) + 1)[pool] < LEAST_GROUPS
    notes: list[Note] = []
    if not small.any():
        return pool, notes
    together = len(np.unique(batch.group[small & teaching]))
    if together < LEAST_GROUPS:
        pool[small] = -1
        notes.append(
            Note(
                "critic-too-small",
                f"{int(small.sum())} trajectories are of pools with fewer than {LEAST_GROUPS} groups that have scored "
                "siblings: nothing can be learnt for them, their forecast is 0",
            )
        )
    else:
        pool[small] = int(pool.max()) + 1
        notes.append(
            Note(
                "critic-pools-merged",
                f"pools with fewer than {LEAST_GROUPS} groups that have scored siblings share one model "
                f"({int(small.sum())} trajectories)",
            )
        )
    return pool, notes
