"""Columns, rewards and heads -> Batch; from graphs, or from what a store kept of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
from msgspec.structs import replace

from trajcredit.arrays import F64, I64
from trajcredit.batching.batch import Batch
from trajcredit.batching.columns import Columns, columns_of
from trajcredit.batching.groups import Key, check_fields, group_key, group_names
from trajcredit.batching.heads import Head
from trajcredit.batching.keys import pools
from trajcredit.batching.parents import shared_outcomes
from trajcredit.batching.rewards import choose_source, named, place_rewards
from trajcredit.errors import InputError
from trajcredit.graph import SpanGraph
from trajcredit.model import ACTION_KINDS, KIND_CODES, Note, Reward, RewardSource

__all__ = ["Whole", "assemble", "pack"]

_ACTIONS = np.isin(np.arange(len(KIND_CODES)), [KIND_CODES[kind] for kind in ACTION_KINDS])


@dataclass(frozen=True, slots=True)
class Whole:
    """What is known of all trajectories, where a batch holds only some of their groups: then it says the same."""

    source: RewardSource | None
    """The source that all read."""
    names: Mapping[Key, str]
    """What their groups are called: those of the batch, at least."""


def pack(
    graphs: Sequence[SpanGraph], reward: str | None = None, group_by: str | None = None, whole: Whole | None = None
) -> Batch:
    """The batch of many graphs; a sub-agent without a reward of its own shares the outcome of its parent among them.

    `reward` names the source to read, or the rewards by their own name, else the most trusted source present counts;
    `group_by` names trajectory fields joined by +.
    Raises InputError where two trajectories share an id, or where a name is not known.
    """
    heads = [graph.trajectory for graph in graphs]
    parents = [t.parent.trajectory if t.parent is not None else None for t in heads]
    rewards, notes = shared_outcomes([t.id for t in heads], parents, [t.rewards for t in heads])
    return assemble(heads, columns_of(graphs), rewards, reward, group_by, graphs, notes, whole)


def assemble(
    heads: Sequence[Head],
    columns: Columns,
    rewards: Sequence[Sequence[Reward]],
    reward: str | None = None,
    group_by: str | None = None,
    graphs: Sequence[SpanGraph] | None = None,
    told: Sequence[Note] = (),
    whole: Whole | None = None,
) -> Batch:
    """The batch of T heads with their columns and rewards, all in one order; `told`: what is known about these."""
    ids = tuple(head.id for head in heads)
    _check_ids(ids)
    action_mask = _ACTIONS[columns.kind]
    rewards, reward = named(rewards, reward, whole is not None)
    source = choose_source(rewards, reward) if whole is None else whole.source
    steps, outcome, notes = place_rewards(ids, rewards, source, columns.span_offsets, action_mask, columns.result_of)
    group, group_ids, group_notes = _groups(heads, group_by, whole)
    versions: dict[str | None, int] = {None: -1}
    version = [versions.setdefault(head.policy_version, len(versions) - 1) for head in heads]
    truncated = np.array([bool(head.truncated) for head in heads], dtype=bool)
    unknown = np.full(len(columns.kind), np.nan)
    batch = Batch(
        trajectory_ids=ids,
        group_ids=group_ids,
        span_offsets=columns.span_offsets,
        parent_offsets=columns.parent_offsets,
        parents=columns.parents,
        parent_weight=columns.parent_weight,
        parent_kind=columns.parent_kind,
        kind=columns.kind,
        action_mask=action_mask,
        turn=columns.turn,
        tool=columns.tool,
        is_write=columns.is_write,
        is_error=columns.is_error,
        n_tokens=columns.n_tokens,
        rewards=steps,
        outcome=outcome,
        group=group,
        pool=pools(heads, columns.tool_sets, columns.declared),
        terminated=~truncated,
        truncated=truncated,
        policy_version=np.array(version, dtype=np.int64),
        values=columns.values,
        q_values=unknown,
        advantage_forecast=unknown.copy(),
        bootstrap=_bootstrap(heads),
        scores=unknown.copy(),
        score_start=np.full(len(ids), np.nan),
        segment=np.full(len(columns.kind), -1, dtype=np.int64),
        info=unknown.copy(),
        call_key=columns.call_key,
        state_key=columns.state_key,
        tool_names=columns.tool_names,
        policy_versions=tuple(v for v in versions if v is not None),
        graphs=None if graphs is None else tuple(graphs),
        reward_source=source,
        notes=(*told, *notes, *_end_notes(heads), *group_notes, *_graph_notes(graphs or ())),
    )
    _freeze(batch)
    return batch


def _freeze(batch: Batch) -> None:
    """No attributor can change what the next one reads."""
    for field in fields(batch):
        column = getattr(batch, field.name)
        if isinstance(column, np.ndarray):
            column.setflags(write=False)


def _graph_notes(graphs: Sequence[SpanGraph]) -> list[Note]:
    return [replace(note, trajectory=graph.trajectory.id) for graph in graphs for note in graph.notes]


def _check_ids(ids: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in ids:
        if name in seen:
            raise InputError(f"two trajectories have the id {name!r}: credit rows could not be told apart")
        seen.add(name)


def _groups(heads: Sequence[Head], by: str | None, whole: Whole | None) -> tuple[I64, tuple[str, ...], list[Note]]:
    keys = [group_key(head, by) for head in heads]
    if whole is None:
        check_fields(heads, by)
        names = group_names(keys)
    else:
        names = {key: whole.names[key] for key in dict.fromkeys(keys)}
    number = {key: n for n, key in enumerate(names)}
    versions: dict[str, set[str]] = {}
    for key, head in zip(keys, heads, strict=True):
        if head.policy_version is not None:
            versions.setdefault(names[key], set()).add(head.policy_version)
    notes = [
        Note("mixed-policy", f"one group, policy versions {', '.join(sorted(seen))}", group=name)
        for name, seen in versions.items()
        if len(seen) > 1
    ]
    return np.array([number[key] for key in keys], dtype=np.int64), tuple(names.values()), notes


def _end_notes(heads: Sequence[Head]) -> list[Note]:
    return [
        Note("unknown-end", "the log does not say how it ended: counted as terminated", trajectory=head.id)
        for head in heads
        if head.terminated is None and head.truncated is None
    ]


def _bootstrap(heads: Sequence[Head]) -> F64:
    """0 where terminated, the logged forecast where truncated, NaN where a truncated run has none."""
    ends = [(np.nan if head.bootstrap is None else head.bootstrap) if head.truncated else 0.0 for head in heads]
    return np.array(ends, dtype=np.float64)
