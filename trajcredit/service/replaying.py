"""What a run saw, as a batch again: explanations and sum rules are worked out from that, not from what came later."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from trajcredit.batching import Batch, assemble
from trajcredit.store.batches import Loaded
from trajcredit.store.runs import Run

__all__ = ["as_one_group", "as_the_run_grouped"]


def as_the_run_grouped(run: Run, loaded: Loaded) -> Batch:
    """All that a run read, grouped the way it was asked to."""
    return assemble(
        loaded.heads, loaded.columns, loaded.rewards, run.reward_used or run.asked.reward, run.asked.group_by
    )


def as_one_group(run: Run, loaded: Loaded, name: str) -> Batch:
    """Trajectories that were one group of a run: what made them one need not be looked at again."""
    batch = assemble(loaded.heads, loaded.columns, loaded.rewards, run.reward_used or run.asked.reward)
    return replace(batch, group=np.zeros(batch.n_trajectories, dtype=np.int64), group_ids=(name,))
