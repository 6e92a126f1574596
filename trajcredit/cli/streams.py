"""Standard streams: closed ones, full ones, and bytes that must not steer the terminal they are written to."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO, TextIO, cast

from trajcredit.visible import visible

__all__ = [
    "binary_stdout",
    "escaped",
    "json_escape",
    "json_stdout",
    "open_closed",
    "silence",
    "xml_escape",
    "xml_stdout",
]

CLOSED = (
    ("stdin", os.O_WRONLY, "r"),  # reading it fails, as it would have
    ("stdout", os.O_RDONLY, "w"),  # so does writing
    ("stderr", os.O_WRONLY, "w"),  # nobody is told
)
"""What stands in for a stream that was closed before we started (Python has None there): /dev/null, opened so."""


def open_closed() -> None:
    """Put a stand-in in the place of each closed standard stream, also so that no file of ours gets its number."""
    for name, flags, mode in CLOSED:
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, flags), mode, encoding="utf-8"))


def silence(stream: TextIO) -> None:
    """Send what is still buffered and all that follows nowhere: at exit Python would complain of it once more."""
    with suppress(OSError):  # a stream without a number has nothing that Python would flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def binary_stdout() -> BinaryIO:
    """Standard output for bytes."""
    return sys.stdout.buffer


def json_stdout() -> BinaryIO:
    """Standard output for JSON: what could steer or hide is written as \\uXXXX, which reads back as it was."""
    return cast("BinaryIO", _Escaping(sys.stdout.buffer, json_escape))


def xml_stdout() -> BinaryIO:
    """The same for XML, as character references."""
    return cast("BinaryIO", _Escaping(sys.stdout.buffer, xml_escape))


class _Escaping(io.BufferedIOBase):
    """Whole pieces of UTF-8 on their way to `out`."""

    def __init__(self, out: BinaryIO, escape: Callable[[str], str]) -> None:
        self._out = out
        self._escape = escape

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]  # exporters and encoders write bytes
        self._out.write(escaped(data, self._escape))
        return len(data)


def escaped(data: bytes, escape: Callable[[str], str]) -> bytes:
    """UTF-8 with every character that could steer a terminal or hide from a reader escaped; newlines stay."""
    text = data.decode()
    if text.replace("\n", "").isprintable():  # true of nothing that hides, and false of little else: fast
        return data
    for character in set(text):
        if character != "\n" and visible(character) != character:
            text = text.replace(character, escape(character))
    return text.encode()


def json_escape(character: str) -> str:
    """One \\uXXXX, or two above U+FFFF."""
    units = character.encode("utf-16-be").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


def xml_escape(character: str) -> str:
    """A character reference."""
    return f"&#x{ord(character):x};"
