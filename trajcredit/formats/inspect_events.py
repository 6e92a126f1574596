"""Events of an Inspect sample -> which agent each belongs to, by span and never by the order in the log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from trajcredit.formats.inspect_messages import attached

__all__ = ["Agent", "Event", "agents_of", "history"]

NOTHING = msgspec.Raw(b"null")
SCORING = ("scorer", "scorers")
LONGEST_CHAIN = 1000


class Event(msgspec.Struct, gc=False):
    """One event; which fields are there depends on its kind."""

    event: str
    id: Any = None
    parent_id: str | None = None
    span_id: str | None = None
    type: str | None = None
    name: str | None = None
    timestamp: str | None = None
    completed: str | None = None
    model: str | None = None
    input: msgspec.Raw = NOTHING
    input_refs: Any = None
    output: Any = None
    tools: msgspec.Raw = NOTHING
    function: str | None = None
    arguments: Any = None
    result: Any = None
    error: Any = None
    pending: bool | None = None

    @property
    def answer(self) -> dict[str, Any] | None:
        """What the model wrote, where it came to that."""
        choices = self.output.get("choices") if isinstance(self.output, dict) else None
        message = (
            choices[0].get("message")
            if isinstance(choices, list) and choices and isinstance(choices[0], dict)
            else None
        )
        return message if isinstance(message, dict) and not self.pending else None

    @property
    def wrote(self) -> str | None:
        """The id of the message that the model wrote."""
        answer = self.answer if self.event == "model" else None
        name = answer.get("id") if answer is not None else None
        return name if isinstance(name, str) and name else None

    @property
    def logprobs(self) -> list[float] | None:
        """The log-prob of every token that the model wrote, where all are logged."""
        choices = self.output.get("choices") if isinstance(self.output, dict) else None
        choice = choices[0] if isinstance(choices, list) and choices else None
        logged = choice.get("logprobs") if isinstance(choice, dict) else None
        tokens = logged.get("content") if isinstance(logged, dict) else None
        if not isinstance(tokens, list):
            return None
        numbers = [token.get("logprob") for token in tokens if isinstance(token, dict)]
        known = [float(number) for number in numbers if type(number) is float or type(number) is int]
        return known if known and len(known) == len(tokens) else None


@dataclass
class Agent:
    """One agent: the span it worked in (null: none of its own) and its model and tool events."""

    span: str | None
    name: str | None
    events: list[Event] = field(default_factory=list)
    call: str | None = None
    """The id of the call that started it."""
    inner: bool = False
    """It worked for another agent, or for a tool."""

    @property
    def answers(self) -> list[Event]:
        """The model events that brought an answer."""
        return [event for event in self.events if event.event == "model" and event.answer is not None]


def agents_of(events: list[Event]) -> list[Agent]:
    """The agents in the order of their first events; what scorers asked models is none of theirs."""
    begun = {event.id: event for event in events if event.event == "span_begin" and isinstance(event.id, str)}
    typed = any(span.type for span in begun.values())
    calls = _calls_of_spans(events, begun)
    found: dict[str | None, Agent] = {}
    for event in events:
        if event.event not in ("model", "tool"):
            continue
        above = list(_above(event.span_id, begun))
        if any(span.type in SCORING for span in above):
            continue
        own = next((place for place, span in enumerate(above) if span.type == "agent" or not typed), None)
        span = None if own is None else above[own]
        agent = found.get(None if span is None else span.id)
        if agent is None:
            agent = Agent(None if span is None else span.id, None if span is None else span.name)
            further = above if own is None else above[own + 1 :]
            agent.inner = any(outer.type in ("agent", "tool") for outer in further)
            agent.call = next((calls[outer.id] for outer in further if outer.id in calls), None)
            found[agent.span] = agent
        agent.events.append(event)
    return list(found.values())


def _above(span: str | None, begun: dict[Any, Event]) -> Iterator[Event]:
    """The span and those it lies in, from the inside out."""
    for _ in range(LONGEST_CHAIN):
        found = begun.get(span)
        if found is None:
            return
        yield found
        span = found.parent_id


def _calls_of_spans(events: list[Event], begun: dict[Any, Event]) -> dict[str, str]:
    """Span of a tool -> id of the call it ran for: that of the tool event beside it with its name."""
    waiting: dict[tuple[str | None, str | None], list[str]] = {}
    found: dict[str, str] = {}
    for span in begun.values():
        if span.type == "tool":
            waiting.setdefault((span.parent_id, span.name), []).append(span.id)
    for event in events:
        if event.event != "tool" or not isinstance(event.id, str):
            continue
        if event.span_id in begun and begun[event.span_id].type == "tool":
            found.setdefault(str(event.span_id), event.id)
            continue
        spans = waiting.get((event.span_id, event.function))
        if spans:
            found.setdefault(spans.pop(0), event.id)
    return found


_messages = msgspec.json.Decoder(list[dict[str, Any]])


def history(agent: Agent, pool: list[Any], attachments: dict[str, str]) -> Iterator[dict[str, Any] | None]:
    """Everything an agent's model saw and wrote, each message once; null where its context was rewritten.

    Each request repeats the one before it: what both begin with is the same. Of a context that was rewritten a message
    that keeps its id is known.
    """
    before: list[dict[str, Any]] = []
    known: set[str] = set()
    for event in agent.answers:
        asked = [attached(message, attachments) for message in _asked(event, pool)]
        answer = attached(event.answer, attachments)
        shared = 0
        for old, new in zip(before, asked, strict=False):
            if not _same(old, new):
                break
            shared += 1
        if shared < len(before):
            yield None
        for message in (*asked[shared:], answer):
            name = message.get("id")
            if isinstance(name, str):
                if name in known:
                    continue
                known.add(name)
            yield message
        before = [*asked, answer]


def _asked(event: Event, pool: list[Any]) -> list[dict[str, Any]]:
    """The messages of a request, from the pool where the log keeps each only once."""
    refs = event.input_refs if isinstance(event.input_refs, list) else []
    pooled: list[dict[str, Any]] = []
    for ref in refs:
        if isinstance(ref, list) and len(ref) == 2 and all(type(place) is int and place >= 0 for place in ref):
            pooled += [message for message in pool[ref[0] : ref[1]] if isinstance(message, dict)]
    if refs:
        return pooled
    try:
        return _messages.decode(event.input)
    except (msgspec.DecodeError, RecursionError):
        return []


def _same(old: dict[str, Any], new: dict[str, Any]) -> bool:
    if old.get("id") and new.get("id"):
        return bool(old["id"] == new["id"])
    return all(old.get(key) == new.get(key) for key in ("role", "content", "tool_calls", "tool_call_id"))
