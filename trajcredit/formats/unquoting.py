"""Columns that hold messages as JSON text, as tables and data sets keep them -> the messages."""

from __future__ import annotations

from typing import Any

import msgspec

from trajcredit.errors import ParseError
from trajcredit.formats.document import Document
from trajcredit.formats.repair import mended, why
from trajcredit.formats.split import REFUSED, Bytes, Record

__all__ = ["unquoted"]

SPOKEN = frozenset({"role", "from"})
"""Keys of a message, one of which each has."""
AROUND = frozenset({"candidates", "choices", "contents", "messages"})
"""Keys of requests and answers, one of which each has."""
NAMED = frozenset({"conversations", "messages"})
"""Columns that hold messages, also where they are empty."""
PROSE = frozenset({"input", "output"})
"""Columns of text, whatever it looks like."""

_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_text = msgspec.json.Decoder(str).decode
_any = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


def unquoted(document: Document) -> Document:
    """The log with the messages in its columns of JSON text, else as it is; what is no JSON stays text."""
    columns = {
        key for seen in document.head for key, raw in seen.fields.items() if key not in PROSE and _holds(key, raw)
    }
    if not columns:
        return document
    records: list[Record | ParseError] = []
    for record in document.records:
        if isinstance(record, ParseError):
            records.append(record)
            continue
        try:
            records.append(Record(record.number, _row(record, columns)))
        except REFUSED as error:
            records.append(document.error(why(bytes(record.raw), error), record))
    return document.rewritten(records)


def _row(record: Record, columns: set[str]) -> Bytes:
    """A record with the values of these columns, where they are JSON text."""
    try:
        fields = _fields(record.raw)
    except REFUSED:
        fields = _fields(mended(bytes(record.raw)))
    for key in columns & fields.keys():
        text = _quoted(fields[key])
        if text is not None and _json(text) is not None:
            fields[key] = msgspec.Raw(text.encode())
    return _encode(fields)


def _holds(key: str, raw: msgspec.Raw) -> bool:
    """Whether the value of a column is JSON text with messages in it."""
    text = _quoted(raw)
    value = None if text is None else _json(text)
    if isinstance(value, list):
        return all(isinstance(item, dict) and item.keys() & SPOKEN for item in value) and (bool(value) or key in NAMED)
    return isinstance(value, dict) and bool(value.keys() & AROUND)


def _quoted(raw: msgspec.Raw) -> str | None:
    """The text of a value, where it begins as JSON does."""
    if bytes(memoryview(raw)[:1]) != b'"':
        return None
    try:
        text = _text(raw)
    except REFUSED:
        return None
    return text if text.lstrip()[:1] in ("[", "{") else None


def _json(text: str) -> Any:
    """The value of a text, for a look at it: half a surrogate pair in it is mended by whoever reads it."""
    for data in (text, mended(text.encode())):
        try:
            return _any(data)
        except REFUSED:
            pass
    return None
