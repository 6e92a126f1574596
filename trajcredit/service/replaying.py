"""What a run saw, as a batch again: explanations and sum rules are worked out from that, not from what came later."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from trajcredit.batching import Batch, assemble
from trajcredit.service.attributing import Filled
from trajcredit.store.batches import Loaded
from trajcredit.store.forecasts import with_forecasts
from trajcredit.store.runs import Run

__all__ = ["as_one_group", "as_the_run_grouped", "filled"]


def as_the_run_grouped(run: Run, loaded: Loaded) -> Batch:
    """All that a run read, grouped the way it was asked to."""
    return _assembled(run, loaded, run.asked.group_by)


def as_one_group(run: Run, loaded: Loaded, name: str) -> Batch:
    """Trajectories that were one group of a run: what made them one need not be looked at again."""
    batch = _assembled(run, loaded)
    return replace(batch, group=np.zeros(batch.n_trajectories, dtype=np.int64), group_ids=(name,))


def filled(run: Run, batch: Batch) -> Filled:
    """What the critic of a run said of such a batch, so that scoring it again asks none; empty where it asked none."""
    return {} if run.critic is None else {run.critic: batch}


def _assembled(run: Run, loaded: Loaded, group_by: str | None = None) -> Batch:
    """With the columns as the critic of the run filled them."""
    reward = run.reward_used or run.asked.reward
    batch = assemble(loaded.heads, loaded.columns, loaded.rewards, reward, group_by)
    return batch if loaded.forecasts is None else with_forecasts(batch, loaded.forecasts)
