"""Files that appear whole or not at all, and never in the place of a log that is to be read."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TypeAlias

from trajcredit.errors import InputError
from trajcredit.formats.sources import Source, expand

__all__ = ["keep_apart", "written_whole"]

Identity: TypeAlias = tuple[int, int]

OURS = (b'{"schema":"trajcredit.credit/1"', b'{"schema":"trajcredit.opinion/1"', b"PAR1")
"""How our own rows start, as JSON lines and as parquet: in a folder that is read they are no log."""


def keep_apart(out: Path, paths: Iterable[str | Path]) -> None:
    """InputError where `out` is one of the logs that `paths` name, by whatever path or link. Called before any is read.

    Rows of ours that lie in a folder may be written again: readers pass them over.
    """
    written = _identity(out)
    if written is None:
        return
    for source in expand(paths):
        if isinstance(source, Source) and _identity(source.path or sys.stdin) == written:
            if source.walked and _is_ours(out):
                continue
            which = "" if source.shown == str(out) else f"{source.shown}, "
            raise InputError(f"cannot write {out}: it is {which}one of the logs to read")


@contextmanager
def written_whole(out: Path) -> Iterator[BinaryIO]:
    """A file to write to, put in the place of `out` once all is written; what was there before stays until then.

    Devices and pipes are written to directly.
    """
    try:
        if out.exists() and not out.is_file():
            with out.open("wb") as file:
                yield file
            return
        target = out.resolve()
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            with part.open("wb") as file:
                yield file
            part.replace(target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except BrokenPipeError:  # whoever reads the pipe has seen enough
        raise
    except OSError as error:
        raise InputError(f"cannot write {out}: {error.strerror or error}") from error


def _is_ours(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(max(map(len, OURS))).startswith(OURS)


def _identity(file: Path | object) -> Identity | None:
    """Device and number of a regular file, or of the one behind a stream; None where there is none."""
    try:
        found = os.stat(file if isinstance(file, Path) else file.fileno())  # type: ignore[attr-defined]
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
