"""The bytes of one log -> its records: the JSON value, the elements of a JSON array, the lines of JSONL, or events."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import msgspec

from trajcredit.errors import ParseError
from trajcredit.formats.printed import Printed, printed_objects
from trajcredit.formats.repair import TOO_DEEP, mended, why

__all__ = ["REFUSED", "Bytes", "Record", "Shape", "Split", "split"]

Bytes: TypeAlias = bytes | msgspec.Raw
Shape: TypeAlias = Literal["value", "array", "lines", "other"]

BOM = b"\xef\xbb\xbf"
REFUSED = (msgspec.DecodeError, RecursionError)
MANY, SHORT = 1 << 20, 16
"""Of so many lines each would take ten times its bytes of memory; no message and no event is so short on average, which
the first million bytes tell."""
LINE = 1 << 20
"""Where lines end in a carriage return alone, the first one does before this byte."""
MOST_OPEN = 1_000_000
"""Levels that a broken array is followed down; records of far fewer are refused."""

_value = msgspec.json.Decoder(msgspec.Raw)
_elements = msgspec.json.Decoder(list[msgspec.Raw])


class Record(msgspec.Struct, frozen=True, gc=False):
    """The bytes of one record and its number from 1: the line in JSONL, else the position in the array."""

    number: int
    raw: Bytes


@dataclass(frozen=True, slots=True)
class Split:
    """The records of a log, an error in the place of each that cannot be told apart or is no JSON."""

    shape: Shape
    records: list[Record | ParseError]
    slips: list[ParseError] = field(default_factory=list)
    """What is wrong between the records and costs none: a comma that is missing, or one too many."""
    is_json: bool = False
    """The log as a whole is JSON, not only its lines, or what is left of it."""


def split(name: str, data: bytes) -> Split:
    """The records of a log; reports call it `name`."""
    start = len(BOM) if data.startswith(BOM) else 0
    data = data[start:] if start else data
    first = data[:64].lstrip()[:1] or data.lstrip()[:1]
    if first == b"[":
        try:
            elements = _elements.decode(data)
            return Split("array", [Record(number, raw) for number, raw in enumerate(elements, 1)], is_json=True)
        except REFUSED:
            pass  # JSONL of arrays, or one element is broken
    if first in (b"[", b"{") and _is_json(data):
        return Split("value", [Record(1, data)], is_json=True)
    if b"\r" in data[:LINE] and b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    least = 4 if first == b"[" else SHORT
    if len(data) > MANY and data[:MANY].count(b"\n") * least > MANY and (count := data.count(b"\n")) > MANY:
        what = f"it has {count:,} lines of {len(data) / count:.0f} bytes or so: no log is cut that small"
        return Split("other", [ParseError(what, name)])
    numbered = [(number, line) for number, line in enumerate(data.split(b"\n"), 1) if line and not line.isspace()]
    lines = [line for _, line in numbered]
    if _are_records(lines):
        return Split("lines", [Record(number, line) for number, line in numbered])
    if first == b"[":
        ways = (_TOKEN, _TOKEN_OF_LINE) if _one_a_line(lines) else (_TOKEN,)
        found = (_by_hand(name, data, start, tokens) for tokens in ways)
        return max(found, key=lambda s: sum(isinstance(record, Record) for record in s.records))
    if data[:6].lstrip().startswith(_EVENT):
        return Split("lines", _events(data))
    if printed := printed_objects(data):
        return _of_printed(name, printed)
    return Split("value", [Record(1, data)]) if first == b"{" else Split("other", [])


def _is_json(data: bytes) -> bool:
    try:
        _value.decode(data)
    except REFUSED:
        return False
    return True


# ---------------------------------------------------------------- lines


def _are_records(lines: Sequence[bytes]) -> bool:
    """Whether these are lines of JSONL, some perhaps broken, and not one JSON text over several lines, or prose."""
    if len(lines) < 2:
        return False
    if _is_whole(lines[0]):
        return True
    likely = 2 * sum(len(line) > 2 and line.startswith((b"{", b"[")) for line in lines) >= len(lines)
    if lines[0].startswith(b"{"):
        return likely
    whole = [line for line in lines if _is_whole(line)]
    if lines[0].startswith(b"["):  # an array that is broken somewhere, unless all but this line says otherwise
        return 2 * len(whole) > len(lines) - 1 and _is_whole(lines[-1])
    return bool(whole) and (likely or 2 * sum(map(len, whole)) >= sum(map(len, lines)))


def _is_whole(line: bytes) -> bool:
    return line.lstrip().startswith((b"{", b"[")) and _is_json(line)


def _of_printed(name: str, found: Printed) -> Split:
    """Objects by the line each begins in; what else was printed costs none of them, but is said."""
    records: list[Record | ParseError] = [Record(line, raw) for line, raw in found.objects]
    others = found.others
    if not others:
        return Split("lines", records)
    what = f"the first of {len(others)} lines that are no JSON" if len(others) > 1 else "no JSON"
    return Split("lines", records, [ParseError(f"line {others[0]}: {what}: left out", name, others[0])])


# ---------------------------------------------------------------- server-sent events

_EVENT = (b"data:", b"event:")
_DONE = b"[DONE]"


def _events(data: bytes) -> list[Record | ParseError]:
    """The JSON of each server-sent event, by the line it begins in; an event may go on over several `data:` lines."""
    records: list[Record | ParseError] = []
    begun, pieces = 0, list[bytes]()
    for number, line in enumerate([*data.splitlines(), b""], 1):
        if line.startswith(b"data:"):
            begun = begun if pieces else number
            pieces.append(line[5:].strip())
        elif pieces and not line.strip():
            text = b"\n".join(pieces)
            records += [] if text == _DONE or not text else [Record(begun, text)]
            pieces = []
    return records


# ---------------------------------------------------------------- broken arrays

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|(?P<open>".*)|[\[\]{},]', re.DOTALL)
_TOKEN_OF_LINE = re.compile(rb'"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+"|(?P<open>"[^\n]*)|[\[\]{},\n]')
"""As before, but no text and no element goes on in the next line: one that is torn there costs no other."""
_SOMETHING = re.compile(rb"\S")
_OF_VALUES = re.compile(rb"\s*\[\s*[\[{]")

Border: TypeAlias = Literal["array", "comma", "line", "cut", "deep"]


@dataclass(frozen=True, slots=True)
class _Slot:
    """A stretch of the outermost array, what it lies between, and where objects and arrays in it end."""

    start: int
    end: int
    ends: list[int]
    before: Border
    behind: Border


def _one_a_line(lines: Sequence[bytes]) -> bool:
    """Whether an array has its elements on a line each, most of them whole."""
    bare = [(len(line) - len(line.lstrip()), line.strip()) for line in lines]
    bare = [(indent, line) for indent, line in bare if line not in (b"[", b"]")]
    least = min((indent for indent, _ in bare), default=0)
    outer = [line.strip(b", ") for indent, line in bare if indent == least]
    return 2 * sum(any(map(_is_whole, (line, line[1:], line[:-1]))) for line in outer) >= len(outer)


def _by_hand(name: str, data: bytes, offset: int, tokens: re.Pattern[bytes]) -> Split:
    """The elements of an array that is no JSON as a whole, in their places, up to where it is torn."""
    place = _Lines(data, offset).place
    records: list[Record | ParseError] = []
    slips: list[ParseError] = []

    def refused(what: str) -> ParseError:
        return ParseError(f"record {len(records) + 1}: {what}", name, len(records) + 1)

    for slot in _slots(data, tokens):
        pieces, rest = _pieces(data, slot)
        if rest is not None and slot.behind not in ("cut", "deep"):
            pieces.append(rest)
        for nth, (start, end) in enumerate(pieces):
            if nth:
                slips.append(refused(f"no comma before it, at {place(start)}"))
            broken = _broken(data[start:end])
            whole = Record(len(records) + 1, data[start:end])
            records.append(refused(f"{broken}; it starts at {place(start)}") if broken else whole)
        if slot.behind == "deep":
            records.append(refused(f"{TOO_DEEP} at {place(slot.end)}; nothing is read from there on"))
        elif slot.behind == "cut":
            at = rest[0] if rest else len(data.rstrip())
            records.append(refused(f"the array is cut off at {place(at)}; nothing is read from there on"))
        elif not pieces and slot.behind == "comma" and slot.before != "line":
            records.append(refused(f"nothing stands before the comma at {place(slot.end)}"))
        elif not pieces and slot.behind == "array" and slot.before == "comma":
            slips.append(
                ParseError(f"no record between the last comma and the end of the array at {place(slot.end)}", name)
            )
        if slot.behind == "array" and (more := _SOMETHING.search(data, slot.end + 1)):
            what = f"the array has ended, more follows at {place(more.start())}; nothing is read from there on"
            records.append(refused(what))
    if _OF_VALUES.match(data) or any(isinstance(r, Record) and r.raw[:1] in (b"{", b"[") for r in records):
        return Split("array", records, slips)
    return Split("other", [])  # prose that starts with a bracket


def _broken(raw: bytes) -> str | None:
    """Why an element is no JSON, if it is none; what can be mended is left to whoever decodes it."""
    clean = raw if _is_json(raw) else mended(raw)
    try:
        _value.decode(clean)
    except REFUSED as error:
        return why(clean, error)
    return None


def _slots(data: bytes, tokens: re.Pattern[bytes]) -> Iterator[_Slot]:
    """The slots of the outermost array, in order; the last one lies before its end, or where it is cut off."""
    openers = bytearray()
    depth = {b"[": 0, b"{": 0}
    start = 0
    ends: list[int] = []
    before: Border = "array"
    open_text = False
    for token in tokens.finditer(data):
        kind, at = token[0], token.start()
        if kind in depth:
            openers += kind
            if len(openers) > MOST_OPEN:
                yield _Slot(start, at, ends, before, "deep")
                return
            depth[kind] += 1
            start = at + 1 if len(openers) == 1 else start
        elif kind in (b"]", b"}"):
            opener = b"[" if kind == b"]" else b"{"
            if depth[opener] > (opener == b"["):  # what is still open inside of it ends as well
                inner = openers.rindex(opener)
                for each in depth:
                    depth[each] -= openers.count(each, inner)
                del openers[inner:]
                ends += [at + 1] if len(openers) == 1 else []
            elif kind == b"]" and len(openers) == 1:
                yield _Slot(start, at, ends, before, "array")
                return
        elif token.lastgroup == "open":
            open_text = True
        elif (kind == b"," and len(openers) == 1) or (kind == b"\n" and (len(openers) > 1 or open_text)):
            border: Border = "comma" if kind == b"," else "line"
            yield _Slot(start, at, ends, before, border)
            del openers[1:]
            depth = {b"[": 1, b"{": 0}
            start, ends, before, open_text = at + 1, [], border, False
    yield _Slot(start, len(data), ends, before, "cut")


def _pieces(data: bytes, slot: _Slot) -> tuple[list[tuple[int, int]], tuple[int, int] | None]:
    """Where the objects and arrays of a slot start and end, more than one where a comma is missing; then the rest."""
    values: list[tuple[int, int]] = []
    at = slot.start
    for end in slot.ends:
        value = _SOMETHING.search(data, at, slot.end)
        if value is None or value[0] not in (b"{", b"["):
            break
        values.append((value.start(), end))
        at = end
    rest = _SOMETHING.search(data, at, slot.end)
    if rest is None:
        return values, None
    return values, (rest.start(), rest.start() + len(data[rest.start() : slot.end].rstrip()))


class _Lines:
    """Byte and line of places in a log that are asked for from front to back."""

    def __init__(self, data: bytes, offset: int) -> None:
        self._data, self._offset = data, offset
        self._at, self._line = 0, 1

    def place(self, at: int) -> str:
        """`byte B, line L of the file`."""
        self._line += self._data.count(b"\n", self._at, at)
        self._at = at
        return f"byte {at + self._offset}, line {self._line} of the file"
