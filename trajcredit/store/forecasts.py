"""What a critic said to a run, kept so that explanations need no new fit: three columns a trajectory in one block.

The block of a trajectory of n spans is `COLUMNS` one after the other, each n numbers: 24 n bytes, f64, little-endian,
NaN where the batch had none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from sqlalchemy import Connection, select

from trajcredit.arrays import F64
from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.store.bulk import among
from trajcredit.store.runs import Run
from trajcredit.store.tables import credit_rows, runs, trajectories

__all__ = ["blocks", "forecasts_of", "said_to", "with_forecasts"]

COLUMNS = ("values", "q_values", "advantage_forecast")


def forecasts_of(batch: Batch) -> F64:
    """The columns of a batch that a critic filled: f64[3, N], in the order of COLUMNS."""
    return np.stack([getattr(batch, name) for name in COLUMNS])


def with_forecasts(batch: Batch, forecasts: F64) -> Batch:
    """The batch with these columns, f64[3, N]: bit for bit those that a critic filled."""
    return replace(batch, **dict(zip(COLUMNS, forecasts, strict=True)))


def blocks(batch: Batch, forecasts: F64) -> list[bytes]:
    """The block of each trajectory of a batch."""
    ends = batch.span_offsets.tolist()
    packed = forecasts.astype("<f8", copy=False)
    return [packed[:, first:last].tobytes() for first, last in pairwise(ends)]


def said_to(conn: Connection, run: Run, ids: Sequence[str]) -> F64 | None:
    """What its critic said to a run of these trajectories (our ids), end to end in their order: f64[3, N].

    Null where the run asked none. InputError names a trajectory of which nothing is kept.
    """
    if run.critic is None:
        return None
    query = (
        select(trajectories.c.id, credit_rows.c.forecasts)
        .join(trajectories, trajectories.c.key == credit_rows.c.trajectory)
        .join(runs, runs.c.key == credit_rows.c.run)
        .where(runs.c.id == run.id, among(conn, trajectories.c.id, ids))
        .order_by(trajectories.c.key)
    )
    found: dict[str, bytes | None] = dict(map(tuple, conn.execute(query)))
    parts = [np.empty((3, 0))]
    for name in ids:
        block = found.get(name)
        if block is None:
            raise InputError(f"run {run.asked.label!r} kept nothing of what its critic said of trajectory {name}")
        parts.append(np.frombuffer(block, dtype="<f8").reshape(3, -1))
    return np.concatenate(parts, axis=1).astype(np.float64)
