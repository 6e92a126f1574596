"""A finished run over some stored trajectories, made the way the service makes it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.store.shelf import PROJECT
from trajcredit.attributors.grpo import Grpo
from trajcredit.batching import assemble
from trajcredit.store import Store, batches, run_credits, runs
from trajcredit.store.filters import Filters
from trajcredit.store.runs import Asked

__all__ = ["GRPO", "scored"]

GRPO = Asked(attributor="grpo", label="grpo", parameters={}, code_version="0.1.0", edge_version="1")


def scored(store: Store, *refs: str, meanwhile: Callable[[], object] = lambda: None) -> str:
    """The id of a run of grpo over these, or all; `meanwhile` happens between reading and saving."""
    with store.write() as conn:
        made = runs.create(conn, PROJECT, GRPO).id
        runs.start(conn, made)
    with store.read() as conn:
        loaded = batches.load(conn, PROJECT, refs or Filters())
    batch = assemble(loaded.heads, loaded.columns, loaded.rewards)
    found = Grpo()(batch)
    meanwhile()
    with store.write() as conn:
        runs.read_inputs(conn, made, len(loaded.ids), loaded.watermark, batch.reward_source)
        run_credits.save(conn, made, loaded.ids, batch, found.credit, found.advantage)
        runs.finish(conn, made, found.notes)
    assert np.isfinite(found.credit[batch.action_mask & ~np.isnan(batch.rewards)]).all()
    return made
