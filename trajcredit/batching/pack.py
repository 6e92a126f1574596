"""Graphs -> Batch: one pass over the spans, then arrays."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from trajcredit.arrays import F64, I64, offsets_of
from trajcredit.batching.batch import Batch
from trajcredit.batching.groups import group_key, group_names
from trajcredit.batching.keys import call_keys, pools, state_keys
from trajcredit.batching.rewards import choose_source, step_rewards
from trajcredit.errors import InputError
from trajcredit.graph import SpanGraph
from trajcredit.model import ACTION_KINDS, KIND_CODES, Note, Span, Trajectory

__all__ = ["pack"]


def pack(graphs: Sequence[SpanGraph], reward: str | None = None, group_by: str | None = None) -> Batch:
    """The columns of many graphs (Batch says which).

    `reward` names the source to read, else the most trusted present; `group_by` names trajectory fields joined by +.
    Raises InputError where two trajectories share an id, or where a name is not known.
    """
    trajectories = [graph.trajectory for graph in graphs]
    _check_ids(trajectories)
    spans = list(chain.from_iterable(t.spans for t in trajectories))
    lengths = [len(t.spans) for t in trajectories]
    offsets = offsets_of(lengths)
    source = choose_source(trajectories, reward)
    stepped = [step_rewards(t, source) for t in trajectories]
    keys = [call_keys(t) for t in trajectories]
    texts: dict[str, int] = {}
    states = [state_keys(g.trajectory, k, g.is_write, texts) for g, k in zip(graphs, keys, strict=True)]
    tools: dict[str, int] = {}
    tool = [tools.setdefault(s.name, len(tools)) if s.name is not None and _has_tool(s) else -1 for s in spans]
    group, group_ids, group_notes = _groups(trajectories, group_by)
    versions: dict[str | None, int] = {None: -1}
    version = [versions.setdefault(t.policy_version, len(versions) - 1) for t in trajectories]
    truncated = np.array([bool(t.truncated) for t in trajectories], dtype=bool)
    kind = np.array([KIND_CODES[s.kind] for s in spans], dtype=np.uint8)
    unknown = np.full(len(spans), np.nan)
    return Batch(
        trajectory_ids=tuple(t.id for t in trajectories),
        group_ids=group_ids,
        span_offsets=offsets,
        parent_offsets=_joined_offsets([g.parent_offsets for g in graphs]),
        parents=_concatenate([g.parents + offset for g, offset in zip(graphs, offsets[:-1], strict=True)], np.int64),
        parent_weight=_concatenate([g.weight for g in graphs], np.float64),
        parent_kind=_concatenate([g.kind for g in graphs], np.uint8),
        kind=kind,
        action_mask=np.isin(kind, [KIND_CODES[name] for name in ACTION_KINDS]),
        turn=np.array([s.turn for s in spans], dtype=np.int64),
        tool=np.array(tool, dtype=np.int64),
        is_write=_concatenate([g.is_write for g in graphs], np.bool_),
        is_error=_concatenate([g.is_error for g in graphs], np.bool_),
        n_tokens=np.array([_n_tokens(s) for s in spans], dtype=np.int64),
        rewards=np.fromiter(chain.from_iterable(steps for steps, _, _ in stepped), np.float64, len(spans)),
        outcome=np.array([total for _, total, _ in stepped], dtype=np.float64),
        group=group,
        pool=pools(trajectories),
        terminated=~truncated,
        truncated=truncated,
        policy_version=np.array(version, dtype=np.int64),
        values=np.array([np.nan if s.value is None else s.value for s in spans], dtype=np.float64),
        q_values=unknown,
        advantage_forecast=unknown.copy(),
        bootstrap=_bootstrap(trajectories),
        scores=unknown.copy(),
        segment=np.full(len(spans), -1, dtype=np.int64),
        info=unknown.copy(),
        call_key=np.fromiter(chain.from_iterable(keys), np.uint64, len(spans)),
        state_key=np.fromiter(chain.from_iterable(states), np.uint64, len(spans)),
        tool_names=tuple(tools),
        policy_versions=tuple(v for v in versions if v is not None),
        graphs=tuple(graphs),
        reward_source=source,
        notes=(*chain.from_iterable(notes for _, _, notes in stepped), *_end_notes(trajectories), *group_notes),
    )


def _check_ids(trajectories: Sequence[Trajectory]) -> None:
    seen: set[str] = set()
    for trajectory in trajectories:
        if trajectory.id in seen:
            raise InputError(f"two trajectories have the id {trajectory.id!r}: credit rows could not be told apart")
        seen.add(trajectory.id)


def _groups(trajectories: Sequence[Trajectory], by: str | None) -> tuple[I64, tuple[str, ...], list[Note]]:
    keys = [group_key(t, by) for t in trajectories]
    names = group_names(keys)
    number = {key: n for n, key in enumerate(names)}
    versions: dict[str, set[str]] = {}
    for key, trajectory in zip(keys, trajectories, strict=True):
        if trajectory.policy_version is not None:
            versions.setdefault(names[key], set()).add(trajectory.policy_version)
    notes = [
        Note(code="mixed-policy", message=f"one group, policy versions {', '.join(sorted(seen))}", group=name)
        for name, seen in versions.items()
        if len(seen) > 1
    ]
    return np.array([number[key] for key in keys], dtype=np.int64), tuple(names.values()), notes


def _end_notes(trajectories: Sequence[Trajectory]) -> list[Note]:
    return [
        Note(code="unknown-end", message="the log does not say how it ended: counted as terminated", trajectory=t.id)
        for t in trajectories
        if t.terminated is None and t.truncated is None
    ]


def _bootstrap(trajectories: Sequence[Trajectory]) -> F64:
    """0 where terminated, the logged forecast where truncated, NaN where a truncated run has none."""
    ends = [(np.nan if t.bootstrap is None else t.bootstrap) if t.truncated else 0.0 for t in trajectories]
    return np.array(ends, dtype=np.float64)


def _n_tokens(span: Span) -> int:
    tokens = span.tokens
    if tokens is None:
        return -1
    return tokens.n if tokens.n is not None else len(tokens.ids) if tokens.ids is not None else -1


def _has_tool(span: Span) -> bool:
    return span.kind in ("tool_call", "tool_result")


def _joined_offsets(pieces: Sequence[I64]) -> I64:
    return offsets_of(chain.from_iterable(np.diff(piece).tolist() for piece in pieces))


def _concatenate(pieces: Sequence[npt.NDArray[Any]], dtype: type) -> npt.NDArray[Any]:
    return np.concatenate(pieces) if pieces else np.zeros(0, dtype=dtype)
