"""A finished run over some stored trajectories, made the way the service makes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from tests.store.shelf import PROJECT
from trajcredit.attributors.grpo import Grpo
from trajcredit.batching import assemble
from trajcredit.store import Store, batches, run_credits, runs
from trajcredit.store.filters import Filters
from trajcredit.store.runs import Asked

__all__ = ["GRPO", "ROBUST", "forecast", "scored"]

GRPO = Asked(attributor="grpo", label="grpo", parameters={}, code_version="0.1.0", edge_version="1")


ROBUST = replace(GRPO, attributor="doubly_robust", label="doubly_robust")


def scored(store: Store, *refs: str, meanwhile: Callable[[], object] = lambda: None) -> str:
    """The id of a run of grpo over these, or all; `meanwhile` happens between reading and saving."""
    return _scored(store, GRPO, refs, None, meanwhile)


def forecast(store: Store, *refs: str, critic: str = "compatible") -> str:
    """The same of an attributor that asked a critic: its three columns of the i-th span of all are i, i / 2, -i."""
    return _scored(store, ROBUST, refs, critic, lambda: None)


def _scored(
    store: Store, asked: Asked, refs: Sequence[str], critic: str | None, meanwhile: Callable[[], object]
) -> str:
    with store.write() as conn:
        made = runs.create(conn, PROJECT, asked).id
        runs.start(conn, made)
    with store.read() as conn:
        loaded = batches.load(conn, PROJECT, refs or Filters())
    batch = assemble(loaded.heads, loaded.columns, loaded.rewards)
    found = Grpo()(batch)
    meanwhile()
    with store.write() as conn:
        runs.read_inputs(conn, made, len(loaded.ids), loaded.watermark, batch.reward_source)
        if critic is not None:
            runs.critic_asked(conn, made, critic, "0123456789ab")
        said = None if critic is None else np.outer([1.0, 0.5, -1.0], np.arange(batch.n_spans))
        run_credits.save(conn, made, loaded.ids, batch, found.credit, found.advantage, said)
        runs.finish(conn, made, found.notes)
    assert np.isfinite(found.credit[batch.action_mask & ~np.isnan(batch.rewards)]).all()
    return made
