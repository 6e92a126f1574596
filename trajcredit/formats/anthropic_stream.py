"""The events of streamed Anthropic answers -> the answers they add up to.

| note | says |
| --- | --- |
| `cut-stream` | the stream ends before the answer does: what there is of it is kept |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from trajcredit.errors import ParseError
from trajcredit.formats.document import Document, decoded
from trajcredit.formats.split import Record
from trajcredit.model import Note

__all__ = ["CUT", "Streamed", "answers"]

TEXTS = {"text_delta": "text", "input_json_delta": "partial_json", "thinking_delta": "thinking"}
"""Kind of a delta -> the key of its text."""
CUT = Note("cut-stream", "the stream ends before the answer does: what there is of it is kept")


class Event(msgspec.Struct, gc=False):
    """One event."""

    type: str
    message: dict[str, Any] | None = None
    index: int = 0
    content_block: dict[str, Any] | None = None
    delta: dict[str, Any] | None = None
    usage: dict[str, Any] | None = None
    error: Any = None


class Streamed:
    """An answer as it comes in."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.message: dict[str, Any] = {}
        self.usage: dict[str, Any] = {}
        self.error: Any = None
        self.stopped = False
        self.stop_reason: Any = None
        self._blocks: dict[int, dict[str, Any]] = {}
        self._texts: dict[tuple[int, str], list[str]] = {}

    def take(self, event: Event) -> None:
        """Add one event."""
        if event.type == "message_start" and event.message is not None:
            self.message = event.message
            self._count(event.message.get("usage"))
        elif event.type == "content_block_start":
            self._blocks[event.index] = dict(event.content_block or {})
        elif event.type == "content_block_delta":
            self._extend(event.index, event.delta or {})
        elif event.type == "message_delta":
            self._count(event.usage)
            self.stop_reason = (event.delta or {}).get("stop_reason", self.stop_reason)
        elif event.type == "message_stop":
            self.stopped = True
        elif event.type == "error":
            self.error = event.error
            self.stopped = True

    def content(self) -> list[dict[str, Any]]:
        """Its blocks; the input of a call is the text that came."""
        for (index, key), texts in self._texts.items():
            block = self._blocks.setdefault(index, {"type": "text"})
            whole = "".join(texts)
            if key == "partial_json":
                block["input"] = whole if whole.strip() else block.get("input")
            else:
                start = block.get(key)
                block[key] = (start if isinstance(start, str) else "") + whole
        self._texts.clear()
        return [self._blocks[index] for index in sorted(self._blocks)]

    def _count(self, usage: Any) -> None:
        if isinstance(usage, dict):
            self.usage.update({key: value for key, value in usage.items() if value is not None})

    def _extend(self, index: int, delta: dict[str, Any]) -> None:
        kind = delta.get("type")
        key = TEXTS.get(kind) if isinstance(kind, str) else None
        text = delta.get(key) if key is not None else None
        if key is not None and isinstance(text, str):
            self._texts.setdefault((index, key), []).append(text)


_decode = msgspec.json.Decoder(Event).decode


def answers(document: Document) -> Iterator[tuple[Streamed, list[Note]] | ParseError]:
    """Every answer of a log of events, in order; a broken event is an error in its place."""
    stream: Streamed | None = None
    notes: list[Note] = []
    for record in document.records:
        try:
            if isinstance(record, ParseError):
                raise record
            event, mended = decoded(document, record, _decode)
        except ParseError as error:
            yield error
            continue
        if event.type == "message_start" and stream is not None:
            yield stream, [*notes, CUT]
            stream = None
        if stream is None:
            stream, notes = Streamed(record), []
        stream.take(event)
        notes += mended
        if stream.stopped:
            yield stream, notes
            stream = None
    if stream is not None and (stream.message or stream.content()):
        yield stream, [*notes, CUT]
