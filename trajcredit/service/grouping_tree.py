"""The tool calls of a group as a tree of shared beginnings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import inf

from trajcredit.service.grouping_calls import Call, Rollout
from trajcredit.service.grouping_figures import mean_of

__all__ = ["Node", "Step", "tree"]


@dataclass(frozen=True, slots=True)
class Step:
    """One call as the rollouts of a node share it: its number among their calls from 1, and where each has it."""

    step: int
    call: Call
    """As the first of them wrote it: the others' differ in spacing and order of arguments at most."""
    spans: tuple[tuple[str, int], ...]
    """Id of a rollout, and the span of the call in it."""


@dataclass(frozen=True, slots=True)
class Node:
    """Calls that the same rollouts share one after the other, up to where they part.

    Nodes stand in preorder, of children the larger first, then that of lower mean, then that of the first member. The
    root has the calls that all share, often none. A node without calls is where some rollouts end and others go on.
    """

    parent: int
    """Position among the nodes; -1 of the root."""
    depth: int
    """Times that the rollouts parted before."""
    steps: tuple[Step, ...]
    members: tuple[int, ...]
    """Numbers of the rollouts in the group, in order."""
    scored: int
    mean: float | None
    differs: tuple[str, ...]
    """Arguments in which the first call differs from the one a sibling makes of the same tool."""
    leaf: bool


@dataclass(slots=True)
class _Open:
    """Rollouts that share the first `at` calls, and where this part begins."""

    rollouts: list[Rollout]
    start: int
    parent: int
    depth: int
    siblings: list[Call] = field(default_factory=list)


def tree(rollouts: Sequence[Rollout]) -> list[Node]:
    """Rollouts that begin with the same calls share nodes, whatever the order they are given in; none: no nodes."""
    nodes: list[Node] = []
    waiting = [_Open(sorted(rollouts, key=lambda one: one.number), 0, -1, 0)] if rollouts else []
    while waiting:
        part = waiting.pop()
        end = _parting(part.rollouts, part.start)
        here = len(nodes)
        branches = _branches(part.rollouts, end)
        nodes.append(_node(part, end, leaf=len(branches) <= 1))
        if len(branches) > 1:
            firsts = [own[0].calls[end] for own in branches if len(own[0].calls) > end]
            parts = [_Open(own, end, here, part.depth + 1, firsts) for own in branches]
            waiting += reversed(parts)
    return nodes


def _parting(rollouts: Sequence[Rollout], start: int) -> int:
    """The first position at which not all of them make the same call, or all of them end."""
    first = rollouts[0].calls
    shortest = min(len(one.calls) for one in rollouts)
    at = start
    while at < shortest and all(one.calls[at].key == first[at].key for one in rollouts):
        at += 1
    return at


def _branches(rollouts: Sequence[Rollout], at: int) -> list[list[Rollout]]:
    """By the call they go on with; those that end there are together."""
    found: dict[int | None, list[Rollout]] = {}
    for one in rollouts:
        found.setdefault(one.calls[at].key if len(one.calls) > at else None, []).append(one)
    return sorted(found.values(), key=_place)


def _place(rollouts: Sequence[Rollout]) -> tuple[float, ...]:
    middle = mean_of(_rewards(rollouts))
    return (-len(rollouts), inf if middle is None else middle, rollouts[0].number)


def _node(part: _Open, end: int, *, leaf: bool) -> Node:
    rewards = _rewards(part.rollouts)
    steps = tuple(
        Step(at + 1, part.rollouts[0].calls[at], tuple((one.id, one.calls[at].span) for one in part.rollouts))
        for at in range(part.start, end)
    )
    return Node(
        parent=part.parent,
        depth=part.depth,
        steps=steps,
        members=tuple(one.number for one in part.rollouts),
        scored=len(rewards),
        mean=mean_of(rewards),
        differs=tuple(_differing(steps[0].call, part.siblings)) if steps else (),
        leaf=leaf,
    )


def _differing(call: Call, siblings: Sequence[Call]) -> Iterator[str]:
    """Paths of the arguments that a sibling of the same tool has otherwise, or has not."""
    others = [dict(one.arguments) for one in siblings if one.tool == call.tool and one.key != call.key]
    for path, value in call.arguments:
        if any(own.get(path) != value for own in others):
            yield path


def _rewards(rollouts: Sequence[Rollout]) -> list[float]:
    return [one.reward for one in rollouts if one.reward is not None]
