"""The table of facts that failure modes are looked for in: rewards held against each other, credit off the path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.attributors.dag import Dag
from trajcredit.batching import Batch, Columns
from trajcredit.batching.rewards import choose_source, named, place_rewards
from trajcredit.diagnostics import Seen, Table, order_of, tasks_of
from trajcredit.errors import InputError
from trajcredit.graph import SpanGraph
from trajcredit.model import KIND_CODES, Reward, RewardSource
from trajcredit.service.attributing import scored
from trajcredit.service.plugins import Choice

__all__ = ["PASS", "Asked", "reads_texts", "table_of"]

PASS = 0.5
"""An outcome of at least this passes, unless another is asked for."""
TRUSTED: tuple[RewardSource, ...] = ("human", "verifier", "judge", "reward_model")
"""Whom to believe, first to last, where two rewards are held against each other."""
FLAT = 1e-9
"""Spread of the credit of a trajectory's actions below which all have one number."""


@dataclass(frozen=True, slots=True)
class Asked:
    """How to look. `reward` and `against` name a source or a reward: the one that is trained on, and the one it is held
    against; without them the least trusted reward present, against the most trusted."""

    reward: str | None = None
    against: str | None = None
    group_by: str | None = None
    pass_at: float = PASS
    attributor: str = "grpo"
    compare: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Rewards:
    """Two rewards of the same trajectories, NaN where one has none."""

    proxy: F64
    trusted: F64
    proxy_name: str | None
    trusted_name: str | None


def reads_texts(choice: Choice) -> bool:
    """Whether the attributor cannot do without transcripts."""
    return (
        getattr(choice.attributor, "reads_texts", False) or choice.critic is not None or bool(choice.attributor.needs)
    )


def table_of(
    batch: Batch,
    columns: Columns,
    rewards: Sequence[Sequence[Reward]],
    seen: tuple[Seen, ...],
    asked: Asked,
    choice: Choice,
    graphs: Sequence[SpanGraph] | None,
) -> Table:
    """One row a trajectory; graphs only for attributors that read texts."""
    owner: I64 = np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))
    two = _rewards(batch, columns, rewards, asked)
    credit = _credit(batch, owner, choice, graphs)
    keys, offsets = batch.call_key.tolist(), batch.span_offsets.tolist()
    return Table(
        seen=seen,
        group=batch.group,
        task=tasks_of(seen, batch.group),
        scale=order_of(seen),
        outcome=batch.outcome,
        pass_at=asked.pass_at,
        proxy=two.proxy,
        trusted=two.trusted,
        proxy_name=two.proxy_name,
        trusted_name=two.trusted_name,
        early=_early(batch, owner),
        off_path=credit.off,
        credited=credit.all,
        off_calls=credit.off_calls,
        credited_calls=credit.all_calls,
        flat=credit.flat,
        stray=credit.stray,
        traced=credit.traced,
        attributor=choice.label,
        calls_made=tuple(tuple(filter(None, keys[a:b])) for a, b in pairwise(offsets)),
    )


def _rewards(batch: Batch, columns: Columns, rewards: Sequence[Sequence[Reward]], asked: Asked) -> _Rewards:
    """The reward that is doubted, and the one it is held against."""
    present = [source for source in TRUSTED if any(r.source == source for given in rewards for r in given)]
    proxy = asked.reward if asked.reward is not None else present[-1] if present else None
    source = batch.reward_source if asked.reward is not None else proxy
    better = [one for one in present if source in TRUSTED and TRUSTED.index(one) < TRUSTED.index(source)]
    trusted = asked.against if asked.against is not None else better[0] if better else None
    if trusted is not None and trusted == proxy:
        raise InputError(f"cannot hold {proxy!r} against itself")
    if proxy is not None and trusted is not None:
        doubted = _meant(rewards, proxy)
        if any(doubted) and doubted == _meant(rewards, trusted):
            raise InputError(f"cannot hold {proxy!r} against {trusted!r}: they are the same rewards")
    empty = np.full(batch.n_trajectories, np.nan)
    return _Rewards(
        proxy=empty if proxy is None else _outcome(batch, columns, rewards, proxy),
        trusted=empty if trusted is None else _outcome(batch, columns, rewards, trusted),
        proxy_name=proxy,
        trusted_name=trusted,
    )


def _meant(rewards: Sequence[Sequence[Reward]], name: str) -> list[list[Reward]]:
    """The rewards that a source or a name stands for."""
    kept, asked = named(rewards, name)
    source = choose_source(kept, asked)
    return [[reward for reward in given if reward.source == source] for given in kept]


def _outcome(batch: Batch, columns: Columns, rewards: Sequence[Sequence[Reward]], name: str) -> F64:
    kept, asked = named(rewards, name)
    source = choose_source(kept, asked)
    ids, offsets = batch.trajectory_ids, batch.span_offsets
    return place_rewards(ids, kept, source, offsets, batch.action_mask, columns.result_of)[1]


@dataclass(frozen=True, slots=True, eq=False)
class _Credit:
    """Sizes of credit, one a row: off every path and in all, of all actions and of calls alone."""

    off: F64
    all: F64
    off_calls: F64
    all_calls: F64
    flat: BOOL
    stray: I64
    traced: BOOL


def _credit(batch: Batch, owner: I64, choice: Choice, graphs: Sequence[SpanGraph] | None) -> _Credit:
    whole = replace(batch, graphs=None if graphs is None else tuple(graphs))
    credit = scored(whole, choice.label, choice.attributor, choice.critic).credit
    _, on_path = Dag().shares(batch)
    known = batch.action_mask & ~np.isnan(credit)
    call = batch.kind == KIND_CODES["tool_call"]
    size = np.where(known, np.abs(credit), 0.0)
    off = np.where(on_path, 0.0, size)
    n = batch.n_trajectories
    low, high = np.full(n, np.inf), np.full(n, -np.inf)
    np.minimum.at(low, owner[known], credit[known])
    np.maximum.at(high, owner[known], credit[known])
    counted = np.bincount(owner[known], minlength=n)
    on_paths = np.bincount(owner[known & on_path], minlength=n)
    return _Credit(
        off=_sums(owner, off, n),
        all=np.where(counted > 0, _sums(owner, size, n), np.nan),
        off_calls=_sums(owner, np.where(call, off, 0.0), n),
        all_calls=_sums(owner, np.where(call, size, 0.0), n),
        flat=(counted > 1) & (high - low < FLAT),
        stray=_strayest(batch, owner, off, call),
        traced=(on_paths > 1) | (counted < 2),
    )


def _sums(owner: I64, values: F64, n: int) -> F64:
    return np.bincount(owner, values, n).astype(np.float64)


def _strayest(batch: Batch, owner: I64, off: F64, call: BOOL) -> I64:
    """The span off every path to look at, i64[T], -1 where there is none: a call if there is one, most credit first."""
    stray = np.full(batch.n_trajectories, -1, dtype=np.int64)
    spans = np.flatnonzero(off > 0)
    for span in spans[np.lexsort((-spans, off[spans], call[spans]))].tolist():  # the last one written stays
        stray[owner[span]] = span - int(batch.span_offsets[owner[span]])
    return stray


def _early(batch: Batch, owner: I64) -> BOOL:
    """bool[T]: some reward on an action that is not the last."""
    actions = np.flatnonzero(batch.action_mask)
    last = np.full(batch.n_trajectories, -1, dtype=np.int64)
    last[owner[actions]] = actions
    early = np.zeros(batch.n_trajectories, dtype=bool)
    early[owner[actions[(np.nan_to_num(batch.rewards[actions]) != 0) & (actions != last[owner[actions]])]]] = True
    return early
