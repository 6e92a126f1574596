"""Sessions of the Google Agent Development Kit: events of several agents in one transcript.

| in an event | is |
| --- | --- |
| `author` | who speaks: `user`, or the name of an agent |
| `content` | what is said, in the form of Gemini |
| `partial` | a piece of what comes whole in a later event: left out |
| `usage_metadata`, `timestamp` | what it cost, when it ended |
| `error_code`, `error_message` | a failed request: stands as a span without credit |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from trajcredit.errors import ParseError
from trajcredit.formats.document import Document, Match, trajectories
from trajcredit.formats.entries import Entry
from trajcredit.formats.gemini_parts import Content, entry_of
from trajcredit.formats.history import Exchange, conversations, each, failure
from trajcredit.formats.labels import Labels, of_entries
from trajcredit.formats.parts import time_of, usage_of
from trajcredit.formats.split import Record
from trajcredit.model import Note, Trajectory
from trajcredit.registry import formats

__all__ = ["Adk"]

FORMAT = "adk"


class Event(msgspec.Struct, gc=False):
    """One event."""

    author: str | None = None
    content: Content | None = None
    timestamp: Any = None
    partial: bool | None = None
    usage_metadata: Any = None
    usageMetadata: Any = None  # noqa: N815 - as logged
    error_code: Any = None
    errorCode: Any = None  # noqa: N815
    error_message: Any = None
    errorMessage: Any = None  # noqa: N815


class Session(Labels, gc=False):
    """One session."""

    events: list[Event]
    past_events: list[Event] | None = None


_decode = msgspec.json.Decoder(Session).decode
_event = msgspec.json.Decoder(Event).decode


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class Adk:
    """Google ADK sessions: events of all agents in one transcript, each span with the name of its agent.

    Left out: changes of state and artifacts (`actions`), branches, pieces of answers that come whole later.
    """

    def sniff(self, document: Document) -> Match:
        """Events with an author and a content, in a session or by themselves."""
        first = document.first
        if first is None:
            return Match.NO
        if "events" in first.fields:
            raw = bytes(first.fields["events"])
            return Match.YES if b'"author"' in raw and b'"parts"' in raw else Match.NO
        is_event = "author" in first.fields and bool(first.fields.keys() & {"invocation_id", "invocationId"})
        return Match.YES if is_event else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory a session; where the records are events, one of them all."""
        if "events" in document.keys:
            return trajectories(document, _decode, _trajectory)
        return conversations(document, FORMAT, each(document, _event, _one_event))


def _trajectory(document: Document, record: Record, session: Session, notes: list[Note]) -> Trajectory:
    entries = [_entry(event) for event in (*(session.past_events or ()), *session.events)]
    return of_entries(entries, session, document, record, FORMAT, notes=notes)


def _one_event(event: Event) -> Exchange:
    return Exchange(Labels(), answers=[[_entry(event)]], goes_on=True)


def _entry(event: Event) -> Entry:
    """What one event says; results come under the name of the agent that called."""
    failed = event.error_message or event.errorMessage or event.error_code or event.errorCode
    if event.partial:
        return Entry([])
    if event.content is None:
        return failure(failed) if failed else Entry([])
    agent = event.author if event.author != "user" else None
    entry = entry_of(event.content, agent)
    entry.ended_at = time_of(event.timestamp)
    entry.usage = usage_of(event.usage_metadata or event.usageMetadata)
    return entry
