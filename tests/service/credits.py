"""Finished runs that say what a test wants them to say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tests.store.scored import GRPO
from tests.store.shelf import PROJECT
from trajcredit.batching import assemble
from trajcredit.store import Store, batches, run_credits, runs

__all__ = ["credited"]


def credited(store: Store, label: str, said: Mapping[str, Sequence[float]]) -> str:
    """The id of a run of that label: by the log's own id what it gives the action spans, in order."""
    with store.write() as conn:
        made = runs.create(conn, PROJECT, replace(GRPO, label=label)).id
        runs.start(conn, made)
        loaded = batches.load(conn, PROJECT, [f"ext:{name}" for name in said])
        batch = assemble(loaded.heads, loaded.columns, loaded.rewards)
        credit = np.full(batch.n_spans, np.nan)
        credit[batch.action_mask] = np.concatenate([np.array(numbers, dtype=float) for numbers in said.values()])
        runs.read_inputs(conn, made, len(loaded.ids), loaded.watermark, batch.reward_source)
        run_credits.save(conn, made, loaded.ids, batch, credit, credit, None)
        runs.finish(conn, made)
    return made
