"""Hashes that say "the same call" and "the same knowledge" across rollouts, and pools of tasks that share tools."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import msgspec
import numpy as np

from trajcredit.arrays import BOOL, I64
from trajcredit.model import Trajectory

__all__ = ["call_keys", "pools", "state_keys"]

_encode = msgspec.json.Encoder(order="deterministic").encode
MASK = (1 << 64) - 1


def call_keys(trajectory: Trajectory) -> list[int]:
    """Hash of tool and arguments of every call, whatever the order of their keys or the spacing; 0 elsewhere.

    Numbers that are equal are equal (6 and 6.0); broken arguments count as the text they are.
    """
    return [
        _hash(_encode((span.name, _plain(span.arguments) if span.arguments is not None else span.arguments_raw)))
        if span.kind == "tool_call"
        else 0
        for span in trajectory.spans
    ]


def state_keys(trajectory: Trajectory, keys: Sequence[int], is_write: BOOL) -> list[int]:
    """Hash of what the agent knows before each span.

    What it was told (system and user text, in order), which facts it established (a call and its result, once each, in
    any order) and which effects it had (a multiset): two rollouts that looked the same things up in another order meet.
    The agent's own words are no knowledge.
    """
    told = facts = 0
    seen: set[int] = set()
    states = []
    for span in trajectory.spans:
        states.append((told * 31 + facts) & MASK)
        if span.kind == "tool_result":
            call = span.result_of
            fact = _hash(_encode((0 if call is None else keys[call], span.text)))
            if fact not in seen or (call is not None and is_write[call]):
                facts = (facts + fact) & MASK
            seen.add(fact)
        elif span.kind in ("system", "user", "meta"):
            told = _hash(_encode((told, span.text)))
    return states


def pools(trajectories: Sequence[Trajectory], threshold: float = 0.5) -> I64:
    """Pool number i64[T]: tool sets whose Jaccard overlap exceeds `threshold` share one, directly or by a chain."""
    sets: dict[frozenset[str], int] = {}
    which = [sets.setdefault(_tool_set(t), len(sets)) for t in trajectories]
    distinct, pool = list(sets), list(range(len(sets)))
    for a in range(len(distinct)):
        for b in range(a):
            both, either = len(distinct[a] & distinct[b]), len(distinct[a] | distinct[b])
            if pool[a] != pool[b] and either and both / either > threshold:
                old, new = max(pool[a], pool[b]), min(pool[a], pool[b])
                pool = [new if p == old else p for p in pool]
    number = {p: n for n, p in enumerate(dict.fromkeys(pool))}
    return np.array([number[pool[w]] for w in which], dtype=np.int64)


def _tool_set(trajectory: Trajectory) -> frozenset[str]:
    declared = frozenset(tool.name for tool in trajectory.tools)
    return declared or frozenset(s.name for s in trajectory.spans if s.kind == "tool_call" and s.name is not None)


def _plain(value: Any) -> Any:
    """Numbers that are whole as integers, so that 6 and 6.0 hash alike."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def _hash(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")
