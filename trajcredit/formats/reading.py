"""Paths or bytes -> trajectories: finds the reader of each log and keeps ids apart.

| note | says |
| --- | --- |
| `duplicate-id` | another trajectory had this id: a number was added |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from trajcredit.errors import ParseError
from trajcredit.formats.document import Document, Match, Record, decoded
from trajcredit.formats.sources import expand, load, unpack
from trajcredit.model import Note, Origin, Trajectory, encode
from trajcredit.registry import formats

__all__ = ["Reader", "read", "read_bytes"]


class Reader(Protocol):
    """What a format registers: a frozen dataclass whose fields, if any, are its options."""

    def sniff(self, document: Document) -> Match:
        """How sure it is that the document is its own, judged by structure, never by the name alone."""

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """Every trajectory of the document; a record that breaks the format is an error in its place."""


def read(
    paths: str | Path | Iterable[str | Path], format: str | None = None, strict: bool = False
) -> Iterator[Trajectory | ParseError]:
    """The trajectories of files, folders, patterns and `-` (standard input), gzip and zstd included.

    The format is sniffed, or the one named. What cannot be read is a ParseError in its place, and the rest goes on;
    `strict` raises the first one instead. No two trajectories share an id.
    """
    given = [paths] if isinstance(paths, str | Path) else paths
    return _strictly(_of_files(given, format)) if strict else _of_files(given, format)


def read_bytes(
    data: bytes, name: str, format: str | None = None, dataset: str | None = None, strict: bool = False
) -> Iterator[Trajectory | ParseError]:
    """The trajectories of one log in memory; `name` is what ids and reports call it, as `read` uses the path."""
    found = _of_log(lambda: unpack(data, name), name, format, _Ids(), dataset)
    return _strictly(found) if strict else found


def _strictly(found: Iterator[Trajectory | ParseError]) -> Iterator[Trajectory]:
    for item in found:
        if isinstance(item, ParseError):
            raise item
        yield item


def _of_files(paths: Iterable[str | Path], format: str | None) -> Iterator[Trajectory | ParseError]:
    ids = _Ids()
    for source in expand(paths):
        if isinstance(source, ParseError):
            yield source
        else:
            yield from _of_log(partial(load, source), source.name, format, ids, shown=source.shown)


def _of_log(
    load: Callable[[], bytes],
    name: str,
    format: str | None,
    ids: _Ids,
    dataset: str | None = None,
    shown: str | None = None,
) -> Iterator[Trajectory | ParseError]:
    try:
        document = Document(name, load(), dataset, shown)
        format = format or _sniffed(document)
    except ParseError as error:
        yield error
        return
    reader: Reader = formats.get(format)()
    empty = True
    for found in reader.read(document):
        empty = False
        yield ids.settle(found, document) if isinstance(found, Trajectory) else found
    if empty:
        yield document.error(f"nothing in it can be read as {format}")


def _sniffed(document: Document) -> str:
    """The name of the one format that is surest; ParseError where there is none, or two."""
    matches = {name: plugin().sniff(document) for name, plugin in formats.items().items()}
    best = max(matches.values(), default=Match.NO)
    names = [name for name, match in matches.items() if match == best]
    if best == Match.NO:
        raise document.error(f"no known format: {_what_it_is(document)}")
    if len(names) > 1:
        raise document.error(f"could be {' or '.join(names)}: say which with format=")
    return names[0]


def _what_it_is(document: Document) -> str:
    """What is found in a document that no reader knows."""
    if document.keys:
        return f"its objects have the keys {', '.join(sorted(document.keys)[:10])}"
    if not document.data or document.data.isspace():
        return "the file is empty"
    first = next(iter(document.records), None)
    try:
        if isinstance(first, Record):
            decoded(document, first, msgspec.json.Decoder(dict[str, Any]).decode)
    except ParseError as error:
        first = error
    return first.reason if isinstance(first, ParseError) else "it holds no JSON objects"


class _Ids:
    """The ids given out so far, each with the records that asked for it: hash -> place."""

    def __init__(self) -> None:
        self._taken: dict[str, dict[str, str]] = {}

    def settle(self, trajectory: Trajectory, document: Document) -> Trajectory | ParseError:
        """The trajectory under an id of its own, or an error where the same record was read before."""
        content, line = _identity(trajectory, document)
        place = document.name if line is None else f"record {line} of {document.name}"
        known = self._taken.setdefault(trajectory.id, {})
        if content in known:
            reason = f"trajectory {trajectory.id!r} repeats {known[content]}: read once"
            place = document.shown or document.name
            return ParseError(reason if line is None else f"record {line}: {reason}", place, line)
        known[content] = place
        number = len(known)
        if number == 1:
            return trajectory
        while (name := f"{trajectory.id}#{number}") in self._taken:
            number += 1
        self._taken[name] = {content: place}
        note = Note("duplicate-id", f"another trajectory has the id {trajectory.id!r}: this one is {name!r}")
        return replace(trajectory, id=name, report=[*trajectory.report, note])


def _identity(trajectory: Trajectory, document: Document) -> tuple[str, int | None]:
    """Hash and line of the record; a canonical line has the origin of another file, and is hashed itself."""
    match trajectory.source:
        case Origin(file=document.name, sha256=str(content), line=line):
            return content, line
    return sha256(encode(trajectory)).hexdigest(), None
