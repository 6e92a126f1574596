"""One run from its inputs to its kept credits: packed columns in, the attributor, arrays out, piece by piece.

Critics read texts, and so do attributors that say so (`reads_texts`): only where one is asked the documents are loaded
too, and let go once it has answered.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np

from trajcredit import registry
from trajcredit.batching import Batch, assemble
from trajcredit.engines import Engine
from trajcredit.engines.in_process import InProcess
from trajcredit.engines.scoring import attribution
from trajcredit.errors import StoreError, TrajcreditError
from trajcredit.exporters import Credit
from trajcredit.service.asking import configured, critic_of
from trajcredit.service.attributing import Filled, scored
from trajcredit.service.forecasting import fingerprint
from trajcredit.service.hearing import Hearing
from trajcredit.service.judge_work import SAID_MORE
from trajcredit.service.running import compares_across_groups, condensed
from trajcredit.service.scales import remember
from trajcredit.service.versions import edge_version
from trajcredit.store import Store, batches, documents, joining, run_credits, runs
from trajcredit.store.forecasts import forecasts_of
from trajcredit.store.runs import Run

__all__ = ["execute", "pieces"]

PIECE_SPANS = 100_000
"""Spans whose credit one transaction keeps: others wait for it no longer than it takes."""
KEPT_NOTES = 100
"""Notes of one kind that are kept with a run."""
OF_TRAJECTORIES = frozenset(
    {"outcome", "group", "pool", "terminated", "truncated", "policy_version", "bootstrap", "score_start"}
)
OF_EDGES = frozenset({"parents", "parent_weight", "parent_kind"})
_log = logging.getLogger(__name__)


def execute(
    store: Store,
    run: Run,
    told: Callable[[int, int], None] = lambda done, total: None,
    engine: Engine | None = None,
) -> None:
    """Work on a running run until it is done, failed, or was cancelled by somebody; `told` hears how far it is.

    `engine`, which is open, calls the attributor; none = here. Its workers get their columns from this process, which
    alone has to do with the database.

    A database that goes away is raised: the run then stays as it is, and whoever works next begins it anew.
    """
    try:
        _work(store, run, told, engine or InProcess())
    except StoreError:
        raise
    except TrajcreditError as error:
        _fail(store, run, str(error))
    except registry.FOREIGN as error:
        _log.exception("run %s failed", run.id)
        _fail(store, run, f"internal error: {type(error).__name__}; the server's log has more")


def _work(store: Store, run: Run, told: Callable[[int, int], None], engine: Engine) -> None:
    made = configured(run.asked.attributor, run.asked.parameters)
    with store.read() as conn:
        loaded = batches.load(conn, run.project, run.asked.filters)
        reads = critic_of(made.attributor, made.critic) is not None or getattr(made.attributor, "reads_texts", False)
        graphs = tuple(documents.graphs(conn, run.project, loaded.ids)) if reads else None
    batch = assemble(loaded.heads, loaded.columns, loaded.rewards, run.asked.reward, run.asked.group_by)
    total, done = batch.n_trajectories, 0
    with store.write() as conn:
        edges = edge_version(loaded.overridden)
        seen = (loaded.watermark, batch.reward_source, loaded.override_watermark, edges)
        if runs.read_inputs(conn, run.id, total, *seen) is None:
            return
    told(done, total)
    filled: Filled = {}
    heard = Hearing(store, run.project, loaded.ids)
    call = partial(attribution, engine)
    read = replace(batch, graphs=graphs)
    credit = scored(read, made.name, made.attributor, made.critic, filled, made.judge, heard, call)
    credit, read, graphs = replace(credit, batch=replace(credit.batch, graphs=None)), batch, None
    critic = next(iter(filled), None)
    filled.clear()
    if critic is not None:
        with store.write() as conn:
            if runs.critic_asked(conn, run.id, critic, fingerprint(run, critic, loaded)) is None:
                return
    if heard.judge is not None and heard.fingerprint is not None:
        with store.write() as conn:
            if runs.judge_heard(conn, run.id, heard.judge, heard.fingerprint) is None:
                return
    for start, stop, piece in pieces(credit, PIECE_SPANS):
        with store.write() as conn:
            if runs.progress(conn, run.id, stop) is None:
                return
            said = None if critic is None else forecasts_of(piece.batch)
            run_credits.save(conn, run.id, loaded.ids[start:stop], piece.batch, piece.credit, piece.advantage, said)
        told(stop, total)
    remember(store, run.id, credit.credit, credit.advantage)
    moved = heard.moved()
    with store.write() as conn:
        if moved:
            runs.mark(conn, [run.id], SAID_MORE)
        joining.mark_if_joined(conn, run, compares_across_groups)
        runs.finish(conn, run.id, condensed((*loaded.notes, *batch.notes, *credit.notes), KEPT_NOTES))


def _fail(store: Store, run: Run, why: str) -> None:
    with store.write() as conn:
        runs.fail(conn, run.id, why)


def pieces(credit: Credit, spans: int) -> Iterator[tuple[int, int, Credit]]:
    """The credit in pieces of consecutive trajectories of about so many spans together, at least one."""
    offsets, start = credit.batch.span_offsets, 0
    while start < credit.batch.n_trajectories:
        stop = max(start + 1, int(np.searchsorted(offsets, offsets[start] + spans, side="right")) - 1)
        first, last = offsets[start], offsets[stop]
        batch = _cut(credit.batch, start, stop)
        yield (
            start,
            stop,
            replace(credit, batch=batch, credit=credit.credit[first:last], advantage=credit.advantage[first:last]),
        )
        start = stop


def _cut(batch: Batch, start: int, stop: int) -> Batch:
    """Consecutive trajectories of a batch as one of their own; groups, tools and policies keep their numbers."""
    first, last = int(batch.span_offsets[start]), int(batch.span_offsets[stop])
    edges = slice(int(batch.parent_offsets[first]), int(batch.parent_offsets[last]))
    new: dict[str, Any] = {
        "trajectory_ids": batch.trajectory_ids[start:stop],
        "graphs": None if batch.graphs is None else batch.graphs[start:stop],
        "span_offsets": batch.span_offsets[start : stop + 1] - first,
        "parent_offsets": batch.parent_offsets[first : last + 1] - edges.start,
        "parents": batch.parents[edges] - first,
        "findings": tuple(replace(one, span=one.span - first) for one in batch.findings if first <= one.span < last),
    }
    for field in fields(batch):
        column = getattr(batch, field.name)
        if isinstance(column, np.ndarray) and field.name not in new:
            some = slice(start, stop) if field.name in OF_TRAJECTORIES else slice(first, last)
            new[field.name] = column[edges if field.name in OF_EDGES else some]
    return replace(batch, **new)
