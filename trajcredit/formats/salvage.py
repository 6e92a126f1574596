"""A zip archive that was cut off -> one of the members before the cut, each of which has a header of its own."""

from __future__ import annotations

import struct
import zipfile
import zlib
from io import BytesIO

import zstandard

__all__ = ["MEMBER", "salvaged"]

MEMBER = b"PK\x03\x04"
"""How the header of a member begins."""
STORED, DEFLATED, ZSTD = 0, 8, 93
UNKNOWN = 8
"""Flag of a member whose size and check sum stand behind it."""
MOST_BEHIND = 64
"""Bytes between two members: at most sizes and a check sum."""
ZSTD_WINDOW = 1 << 27
ZSTD_STEP = 2 << 10
"""As in `unpacking`."""

_header = struct.Struct("<4s5H3I2H")


def salvaged(data: bytes, limit: int) -> tuple[bytes, int] | None:
    """An archive of the whole members at the beginning, and how many; None where the archive has an end, or no member.

    Members that decode to more than `limit` bytes together are left out from there on.
    """
    if not data.startswith(MEMBER) or zipfile.is_zipfile(BytesIO(data)):
        return None
    file = BytesIO()
    at = count = size = 0
    with zipfile.ZipFile(file, "w") as rebuilt:
        while at >= 0 and data.startswith(MEMBER, at) and len(data) - at >= _header.size:
            _, _, flags, method, _, _, crc, packed, _, name_size, extra_size = _header.unpack_from(data, at)
            start = at + _header.size + name_size + extra_size
            name = data[at + _header.size : at + _header.size + name_size].decode("utf-8", "replace")
            found = _member(data, start, method, packed, limit - size)
            if found is None:
                break
            content, end = found
            if not flags & UNKNOWN and zlib.crc32(content) != crc:
                break
            rebuilt.writestr(zipfile.ZipInfo(name), content)
            count, size = count + 1, size + len(content)
            at = data.find(MEMBER, end, end + MOST_BEHIND)
    return (file.getvalue(), count) if count else None


def _member(data: bytes, start: int, method: int, packed: int, limit: int) -> tuple[bytes, int] | None:
    """The content of a member and where it ends; None where it is cut off, too large, or packed otherwise."""
    if method == STORED:
        end = start + packed
        return (data[start:end], end) if packed and end <= len(data) and packed <= limit else None
    try:
        if method == DEFLATED:
            inflate = zlib.decompressobj(-zlib.MAX_WBITS)
            content = inflate.decompress(data[start:], limit + 1)
            whole, left = inflate.eof, len(inflate.unused_data)
        elif method == ZSTD:
            return _zstd(data, start, limit)
        else:
            return None
    except (zlib.error, zstandard.ZstdError):
        return None
    return (content, len(data) - left) if whole and len(content) <= limit else None


def _zstd(data: bytes, start: int, limit: int) -> tuple[bytes, int] | None:
    """The content of a member that is one zstd frame, step by step, and where it ends."""
    frame = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW).decompressobj()
    content = bytearray()
    for at in range(start, len(data), ZSTD_STEP):
        content += frame.decompress(data[at : at + ZSTD_STEP])
        if len(content) > limit:
            return None
        if frame.eof:
            return bytes(content), min(at + ZSTD_STEP, len(data)) - len(frame.unused_data)
    return None
