"""OpenHands: event streams of both generations, and the evaluation and resolver rows that hold them.

| note | says |
| --- | --- |
| `user-call` | the user ran something: it stands as an observation |
| `unknown-event` | an event of a kind that is not known is kept as JSON |
| `run-error` | the run ended in an error |
| `lost-message` | an event could not be read: the trajectory goes on without it |
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from trajcredit.errors import InputError, ParseError, SkippedFile
from trajcredit.formats.document import Document, Match, decoded
from trajcredit.formats.openhands_v0 import Stream0
from trajcredit.formats.openhands_v1 import KINDS, Stream1
from trajcredit.formats.split import Record
from trajcredit.model import Note, Reward, Trajectory
from trajcredit.registry import formats

__all__ = ["OpenHands"]

FORMAT = "openhands"
ONE_EVENT = re.compile(r"event-(\d+)-[^/]*\.json$")
"""What a file of one event is called."""
STATE = "base_state.json"


class Row(msgspec.Struct, gc=False):
    """One run of an evaluation, or of the resolver."""

    history: list[Any] | None = None
    events: list[Any] | None = None
    instance_id: str | int | None = None
    instruction: Any = None
    issue: Any = None
    success: bool | None = None
    test_result: Any = None
    report: Any = None
    metadata: Any = None
    error: Any = None


class State(msgspec.Struct, gc=False):
    """What a conversation was set up with."""

    id: str | None = None
    agent: Any = None


_row = msgspec.json.Decoder(Row)
_event = msgspec.json.Decoder(dict[str, Any])
_state = msgspec.json.Decoder(State)


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class OpenHands:
    """OpenHands event streams (V0 and the agent SDK), evaluation outputs and resolver outputs.

    Left out: changes of the agent's state, the completion that each event repeats, costs, patches.
    """

    def sniff(self, document: Document) -> Match:
        """Events, or a row with a history of them."""
        if document.first is None:
            return Match.NO
        if _is_event(document.keys, document.peek("kind")):
            return Match.YES
        for key in ("history", "events"):
            inside = document.peek(key) if key in document.keys else None
            first = inside[0] if isinstance(inside, list) and inside else None
            first = first[0] if isinstance(first, list) and first else first
            if isinstance(first, dict) and _is_event(first.keys() | {"source"}, first.get("kind")):
                return Match.YES
        return Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory a row, or one of all events."""
        if document.keys & {"history", "events"} and not _is_event(document.keys, document.peek("kind")):
            for record in document.records:
                try:
                    if isinstance(record, ParseError):
                        raise record
                    row, notes = decoded(document, record, _row.decode)
                    yield _of_row(document, record, row, notes)
                except ParseError as error:
                    yield error
                except InputError as error:
                    yield document.error(str(error), record if isinstance(record, Record) else None)
            return
        try:
            yield from _of_events(document)
        except ParseError as error:
            yield error
        except InputError as error:
            yield document.error(str(error))


def _is_event(keys: Any, kind: Any) -> bool:
    known = isinstance(kind, str) and (kind in KINDS or kind.endswith("Event"))
    return (known and "id" in keys) or ("source" in keys and bool(keys & {"action", "observation"}))


def _of_row(document: Document, record: Record, row: Row, notes: list[Note]) -> Trajectory:
    if row.history is None and row.events is None and row.instance_id is None and row.error is None:
        raise InputError("neither `history` nor `events`: no run of OpenHands")
    events = [
        event for item in row.history or row.events or () for event in (item if isinstance(item, list) else [item])
    ]
    asked = row.instruction if isinstance(row.instruction, str) else None
    stream, lost = _told(events, asked)
    spans, report = stream.finished()
    name = None if row.instance_id is None else str(row.instance_id)
    name = name or _issue(row.issue)
    return Trajectory(
        id=name or document.name_of(record),
        dataset=document.dataset_of(record),
        task=name,
        model=stream.model or _model(row.metadata),
        terminated=None if row.error is None else False,
        rewards=_rewards(row),
        tools=stream.tools,
        spans=spans,
        turns=stream.turns,
        report=[*notes, *lost, *report, *([Note("run-error", str(row.error)[:500])] if row.error else [])],
        source=document.origin_of(FORMAT, record),
    )


def _issue(issue: Any) -> str | None:
    if not isinstance(issue, dict) or not issue.get("number"):
        return None
    return f"{issue.get('owner')}/{issue.get('repo')}#{issue['number']}"


def _model(metadata: Any) -> str | None:
    config = metadata.get("llm_config") if isinstance(metadata, dict) else None
    model = config.get("model") if isinstance(config, dict) else None
    return model if isinstance(model, str) else None


def _rewards(row: Row) -> list[Reward]:
    """What a report that was written into the row says; what the resolver's own model thinks is an opinion."""
    for place in (row.report, row.test_result):
        inner = place.get("report") if isinstance(place, dict) else None
        for verdict in (place, inner):
            resolved = verdict.get("resolved") if isinstance(verdict, dict) else None
            if isinstance(resolved, bool):
                return [Reward(float(resolved), name="resolved")]
    return [] if row.success is None else [Reward(float(row.success), "judge", name="success")]


def _told(logged: list[Any], asked: str | None) -> tuple[Stream0 | Stream1, list[Note]]:
    """The spans of events, whichever generation wrote them; `asked` is the task, where no event holds it.

    What is no object keeps its place among them: null has been reported, the rest is.
    """
    events = [event for event in logged if isinstance(event, dict)]
    stream: Stream0 | Stream1 = Stream1() if any(isinstance(event.get("kind"), str) for event in events) else Stream0()
    notes: list[Note] = []
    if asked and not any(event.get("source") == "user" or event.get("content") == asked for event in events):
        stream.transcript.add("user", asked, None)
    for index, event in enumerate(logged):
        if not isinstance(event, dict):
            notes += [] if event is None else [Note("lost-message", f"event {index}: no object: left out")]
            continue
        try:
            stream.add(event, index)
        except InputError as error:
            notes.append(Note("lost-message", f"event {index}: {error}: left out"))
    return stream, notes


def _of_events(document: Document) -> Iterator[Trajectory | ParseError]:
    """One conversation: the events in one file, or in a file each."""
    events: list[dict[str, Any] | None] = []
    notes: list[Note] = []
    found = _one_a_file(document)
    for place, record in [(file, record) for file in found or [document] for record in file.records]:
        try:
            if isinstance(record, ParseError):
                raise record
            event, mended = decoded(place, record, _event.decode)
            events.append(event)
            notes += mended
        except ParseError as error:
            events.append(None)
            notes.append(Note("lost-message", f"{error.reason}: left out"))
            yield error
    stream, lost = _told(events, None)
    spans, report = stream.finished()
    state = _state_of(document, folder=".." if found else ".")
    model = state.agent.get("llm") if state is not None and isinstance(state.agent, dict) else None
    model = model.get("model") if isinstance(model, dict) else None
    yield Trajectory(
        id=(state.id if state is not None else None) or (document.folder if found else None) or document.name_of(None),
        dataset=document.dataset_of(None),
        model=stream.model or (model if isinstance(model, str) else None),
        tools=stream.tools,
        spans=spans,
        turns=stream.turns,
        report=[*notes, *lost, *report],
        source=document.origin_of(FORMAT, None),
    )


def _one_a_file(document: Document) -> list[Document]:
    """Every event of the conversation that a file of one event belongs to, in order; none where it is no such file.

    The first file stands for all; the others are left to it.
    """
    name = document.name.rpartition("/")[2]
    siblings = document.siblings
    if siblings is None or not ONE_EVENT.search(name):
        return []
    order = siblings.once("events of OpenHands", lambda: _in_order(siblings.names()))
    if order and order[0] != name:
        raise SkippedFile(f"one event of a conversation: read with {order[0]}", document.place)
    return [file for other in order if (file := document.beside(other)) is not None]


def _in_order(names: list[str]) -> list[str]:
    """The files of one event, by the number of the event."""
    numbered = {name: int(found[1]) for name in names if (found := ONE_EVENT.search(name))}
    return sorted(numbered, key=lambda name: (numbered[name], name))


def _state_of(document: Document, folder: str) -> State | None:
    """What the conversation was set up with, where that lies beside it."""
    found = document.beside(f"{folder}/{STATE}")
    record = found.records[0] if found is not None and found.records else None
    if found is None or not isinstance(record, Record):
        return None
    try:
        return decoded(found, record, _state.decode)[0]
    except ParseError:
        return None  # of another version: it says nothing of the events
