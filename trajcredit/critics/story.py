"""A trajectory as a critic reads it: what was asked, the choices in order, and what came back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from trajcredit.arrays import BOOL
from trajcredit.critics.text import leaves
from trajcredit.graph import EDGE_KINDS, SpanGraph
from trajcredit.model import Span

__all__ = ["Choice", "Event", "Story", "story_of"]

CLAIMED = 0.25
"""Edges below this weight are candidates."""
RESTS_ON = frozenset(EDGE_KINDS.index(kind) for kind in ("value", "state", "explicit", "override"))
MESSAGE = "\x00message"
"""The tool name of plain messages: no tool can be called so."""


@dataclass(slots=True)
class Choice:
    """One decision: a call with its arguments as (path, leaf), or a plain message with its text."""

    tool: str
    is_message: bool
    position: int
    """Among the calls of its turn."""
    arguments: tuple[tuple[str, Any], ...]
    text: str
    sources: tuple[str, ...]
    """Tools whose results it rests on, by the graph's claimed edges, each once."""
    n_sources: int

    @property
    def arguments_key(self) -> tuple[tuple[str, str], ...]:
        """The arguments as something that can be looked up."""
        return tuple((path, str(leaf)) for path, leaf in self.arguments)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened: choices of one turn, or a text that came in (`choice` -1: no call asked for it)."""

    choices: tuple[int, ...] = ()
    text: str = ""
    choice: int = -1
    failed: bool = False
    request: bool = False
    """A user turn before the first choice: known from the start."""


@dataclass(slots=True)
class Story:
    """One trajectory: its choices, its events in order, the texts asked before the first choice, the results."""

    choices: list[Choice] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)


def story_of(graph: SpanGraph, chosen: BOOL) -> Story:
    """The story of one graph; `chosen` bool[n] marks its decisions (`batching.decisions`)."""
    story = Story()
    spans = graph.trajectory.spans
    mine = chosen.tolist()
    number: dict[int, int] = {}
    for i, span in enumerate(spans):
        if span.kind == "user":
            story.events.append(Event(text=span.text, request=not story.choices))
            if not story.choices:
                story.requests.append(span.text)
        elif span.kind == "tool_result":
            call = -1 if span.result_of is None else number.get(span.result_of, -1)
            story.events.append(Event(text=span.text, choice=call, failed=bool(graph.is_error[i])))
            story.results.append(span.text)
        elif mine[i] and i not in number:
            made = tuple(_turn(graph, mine, i, story, number))
            story.events.append(Event(choices=made))
    return story


def _turn(graph: SpanGraph, mine: Sequence[bool], first: int, story: Story, number: dict[int, int]) -> Iterator[int]:
    """All choices of the turn of `first`: calls of one message do not see each other's results."""
    spans = graph.trajectory.spans
    turn = spans[first].turn
    for i in range(first, len(spans)):
        if spans[i].turn != turn:
            break
        if mine[i]:
            number[i] = len(story.choices)
            story.choices.append(_choice(graph, i, len(number) - 1 - number[first]))
            yield number[i]


def _choice(graph: SpanGraph, i: int, position: int) -> Choice:
    span = graph.trajectory.spans[i]
    edges = range(int(graph.parent_offsets[i]), int(graph.parent_offsets[i + 1]))
    parents = {int(graph.parents[e]) for e in edges if graph.weight[e] >= CLAIMED and int(graph.kind[e]) in RESTS_ON}
    names = {graph.trajectory.spans[p].name for p in parents}
    tools = tuple(sorted(name for name in names if name is not None))
    if span.kind != "tool_call":
        return Choice(MESSAGE, True, position, (), _said(graph.trajectory.spans, i), tools, len(parents))
    return Choice(span.name or "", False, position, tuple(_arguments(span)), "", tools, len(parents))


def _said(spans: Sequence[Span], i: int) -> str:
    """All assistant text of the turn; of a turn of reasoning alone, that."""
    turn = spans[i].turn
    if spans[i].kind != "assistant":
        return spans[i].text
    first = i
    while first > 0 and spans[first - 1].turn == turn:
        first -= 1
    return " ".join(span.text for span in spans[first : i + 1] if span.kind == "assistant")


def _arguments(span: Span) -> Iterator[tuple[str, Any]]:
    given = span.arguments if span.arguments is not None else span.arguments_raw
    if given is not None:
        yield from leaves(given)
