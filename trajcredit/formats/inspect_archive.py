"""The members of an Inspect `.eval` archive, read in memory by their names; nothing is ever unpacked to disk."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO

import zstandard

from trajcredit.errors import ParseError
from trajcredit.formats.unpacking import LIMIT, ZSTD_WINDOW

__all__ = ["MOST_MEMBERS", "Archive", "is_archive"]

MOST_MEMBERS = 100_000
HEADERS = ("header.json", "_journal/start.json")
"""What the log says of itself: at the end, or where it never came to one."""
MAGIC, ENTRY = b"PK\x03\x04", b"PK\x01\x02"
ZSTD = 93
"""The compression of newer releases, which the standard library cannot read."""
STEP = 1 << 20
BROKEN = (zipfile.BadZipFile, zlib.error, zstandard.ZstdError, EOFError, NotImplementedError, RuntimeError, OSError)
"""What damaged, encrypted or forged archives raise."""


def is_archive(data: bytes) -> bool:
    """Whether these bytes are a zip with the members of a log."""
    if not data.startswith(MAGIC) or not any(name.encode() in data for name in HEADERS):
        return False
    if data.count(ENTRY) > MOST_MEMBERS:
        return True  # so that reading it says why not
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            return any(name in archive.NameToInfo for name in HEADERS)
    except (*BROKEN, ValueError, struct.error):
        return False


@dataclass
class Archive:
    """A log in a zip: its header and its samples, all of them together no larger than a log may be."""

    data: bytes
    place: str
    most: int = LIMIT

    def __post_init__(self) -> None:
        self._left = self.most
        if self.data.count(ENTRY) > MOST_MEMBERS:
            raise ParseError(f"the archive has more than {MOST_MEMBERS:,} members", self.place)
        try:
            self._zip = zipfile.ZipFile(BytesIO(self.data))
        except (*BROKEN, ValueError, struct.error) as error:
            raise ParseError(f"the archive is damaged: {error}", self.place) from error

    @property
    def header(self) -> bytes:
        """What the log says of itself."""
        name = next((name for name in HEADERS if name in self._zip.NameToInfo), None)
        if name is None:
            raise ParseError(f"the archive holds none of {', '.join(HEADERS)}", self.place)
        return self._member(self._zip.getinfo(name))

    def samples(self) -> Iterator[bytes | ParseError]:
        """Every sample in the order of the archive, or why it cannot be read."""
        last = {info.filename: info for info in self._zip.infolist()}  # one that was written again counts as it is now
        for name, info in last.items():
            if name.startswith("samples/") and name.endswith(".json") and ".." not in name:
                try:
                    yield self._member(info)
                except ParseError as error:
                    yield error

    def _member(self, info: zipfile.ZipInfo) -> bytes:
        content = bytearray()
        try:
            for step in self._zstd(info) if info.compress_type == ZSTD else self._steps(info):
                content += step
                if len(content) > self._left:
                    raise ParseError(
                        f"the archive holds more than the {self.most >> 20} MiB it may decode to", self.place
                    )
        except (*BROKEN, ValueError, struct.error) as error:
            raise ParseError(f"{info.filename} in the archive is damaged: {error}", self.place) from error
        self._left -= len(content)
        return bytes(content)

    def _steps(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        with self._zip.open(info) as file:
            while step := file.read(STEP):
                yield step

    def _zstd(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        """The content of a member that is compressed with zstd, which starts behind its own header."""
        if self.data[info.header_offset : info.header_offset + 4] != MAGIC:
            raise zipfile.BadZipFile("its header is not where the archive says")
        name, extra = struct.unpack_from("<HH", self.data, info.header_offset + 26)
        start = info.header_offset + 30 + name + extra
        frames = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW)
        packed = BytesIO(self.data[start : start + info.compress_size])
        crc = 0
        with frames.stream_reader(packed, read_across_frames=True) as reader:
            while step := reader.read(STEP):
                crc = zlib.crc32(step, crc)
                yield step
        if crc != info.CRC:
            raise zipfile.BadZipFile("its check sum differs")
