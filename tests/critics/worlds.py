"""Small worlds whose truth is known, and runs written as steps: what tests of critics start from.

told(ask("to oslo"), call("look", {"to": "oslo"}), got("{}"), say("done"), outcome=1.0)
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import msgspec
import numpy as np

from tests.build import batch_of
from trajcredit.arrays import F64
from trajcredit.batching import Batch, decisions
from trajcredit.critics.story import Story, story_of
from trajcredit.critics.words import Vocabulary
from trajcredit.model import ACTION_KINDS, Reward, Span, SpanKind, Tool, Trajectory

__all__ = [
    "NO_WORDS",
    "Step",
    "ask",
    "assert_same",
    "by_trajectory",
    "call",
    "desk",
    "got",
    "order",
    "picked",
    "renamed",
    "renumbered",
    "rewarded",
    "say",
    "story",
    "think",
    "told",
    "with_tools",
]

TOOLS = ("look", "note", "pick", "book")
CITIES = ("oslo", "rome", "lima", "kiev", "cairo", "delhi", "quito", "paris", "tunis", "sofia", "dhaka", "accra")
KINDS = ("window", "aisle", "middle")
NO_WORDS = Vocabulary(*(frozenset[Any]() for _ in range(7)))


@dataclass(frozen=True)
class Step:
    """One span, before it has a turn."""

    kind: SpanKind
    text: str = ""
    name: str | None = None
    arguments: Any = None
    raw: str | None = None
    answers: int | None = 0
    """Of a result: which of the calls still open it answers; None = no call."""
    error: bool | None = None


def ask(text: str) -> Step:
    """The user says something."""
    return Step("user", text)


def say(text: str) -> Step:
    """The agent says something."""
    return Step("assistant", text)


def think(text: str) -> Step:
    """The agent reasons."""
    return Step("reasoning", text)


def call(tool: str, arguments: Any = None, raw: str | None = None) -> Step:
    """The agent calls a tool."""
    return Step("tool_call", name=tool, arguments=arguments, raw=raw)


def got(value: Any, answers: int | None = 0, error: bool | None = None) -> Step:
    """A result, of the call asked first unless said otherwise: text, or what is written as JSON."""
    return Step("tool_result", value if isinstance(value, str) else json.dumps(value), answers=answers, error=error)


def told(
    *steps: Step,
    outcome: float | None = None,
    name: str = "",
    group: str = "g",
    tools: Sequence[str] = TOOLS,
    rewards: Mapping[int, float] | None = None,
) -> Trajectory:
    """One run; a turn starts at an action that follows an observation."""
    spans: list[Span] = []
    still_open: list[int] = []
    turn, acted = -1, False
    for i, step in enumerate(steps):
        acts = step.kind in ACTION_KINDS
        turn, acted = turn + (acts and not acted), acts
        answered = step.kind == "tool_result" and step.answers is not None and still_open
        result_of = still_open.pop(step.answers or 0) if answered else None
        tool = step.name if result_of is None else spans[result_of].name
        if step.kind == "tool_call":
            still_open.append(i)
        spans.append(
            Span(step.kind, turn, step.text, name=tool, arguments=step.arguments, arguments_raw=step.raw,
                 result_of=result_of, error=step.error)
        )  # fmt: skip
    given = [Reward(value, span=span) for span, value in (rewards or {}).items()]
    return Trajectory(
        id=name,
        group=group,
        terminated=True,
        rewards=given if outcome is None else [*given, Reward(outcome)],
        tools=[Tool(tool, writes=tool == "book") for tool in tools],
        spans=spans,
    )


def story(*steps: Step) -> Story:
    """The story of one run."""
    batch = batch_of(told(*steps, name="t"))
    assert batch.graphs is not None
    return story_of(batch.graphs[0], decisions(batch))


def desk(groups: int = 12, rollouts: int = 4, seed: int = 0, wrong: float = 0.4) -> list[Trajectory]:
    """A travel desk: a run is won where the seat that is picked is of the kind that was asked for, and by nothing else.

    Every run looks, takes a note of something and picks, the last two in any order, and says that it is done.
    """
    random = Random(seed)
    runs = []
    for g in range(groups):
        city, kind = CITIES[g % len(CITIES)], KINDS[g % len(KINDS)]
        for k in range(rollouts):
            right = random.random() >= wrong
            taken = kind if right else random.choice([other for other in KINDS if other != kind])
            seats = [
                {"seat": f"{row}{random.randint(10, 99)}", "kind": one} for row, one in zip("xyz", KINDS, strict=True)
            ]
            steps = [
                (call("note", {"about": random.choice([city, "weather", "price"])}), got("noted")),
                (call("pick", {"kind": taken}), got({"ok": True})),
            ]
            random.shuffle(steps)
            runs.append(
                told(
                    ask(f"a {kind} seat to {city} please"),
                    call("look", {"to": city}),
                    got({"seats": seats}),
                    *(step for pair in steps for step in pair),
                    say("done"),
                    outcome=float(right),
                    name=f"run-{g}-{k}",
                    group=f"task-{g}",
                )
            )
    return runs


def order(runs: Sequence[Trajectory], seed: int) -> list[Trajectory]:
    """The same runs in another order of storage."""
    shuffled = list(runs)
    Random(seed).shuffle(shuffled)
    return shuffled


def picked(batch: Batch, tool: str = "pick") -> list[int]:
    """The call of that tool in every trajectory, as a position in the batch."""
    assert batch.graphs is not None
    return [
        int(start) + next(i for i, span in enumerate(graph.trajectory.spans) if span.name == tool)
        for start, graph in zip(batch.span_offsets, batch.graphs, strict=False)
    ]


def rewarded(run: Trajectory, outcome: float | None) -> Trajectory:
    """The same run with another outcome."""
    return msgspec.structs.replace(run, rewards=[] if outcome is None else [Reward(outcome)])


def by_trajectory(batch: Batch, column: str = "advantage_forecast") -> dict[str, F64]:
    ends = batch.span_offsets
    return {name: getattr(batch, column)[ends[t] : ends[t + 1]] for t, name in enumerate(batch.trajectory_ids)}


def assert_same(found: dict[str, F64], wanted: dict[str, F64], atol: float = 0.0) -> None:
    assert found.keys() == wanted.keys()
    for name, numbers in wanted.items():
        np.testing.assert_allclose(found[name], numbers, rtol=0, atol=atol, err_msg=name)


def renumbered(runs: Sequence[Trajectory], prefix: str) -> list[Trajectory]:
    """The same runs under other names, of other groups."""
    return [msgspec.structs.replace(one, id=f"{prefix}-{one.id}", group=f"{prefix}-{one.group}") for one in runs]


def renamed(runs: Sequence[Trajectory], names: Mapping[str, str]) -> list[Trajectory]:
    """The same runs with other names of tools; those not named stay."""
    replaced = msgspec.structs.replace
    return [
        replaced(
            one,
            spans=[replaced(s, name=None if s.name is None else names.get(s.name, s.name)) for s in one.spans],
            tools=[replaced(tool, name=names.get(tool.name, tool.name)) for tool in one.tools],
        )
        for one in runs
    ]


def with_tools(runs: Sequence[Trajectory], prefix: str) -> list[Trajectory]:
    """The same runs with tools that share no name with the others'."""
    return renamed(runs, {name: f"{prefix}_{name}" for name in TOOLS})
