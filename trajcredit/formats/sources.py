"""Paths -> bytes: files, folders, patterns and standard input; gzip and zstd by their first bytes, step by step.

Names: a file goes by the shortest end of its absolute path that no other file of the call has, and so does a folder
among the folders. They do not depend on how a path was typed, nor on where the machine keeps its files.
"""

from __future__ import annotations

import glob
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from trajcredit import settings
from trajcredit.errors import ParseError, SkippedFile
from trajcredit.formats.names import short_names
from trajcredit.formats.siblings import Siblings
from trajcredit.formats.tables import PARQUET, lines_of_table
from trajcredit.formats.unpacking import LIMIT, decompressed

__all__ = ["STDIN", "Source", "expand", "load", "unpack"]

STDIN = "stdin"


@dataclass(frozen=True, slots=True)
class Source:
    """One log to read: the name it goes by in ids, its path (null: standard input, or bytes in memory), its folder."""

    name: str
    path: Path | None = None
    folder: str | None = None
    """The name of the folder in data sets."""
    walked: bool = False
    """Found in a folder, not named itself: it need not be a log."""
    siblings: Siblings | None = None
    """The files around it that its reader may look at."""

    @property
    def shown(self) -> str:
        """What reports call it: the path as given."""
        return self.name if self.path is None else str(self.path)


def expand(paths: Iterable[str | Path]) -> list[Source | ParseError]:
    """Every file that the paths name, once, in the order given: folders in full, sorted, hidden files left out."""
    found = list(_once(paths))
    full = {file: _full(file.path) for file in found if not isinstance(file, ParseError)}
    names = short_names(full.values())
    folders = short_names({os.path.dirname(path) for file, path in full.items() if file.path is not None})
    beside: dict[tuple[Path, Path], Siblings] = {}
    return [
        Source(names[full[file]], file.path, folders.get(os.path.dirname(full[file])), file.walked, file.among(beside))
        if isinstance(file, _File)
        else file
        for file in found
    ]


@dataclass(frozen=True, slots=True)
class _File:
    """A file that a path leads to; null: standard input."""

    path: Path | None
    walked: bool = False
    given: Path | None = None
    """The folder that was given, where it lies in one."""

    def among(self, known: dict[tuple[Path, Path], Siblings]) -> Siblings | None:
        """The files around it; those of one folder share what is found out about them."""
        if self.path is None:
            return None
        place = (self.path.parent, self.given or self.path.parent)
        found = known.setdefault(place, Siblings(*place))
        found.together.add(self.path.name)
        return found

    @property
    def shown(self) -> str:
        return STDIN if self.path is None else str(self.path)


def _once(paths: Iterable[str | Path]) -> Iterator[_File | ParseError]:
    """The files of all paths; one that comes again is an error, or a note where only a link in a folder leads to it."""
    known: dict[str, _File] = {}
    for given in paths:
        matched: set[str] = set()
        for file in _files(str(given)):
            if isinstance(file, ParseError):
                yield file
                continue
            real = STDIN if file.path is None else os.path.realpath(file.path)
            first = known.setdefault(real, file)
            if first is file:
                yield file
            elif file.shown not in matched:  # else the pattern matches a folder and what lies in it
                again = SkippedFile if file.walked else ParseError
                yield again(f"is the same file as {first.shown}: read once", file.shown)
            matched.add(file.shown)


def _files(text: str) -> Iterator[_File | ParseError]:
    """What one path names: a file, a folder, a pattern, or `-`."""
    if text == "-":
        yield _File(None)
    elif os.path.exists(text):
        yield from _below(Path(text))
    elif glob.has_magic(text):
        matches = sorted(glob.glob(text, recursive=True))
        for match in matches:
            yield from _below(Path(match))
        if not matches:
            yield ParseError("no file matches this pattern", text)
    else:
        yield ParseError("no such file or folder", text)


def _full(path: Path | None) -> str:
    """The absolute path, links to folders resolved; a link to a file keeps its own name."""
    return STDIN if path is None else os.path.join(os.path.realpath(path.parent), path.name)


def load(source: Source) -> bytes:
    """The decoded bytes of one log; ParseError where it cannot be read, CutOff where only its beginning can."""
    try:
        data = sys.stdin.buffer.read() if source.path is None else source.path.read_bytes()
    except OSError as error:
        raise ParseError(f"cannot be read: {error.strerror or error}", source.shown) from error
    return unpack(data, source.shown)


def unpack(data: bytes, name: str, limit: int = LIMIT) -> bytes:
    """The bytes, decoded where they are gzip or zstd, the rows of a Parquet file as JSON lines.

    ParseError where that is damaged or too large, CutOff where only the beginning of a compressed log is there.
    """
    whole = decompressed(data, name, limit)
    return lines_of_table(whole, name, limit) if whole.startswith(PARQUET) else whole


def _below(path: Path) -> Iterator[_File | ParseError]:
    """The file, or every file below the folder; links are followed, but no folder is walked twice."""
    if not path.is_dir():
        yield _File(path)
        return
    walked: set[str] = set()
    waiting = [path]
    while waiting:
        folder = waiting.pop()
        real = os.path.realpath(folder)
        if real in walked:
            continue
        walked.add(real)
        below: list[Path] = []
        for found in _inside(folder):
            if isinstance(found, ParseError):
                yield found
            elif found.is_dir():
                below.append(found)
            else:
                yield _File(found, walked=True, given=path)
        waiting += reversed(below)


def _inside(folder: Path) -> Iterator[Path | ParseError]:
    """Files and folders in a folder, sorted; the project's settings, which lie there too, are no log."""
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        yield _unreadable(folder, error)
        return
    for path in (folder / name for name in names if not name.startswith(".") and name != settings.FILE):
        try:
            mode = path.stat().st_mode
        except OSError as error:
            yield _unreadable(path, error)
            continue
        if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
            yield path
        else:
            yield SkippedFile("is neither a file nor a folder", str(path))


def _unreadable(path: Path, error: OSError) -> ParseError:
    return ParseError(f"cannot be read: {error.strerror or error}", str(path))
