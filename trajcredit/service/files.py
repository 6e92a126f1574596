"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from trajcredit.errors import InputError

__all__ = ["written_whole"]


@contextmanager
def written_whole(out: Path) -> Iterator[BinaryIO]:
    """A file to write to, put in the place of `out` once all is written; what was there before stays until then.

    Devices and pipes are written to directly.
    """
    if out.exists() and not out.is_file():
        with _opened(out, out) as file:
            yield file
        return
    target = out.resolve()
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with _opened(part, out) as file:
            yield file
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _opened(path: Path, asked: Path) -> BinaryIO:
    try:
        return path.open("wb")
    except OSError as error:
        raise InputError(f"cannot write {asked}: {error.strerror}") from error
