"""verifiers (0.4): the exported file as traces, or its advantages on the nodes of traces of your own.

    from trajcredit.integrations.verifiers import assign, exported

    advantages = exported("advantages.jsonl")
    for trace in traces:
        assign(trace, advantages)

verifiers rounds log-probs and advantages to four decimals where it writes JSON (v1/graph.py:64), not on the way to the
trainer: do not send advantages through `to_record`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from trajcredit.errors import InputError
from trajcredit.integrations.records import Record, fit, named, numbers, records, trainer

__all__ = ["assign", "exported", "traces"]

BRANCH = ":branch-"
"""After a trace's id: the name that trajcredit's reader gives the other branches of a trace."""


def traces(path: str | Path) -> Iterator[Any]:
    """A `verifiers.v1.WireTrace` a line: its branches have the tokens and advantages of the exported rows."""
    v1 = trainer("verifiers.v1", "verifiers>=0.4")
    for _, record in records(path, "verifiers", _check):
        yield v1.WireTrace.model_validate(record)


def exported(path: str | Path) -> dict[str, dict[str, Any]]:
    """Trajectory id -> its line."""
    return {record["id"]: record for _, record in records(path, "verifiers", _check)}


def assign(trace: Any, advantages: Mapping[str, Mapping[str, Any]]) -> int:
    """Set `advantages` of every sampled node of a trace; how many tokens have one.

    The trace's lines are those of its id and of its branches; tokens say where each belongs, and where several branches
    begin with the same tokens, the line's name: siblings may have sampled the same. InputError, and a trace left as it
    was, where a line has other tokens than every branch of the trace, where two lines disagree about a node, or where
    sampled tokens are left without an advantage.
    """
    lines = [line for name, line in advantages.items() if name == trace.id or name.startswith(f"{trace.id}{BRANCH}")]
    if not lines:
        raise InputError(f"no advantages of trace {trace.id!r}")
    leaves = _leaves(trace.nodes)
    own = [_path(trace.nodes, leaf) for leaf in leaves]
    run = max(range(len(leaves)), key=lambda branch: (len(_above(trace.nodes, leaves[branch])), branch))
    found: dict[_Place, float] = {}
    for line in lines:
        mine = _branch_of(line["id"], trace.id, run)
        likely = [*own[mine : mine + 1], *own[:mine], *own[mine + 1 :]]
        nodes = [
            _Node(node["parent"], node["token_ids"], node["mask"], node.get("advantages")) for node in line["nodes"]
        ]
        for leaf in _leaves(nodes):
            for place, value in _laid(nodes, _path(nodes, leaf), likely, line["id"]):
                if found.setdefault(place, value) != value:
                    raise InputError(f"{line['id']!r} and another line differ about node {place.node} of {trace.id!r}")
    sampled = {n: sum(node.mask) for n, node in enumerate(trace.nodes) if any(node.mask)}
    for n, tokens in sampled.items():
        if any(_Place(n, k) not in found for k in range(tokens)):
            raise InputError(f"node {n} of trace {trace.id!r} has sampled tokens that were not exported")
    for n, tokens in sampled.items():
        trace.nodes[n].advantages = [found[_Place(n, k)] for k in range(tokens)]
    return sum(sampled.values())


@dataclass(frozen=True, slots=True)
class _Node:
    """What a line says of a node, named as verifiers names it."""

    parent: int | None
    token_ids: list[int]
    mask: list[bool]
    advantages: list[float] | None


class _Place(NamedTuple):
    """A sampled token: the how-manieth of its node."""

    node: int
    token: int


_Tokens: TypeAlias = list[tuple[int, _Place | None]]
"""A branch from its root: each token, and its place where it was sampled."""


def _leaves(nodes: Sequence[Any]) -> list[int]:
    inner = {node.parent for node in nodes}
    return [n for n in range(len(nodes)) if n not in inner]


def _above(nodes: Sequence[Any], leaf: int) -> list[int]:
    """A leaf and the nodes above it, up to its root."""
    above: list[int] = []
    at: int | None = leaf
    while at is not None:
        above.append(at)
        at = nodes[at].parent
    return above


def _branch_of(line: str, trace: str, run: int) -> int:
    """Which branch the reader named so: leaves are numbered in the order of the log, `run` has the trace's own name."""
    number = line.removeprefix(f"{trace}{BRANCH}")
    return int(number) if line != trace and number.isascii() and number.isdecimal() and len(number) < 10 else run


def _path(nodes: Sequence[Any], leaf: int) -> _Tokens:
    tokens: _Tokens = []
    for n in reversed(_above(nodes, leaf)):
        before = accumulate(nodes[n].mask, initial=0)
        for token, own, k in zip(nodes[n].token_ids, nodes[n].mask, before, strict=False):
            tokens.append((token, _Place(n, k) if own else None))
    return tokens


def _laid(nodes: Sequence[_Node], path: _Tokens, own: Sequence[_Tokens], name: str) -> Iterator[tuple[_Place, float]]:
    """The advantages of a line's branch, at the places of the trace's branch that begins with the same tokens."""
    ids = [token for token, _ in path]
    for branch in own:
        if [token for token, _ in branch[: len(ids)]] == ids:
            break
    else:
        raise InputError(f"no branch of the trace has the tokens of {name!r}")
    for (_, given), (_, place) in zip(path, branch, strict=False):
        values = None if given is None else nodes[given.node].advantages
        if given is None or values is None:
            continue
        if place is None:
            raise InputError(f"{name!r} trains a token that the trace did not sample")
        yield place, values[given.token]


def _check(place: str, record: Record) -> None:
    """InputError where ids, mask, log-probs and advantages of a node do not fit each other, or a parent comes later."""
    named(place, record, "id")
    for n, node in enumerate(record["nodes"]):
        where = f"{place}, node {n}"
        fit(where, token_ids=node["token_ids"], mask=node["mask"])
        sampled = [own for own in node["mask"] if own]
        fit(where, advantages=node.get("advantages") or ([] if not sampled else None), sampled=sampled)
        fit(where, logprobs=node.get("logprobs") or None, sampled=sampled)
        numbers(where, "advantages", node.get("advantages") or ())
        if node["parent"] is not None and not 0 <= node["parent"] < n:
            raise InputError(f"{where}: its parent is {node['parent']}, which is no earlier node")
