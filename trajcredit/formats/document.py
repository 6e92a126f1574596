"""One log as its records, and the view at which readers sniff.

| note | says |
| --- | --- |
| `sanitised` | half a surrogate pair or a NUL in the record was replaced |
| `companion-missing` | a file that belongs beside the log is not there: what it would say is unknown |
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from hashlib import sha256
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, TypeVar

import msgspec

from trajcredit.errors import InputError, ParseError
from trajcredit.formats.nesting import may_nest_too_deep, nests_too_deep
from trajcredit.formats.repair import TOO_DEEP, mended, why
from trajcredit.formats.siblings import Siblings
from trajcredit.formats.sources import unpack
from trajcredit.formats.split import REFUSED, Bytes, Record, Shape, Split, split
from trajcredit.formats.unpacking import LIMIT
from trajcredit.model import Note, Origin, Trajectory

__all__ = ["HEAD", "LOOK", "Document", "Match", "Seen", "decoded", "parsed", "trajectories"]

T = TypeVar("T")

HEAD = 5
"""Objects a reader may sniff at."""
LOOK = 10_000
"""Objects that are sniffed at, one after the other, until a reader knows one."""
SANITISED = Note("sanitised", "half a surrogate pair or a NUL in the text: replaced by U+FFFD or U+2400")

_elements = msgspec.json.Decoder(list[msgspec.Raw])
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_any = msgspec.json.Decoder()


class Match(IntEnum):
    """How sure a reader is that a document is its own. The surest reads it; two that are equally sure are named."""

    NO = 0
    FALLBACK = 1
    """It could be read, but a reader that knows more of its keys knows better."""
    LIKELY = 2
    """What is said in it is in this form; a reader that knows the keys around that knows better."""
    YES = 3
    """It has the keys of this format."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A record with an object in it: its keys, the values still as bytes; of a list the first element's."""

    record: Record
    fields: dict[str, msgspec.Raw]
    raw: Bytes
    """The bytes of the record; mended where no decoder takes them as they are."""

    @property
    def is_list(self) -> bool:
        """Whether the record is a list of objects."""
        return bytes(memoryview(self.raw)[:64]).lstrip().startswith(b"[")


class _Whole:
    """What is known of the bytes of a log, whatever its records are; nothing of those that are no JSON, but packed."""

    def __init__(self, data: bytes, split: Split) -> None:
        self._data, self._split = data, split

    @cached_property
    def hash(self) -> str:
        return sha256(self._data).hexdigest()

    @cached_property
    def may_hold_nul(self) -> bool:
        # backwards: half the time of `in` where backslashes abound
        return self._split.shape == "other" or self._data.rfind(rb"\u0000") >= 0

    @cached_property
    def may_nest_too_deep(self) -> bool:
        if not self._split.is_json and self._split.shape != "lines":
            return True  # packed, or broken: each record is looked at by itself
        return may_nest_too_deep(self._data, lines=not self._split.is_json)


@dataclass(frozen=True)
class Document:
    """One log: the name it goes by in ids, what its bytes hold, and what reports call it (`shown`, else the name).

    Where a method takes a record, null means that the whole file is one trajectory.
    """

    name: str
    data: bytes
    given_dataset: str | None = None
    shown: str | None = None
    folder: str | None = None
    """What the folder is called in data sets; null: as it stands in the name."""
    siblings: Siblings | None = None
    """The files around it; null where the log came alone, over the network or on standard input."""
    limit: int = LIMIT
    """Bytes that what is packed inside of it may decode to."""
    start: int = 0
    """The record (from 0) from which on readers look at it; those before are of no known format."""

    @cached_property
    def _split(self) -> Split:
        return split(self.place, self.data)

    @property
    def place(self) -> str:
        """What reports call it."""
        return self.shown or self.name

    @cached_property
    def shape(self) -> Shape:
        """`value`: one JSON value; `array`; `lines`: JSONL, or events; `other`: no JSON (a zip, protobuf)."""
        return self._split.shape

    @cached_property
    def records(self) -> list[Record | ParseError]:
        """Every record in order; what could not be told apart is an error in its place."""
        return self._split.records

    @property
    def slips(self) -> list[ParseError]:
        """What is wrong between the records; `read` reports it, readers need not."""
        return self._split.slips

    @cached_property
    def head(self) -> list[Seen]:
        """The first JSON objects, one a record."""
        place, first = self._first
        rest = (seen for _, seen in islice(self._seen(place + 1), HEAD - 1))
        return [first, *rest] if first is not None else []

    @cached_property
    def _first(self) -> tuple[int, Seen | None]:
        """The first object, and the place of its record among the records."""
        return next(self._seen(self.start), (len(self.records), None))

    @property
    def first(self) -> Seen | None:
        """The first JSON object."""
        return self._first[1]

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of the first JSON object."""
        return frozenset(self.first.fields) if self.first else frozenset()

    def peek(self, key: str) -> Any:
        """The value under a key of the first JSON object; null where it is absent or broken."""
        known = self._peeked
        if key not in known:
            try:
                known[key] = _any.decode(self.first.fields[key]) if self.first and key in self.keys else None
            except REFUSED:
                known[key] = None
        return known[key]

    @cached_property
    def _peeked(self) -> dict[str, Any]:
        """What was peeked at: readers ask for the same."""
        return {}

    def views(self) -> Iterator[Document]:
        """The log as it looks from each of its objects on, so that odd records in front hide no format."""
        view = self
        yield view
        for _ in range(LOOK - 1):
            view = view._view(view._split, view._first[0] + 1)
            if view.first is None:
                return
            yield view

    def only(self, records: Sequence[Record | ParseError]) -> Document:
        """The same log with some of its records, each under its number."""
        view = self._of([*records], 0)
        view.__dict__["_is_alone"] = False
        return view

    def rewritten(self, records: list[Record | ParseError]) -> Document:
        """The same log with other bytes in its records."""
        return self._of(records, self.start)

    def _of(self, records: list[Record | ParseError], start: int) -> Document:
        view = self._view(Split(self.shape, records, self.slips), start)
        data = b"\n".join(bytes(record.raw) for record in records if isinstance(record, Record))
        view.__dict__["_whole"] = _Whole(data, Split("lines", []))
        return view

    def inside(self, elements: Iterable[Bytes]) -> Document:
        """The same log with the elements of a list in it as its records."""
        packed = [Record(number, raw) for number, raw in enumerate(elements, 1)]
        view = self._view(Split("array", [*packed]), self.start)
        if self.shape == "other":  # the bytes of an archive do not show what its members hold
            view.__dict__["may_hold_nul"] = any(rb"\u0000" in bytes(record.raw) for record in packed)
        return view

    def _view(self, split: Split, start: int) -> Document:
        """The same bytes as other records; what is known of the bytes is found out once for all views."""
        view = replace(self, start=start)
        view.__dict__.update(_split=split, _whole=self._whole)
        return view

    def _seen(self, start: int) -> Iterator[tuple[int, Seen]]:
        for place in range(start, len(self.records)):
            record = self.records[place]
            if isinstance(record, Record) and (found := _first_object(record.raw)) is not None:
                yield place, Seen(record, *found)

    def beside(self, *names: str) -> Document | None:
        """The first file of these names that lies beside the log, as a document; ParseError where it is damaged."""
        for name in names:
            data = None if self.siblings is None else self.siblings.read(name)
            if data is not None:
                path = posixpath.normpath(posixpath.join(posixpath.dirname(self.name), name))
                return Document(path, unpack(data, path))
        return None

    def missing(self, what: str) -> Note:
        """That a file beside the log would say more, and why it was not asked."""
        why = "" if self.siblings is not None else " (a log sent by itself has none beside it)"
        return Note("companion-missing", f"{what}{why}")

    def name_of(self, record: Record | None) -> str:
        """A readable id for a trajectory that has none of its own."""
        return self.name if record is None or self._is_alone else f"{self.name}#{record.number}"

    def dataset_of(self, record: Record | None) -> str | None:
        """The file where it holds several trajectories, else its folder; or what the caller said."""
        if self.given_dataset is not None:
            return self.given_dataset
        return self.name if record is not None and not self._is_alone else self._folder_name

    def origin_of(self, format: str, record: Record | None) -> Origin:
        """File, line or record, and the hash of its bytes."""
        if record is None:
            return Origin(format, self.name, None, self._whole.hash)
        return Origin(format, self.name, self._line(record), sha256(record.raw).hexdigest())

    def error(self, reason: str, record: Record | None = None) -> ParseError:
        """A row of the report that names the file and, where there are several, the line or record."""
        line = None if record is None else self._line(record)
        what = "line" if self.shape == "lines" else "record"
        return ParseError(reason if line is None else f"{what} {line}: {reason}", self.place, line)

    @cached_property
    def may_hold_nul(self) -> bool:
        """Whether any text holds U+0000."""
        return self._whole.may_hold_nul

    @cached_property
    def may_nest_too_deep(self) -> bool:
        """Whether a record may nest deeper than a log may, wherever the log came from."""
        return self._whole.may_nest_too_deep

    @cached_property
    def _whole(self) -> _Whole:
        return _Whole(self.data, self._split)

    @cached_property
    def _is_alone(self) -> bool:
        """Whether the log has but one record: it goes by the name of the file."""
        return len(self.records) == 1

    @cached_property
    def _folder_name(self) -> str | None:
        folder = self.folder or PurePosixPath(self.name).parent.as_posix()
        return None if folder == "." else folder

    def _line(self, record: Record) -> int | None:
        return None if self.shape == "value" else record.number


def decoded(document: Document, record: Record, decode: Callable[[Bytes], T]) -> tuple[T, list[Note]]:
    """The typed value of a record, and a note where characters were replaced; ParseError says what breaks it.

    It may nest MAX_DEPTH levels, also where `decode` does not look.
    """
    found = parsed(document, record, decode)
    if document.may_nest_too_deep and (what := nests_too_deep(bytes(record.raw))) is not None:
        raise document.error(f"{what} {TOO_DEEP}".lstrip(), record)
    return found


def parsed(document: Document, record: Record, decode: Callable[[Bytes], T]) -> tuple[T, list[Note]]:
    """The same for a record that is a whole log, of which what nests too deep is left out by whoever looks at it."""
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


def _first_object(raw: Bytes) -> tuple[dict[str, msgspec.Raw], Bytes] | None:
    """The object, or the first object of the array, and the record; null where there is none, or none can be mended."""
    found = _object_in(raw)
    if found is not None or b"\\u" not in bytes(raw):
        return None if found is None else (found, raw)
    clean = mended(bytes(raw))
    found = _object_in(clean)
    return None if found is None else (found, clean)


def _object_in(raw: Bytes) -> dict[str, msgspec.Raw] | None:
    for decode in (_fields.decode, _first_of_array):
        try:
            return decode(raw)
        except REFUSED:
            pass
    return None


def _first_of_array(raw: Bytes) -> dict[str, msgspec.Raw] | None:
    elements = _elements.decode(raw)
    return _fields.decode(elements[0]) if elements else None
