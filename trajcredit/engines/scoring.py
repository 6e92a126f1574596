"""An attributor over a batch on an engine: by shards of whole groups where it looks at groups alone, else whole.

The bits are those of one call over the whole batch. A shard that cannot be scored is no error yet: the whole is then
scored here, and says what is wrong, or that nothing is, in its own words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from trajcredit import registry
from trajcredit.attributors import Attribution, Attributor
from trajcredit.batching import Batch
from trajcredit.engines.base import Engine
from trajcredit.engines.shards import Shard, cut
from trajcredit.model import Note

__all__ = ["Work", "attribution", "score_shard", "why_whole"]

SHARDS_A_WORKER = 4
"""Shards differ in work though not in spans: whoever is done early takes another."""


@dataclass(frozen=True, slots=True)
class Work:
    """What one task needs: the attributor and whole groups."""

    attributor: Attributor
    batch: Batch


def score_shard(work: Work) -> Attribution | None:
    """What the attributor says of whole groups; None where it fails, or where that is no attribution of them."""
    for field in fields(work.batch):
        column = getattr(work.batch, field.name)
        if isinstance(column, np.ndarray):
            column.setflags(write=False)  # pickling forgets that
    try:
        found: Any = work.attributor(work.batch)  # code that may not be ours
    except registry.FOREIGN:
        return None
    shape = (work.batch.n_spans,)
    if not isinstance(found, Attribution) or not isinstance(found.notes, tuple | list):
        return None
    for column in (found.credit, found.advantage):
        if not (type(column) is np.ndarray and column.dtype == np.float64 and column.shape == shape):
            return None
    whole: Attribution = found
    return whole


def why_whole(attributor: Attributor, batch: Batch) -> str | None:
    """Why groups cannot be scored apart; None where they can."""
    if attributor.scope != "group":
        return "its statistics run across groups"
    if getattr(attributor, "reads_texts", False):
        return "it reads the texts, which stay where they were read"
    if len(batch.group_ids) < 2:
        return "there is one group"
    return None


def attribution(engine: Engine, attributor: Attributor, batch: Batch) -> Attribution:
    """What the attributor says of the batch; a note says so where another engine than this process was asked in vain.

    Raises what the attributor raises over the whole batch.
    """
    if engine.name == "in-process":
        return attributor(batch)
    why = why_whole(attributor, batch)
    if why is None:
        shards = cut(batch, SHARDS_A_WORKER * engine.workers)
        said = list(engine.map(score_shard, [Work(attributor, shard.batch) for shard in shards]))
        joined = _joined(batch, shards, said)
        if joined is not None:
            return joined
        why = "some of its groups cannot be scored by themselves"
    found: Any = attributor(batch)  # what it is, is looked at later
    if isinstance(found, Attribution) and isinstance(found.notes, tuple | list):
        note = Note("scored-whole", f"scored whole, in one task of this process, not on {engine.name}: {why}")
        found = replace(found, notes=(*found.notes, note))
    whole: Attribution = found
    return whole


def _joined(batch: Batch, shards: Sequence[Shard], said: Sequence[Attribution | None]) -> Attribution | None:
    credit, advantage = np.full(batch.n_spans, np.nan), np.full(batch.n_spans, np.nan)
    notes: list[Note] = []
    for shard, found in zip(shards, said, strict=True):
        if found is None:
            return None
        credit[shard.spans], advantage[shard.spans] = found.credit, found.advantage
        notes += found.notes
    return Attribution(credit, advantage, tuple(notes))
