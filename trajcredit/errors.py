"""Everything trajcredit raises on purpose.

TrajcreditError
├── InputError           the caller can fix it          exit 2, HTTP 422
│   ├── ParseError       a log line breaks its format
│   │   └── SkippedFile  a file of a folder is no log: a note, not a failure
│   ├── GraphError       an edge points forward or nowhere
│   └── UnknownNameError no plugin of that name
├── NotFoundError        nothing stored under that id   exit 2, HTTP 404
├── JudgeError           a judge failed or rambled      exit 3, HTTP 502
├── EngineError          workers died at their work     exit 3
└── StoreError           database away or wrong schema  exit 3, HTTP 503
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "EngineError",
    "GraphError",
    "InputError",
    "JudgeError",
    "NotFoundError",
    "ParseError",
    "SkippedFile",
    "StoreError",
    "TrajcreditError",
    "UnknownNameError",
]


class TrajcreditError(Exception):
    """Base of every error raised on purpose; `exit_code` is what the command line ends with."""

    exit_code = 1


class InputError(TrajcreditError):
    """The caller can fix it: the message says what was found, where, and what was expected."""

    exit_code = 2


class ParseError(InputError):
    """One record of a log breaks its format. Readers yield it in the record's place; the file goes on."""

    def __init__(self, reason: str, file: str = "", line: int | None = None) -> None:
        self.reason = reason
        self.file = file
        self.line = line
        super().__init__(reason)

    def __str__(self) -> str:
        """File and line, or which record, once: the reason by itself begins with that too."""
        if not self.file:
            return self.reason
        said = self.line is None or self.reason.startswith((f"line {self.line}: ", f"record {self.line}: "))
        return f"{self.file}: {self.reason}" if said else f"{self.file}:{self.line}: {self.reason}"


class SkippedFile(ParseError):  # noqa: N818 - nothing failed
    """A file found in a folder is no log, or was read already: it is left out, and nothing is lost."""


class GraphError(InputError):
    """An edge points forward, to itself, or to a span that does not exist."""


class UnknownNameError(InputError):
    """No plugin of that name; the message lists the known ones."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        super().__init__(f"no {what} named {name!r}; known: {', '.join(sorted(known))}")


class NotFoundError(TrajcreditError):
    """Nothing under that id."""

    exit_code = 2


class JudgeError(TrajcreditError):
    """A judge failed, or answered with something that is not a score."""

    exit_code = 3


class EngineError(TrajcreditError):
    """Workers of an engine died at a task again and again: killed, out of memory, or a crash in native code."""

    exit_code = 3


class StoreError(TrajcreditError):
    """The database is away, or of another version."""

    exit_code = 3
