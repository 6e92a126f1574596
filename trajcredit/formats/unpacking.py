"""gzip and zstd -> the bytes inside, step by step: no small file fills the memory, a cut one keeps its beginning."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

import zstandard

from trajcredit.errors import ParseError
from trajcredit.formats.salvage import salvaged

__all__ = ["GZIP", "LIMIT", "ZSTD", "ZSTD_WINDOW", "CutOff", "decompressed"]

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
LIMIT = 2 << 30
"""Decoded bytes of one compressed log; above it the file is refused, so that no small file fills the memory."""
FREE = 64 << 20
"""Decoded bytes up to which nobody asks how small they were packed."""
MOST_TIMES = {GZIP: 400, ZSTD: 4000}
"""How many times larger a log may decode: gzip takes 18 bits or so for 258 bytes that stood in the last 32 kB, zstd far
less for a history that every request repeats; of blanks alone they make 1,029 and 32,000 times as many."""
STEP = 1 << 20
ZSTD_STEP = 2 << 10
"""Fed at a time: a zstd block of 4 bytes can stand for 128 kB, so a step of this size makes at most 64 MB."""
ZSTD_WINDOW = 1 << 27
"""What `zstd --long` asks for; a header that asks for more is refused."""

_PADDING = re.compile(rb"\0*")
_SKIPPED_FRAME = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")


class CutOff(ParseError):  # noqa: N818 - it is what was found
    """A compressed file ends early, or other bytes follow: `data` is what could be decoded before that."""

    def __init__(self, reason: str, data: bytes, file: str) -> None:
        super().__init__(reason, file)
        self.data = data


def decompressed(data: bytes, name: str, limit: int = LIMIT) -> bytes:
    """What gzip or zstd packed; the bytes as they are where neither did.

    ParseError where that is damaged or too large, CutOff where only its beginning is there.
    """
    if (members := salvaged(data, limit)) is not None:
        beginning, count = members
        read = f"read up to member {count}, which is the last whole one"
        raise CutOff(f"the zip archive is damaged or cut off: it has no end; {read}", beginning, name)
    packing = next((magic for magic in (GZIP, ZSTD) if data.startswith(magic)), None)
    if packing is None:
        return data
    found = bytearray()
    try:
        for step in _gunzip(data) if packing == GZIP else _unzstd(data):
            found += step
            if len(found) > limit:
                raise ParseError(f"decodes to more than {limit / 2**30:.3g} GiB: split it first", name)
            if len(found) > FREE and len(found) > MOST_TIMES[packing] * len(data):
                many = f"decodes to more than {MOST_TIMES[packing]} times its {len(data):,} bytes"
                raise ParseError(f"{many}, as no log does: if it is one, unpack it first", name)
    except EOFError as error:
        what = f"the compressed file is damaged or cut off: {error}"
        if not found:
            raise ParseError(what, name) from error
        lines = found.count(b"\n") + (not found.endswith(b"\n"))
        place = f"byte {len(found):,}, line {lines:,} of what is in it"
        raise CutOff(f"{what}; read up to {place}", bytes(found), name) from error
    except (zlib.error, zstandard.ZstdError) as error:
        raise ParseError(f"the compressed file is damaged or cut off: {error}", name) from error
    return bytes(found)


def _gunzip(data: bytes) -> Iterator[bytes]:
    """Member by member, each with its check sum; zeros behind the last one are padding."""
    at = 0
    while at < len(data):
        if not data.startswith(GZIP, at):
            raise EOFError(f"what follows at byte {at:,} of it is no gzip")
        member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        while not member.eof:
            packed = member.unconsumed_tail
            if not packed:
                packed = data[at : at + STEP]
                at += len(packed)
            if not packed:
                yield member.flush()
                raise EOFError("it ends inside a gzip member")
            yield member.decompress(packed, STEP)
        at -= len(member.unused_data)
        padding = _PADDING.match(data, at)
        at = at if padding is None else padding.end()


def _unzstd(data: bytes) -> Iterator[bytes]:
    """Frame by frame; the stream reader of the library would take a torn frame for the end."""
    frames = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW)
    frame = frames.decompressobj()
    for start in range(0, len(data), ZSTD_STEP):
        chunk = data[start : start + ZSTD_STEP]
        while chunk:
            at = min(start + ZSTD_STEP, len(data)) - len(chunk)
            if frame.eof and not (data.startswith(ZSTD, at) or _SKIPPED_FRAME.match(data, at)):
                raise EOFError(f"what follows at byte {at:,} of it is no zstd")
            frame = frames.decompressobj() if frame.eof else frame
            yield frame.decompress(chunk)
            chunk = frame.unused_data
    if not frame.eof:
        raise EOFError("it ends inside a zstd frame")
