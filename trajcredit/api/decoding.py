"""gzip and zstd undone step by step: no small body fills the memory, whatever it says of itself (T04)."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO

import zstandard

from trajcredit.api.problems import RefusedError

__all__ = ["CODINGS", "coding_names", "undone"]

CODINGS = ("gzip", "zstd")
MOST_LAYERS = 4
"""Compressed things in compressed things: an encoded body whose content is compressed has two."""
MOST_FRAMES = 10_000
"""gzip members or zstd frames one after the other: each costs, even where it holds nothing."""
STEP = 64 << 10
GZIP_OUT = 1 << 20
ZSTD_STEP = 1 << 10
"""Fed at a time: a zstd block of 4 bytes can stand for 128 kB, so a step of this size makes at most 32 MB."""
ZSTD_WINDOW = 1 << 27
"""What `zstd --long` asks for."""
ALIASES = {"x-gzip": "gzip"}
MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
NO_LOGS = {
    b"PK\x03\x04": "a zip archive",
    b"PK\x05\x06": "a zip archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!": "a rar archive",
    b"BZh": "bzip2",
    b"\xfd7zXZ\0": "xz",
    b"\x80\x02": "a pickle",
    b"\x80\x03": "a pickle",
    b"\x80\x04": "a pickle",
    b"\x80\x05": "a pickle",
    b"PAR1": "a parquet file",
}
TAR, TAR_AT = b"ustar", 257


def coding_names(headers: Sequence[str]) -> list[str]:
    """What Content-Encoding headers say was done to a body, in that order; 415 for what we cannot undo."""
    given = [name.strip().lower() for header in headers for name in header.split(",")]
    names = [ALIASES.get(name, name) for name in given if name not in ("", "identity")]
    for name in names:
        if name not in CODINGS:
            known = ", ".join(CODINGS)
            detail = f"Content-Encoding {name[:40]!r}: expected one of {known}"
            raise RefusedError(415, detail, "Content-Encoding", {"Accept-Encoding": known})
    if len(names) > MOST_LAYERS:
        raise RefusedError(415, f"Content-Encoding: at most {MOST_LAYERS} of them", "Content-Encoding")
    return names


def undone(
    data: bytes, codings: Sequence[str], limit: int, take: Callable[[int], None], by_magic: bool = True
) -> bytes:
    """What a body stands for: `codings` undone, then what its first bytes say it is, layer by layer.

    413 beyond `limit` bytes, 415 for what is no text, 422 for what is damaged. `take` hears of every byte it makes.
    """
    for coding in reversed(codings):
        data = _undo(data, coding, limit, take)
    layers = len(codings)
    while by_magic and (found := next((name for magic, name in MAGIC.items() if data.startswith(magic)), None)):
        layers += 1
        if layers > MOST_LAYERS:
            raise RefusedError(415, f"compressed more than {MOST_LAYERS} times over")
        data = _undo(data, found, limit, take)
    kind = next((kind for magic, kind in NO_LOGS.items() if data.startswith(magic)), None)
    if kind is None and data.startswith(TAR, TAR_AT):
        kind = "a tar archive"
    if by_magic and kind is not None:
        raise RefusedError(415, f"this is {kind}: send the logs in it, as they are or as gzip or zstd")
    return data


def _undo(data: bytes, coding: str, limit: int, take: Callable[[int], None]) -> bytes:
    made = BytesIO()
    size = 0
    try:
        for step in _gunzip(data) if coding == "gzip" else _unzstd(data):
            size += len(step)
            if size > limit:
                raise RefusedError(413, f"the body decodes to more than {limit:,} bytes: send it in several requests")
            take(len(step))
            made.write(step)
    except zstandard.ZstdError as error:
        if "too much memory" in str(error):
            raise RefusedError(413, f"the zstd frame asks for a window of more than {ZSTD_WINDOW:,} bytes") from error
        raise RefusedError(422, f"the {coding} data is damaged: {error}") from error
    except (EOFError, zlib.error) as error:
        raise RefusedError(422, f"the {coding} data is damaged or cut off: {error}") from error
    return made.getvalue()


def _gunzip(data: bytes) -> Iterator[bytes]:
    """Member by member; zeros behind the last one are padding."""
    member = zlib.decompressobj(wbits=31)
    members = 1
    for start in range(0, len(data), STEP):
        chunk = data[start : start + STEP]
        while chunk:
            if member.eof:
                chunk = chunk.lstrip(b"\0")
                if not chunk:
                    break
                members += 1
                _count(members, "gzip members")
                member = zlib.decompressobj(wbits=31)
            yield member.decompress(chunk, GZIP_OUT)
            chunk = member.unused_data if member.eof else member.unconsumed_tail
    yield member.flush()
    if not member.eof:
        raise EOFError("it ends inside a gzip member")


def _unzstd(data: bytes) -> Iterator[bytes]:
    frames = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW)
    frame = frames.decompressobj()
    count = 1
    for start in range(0, len(data), ZSTD_STEP):
        chunk = data[start : start + ZSTD_STEP]
        while chunk:
            if frame.eof:
                count += 1
                _count(count, "zstd frames")
                frame = frames.decompressobj()
            yield frame.decompress(chunk)
            chunk = frame.unused_data
    if not frame.eof:
        raise EOFError("it ends inside a zstd frame")


def _count(found: int, what: str) -> None:
    if found > MOST_FRAMES:
        raise RefusedError(413, f"more than {MOST_FRAMES:,} {what}")
