"""A log whose records are of several formats: each is read by the reader that knows it.

Records of another format are told by how they begin, for readers pass over what they do not know; what a reader then
refuses is offered to the others once more, run by run.

| note | says |
| --- | --- |
| `mixed-formats` | the log holds records of several formats: these are read as what they are |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from trajcredit.errors import ParseError
from trajcredit.formats.document import HEAD, LOOK, Document, Match
from trajcredit.formats.split import Record
from trajcredit.model import ACTION_KINDS, Note, Trajectory
from trajcredit.registry import formats

__all__ = ["Mixed"]

START = 16
"""Bytes by which records that begin alike are told."""
MOST_KINDS = 64
"""First keys of records that are looked at."""
ROWS = frozenset({"messages", "conversations", "contents"})
"""Keys by which a record is a whole log, though a reader of little knowledge only falls back on it."""

_FIRST_KEY = re.compile(rb'\s*\{\s*"([^"\\]{0,40})"')


@dataclass(slots=True)
class Mixed:
    """Reads a log by its records of one format; `known` names the format of a document by its first object."""

    known: Callable[[Document], str | None]
    left: int = LOOK
    """Records that are still looked at for another format."""

    def read(self, document: Document, format: str) -> Iterator[Trajectory | ParseError]:
        """What each record says as its own reader reads it; the format is that of the first."""
        parts = self._parts(document, format) if document.shape in ("lines", "array") else {}
        if len(parts) < 2:
            yield from self._part(document, format)
            return
        for other, records in parts.items():
            for item in self._part(document.only(records), other):
                yield item if other == format else _noted(item, format, other)

    def _parts(self, document: Document, format: str) -> dict[str, list[Record | ParseError]]:
        """The records of each format, the log's own first; none where all are of that."""
        firsts = _first_keys(document)
        if not 2 <= len(set(firsts)) <= MOST_KINDS:
            return {}
        samples: dict[bytes, list[Record | ParseError]] = {}
        for first, record in zip(firsts, document.records, strict=True):
            sample = samples.setdefault(first, [])
            if len(sample) < HEAD:
                sample.append(record)
        kinds = {key: self._of_some(document.only(sample), format) for key, sample in samples.items()}
        if all(kind == format for kind in kinds.values()):
            return {}
        parts: dict[str, list[Record | ParseError]] = {format: []}
        for first, record in zip(firsts, document.records, strict=True):
            parts.setdefault(kinds[first], []).append(record)
        return parts

    def _of_some(self, some: Document, format: str) -> str:
        """The format that is sure that records are its own, where that of the log is sure that they are not."""
        if formats.get(format)().sniff(some) != Match.NO:
            return format
        other = self.known(some)
        if other is None or "role" in some.keys:  # a message is no log, whoever said it
            return format
        return other if formats.get(other)().sniff(some) == Match.YES or some.keys & ROWS else format

    def _part(self, document: Document, format: str) -> Iterator[Trajectory | ParseError]:
        """What the reader of a format reads, and in the place of a run of errors what another one reads there."""
        records = {record.number: record for record in document.records if isinstance(record, Record)}
        several = document.shape in ("lines", "array") and len(records) > 1
        refused: list[ParseError] = []
        for item in formats.get(format)().read(document):
            if several and type(item) is ParseError and item.line in records:
                refused.append(item)
                continue
            if several and isinstance(item, Trajectory) and not _acts(item):
                item = self._rather(document, format, item, records)
            yield from self._again(document, format, refused, records) if refused else ()
            refused = []
            yield item
        yield from self._again(document, format, refused, records) if refused else ()

    def _rather(self, document: Document, format: str, empty: Trajectory, records: dict[int, Record]) -> Trajectory:
        """A record in which nobody acts as another reader reads it, if it is sure and finds somebody who does."""
        record = records.get((empty.source.line if empty.source is not None else None) or 0)
        if record is None or self.left <= 0:
            return empty
        self.left -= 1
        one = document.only([record])
        other = self.known(one)
        if other is None or other == format or formats.get(other)().sniff(one) != Match.YES:
            return empty
        found = list(formats.get(other)().read(one))
        if len(found) == 1 and isinstance(found[0], Trajectory) and _acts(found[0]):
            return replace(found[0], report=[_note(format, other), *found[0].report])
        return empty

    def _again(
        self, document: Document, format: str, refused: list[ParseError], records: dict[int, Record]
    ) -> Iterator[Trajectory | ParseError]:
        """The records that were refused as another reader reads them, or the errors where none does."""
        run = document.only([records[error.line] for error in refused if error.line is not None])
        for view in run.views():
            other = self.known(view) if self.left > 0 else format
            self.left -= 1
            if other is None or "role" in view.keys:
                continue
            found = list(self._part(view, other)) if other != format else []
            if any(isinstance(item, Trajectory) and _acts(item) for item in found):
                yield from (_noted(item, format, other) for item in found)
                return
            break
        yield from refused


def _first_keys(document: Document) -> list[bytes]:
    """The first key of every record, nothing of what is no object; most begin as the one before them does."""
    firsts: list[bytes] = []
    keys: dict[bytes, bytes] = {}  # how a record begins -> its first key, which is looked for once
    begins = key = b""
    for record in document.records:
        raw = record.raw if isinstance(record, Record) else b""
        start = raw[:START] if type(raw) is bytes else bytes(memoryview(raw)[:START])
        if not begins or not start.startswith(begins):
            begins = b""
            if start not in keys:
                found = _FIRST_KEY.match(raw, 0, 64)
                keys[start] = b"" if found is None else bytes(found[1])
                if found is not None and found.end() <= START:
                    begins = start[: found.end()]
            key = keys[start]
        firsts.append(key)
    return firsts


def _acts(trajectory: Trajectory) -> bool:
    """Whether anybody does anything in it: else it may be any object that looks like a message."""
    return any(span.kind in ACTION_KINDS for span in trajectory.spans)


def _noted(item: Trajectory | ParseError, format: str, other: str) -> Trajectory | ParseError:
    if isinstance(item, ParseError) or any(note.code == "mixed-formats" for note in item.report):
        return item
    return replace(item, report=[_note(format, other), *item.report])


def _note(format: str, other: str) -> Note:
    return Note("mixed-formats", f"the log also holds records of {format}: these are read as {other}")
