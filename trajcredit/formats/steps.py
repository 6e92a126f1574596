"""Steps of a run in a tree: what a span export of any vendor comes down to, and the causal order of one trace.

| note | says |
| --- | --- |
| `missing-parent` | spans name a parent span that is not in the log: they stand at the top of their trace |
| `parent-cycle` | a span is its own ancestor: it stands at the top of its trace |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from trajcredit.formats.parts import Arguments
from trajcredit.formats.said import Key, Message, Piece
from trajcredit.model import Note, Reward, Tool

__all__ = ["Ids", "Step", "Trace", "in_order"]


class Ids(msgspec.Struct, gc=False):
    """Token ids of one invocation of the policy, as its server logged them."""

    prompt: list[int] | None = None
    sampled: list[int] | None = None
    logprobs: list[float] | None = None
    policy_version: str | None = None


class Step(msgspec.Struct, kw_only=True):
    """One span of a trace: a request to the model, a run of a tool, an agent, or something around them."""

    id: str
    parent: str | None = None
    at: int = 0
    """Position of its record in the log."""
    rank: int = 0
    """Its place among its siblings, where the log numbers them: that counts more than the clock."""
    kind: Literal["llm", "tool", "agent", "other"] = "other"
    name: str | None = None
    """Of a tool or an agent."""
    start: int | None = None
    end: int | None = None
    """Nanoseconds since 1970."""
    failed: bool | None = None
    why: str | None = None
    """What it failed of."""
    asked: list[Message] = []
    answered: list[Message] = []
    """Of a request to the model, or of an agent whose requests are not logged."""
    content: bool = True
    """Whether the log keeps what was said; if not, only that something was."""
    call_id: str | None = None
    arguments: Arguments | None = None
    result: str | None = None
    """Of a tool; null where the log does not keep it."""
    usage: dict[str, int | float] | None = None
    model: str | None = None
    """Of a request, by name."""
    ids: Ids | None = None
    tools: tuple[Tool, ...] = ()
    agent: str | None = None
    rewards: list[Reward] = []
    """On what this step did."""
    notes: list[tuple[str, str]] = []
    beside: list[str] = []
    """What a request around this one, or inside of it, was asked besides; set by `unwrapped`."""
    scope: Step | None = None
    """The agent, else the tool, that it happened in; set by `in_order`."""
    spawner: Step | None = None
    """The nearest tool around it; set by `in_order`."""
    around: Step | None = None
    """The nearest request around it, with no agent and no tool between them; set by `in_order`."""

    @property
    def call_key(self) -> Key:
        """By what a call that this tool answers is recognised where it has no id."""
        value = self.arguments
        text = "" if value is None else value.raw or "" if value.value is None else _sorted.encode(value.value).decode()
        return ("tool_call", self.name or "", text)

    @property
    def calls(self) -> Iterator[Piece]:
        """The calls of its answer, in order."""
        return (piece for message in self.answered for piece in message if piece.kind == "tool_call")


class Trace(msgspec.Struct, kw_only=True):
    """The steps of one run, and what is known of the whole."""

    id: str
    steps: list[Step]
    dataset: str | None = None
    task: str | None = None
    group: str | None = None
    trial: str | None = None
    policy_version: str | None = None
    rewards: list[Reward] = []
    notes: list[Note] = []


_sorted = msgspec.json.Encoder(order="deterministic")


def in_order(steps: list[Step]) -> tuple[list[Step], list[Note]]:
    """The steps in causal order: parents before children, siblings by their clock, then as logged; one of a kind."""
    by_id = {step.id: step for step in steps}
    notes = [*_orphans(steps, by_id), *_cycles(steps, by_id)]
    ordered = list(_preorder(steps, by_id))
    for step in ordered:
        _place(step, by_id)
    return ordered, notes


def _orphans(steps: Iterable[Step], by_id: dict[str, Step]) -> Iterator[Note]:
    missing = [step for step in steps if step.parent is not None and step.parent not in by_id]
    for step in missing:
        name, step.parent = step.parent, None
        if step is missing[0]:
            more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
            yield Note("missing-parent", f"span {step.id} names the parent {name}, which is not in the log{more}")


def _cycles(steps: Iterable[Step], by_id: dict[str, Step]) -> Iterator[Note]:
    """Make a root of one span of every circle of parents."""
    safe: set[str] = set()
    for step in steps:
        path: dict[str, Step] = {}
        here: Step | None = step
        while here is not None and here.id not in safe:
            if here.id in path:
                here.parent = None
                yield Note("parent-cycle", f"span {here.id} is its own ancestor: taken as the top of its trace")
                break
            path[here.id] = here
            here = by_id.get(here.parent) if here.parent is not None else None
        safe.update(path)


def _preorder(steps: Iterable[Step], by_id: dict[str, Step]) -> Iterator[Step]:
    children: dict[str | None, list[Step]] = {}
    for step in steps:
        children.setdefault(step.parent, []).append(step)
    for siblings in children.values():
        siblings.sort(key=lambda step: (step.rank, step.start is None, step.start or 0, step.at), reverse=True)
    waiting = children.get(None, [])
    while waiting:
        step = waiting.pop()
        yield step
        waiting += children.get(step.id, [])


def _place(step: Step, by_id: dict[str, Step]) -> None:
    """Scope and spawner from its parent's, which is placed before it."""
    parent = by_id.get(step.parent) if step.parent is not None else None
    if parent is None:
        return
    step.scope = parent if parent.kind in ("agent", "tool") else parent.scope
    step.spawner = parent if parent.kind == "tool" else parent.spawner
    if parent.kind not in ("agent", "tool"):
        step.around = parent if parent.kind == "llm" else parent.around
    if step.agent is None:
        step.agent = parent.agent if parent.kind != "tool" else None
