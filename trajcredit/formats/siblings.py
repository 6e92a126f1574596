"""The files around a log that its reader may look at: a verdict, a session that started this one."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from trajcredit.errors import ParseError

__all__ = ["LARGEST", "Siblings"]

T = TypeVar("T")

LARGEST = 256 << 20
"""Bytes of one file beside a log; a larger one is not looked at."""


@dataclass(frozen=True, slots=True)
class Siblings:
    """Files by their path from the folder of the log: inside the folder that was given, links resolved, never outside.

    A log that was given by itself has its own folder; one that came over the network has none.
    """

    folder: Path
    given: Path
    together: set[str] = field(default_factory=set, compare=False, repr=False)
    """The files of the folder that are read in the same call, so that what one leaves to another is read."""
    _known: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    def once(self, what: str, find: Callable[[], T]) -> T:
        """What was found out about the folder before, else what is found now: its files share these siblings.

        So a folder of many files is listed once, and not once a file.
        """
        if what not in self._known:
            self._known[what] = find()
        found: T = self._known[what]
        return found

    def read(self, name: str) -> bytes | None:
        """The bytes as they stand in the file, null where none is inside; ParseError says what is wrong with one."""
        if not os.path.isfile(os.path.join(self.folder, name)):  # most are not there: asked before links are resolved
            return None
        path = self._inside(name)
        if path is None or not os.path.isfile(path):
            return None
        try:
            if path.stat().st_size > LARGEST:
                raise ParseError(f"is beside the log, but holds more than {LARGEST >> 20} MiB: not read", name)
            return path.read_bytes()
        except OSError as error:
            raise ParseError(f"cannot be read: {error.strerror or error}", name) from error

    def names(self, folder: str = ".") -> list[str]:
        """The files in a folder, sorted, hidden ones left out; none where it lies outside or cannot be listed."""
        path = self._inside(folder)
        try:
            found = sorted(os.listdir(path)) if path is not None else []
        except OSError:
            return []
        return [f"{folder}/{name}" if folder != "." else name for name in found if not name.startswith(".")]

    def _inside(self, name: str) -> Path | None:
        """Where a name leads to, if that is inside what was given."""
        try:
            path = (self.folder / name).resolve()
            return path if path.is_relative_to(self.once("given", self.given.resolve)) else None
        except (OSError, ValueError, RuntimeError):  # a NUL in the name, a link to itself
            return None
