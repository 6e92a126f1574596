"""What `codex exec --json` prints: items as they begin and end, and how each turn ended.

| item | is |
| --- | --- |
| `agent_message`, `reasoning` | text and reasoning |
| `command_execution`, `file_change`, `mcp_tool_call`, `web_search`, `todo_list` | a call, and what came back |
| `error`, what is not known | kept without credit |

| note | says |
| --- | --- |
| `unknown-item` | an item of a type that is not known is kept as JSON |
| `run-error` | a turn failed |
| `no-prompt` | the log has no user message: it starts with what the agent did |
| `lost-message` | a line could not be read: the trajectory goes on without it |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from trajcredit.errors import InputError, ParseError
from trajcredit.formats.document import Document, Match, decoded
from trajcredit.formats.entries import Entry, Part, write
from trajcredit.formats.parts import arguments_of, json_text, text_of, usage_of
from trajcredit.formats.transcript import Transcript
from trajcredit.model import Note, Trajectory
from trajcredit.registry import formats

__all__ = ["CodexExec"]

FORMAT = "codex_exec"
KINDS = ("thread.", "turn.", "item.")
CALLS = {
    "command_execution": ("command",),
    "file_change": ("changes",),
    "web_search": ("query",),
    "todo_list": ("items",),
}
"""Items that are a call -> which of their keys are its arguments."""


class Event(msgspec.Struct, gc=False):
    """One line."""

    type: str
    thread_id: str | None = None
    item: dict[str, Any] | None = None
    usage: Any = None
    error: Any = None
    message: Any = None


class Wrapped(msgspec.Struct, gc=False):
    """Events in one object, as other software exports them."""

    events: list[Event]


_event = msgspec.json.Decoder(Event)
_wrapped = msgspec.json.Decoder(Wrapped)


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class CodexExec:
    """The event stream of `codex exec --json`: commands, edits and searches with what came back.

    Left out: what is printed of an item between its start and its end. The stream holds neither prompt, times nor
    reward.
    """

    def sniff(self, document: Document) -> Match:
        """The kinds of its events."""
        kind = document.peek("type")
        if document.keys == {"events"}:
            events = document.peek("events")
            first = events[0] if isinstance(events, list) and events else None
            kind = first.get("type") if isinstance(first, dict) else None
        known = isinstance(kind, str) and kind.startswith(KINDS)
        return Match.YES if known and not document.keys & {"payload", "run_type"} else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """The thread."""
        thread = _Thread()
        for index, record in enumerate(document.records):
            try:
                if isinstance(record, ParseError):
                    raise record
                if document.keys == {"events"}:
                    wrapped, notes = decoded(document, record, _wrapped.decode)
                    for place, event in enumerate(wrapped.events):
                        thread.add(event, place)
                else:
                    event, notes = decoded(document, record, _event.decode)
                    thread.add(event, index)
                thread.notes += notes
            except ParseError as error:
                thread.notes.append(Note("lost-message", f"{error.reason}: left out"))
                yield error
            except InputError as error:
                thread.notes.append(Note("lost-message", f"record {index + 1}: {error}: left out"))
                yield document.error(str(error), record if not isinstance(record, ParseError) else None)
        thread.finish()
        if not thread.transcript.spans:
            return
        yield Trajectory(
            id=thread.name or document.name_of(None),
            dataset=document.dataset_of(None),
            spans=thread.transcript.spans,
            report=thread.notes + thread.transcript.notes,
            source=document.origin_of(FORMAT, None),
        )


class _Thread:
    """One thread on its way to a transcript."""

    def __init__(self) -> None:
        self.transcript = Transcript()
        self.notes: list[Note] = [Note("no-prompt", "the log has no user message: what was asked is not in it")]
        self.name: str | None = None
        self._acted = False
        self._turn_from = 0
        self._begun: dict[str, tuple[Entry, int]] = {}

    def add(self, event: Event, index: int) -> None:
        """What one event adds."""
        if event.type == "thread.started":
            self.name = self.name or event.thread_id
        elif event.type == "turn.started":
            self._turn_from = len(self.transcript.spans)
            self._acted = False
        elif event.type == "turn.completed":
            usage = event.usage if isinstance(event.usage, dict) else {}
            cached = {"cached_tokens": usage["cached_input_tokens"]} if "cached_input_tokens" in usage else {}
            self.transcript.count(usage_of(usage | cached), self._turn_from)
        elif event.type in ("turn.failed", "error"):
            error = event.error or event.message
            said = error.get("message") if isinstance(error, dict) else error
            self.notes.append(Note("run-error", f"a turn failed: {str(said)[:500]}"))
        elif event.item is not None:
            name = event.item.get("id") if isinstance(event.item.get("id"), str) else None
            if event.type == "item.completed":
                self._begun.pop(name or "", None)
                self._write(_entry(event.item, done=True), index)
            elif name is not None:
                self._begun[name] = (_entry(event.item, done=False), index)

    def _write(self, entry: Entry, index: int) -> None:
        write(self.transcript, entry, index, goes_on=self._acted and entry.joins)
        self._acted = entry.acts and entry.parts[-1].kind != "tool_result"

    def finish(self) -> None:
        """What began and never ended was asked for all the same."""
        for entry, index in self._begun.values():
            self._write(entry, index)
        self.transcript.finish()


def _entry(item: dict[str, Any], done: bool) -> Entry:
    kind, name = item.get("type"), item.get("id")
    call_id = name if isinstance(name, str) else None
    text = item.get("text") if isinstance(item.get("text"), str) else ""
    if kind == "agent_message":
        return Entry([Part("assistant", str(text))], acts=True, joins=True)
    if kind == "reasoning":
        return Entry([Part("reasoning", str(text))], acts=True, joins=True)
    if kind == "mcp_tool_call":
        tool = f"mcp__{item.get('server')}__{item.get('tool')}"
        call = Part("tool_call", call_id=call_id, name=tool, arguments=arguments_of(item.get("arguments")))
        answer = item.get("error") or item.get("result")
        content = answer.get("content", answer.get("message", answer)) if isinstance(answer, dict) else answer
        return _called(call, text_of(content)[0], bool(item.get("error")) or item.get("status") == "failed", done)
    if isinstance(kind, str) and kind in CALLS:
        given = {key: item[key] for key in CALLS[kind] if key in item}
        call = Part("tool_call", call_id=call_id, name=kind, arguments=arguments_of(given))
        if kind in ("web_search", "todo_list"):
            return Entry([call], acts=True, joins=True)
        code, output = item.get("exit_code"), item.get("aggregated_output")
        failed = item.get("status") in ("failed", "declined") or (isinstance(code, int) and code != 0)
        return _called(call, output if isinstance(output, str) else str(item.get("status") or ""), failed, done)
    note = None if kind == "error" else ("unknown-item", f"an item of type {kind!r}: kept as JSON")
    said = item.get("message") if kind == "error" else None
    return Entry([Part("meta", said if isinstance(said, str) else json_text(item))], note=note)


def _called(call: Part, text: str, failed: bool, done: bool) -> Entry:
    result = [Part("tool_result", text, call.call_id, call.name, error=failed)] if done else []
    return Entry([call, *result], acts=True, joins=True)
