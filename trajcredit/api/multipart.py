"""The parts of a multipart body: files by any field name; what a client calls them is a label, never a path (T09)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from trajcredit.api.problems import RefusedError

__all__ = ["Part", "boundary_of", "parts"]

MOST_PARTS = 1000


@dataclass(frozen=True, slots=True)
class Part:
    """One file."""

    label: str | None
    data: bytes


@dataclass(slots=True)
class _Open:
    """A part that is being read."""

    headers: dict[bytes, bytes] = field(default_factory=dict)
    name: bytes = b""
    value: bytes = b""
    data: BytesIO = field(default_factory=BytesIO)


def boundary_of(content_type: str) -> bytes | None:
    """What lies between the parts; null where the body is not multipart, 422 where it does not say."""
    kind, options = parse_options_header(content_type)
    if not kind.startswith(b"multipart/"):
        return None
    if not options.get(b"boundary"):
        raise RefusedError(422, "a multipart body needs a boundary in its Content-Type", "Content-Type")
    return options[b"boundary"]


def parts(body: bytes, boundary: bytes, take: Callable[[int], None]) -> list[Part]:
    """Every part in order, but for the empty one of a form in which no file was chosen. `take` hears of their bytes."""
    reader = _Reader(take)
    try:
        reader.parser(boundary).write(body)
    except FormParserError as error:
        raise RefusedError(422, f"the multipart body is broken: {error}") from error
    if not reader.ended:
        raise RefusedError(422, "the multipart body is cut off: its last boundary is missing")
    return reader.parts


class _Reader:
    """Collects what the parser finds."""

    def __init__(self, take: Callable[[int], None]) -> None:
        self.parts: list[Part] = []
        self.ended = False
        self._take = take
        self._open = _Open()

    def parser(self, boundary: bytes) -> MultipartParser:
        """A parser that tells this reader."""
        return MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin,
                "on_header_field": self._field,
                "on_header_value": self._value,
                "on_header_end": self._header,
                "on_part_data": self._data,
                "on_part_end": self._end,
                "on_end": self._finish,
            },
        )

    def _begin(self) -> None:
        if len(self.parts) == MOST_PARTS:
            raise RefusedError(413, f"more than {MOST_PARTS:,} parts: send them in several requests")
        self._open = _Open()

    def _field(self, data: bytes, start: int, end: int) -> None:
        self._open.name += data[start:end]

    def _value(self, data: bytes, start: int, end: int) -> None:
        self._open.value += data[start:end]

    def _header(self) -> None:
        self._open.headers[self._open.name.lower()] = self._open.value
        self._open.name = self._open.value = b""

    def _data(self, data: bytes, start: int, end: int) -> None:
        self._take(end - start)
        self._open.data.write(memoryview(data)[start:end])

    def _end(self) -> None:
        disposition = self._open.headers.get(b"content-disposition", b"").decode("latin-1")
        _, options = parse_options_header(disposition)
        label = options.get(b"filename")
        data = self._open.data.getvalue()
        if data or label:
            self.parts.append(Part(None if label is None else label.decode("utf-8", "replace"), data))

    def _finish(self) -> None:
        self.ended = True
