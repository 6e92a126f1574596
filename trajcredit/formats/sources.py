"""Paths -> bytes: files, folders, patterns and standard input; gzip and zstd by their first bytes, step by step."""

from __future__ import annotations

import glob
import gzip
import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import zstandard

from trajcredit import settings
from trajcredit.errors import ParseError

__all__ = ["Source", "expand", "load", "unpack"]

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
LIMIT = 2 << 30
"""Decoded bytes of one compressed log; above it the file is refused, so that no small file fills the memory."""
STEP = 1 << 20
ZSTD_STEP = 8 << 10
"""Fed at a time: a zstd block of 4 bytes can stand for 128 kB, so a step of this size makes at most 256 MB."""
ZSTD_WINDOW = 1 << 27
"""What `zstd --long` asks for; a header that asks for more is refused."""


@dataclass(frozen=True, slots=True)
class Source:
    """One log to read: its path (None: standard input), and the name it goes by in ids."""

    name: str
    path: Path | None

    @property
    def shown(self) -> str:
        """What reports call it: the path as given."""
        return self.name if self.path is None else str(self.path)


def expand(paths: Iterable[str | Path]) -> Iterator[Source | ParseError]:
    """Every file that the paths name, in the order given: folders in full, sorted, hidden files left out."""
    for given in paths:
        text = str(given)
        if text == "-":
            yield Source("stdin", None)
        elif os.path.exists(text):
            yield from _walk(Path(text))
        elif glob.has_magic(text):
            found = sorted(glob.glob(text, recursive=True))
            for match in found:
                yield from _walk(Path(match))
            if not found:
                yield ParseError("no file matches this pattern", text)
        else:
            yield ParseError("no such file or folder", text)


def load(source: Source) -> bytes:
    """The decoded bytes of one log; ParseError where it cannot be read."""
    try:
        data = sys.stdin.buffer.read() if source.path is None else source.path.read_bytes()
    except OSError as error:
        raise ParseError(f"cannot be read: {error.strerror or error}", source.shown) from error
    return unpack(data, source.shown)


def unpack(data: bytes, name: str, limit: int = LIMIT) -> bytes:
    """The bytes, decoded where they are gzip or zstd; ParseError where that is damaged or too large."""
    if not data.startswith((GZIP, ZSTD)):
        return data
    decoded = bytearray()
    try:
        for step in _gunzip(data) if data.startswith(GZIP) else _unzstd(data):
            decoded += step
            if len(decoded) > limit:
                raise ParseError(f"decodes to more than {limit / 2**30:.3g} GiB: split it first", name)
    except (EOFError, zlib.error, gzip.BadGzipFile, zstandard.ZstdError) as error:
        raise ParseError(f"the compressed file is damaged or cut off: {error}", name) from error
    return bytes(decoded)


def _gunzip(data: bytes) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=BytesIO(data)) as file:
        while step := file.read(STEP):
            yield step


def _unzstd(data: bytes) -> Iterator[bytes]:
    """Frame by frame; the stream reader of the library would take a torn frame for the end."""
    frames = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW)
    frame = frames.decompressobj()
    for start in range(0, len(data), ZSTD_STEP):
        chunk = data[start : start + ZSTD_STEP]
        while chunk:
            frame = frames.decompressobj() if frame.eof else frame
            yield frame.decompress(chunk)
            chunk = frame.unused_data
    if not frame.eof:
        raise EOFError("it ends inside a zstd frame")


def _walk(path: Path) -> Iterator[Source]:
    """The file, or every regular file below the folder; the project's settings, which lie there too, are no log."""
    if not path.is_dir():
        yield Source(_name(path), path)
        return
    for folder, below, files in os.walk(path):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for file in sorted(name for name in files if not name.startswith(".") and name != settings.FILE):
            found = Path(folder, file)
            if found.is_file():
                yield Source(_name(found), found)


def _name(path: Path) -> str:
    """The path as given, without what differs between machines: `./`, `../` and the root in front."""
    text = Path(os.path.normpath(path)).as_posix()
    while text.startswith(("../", "/")):
        text = text.removeprefix("../").removeprefix("/")
    return text
