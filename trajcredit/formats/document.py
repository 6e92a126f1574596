"""One log as records: the JSON value, the elements of a JSON array, or the lines of JSONL, and a view to sniff at.

| note | says |
| --- | --- |
| `sanitised` | half a surrogate pair or a NUL in the record was replaced |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from hashlib import sha256
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec

from trajcredit.errors import InputError, ParseError
from trajcredit.formats.repair import mended, why
from trajcredit.model import Note, Origin, Trajectory

__all__ = ["Bytes", "Document", "Match", "Record", "decoded", "trajectories"]

Bytes: TypeAlias = bytes | msgspec.Raw
Shape: TypeAlias = Literal["value", "array", "lines", "other"]
T = TypeVar("T")

BOM = b"\xef\xbb\xbf"
HEAD = 5
"""Records a reader may sniff at."""
SANITISED = Note("sanitised", "half a surrogate pair or a NUL in the text: replaced by U+FFFD or U+2400")
REFUSED = (msgspec.DecodeError, RecursionError)

_value = msgspec.json.Decoder(msgspec.Raw)
_elements = msgspec.json.Decoder(list[msgspec.Raw])
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_any = msgspec.json.Decoder()


class Match(IntEnum):
    """How sure a reader is that a document is its own. The surest reads it; two that are equally sure are named."""

    NO = 0
    FALLBACK = 1
    """It could be read, but a reader that knows more of its keys knows better."""
    YES = 2
    """It has the keys of this format."""


@dataclass(frozen=True, slots=True)
class Record:
    """The bytes of one record and its number from 1: the line in JSONL, else the position in the array."""

    number: int
    raw: Bytes


@dataclass(frozen=True)
class Document:
    """One log: the name it goes by in ids, what its bytes hold, and what reports call it (`shown`, else the name).

    Where a method takes a record, null means that the whole file is one trajectory.
    """

    name: str
    data: bytes
    given_dataset: str | None = None
    shown: str | None = None

    @cached_property
    def _split(self) -> tuple[Shape, list[Record | ParseError]]:
        return _split(self.shown or self.name, self.data.removeprefix(BOM))

    @property
    def shape(self) -> Shape:
        """`value`: one JSON value; `array`; `lines`: JSONL; `other`: no JSON (a zip, protobuf, server-sent events)."""
        return self._split[0]

    @property
    def records(self) -> list[Record | ParseError]:
        """Every record in order; what could not be told apart is an error in its place."""
        return self._split[1]

    @cached_property
    def head(self) -> list[dict[str, msgspec.Raw]]:
        """The first JSON objects, one a record: their keys, the values still as bytes (`peek` decodes one)."""
        found = (_first_object(record.raw) for record in self.records[: 4 * HEAD] if isinstance(record, Record))
        return list(islice((fields for fields in found if fields is not None), HEAD))

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of the first JSON object."""
        return frozenset(self.head[0]) if self.head else frozenset()

    def peek(self, key: str) -> Any:
        """The value under a key of the first JSON object; null where it is absent or broken."""
        try:
            return _any.decode(self.head[0][key]) if key in self.keys else None
        except REFUSED:
            return None

    def name_of(self, record: Record | None) -> str:
        """A readable id for a trajectory that has none of its own."""
        return self.name if record is None or len(self.records) == 1 else f"{self.name}#{record.number}"

    def dataset_of(self, record: Record | None) -> str | None:
        """The file where it holds several trajectories, else its folder; or what the caller said."""
        if self.given_dataset is not None:
            return self.given_dataset
        return self.name if record is not None and len(self.records) > 1 else self._folder

    def origin_of(self, format: str, record: Record | None) -> Origin:
        """File, line or record, and the hash of its bytes."""
        data, line = (self.data, None) if record is None else (record.raw, self._line(record))
        return Origin(format, self.name, line, sha256(data).hexdigest())

    def error(self, reason: str, record: Record | None = None) -> ParseError:
        """A row of the report that names the file and, where there are several, the line or record."""
        line = None if record is None else self._line(record)
        what = "line" if self.shape == "lines" else "record"
        return ParseError(reason if line is None else f"{what} {line}: {reason}", self.shown or self.name, line)

    @cached_property
    def may_hold_nul(self) -> bool:
        """Whether any text holds U+0000."""
        return self.data.rfind(rb"\u0000") >= 0  # backwards: half the time of `in` where backslashes abound

    @cached_property
    def _folder(self) -> str | None:
        folder = PurePosixPath(self.name).parent.as_posix()
        return None if folder == "." else folder

    def _line(self, record: Record) -> int | None:
        return None if self.shape == "value" else record.number


def decoded(document: Document, record: Record, decode: Callable[[Bytes], T]) -> tuple[T, list[Note]]:
    """The typed value of a record, and a note where characters were replaced; ParseError says what breaks it."""
    if not document.may_hold_nul:
        try:
            return decode(record.raw), []
        except REFUSED:
            pass  # for half a surrogate pair, perhaps: that can be mended
    data = bytes(record.raw)
    clean = mended(data)
    try:
        value = decode(clean)
    except REFUSED as error:
        raise document.error(why(clean, error), record) from error
    return value, [] if clean == data else [SANITISED]


def trajectories(
    document: Document,
    decode: Callable[[Bytes], T],
    build: Callable[[Document, Record, T, list[Note]], Trajectory],
) -> Iterator[Trajectory | ParseError]:
    """One trajectory a record, or the error in its place: what a reader of one-record trajectories does."""
    for record in document.records:
        if isinstance(record, ParseError):
            yield record
            continue
        try:
            value, notes = decoded(document, record, decode)
            yield build(document, record, value, notes)
        except ParseError as error:
            yield error
        except InputError as error:
            yield document.error(str(error), record)


# ---------------------------------------------------------------- bytes -> records

_FIRST = re.compile(rb"\s*(\S)")
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}"]', re.DOTALL)


def _split(name: str, data: bytes) -> tuple[Shape, list[Record | ParseError]]:
    found = _FIRST.match(data)
    first = found[1] if found else b""
    if first == b"[":
        try:
            return "array", [Record(number, raw) for number, raw in enumerate(_elements.decode(data), 1)]
        except REFUSED:
            pass  # JSONL of arrays, or one element is broken
    if first and _is_json(data):
        return "value", [Record(1, data)]
    lines = [(number, line) for number, line in enumerate(data.split(b"\n"), 1) if line and not line.isspace()]
    if _are_records([line for _, line in lines[:1000]]):
        return "lines", [Record(number, line) for number, line in lines]
    if first == b"[":
        return "array", _elements_by_hand(name, data)
    return ("value", [Record(1, data)]) if first == b"{" else ("other", [])


def _is_json(data: bytes) -> bool:
    try:
        _value.decode(data)
    except REFUSED:
        return False
    return True


def _are_records(lines: list[bytes]) -> bool:
    """Whether these are lines of JSONL, some of them perhaps broken, and not one JSON text over several lines."""
    if len(lines) < 2 or (lines[0].startswith(b"[") and not _is_json(lines[0])):
        return False
    likely = sum(len(line) > 2 and line.startswith((b"{", b"[")) for line in lines)
    return _is_json(lines[0]) or 2 * likely >= len(lines)


def _elements_by_hand(name: str, data: bytes) -> list[Record | ParseError]:
    """The objects and arrays in an array that is no JSON as a whole, up to where it is torn."""
    records: list[Record | ParseError] = []
    depth = start = 0
    for token in _TOKEN.finditer(data):
        kind = token[0]
        if kind in (b"{", b"["):
            depth += 1
            start = token.start() if depth == 2 else start
        elif kind in (b"}", b"]"):
            depth -= 1
            if depth == 1:
                records.append(Record(len(records) + 1, data[start : token.end()]))
                start = token.end()
            if depth == 0:
                start = token.end()
                break
        elif kind == b'"':  # a text without an end
            break
    rest = data[start:].lstrip(b", \t\r\n")
    if rest or depth:
        at, number = len(data) - len(rest), len(records) + 1
        line = data.count(b"\n", 0, at) + 1
        what = "the array is cut off" if depth else "the array has ended, more follows"
        reason = f"record {number}: {what} at byte {at}, line {line} of the file; nothing is read from there on"
        records.append(ParseError(reason, name, number))
    return records


def _first_object(raw: Bytes) -> dict[str, msgspec.Raw] | None:
    """The object, or the first object of the array; null where there is none, or it is broken beyond mending."""
    for decode in (_fields.decode, _first_of_array, lambda data: _fields.decode(mended(bytes(data)))):
        try:
            return decode(raw)
        except REFUSED:
            pass
    return None


def _first_of_array(raw: Bytes) -> dict[str, msgspec.Raw] | None:
    elements = _elements.decode(raw)
    return _fields.decode(elements[0]) if elements else None
