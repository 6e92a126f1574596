"""Hashes that say "the same call" and "the same knowledge" across rollouts, and pools of tasks that share tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any

import msgspec
import numpy as np

from trajcredit.arrays import BOOL, I64
from trajcredit.batching.heads import Head
from trajcredit.model import Trajectory

__all__ = ["call_keys", "plain", "pools", "state_keys"]

_encode = msgspec.json.Encoder(order="deterministic").encode
MASK = (1 << 64) - 1


def call_keys(trajectory: Trajectory) -> list[int]:
    """Hash of tool and arguments of every call, whatever the order of their keys or the spacing; 0 elsewhere.

    Numbers that are equal are equal (6 and 6.0); broken arguments count as the text they are.
    """
    return [
        _hash(_encode((span.name, plain(span.arguments) if span.arguments is not None else span.arguments_raw)))
        if span.kind == "tool_call"
        else 0
        for span in trajectory.spans
    ]


def state_keys(trajectory: Trajectory, keys: Sequence[int], is_write: BOOL, known: dict[str, int]) -> list[int]:
    """Hash of what the agent knows before each span.

    What it was told (system and user text, in order), which facts it established (a call and its result, once each, in
    any order) and which effects it had (a multiset): two rollouts that looked the same things up in another order meet.
    The agent's own words are no knowledge. `known` keeps the hashes of texts, which rollouts repeat.
    """
    told = facts = state = 0
    seen: set[int] = set()
    states = []
    writes = is_write.tolist()
    for span in trajectory.spans:
        states.append(state)
        if span.kind == "tool_result":
            call = span.result_of
            fact = _mix(0 if call is None else keys[call], _text_hash(span.text, known))
            if fact not in seen or (call is not None and writes[call]):
                facts = (facts + fact) & MASK
            seen.add(fact)
        elif span.kind in ("system", "user", "meta"):
            told = _mix(told, _text_hash(span.text, known))
        else:
            continue
        state = _mix(told, facts)
    return states


def pools(heads: Sequence[Head], tool_sets: Sequence[frozenset[str]], declared: BOOL, threshold: float = 0.5) -> I64:
    """Pool number i64[T]: tool sets whose Jaccard overlap exceeds `threshold` share one, directly or by a chain.

    Where tools are not declared, those that any trajectory of the same data set and role used stand in for them.
    """
    used: dict[tuple[object, ...], set[str]] = {}
    places = [(head.project, head.dataset, head.role) for head in heads]
    for place, names, own in zip(places, tool_sets, declared.tolist(), strict=True):
        if not own:
            used.setdefault(place, set()).update(names)
    known = {place: frozenset(names) for place, names in used.items()}
    sets: dict[frozenset[str], int] = {}
    which = [
        sets.setdefault(names if own else known[place], len(sets))
        for place, names, own in zip(places, tool_sets, declared.tolist(), strict=True)
    ]
    pool = list(range(len(sets)))
    for a, b in _overlapping(list(sets), threshold):
        a, b = _root(pool, a), _root(pool, b)
        pool[max(a, b)] = min(a, b)
    pool = [_root(pool, p) for p in pool]
    number = {p: n for n, p in enumerate(dict.fromkeys(pool))}
    return np.array([number[pool[w]] for w in which], dtype=np.int64)


def _overlapping(sets: Sequence[frozenset[str]], threshold: float) -> Iterator[tuple[int, int]]:
    """Pairs of sets whose Jaccard overlap exceeds the threshold.

    Two such sets share one of their rarest |S| - floor(threshold |S|) names (prefix filtering, Bayardo et al. 2007), so
    only sets that meet there are compared.
    """
    rarity = Counter(name for names in sets for name in names)
    meeting: dict[str, list[int]] = {}
    for b, names in enumerate(sets):
        ordered = sorted(names, key=lambda name: (rarity[name], name))
        prefix = ordered[: len(names) - int(threshold * len(names))]
        for a in {a for name in prefix for a in meeting.get(name, ())}:
            both = len(names & sets[a])
            if both > threshold * (len(names) + len(sets[a]) - both):
                yield a, b
        for name in prefix:
            meeting.setdefault(name, []).append(b)


def _root(pool: list[int], p: int) -> int:
    while pool[p] != p:
        pool[p] = p = pool[pool[p]]
    return p


def plain(value: Any) -> Any:
    """Numbers that are whole as integers, so that 6 and 6.0 hash alike."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def _text_hash(text: str, known: dict[str, int]) -> int:
    found = known.get(text)
    if found is None:
        found = known[text] = _hash(text.encode())
    return found


def _mix(a: int, b: int) -> int:
    """One hash of two, in this order: the finish of splitmix64 (Steele et al. 2014)."""
    z = (a * 0x9E3779B97F4A7C15 + b) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def _hash(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")
