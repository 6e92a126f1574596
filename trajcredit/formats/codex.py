"""Codex rollout files: items of the Responses API with what the program noted about them.

| note | says |
| --- | --- |
| `injected-context` | messages in the user's name that the program wrote stand as system |
| `aborted-turn` | the user or the program stopped a turn: what it had begun has no result |
| `unknown-item` | an item of a type that is not known is kept as JSON |
| `several-models` | several models answered: no one of them is named |
| `lost-message` | a line could not be read: the trajectory goes on without it |
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from trajcredit.errors import InputError, ParseError
from trajcredit.formats.document import Document, Match, decoded
from trajcredit.formats.entries import Entry, write
from trajcredit.formats.items import entry_of
from trajcredit.formats.parts import time_of, usage_of
from trajcredit.formats.split import REFUSED
from trajcredit.formats.transcript import Transcript
from trajcredit.model import Note, SpawnedBy, Trajectory
from trajcredit.registry import formats

__all__ = ["Codex"]

FORMAT = "codex"
KINDS = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
INJECTED = ("<environment_context", "<user_instructions", "<permissions", "# AGENTS.md", "<INSTRUCTIONS")
"""How messages begin that the program writes in the user's name, where no event tells them from the user's."""
EXIT = re.compile(r"(?:Process exited with code|Exit code:) (-?\d+)")
"""In the first lines of what a shell gave."""
EXIT_WITHIN = 300
TOKENS = {"cached_input_tokens": "cached_tokens", "reasoning_output_tokens": "reasoning_tokens"}
OLDEST = ("ghost_snapshot",)
"""Items that neither the model nor a tool wrote."""


class Line(msgspec.Struct, gc=False):
    """One line."""

    type: str
    payload: msgspec.Raw
    timestamp: str | int | float | None = None
    index: int = -1


class Meta(msgspec.Struct, gc=False):
    """What the session is."""

    id: str | None = None
    base_instructions: Any = None
    instructions: Any = None
    source: Any = None


class Event(msgspec.Struct, gc=False):
    """What the program noted; of most kinds the items say the same."""

    type: str | None = None
    message: Any = None
    info: Any = None
    reason: Any = None
    model: str | None = None
    replacement_history: Any = None


class Shell(msgspec.Struct, gc=False):
    """How older releases logged what a shell gave."""

    output: str
    metadata: Any


class Wrapped(msgspec.Struct, gc=False):
    """Items in one object, as other software exports them."""

    items: list[dict[str, Any]]


_line = msgspec.json.Decoder(Line)
_meta = msgspec.json.Decoder(Meta)
_event = msgspec.json.Decoder(Event)
_item = msgspec.json.Decoder(dict[str, Any])
_shell = msgspec.json.Decoder(Shell)
_wrapped = msgspec.json.Decoder(Wrapped)


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class Codex:
    """Codex sessions (`rollout-*.jsonl`): items are the transcript, token counts and aborts come from events.

    Left out: events that repeat the items for the screen, encrypted reasoning, settings of turns. A rollout holds
    no reward.
    """

    def sniff(self, document: Document) -> Match:
        """Its lines have a payload, the first one of the session; or one object holds the items."""
        if document.keys >= {"type", "payload"} and document.peek("type") in KINDS:
            return Match.YES
        items = document.peek("items") if document.keys == {"items"} else None
        first = items[0] if isinstance(items, list) and items else None
        return Match.YES if isinstance(first, dict) and first.keys() & {"call_id", "role"} else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """The session."""
        session = _Session()
        for index, record in enumerate(document.records):
            try:
                if isinstance(record, ParseError):
                    raise record
                if document.keys == {"items"}:
                    wrapped, notes = decoded(document, record, _wrapped.decode)
                    for place, item in enumerate(wrapped.items):
                        session.add_item(item, place, None)
                else:
                    line, notes = decoded(document, record, _line.decode)
                    session.add(line, index)
                session.notes += notes
            except ParseError as error:
                session.notes.append(Note("lost-message", f"{error.reason}: left out"))
                yield error
            except (InputError, *REFUSED) as error:
                session.notes.append(Note("lost-message", f"record {index + 1}: {error}: left out"))
                yield document.error(str(error), record if not isinstance(record, ParseError) else None)
        session.finish()
        if session.transcript.spans:
            yield session.trajectory(document)


class _Session:
    """One session on its way to a trajectory."""

    def __init__(self) -> None:
        self.transcript = Transcript()
        self.notes: list[Note] = []
        self.meta = Meta()
        self.models: list[str] = []
        self._acted = False
        self._turn_from = 0
        self._total: Any = None
        self._last_user: int | None = None  # the span of a user's message on the line before
        self._expected = False  # an event told of a message that comes next
        self._asked: set[int] = set()
        self._users: list[int] = []

    def add(self, line: Line, index: int) -> None:
        """What one line adds."""
        if line.type == "response_item":
            item = _item.decode(line.payload)
            if item.get("type") not in OLDEST:
                self.add_item(item, index, time_of(line.timestamp))
            return
        before, self._last_user = self._last_user, None
        if line.type == "session_meta":
            self._begin(_meta.decode(line.payload))
            return
        event = _event.decode(line.payload)
        if line.type == "turn_context" and event.model and event.model not in self.models:
            self.models.append(event.model)
        elif line.type == "compacted":
            text = event.message if isinstance(event.message, str) and event.message else "context compacted"
            self._write(Entry([], started_at=time_of(line.timestamp)), index)
            self.transcript.add("meta", text, index)
        elif line.type == "event_msg":
            self._heed(event, before)

    def add_item(self, item: dict[str, Any], index: int, at: str | None) -> None:
        """The spans of one item."""
        entry = entry_of(item)
        for part in entry.parts:
            if part.kind == "tool_result":
                part.text, failed = _shell_result(part.text)
                part.error = part.error if failed is None else failed
        entry.started_at = at
        first = len(self.transcript.spans)
        self._write(entry, index)
        self._last_user = None
        if item.get("role") == "user" and len(self.transcript.spans) > first:
            self._users.append(first)
            self._last_user = first
            if self._expected:
                self._asked.add(first)
                self._last_user = None
            self._expected = False

    def _write(self, entry: Entry, index: int) -> None:
        joins = self._acted and entry.joins
        if entry.acts and not joins:
            self._turn_from = len(self.transcript.spans)
        write(self.transcript, entry, index, goes_on=joins)
        self._acted = entry.acts

    def _begin(self, meta: Meta) -> None:
        """What the session is; of one that was forked the first line counts."""
        if self.meta.id is not None:
            return
        self.meta = meta
        given = meta.base_instructions or meta.instructions
        text = given.get("text") if isinstance(given, dict) else given
        if isinstance(text, str) and text:
            self.transcript.add("system", text, None)

    def _heed(self, event: Event, before: int | None) -> None:
        if event.type == "user_message":
            self._expected = before is None
            if before is not None:
                self._asked.add(before)
        elif event.type == "token_count" and isinstance(event.info, dict):
            total, last = event.info.get("total_token_usage"), event.info.get("last_token_usage")
            if total != self._total and isinstance(last, dict):
                self._total = total
                usage = usage_of({TOKENS.get(key, key): value for key, value in last.items()})
                self.transcript.count(usage, self._turn_from)
        elif event.type == "turn_aborted":
            self.notes.append(Note("aborted-turn", f"a turn was stopped: {event.reason or 'no reason given'}"))

    def finish(self) -> None:
        """Tell the user's words from those that the program wrote in the user's name."""
        spans = self.transcript.spans
        injected = [
            place
            for place in self._users
            if (place not in self._asked if self._asked else spans[place].text.lstrip().startswith(INJECTED))
        ]
        for place in injected:
            spans[place] = msgspec.structs.replace(spans[place], kind="system")
        if injected:
            what = f"messages in the user's name that the program wrote stand as system: {len(injected)}"
            self.notes.append(Note("injected-context", what))
        if len(self.models) > 1:
            self.notes.append(Note("several-models", f"answered by {', '.join(self.models)}"))
        self.transcript.finish()

    def trajectory(self, document: Document) -> Trajectory:
        """The trajectory, once finished."""
        parent = _parent(self.meta.source)
        return Trajectory(
            id=self.meta.id or document.name_of(None),
            dataset=document.dataset_of(None),
            role=None if parent is None else "sub-agent",
            model=self.models[0] if len(self.models) == 1 else None,
            parent=None if parent is None else SpawnedBy(parent),
            spans=self.transcript.spans,
            report=self.notes + self.transcript.notes,
            source=document.origin_of(FORMAT, None),
        )


def _shell_result(text: str) -> tuple[str, bool | None]:
    """What a shell gave and whether it failed, where the text says so."""
    if text.startswith("{") and '"metadata"' in text:
        try:
            shell = _shell.decode(text)
        except REFUSED:
            return text, None
        code = shell.metadata.get("exit_code") if isinstance(shell.metadata, dict) else None
        return shell.output, code != 0 if isinstance(code, int) else None
    found = EXIT.search(text, 0, EXIT_WITHIN)
    return text, int(found[1]) != 0 if found else None


def _parent(source: Any) -> str | None:
    """The session that started this one, wherever the description of its source names it."""
    waiting = [source]
    for value in waiting:
        if isinstance(value, dict):
            parent = value.get("parent_thread_id")
            if isinstance(parent, str) and parent:
                return parent
            waiting += value.values()
    return None
