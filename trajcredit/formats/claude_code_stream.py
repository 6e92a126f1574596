"""What `claude -p --output-format stream-json` prints: messages as they came, then how the run ended.

| note | says |
| --- | --- |
| `repeated-call` | a call was printed again before any result of it: the last time counts |
| `no-prompt` | the log has no user message: it starts with what the agent did |
| `run-error` | the run ended in an error of the program |
| `lost-message` | a line could not be read: the trajectory goes on without it |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from trajcredit.errors import InputError, ParseError
from trajcredit.formats.blocks import CALLS, add_answer, add_input, block_list, blocks_of
from trajcredit.formats.document import Document, Match, decoded
from trajcredit.formats.parts import time_of, usage_of
from trajcredit.formats.transcript import Transcript
from trajcredit.model import Note, Span, SpawnedBy, Tool, Trajectory
from trajcredit.registry import formats

__all__ = ["ClaudeCodeStream", "sessions"]

FORMAT = "claude_code_stream"
CUT = ("error_max_turns", "error_max_budget_usd")
"""How a run ends that was stopped before the agent was done."""


class Message(msgspec.Struct, gc=False):
    """An Anthropic message; each line holds some of its blocks."""

    content: Any = None
    id: str | None = None
    model: str | None = None
    usage: Any = None


class Event(msgspec.Struct, gc=False):
    """One line."""

    type: str
    subtype: str | None = None
    session_id: str | None = None
    parent_tool_use_id: str | None = None
    message: Message | None = None
    timestamp: str | int | float | None = None
    tools: list[str] | None = None
    model: str | None = None
    is_error: bool | None = None
    result: Any = None
    errors: Any = None
    index: int = -1


_event = msgspec.json.Decoder(Event)


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class ClaudeCodeStream:
    """Claude Code's printed event stream (`--output-format stream-json`), sub-agents by the call they belong to.

    Left out: cost and duration of the whole run, denied permissions. The stream holds neither prompt, times nor
    reward.
    """

    def sniff(self, document: Document) -> Match:
        """Its lines name their session, and the call they belong to or the kind of event they are."""
        for seen in document.head:
            keys = seen.fields.keys()
            if {"type", "session_id"} <= keys and ({"message", "parent_tool_use_id"} <= keys or "subtype" in keys):
                return Match.YES
        return Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """A session at a time: the agent itself, then the agents it started."""
        return sessions(document, None)


def sessions(document: Document, prompt: str | None) -> Iterator[Trajectory | ParseError]:
    """The sessions of a stream; `prompt` is what was asked, where that is known from elsewhere."""
    notes: list[Note] = []
    found: dict[str | None, list[Event]] = {}
    for index, record in enumerate(document.records):
        try:
            if isinstance(record, ParseError):
                raise record
            event, mended = decoded(document, record, _event.decode)
        except ParseError as error:
            notes.append(Note("lost-message", f"{error.reason}: left out"))
            yield error
            continue
        event.index = index
        notes += mended
        found.setdefault(event.session_id, []).append(event)
    for session, events in found.items():
        try:
            yield from _trajectories(document, session, events, prompt, notes)
        except InputError as error:
            yield document.error(str(error))
        notes = []


def _trajectories(
    document: Document, session: str | None, events: list[Event], prompt: str | None, notes: list[Note]
) -> Iterator[Trajectory]:
    called = session or document.name
    init = next((event for event in events if event.type == "system" and event.subtype == "init"), None)
    end = next((event for event in reversed(events) if event.type == "result"), None)
    agents: dict[str | None, list[Event]] = {None: []}
    for event in events:
        if event.message is not None and event.type in ("user", "assistant"):
            agents.setdefault(event.parent_tool_use_id, []).append(event)
    starts: dict[str, SpawnedBy] = {}
    roles: dict[str, str] = {}
    for agent, spoken in agents.items():
        transcript = _transcript(spoken, prompt if agent is None else None)
        name = called if agent is None else f"{called}/{agent}"
        for index, span in enumerate(transcript.spans):
            if span.kind == "tool_call" and span.call_id is not None and span.call_id in agents:
                starts[span.call_id] = SpawnedBy(name, index)
                roles[span.call_id] = _role(span)
        report = notes + transcript.notes + (_ending(end) if agent is None else [])
        if agent is None and not any(span.kind == "user" for span in transcript.spans):
            report.append(Note("no-prompt", "the log has no user message: what was asked is not in it"))
        notes = []
        yield Trajectory(
            id=name,
            dataset=document.dataset_of(None),
            role=None if agent is None else roles.get(agent, "sub-agent"),
            model=init.model if init is not None and agent is None else None,
            parent=None if agent is None else starts.get(agent, SpawnedBy(called)),
            terminated=None if agent is not None or end is None else end.subtype not in CUT,
            truncated=None if agent is not None or end is None else end.subtype in CUT,
            tools=[Tool(tool) for tool in init.tools or ()] if init is not None and agent is None else [],
            spans=transcript.spans,
            report=report,
            source=document.origin_of(FORMAT, None),
        )


def _role(span: Span) -> str:
    kind = span.arguments.get("subagent_type") if isinstance(span.arguments, dict) else None
    return kind if isinstance(kind, str) and kind else "sub-agent"


def _transcript(events: list[Event], prompt: str | None) -> Transcript:
    transcript = Transcript()
    if prompt:
        transcript.add("user", prompt, None)
    repeated = _repeated(events)
    turn: str | None = None
    start = 0
    for event in events:
        message = event.message
        assert message is not None
        first = len(transcript.spans)
        blocks = [block for block in block_list(message.content) if id(block) not in repeated]
        if event.type == "user":
            turn = None
            add_input(transcript, blocks, event.index)
        elif blocks:
            mine = message.id or turn or f"line {event.index}"
            if mine != turn:
                transcript.begin_turn()
                start = first
            turn = mine
            add_answer(transcript, blocks, event.index)
            transcript.count(usage_of(message.usage), start)
        transcript.mark(first, started_at=time_of(event.timestamp))
    if repeated:
        what = f"calls printed again before any result, of which the last counts: {len(repeated)}"
        transcript.notes.append(Note("repeated-call", what))
    transcript.finish()
    return transcript


def _repeated(events: list[Event]) -> set[int]:
    """Blocks of calls (by identity) that come again under the same id before a result of it."""
    open_calls: dict[str, Any] = {}
    repeated: set[int] = set()
    for event in events:
        content = event.message.content if event.message is not None else None
        for block in blocks_of(content, *CALLS, "tool_result"):
            call = block.get("tool_use_id") if block["type"] == "tool_result" else block.get("id")
            if not isinstance(call, str) or not call:
                continue
            before = open_calls.pop(call, None)
            if block["type"] != "tool_result":
                open_calls[call] = block
                if before is not None:
                    repeated.add(id(before))
    return repeated


def _ending(end: Event | None) -> list[Note]:
    """An error of the program itself; that there was none does not mean that the task was done."""
    if end is None or not end.is_error:
        return []
    said = end.result if isinstance(end.result, str) and end.result else end.errors
    return [Note("run-error", f"the run ended as {end.subtype}: {str(said)[:500] if said else 'no reason given'}")]
