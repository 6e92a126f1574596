"""Advantages for verifiers: a trace whose message nodes carry one advantage a sampled token.

Read for verifiers 0.4.0: `v1/graph.py` (MessageNode: `advantages` compact, one a True of `mask`), `v1/trace.py`
(Branch: a path from a root to a leaf, `spread`), and prime-rl 559b44772, `orchestrator/trajectories.py:64` (a node that
several branches share is trained in the first of them).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar

import numpy as np

from trajcredit.exporters.calls import by_trajectory, calls
from trajcredit.exporters.lines import float32, write_lines
from trajcredit.exporters.tokens import TokenExporter
from trajcredit.registry import exporters
from trajcredit.tokens import TokenRow

__all__ = ["Verifiers", "trace"]

GIVEN = {"role": "user", "content": ""}
SAMPLED = {"role": "assistant", "content": None}
"""Stand where a message must: tokens are what trains, and their text is in the log."""


@exporters.register("verifiers")
@dataclass(frozen=True, slots=True)
class Verifiers(TokenExporter):
    """verifiers v1: one trace a line; rows of one trajectory are branches that share the nodes they have in common.

    Loads as `WireTrace`; `trajcredit.integrations.verifiers.assign` puts the advantages on traces of your own. Messages
    are empty, since the tokens of a tool result and of the next prompt cannot be told apart.
    """

    suffix: ClassVar[str] = ".jsonl"

    def encode(self, rows: Iterator[TokenRow], out: BinaryIO) -> int:
        """One line a trajectory."""
        return write_lines(map(trace, by_trajectory(rows)), out)


def trace(rows: Sequence[TokenRow]) -> dict[str, Any]:
    """The rows of one trajectory as a trace: its branches, in order, have the tokens of the rows.

    A sampled token is trained by one row, and has its advantage on one node. Where a later row only reads it, the
    branches share that node.
    """
    first = rows[0]
    scored = {} if first.outcome is None else {"outcome": {"score": first.outcome, "weight": 1.0}}
    return {
        "version": 1,
        "id": first.trajectory_id,
        "task": {"type": "trajcredit", "data": {"idx": 0, "prompt": ""}, "key": first.uid},
        "agent": {"config": {}, "name": "agent"},
        "nodes": list(_nodes(rows)),
        "rewards": scored,
        "info": {"ids_source": first.ids_source},
        "is_completed": True,
        "ok": True,
    }


@dataclass(frozen=True, slots=True)
class _Stem:
    """Where a row leaves an earlier one: its first `length` tokens are those of row `of`; 0 of none."""

    of: int
    length: int


def _nodes(rows: Sequence[TokenRow]) -> Iterator[dict[str, Any]]:
    stems = _stems(rows)
    cuts: list[set[int]] = [set() for _ in rows]
    for stem in stems:
        cuts[stem.of].add(stem.length)
    ends: list[dict[int, int]] = []
    written = 0
    for row, stem, cut in zip(rows, stems, cuts, strict=True):
        parent = ends[stem.of][stem.length] if stem.length else None
        ends.append({})
        start = stem.length
        for end in _borders(row, stem.length, cut):
            yield _node(row, start, end, parent)
            ends[-1][end] = parent = written
            written += 1
            start = end


def _stems(rows: Sequence[TokenRow]) -> list[_Stem]:
    """For each row the earlier one with which it has the most tokens in common before it trains any.

    At least the last token of either stays its own, so that each ends in a leaf: a branch of its own.
    """
    stems: list[_Stem] = []
    for r, row in enumerate(rows):
        ids = row.token_ids
        most = min(len(ids) - 1, len(row.prompt_ids) + int(np.argmax(row.response_mask)))
        best = _Stem(r, 0)
        for s, earlier in enumerate(rows[:r]):
            n = min(most, len(earlier.token_ids) - 1)
            apart = np.flatnonzero(earlier.token_ids[:n] != ids[:n])
            length = int(apart[0]) if len(apart) else n
            if length > best.length:
                best = _Stem(s, length)
        while best.length and stems[best.of].length >= best.length:  # that part is an earlier row's own
            best = _Stem(stems[best.of].of, best.length)
        stems.append(best)
    return stems


def _borders(row: TokenRow, start: int, cuts: set[int]) -> list[int]:
    """Where the nodes of tokens start: of a row end: around each call, where other rows leave, and at the end."""
    prompt = len(row.prompt_ids)
    found = {len(row.token_ids), *cuts}
    for call in calls(row):
        found |= {prompt + call.start, prompt + call.end}
    borders = sorted(found)
    return borders[bisect_left(borders, start + 1) :]


def _node(row: TokenRow, start: int, end: int, parent: int | None) -> dict[str, Any]:
    """Tokens start:end of a row: all of them trained, or none."""
    begin, stop = start - len(row.prompt_ids), end - len(row.prompt_ids)
    trained = begin >= 0 and bool(row.response_mask[begin])
    node = {
        "parent": parent,
        "message": SAMPLED if trained else GIVEN,
        "sampled": trained,
        "token_ids": row.token_ids[start:end].tolist(),
        "mask": [trained] * (end - start),
        "logprobs": [],
    }
    if trained:
        node["logprobs"] = [] if row.logprobs is None else float32(row.logprobs[begin:stop])
        node["advantages"] = float32(row.advantages[begin:stop])
    return node
