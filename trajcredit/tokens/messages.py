"""Trajectory -> chat messages, the one place where spans become what chat templates and fine-tuning files take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import msgspec

from trajcredit.errors import InputError
from trajcredit.model import ACTION_KINDS, Span, Trajectory

__all__ = ["ChatCall", "ChatMessage", "Part", "Role", "arguments_text", "chat_messages", "chat_tools"]

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
Field: TypeAlias = Literal["reasoning", "content", "call"]

ROLES: dict[str, Role] = {"system": "system", "user": "user", "meta": "user"}
"""Kind of what the agent was told -> role."""
BETWEEN = "\n\n"
"""Stands between two texts of one message; it belongs to no span."""

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Part:
    """Which span a piece of a message came from: characters start:end of the field, of a call those of its arguments.

    Of a message the parts are in order of reasoning, content and calls; call parts are parallel to `calls`. Those of
    one field never overlap.
    """

    field: Field
    span: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ChatCall:
    """One entry of `tool_calls`; `arguments` is text, as OpenAI's API has it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message, and which spans it came from."""

    role: Role
    content: str | None
    """None only where an assistant called tools and said nothing."""
    parts: tuple[Part, ...]
    reasoning: str | None = None
    calls: tuple[ChatCall, ...] = ()
    call_id: str | None = None
    """Of a tool message: the call it answers."""
    name: str | None = None
    """Of a tool message the tool; of an assistant the agent, where the transcript has several."""

    @property
    def spans(self) -> tuple[int, ...]:
        """The spans it came from, each once, in order of their parts."""
        return tuple(dict.fromkeys(part.span for part in self.parts))

    def as_dict(self) -> dict[str, Any]:
        """The message as fine-tuning files have it (OpenAI chat; `reasoning_content` as chat templates read it)."""
        message: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.reasoning is not None:
            message["reasoning_content"] = self.reasoning
        if self.calls:
            message["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in self.calls
            ]
        if self.call_id is not None:
            message["tool_call_id"] = self.call_id
        if self.name is not None:
            message["name"] = self.name
        return message


def chat_messages(trajectory: Trajectory) -> list[ChatMessage]:
    """The whole transcript as chat messages, in order; every span with something in it is in exactly one message.

    One policy invocation is one assistant message: its reasoning, its text, its calls, in that order of fields
    whatever the order they were written in; several texts of one field are joined by an empty line. Text or reasoning
    that follows a result of its own turn (tools that run at the server) begins a new message, so that nothing stands
    before what it rests on; a call there joins its turn, since calls of one turn never depend on each other. Results
    come right after the message of their calls, before whatever else the agent was told in between; several results of
    one call are one tool message.

    A `meta` span (the summary after a compaction, a notice of the program) is a user message: the policy did not write
    it, a chat has no role of its own for it, and programs hand it over so. The transcript keeps what stood before a
    compaction, which the policy no longer saw: whoever needs its context exactly begins a new row there.

    A call that was written as text is a call like any other, its text being cut out by the reader; where the text
    still holds it (the tool's name and the arguments as logged), the text stands alone, its characters belong to the
    call, and the result is a user message, for nothing is there that a tool message could answer. Call ids are the
    log's, replaced by `call_<span>` where it has none or used one before. Assistants have a `name` where several agents
    take turns.

    InputError names the span: a result that answers no call, or one that came after the agent went on (the message of
    its call is closed: a chat has no place for it), or a call that names no tool.
    """
    spans = trajectory.spans
    written = _written(spans)
    ids = _call_ids(spans)
    named = len({span.agent for span in spans if span.kind in ACTION_KINDS and span.agent is not None}) > 1
    messages: list[ChatMessage] = []
    for acting, seen in _exchanges(spans):
        if acting:
            messages.append(_assistant(spans, acting, written, ids, named))
        results, told = _results(spans, acting, seen)
        for call, answers in results.items():
            role: Role = "user" if call in written else "tool"
            answer = (None, None) if call in written else (ids[call], spans[call].name)
            messages.append(_said(role, spans, answers, *answer))
        messages += [_said(ROLES[spans[i].kind], spans, [i]) for i in told]
    return messages


def chat_tools(trajectory: Trajectory) -> list[dict[str, Any]]:
    """The declared tools as OpenAI's API and chat templates take them; what the log does not say is left out."""
    return [{"type": "function", "function": _declared(tool.name, tool)} for tool in trajectory.tools]


def arguments_text(span: Span) -> str:
    """The arguments of a call as text.

    As logged, where that is JSON of the decoded value; else the value as JSON; else (no JSON at all) as logged. A call
    without any has `{}`.
    """
    raw = span.arguments_raw
    if span.arguments is None:
        return raw if raw is not None and raw.strip() else "{}"
    if raw is not None:
        try:
            if _decode(raw) == span.arguments:
                return raw
        except (msgspec.DecodeError, RecursionError):
            pass
    return _encode(span.arguments).decode()


def _declared(name: str, tool: Any) -> dict[str, Any]:
    known = {"description": tool.description, "parameters": tool.parameters}
    return {"name": name, **{key: value for key, value in known.items() if value is not None}}


def _exchanges(spans: Sequence[Span]) -> Iterator[tuple[list[int], list[int]]]:
    """What one assistant message holds, and what was observed until the next; the first may hold no action."""
    acting: list[int] = []
    seen: list[int] = []
    for i, span in enumerate(spans):
        if span.kind not in ACTION_KINDS:
            seen.append(i)
        elif acting and _goes_on(spans[acting[-1]], span, bool(seen)):
            acting.append(i)
        else:
            if acting or seen:
                yield acting, seen
            acting, seen = [i], []
    if acting or seen:
        yield acting, seen


def _goes_on(last: Span, span: Span, observed: bool) -> bool:
    """Whether an action is of the message that the action before it is of."""
    same_agent = last.agent is None or span.agent is None or last.agent == span.agent
    return last.turn == span.turn and same_agent and (not observed or span.kind == "tool_call")


def _results(
    spans: Sequence[Span], acting: Sequence[int], seen: Sequence[int]
) -> tuple[dict[int, list[int]], list[int]]:
    """Call -> its results, in the order of the first of each; and what else the agent was told."""
    results: dict[int, list[int]] = {}
    told: list[int] = []
    calls = {i for i in acting if spans[i].kind == "tool_call"}
    for i in seen:
        call = spans[i].result_of
        if spans[i].kind != "tool_result":
            told.append(i)
        elif call is None:
            raise InputError(f"span {i} is a result that answers no call: a chat has no place for it")
        elif call not in calls:
            why = "came after the agent went on: a chat has no place for it"
            raise InputError(f"span {i}, a result of the call at span {call}, {why}")
        else:
            results.setdefault(call, []).append(i)
    return results, told


def _said(
    role: Role, spans: Sequence[Span], which: Sequence[int], call_id: str | None = None, name: str | None = None
) -> ChatMessage:
    content, parts = _joined("content", [(i, spans[i].text) for i in which])
    return ChatMessage(role, content or "", parts, call_id=call_id, name=name)


def _assistant(
    spans: Sequence[Span],
    acting: Sequence[int],
    written: Mapping[int, tuple[int, int, int]],
    ids: Mapping[int, str],
    named: bool,
) -> ChatMessage:
    texts = [(i, spans[i].text) for i in acting if spans[i].kind == "assistant"]
    thoughts = [(i, spans[i].text) for i in acting if spans[i].kind == "reasoning"]
    own = [i for i in acting if spans[i].kind == "tool_call" and i not in written]
    content, content_parts = _joined("content", texts)
    reasoning, reasoning_parts = _joined("reasoning", thoughts)
    calls = tuple(_call(i, spans[i], ids[i]) for i in own)
    parts = [
        *reasoning_parts,
        *_cut_out(content_parts, {call: place for call, place in written.items() if call in acting}),
        *(Part("call", i, 0, len(call.arguments)) for i, call in zip(own, calls, strict=True)),
    ]
    agent = next((spans[i].agent for i in acting if spans[i].agent is not None), None)
    return ChatMessage(
        "assistant",
        content if content is not None or calls else "",
        tuple(parts),
        reasoning=reasoning,
        calls=calls,
        name=agent if named else None,
    )


def _call(index: int, span: Span, call_id: str) -> ChatCall:
    if not span.name:
        raise InputError(f"span {index} is a call that names no tool: a chat has no place for it")
    return ChatCall(call_id, span.name, arguments_text(span))


def _joined(field: Field, texts: Sequence[tuple[int, str]]) -> tuple[str | None, tuple[Part, ...]]:
    """The texts with an empty line between them, and where each stands; None where all are empty."""
    parts: list[Part] = []
    joined = ""
    for span, text in texts:
        start = len(joined) + (len(BETWEEN) if joined and text else 0)
        joined = joined + BETWEEN + text if joined and text else joined + text
        parts.append(Part(field, span, start, start + len(text)))
    return joined or None, tuple(parts)


def _cut_out(parts: Sequence[Part], written: Mapping[int, tuple[int, int, int]]) -> Iterator[Part]:
    """The parts of a content, the characters of calls that it holds being the calls' own."""
    for part in parts:
        at = part.start
        held = sorted((start, end, call) for call, (owner, start, end) in written.items() if owner == part.span)
        for start, end, call in held:
            if part.start + start > at:
                yield Part("content", part.span, at, part.start + start)
            yield Part("content", call, part.start + start, part.start + end)
            at = part.start + end
        if at < part.end or not held:
            yield Part("content", part.span, at, part.end)


def _written(spans: Sequence[Span]) -> dict[int, tuple[int, int, int]]:
    """Calls that a text of their own turn still holds: the span of that text, and where in it the arguments stand."""
    found: dict[int, tuple[int, int, int]] = {}
    searched: dict[int, int] = {}
    for i, span in enumerate(spans):
        if not span.inferred or not span.name or not span.arguments_raw or not span.arguments_raw.strip():
            continue
        for j in range(i - 1, -1, -1):
            if spans[j].turn != span.turn or spans[j].kind not in ACTION_KINDS:
                break
            if spans[j].kind != "assistant" or span.name not in spans[j].text:
                continue
            start = spans[j].text.find(span.arguments_raw, searched.get(j, 0))
            if start >= 0:
                searched[j] = start + len(span.arguments_raw)
                found[i] = (j, start, searched[j])
                break
    return found


def _call_ids(spans: Sequence[Span]) -> dict[int, str]:
    """An id for every call, no two alike: the log's, where it has one that no call before had."""
    logged = {span.call_id for span in spans if span.kind == "tool_call" and span.call_id}
    ids: dict[int, str] = {}
    used: set[str] = set()
    for i, span in enumerate(spans):
        if span.kind != "tool_call":
            continue
        call_id = span.call_id
        if not call_id or call_id in used:
            call_id = f"call_{i}"
            while call_id in logged:
                call_id += "_"
        used.add(call_id)
        ids[i] = call_id
    return ids
