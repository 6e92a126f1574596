"""Small trajectories written as letters, and the batch of them: what most tests start from.

run("ucra", 1.0)                      user, call, its result, answer; outcome 1
run("ccrra", edges=[(1, 4)])          an explicit edge: span 4 used span 1
batch_of(run("a", 0.0), run("a", 1.0))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from trajcredit.batching import Batch, pack
from trajcredit.graph import build_graphs
from trajcredit.model import ACTION_KINDS, Edge, Reward, Span, SpanKind, Tool, Trajectory

__all__ = ["LETTERS", "batch_of", "group_of", "run"]

LETTERS: dict[str, SpanKind] = {
    "s": "system",
    "u": "user",
    "a": "assistant",
    "t": "reasoning",
    "c": "tool_call",
    "r": "tool_result",
    "m": "meta",
}
LOOK = Tool(name="look", writes=False)
"""The one tool; it changes nothing, and no text anywhere: the graph has call edges and those given, no others."""


def run(
    spans: str,
    outcome: float | None = None,
    *,
    name: str = "",
    group: str | None = "g",
    rewards: Mapping[int, float] | None = None,
    values: Sequence[float | None] | None = None,
    edges: Sequence[tuple[int, int] | tuple[int, int, float]] = (),
    turns: Sequence[int] | None = None,
    truncated: bool = False,
    bootstrap: float | None = None,
) -> Trajectory:
    """One trajectory, a letter a span (LETTERS).

    `outcome` is a reward of the whole, `rewards` are given on spans. A result answers the first call still open. A turn
    starts at an action that follows an observation, unless `turns` says otherwise. `values` runs in parallel to spans.
    """
    kinds = [LETTERS[letter] for letter in spans]
    turns = _turns(kinds) if turns is None else turns
    values = [None] * len(spans) if values is None else values
    answers = _answers(kinds)
    given = [Reward(value, span=span) for span, value in (rewards or {}).items()]
    return Trajectory(
        id=name,
        group=group,
        terminated=not truncated,
        truncated=truncated,
        bootstrap=bootstrap,
        tools=[LOOK],
        rewards=given if outcome is None else [*given, Reward(outcome)],
        spans=[
            Span(
                kind=kind,
                turn=turns[i],
                value=values[i],
                name=LOOK.name if kind in ("tool_call", "tool_result") else None,
                result_of=answers.get(i),
            )
            for i, kind in enumerate(kinds)
        ],
        edges=[Edge(e[0], e[1], "explicit", weight=e[2] if len(e) > 2 else 1.0) for e in edges],
    )


def batch_of(*runs: Trajectory, reward: str | None = None) -> Batch:
    """The batch of trajectories; those without a name become t0, t1 and so on."""
    named = [t if t.id else msgspec.structs.replace(t, id=f"t{i}") for i, t in enumerate(runs)]
    return pack(build_graphs(named), reward=reward)


def group_of(*outcomes: float | None, group: str = "g") -> list[Trajectory]:
    """Rollouts of one task, one action each; None = unscored."""
    return [run("a", outcome, group=group) for outcome in outcomes]


def _turns(kinds: Sequence[SpanKind]) -> list[int]:
    turns, current, acted = [], -1, False
    for kind in kinds:
        acts = kind in ACTION_KINDS
        current += acts and not acted
        acted = acts
        turns.append(current)
    return turns


def _answers(kinds: Sequence[SpanKind]) -> dict[int, int]:
    """Result -> the call it answers."""
    still_open: list[int] = []
    answers = {}
    for i, kind in enumerate(kinds):
        if kind == "tool_call":
            still_open.append(i)
        elif kind == "tool_result" and still_open:
            answers[i] = still_open.pop(0)
    return answers
