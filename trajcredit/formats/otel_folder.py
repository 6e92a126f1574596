"""Traces whose spans lie in several files of one folder, as exporters write them that begin a new file now and then.

Only files that are read in the same call are looked at. The first of them that has spans of a trace stands for it:
its reader takes the rest from the other files, whose own readers leave that trace to it. Log records are no spans:
they are looked for by the name of the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from trajcredit.errors import InputError
from trajcredit.formats.document import Document
from trajcredit.formats.otlp import from_protobuf, hexadecimal

__all__ = ["Spread", "spread"]

_TRACE = re.compile(rb'"(?:context\.)?trace_?[iI]d"\s{0,9}:\s{0,9}"([^"\\]{1,64})"')
LENGTH = 32
"""Hexadecimal digits of a trace id."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Of the traces in a file: those that another file stands for, and where the rest of its own ones lies."""

    elsewhere: dict[str, str] = field(default_factory=dict)
    """Trace -> the file that stands for it."""
    more: dict[str, set[str]] = field(default_factory=dict)
    """File -> traces that this file stands for."""
    unread: list[str] = field(default_factory=list)
    """Files that could not be looked through: what they hold of its traces is not known."""


def spread(document: Document, traces: Collection[str], traces_of: Callable[[Document], frozenset[str]]) -> Spread:
    """Where the spans of these traces lie; `traces_of` gives those that a file has spans of, none where it has none."""
    siblings = document.siblings
    if siblings is None:
        return Spread()
    where, unread = siblings.once("traces", lambda: _traces(document))
    own = PurePosixPath(document.place).name
    found = Spread(unread=[name for name in unread if name != own])
    for trace in traces:
        names = [name for name in where.get(trace, ()) if name == own or trace in _exact(document, name, traces_of)]
        if own not in names or len(names) == 1:
            continue
        if names[0] != own:
            found.elsewhere[trace] = names[0]
            continue
        for name in names[1:]:
            found.more.setdefault(name, set()).add(trace)
    return found


def _exact(document: Document, name: str, traces_of: Callable[[Document], frozenset[str]]) -> frozenset[str]:
    """The traces that a file of the folder has spans of, not only names; a damaged one is reported when it is read."""

    def look() -> frozenset[str]:
        try:
            other = document.beside(name)
            return frozenset() if other is None else traces_of(other)
        except InputError:
            return frozenset()

    return frozenset() if document.siblings is None else document.siblings.once(f"spans in {name}", look)


def _traces(document: Document) -> tuple[dict[str, list[str]], list[str]]:
    """Trace -> the files of the folder, in order, that name it; then those that are damaged or too large to say.

    Every file is looked through once, whatever it is.
    """
    names = sorted(document.siblings.together) if document.siblings is not None else []
    found: dict[str, list[str]] = {}
    unread: list[str] = []
    for name in names if len(names) > 1 else ():
        try:
            other = document.beside(name)
        except InputError:
            unread.append(name)
            continue
        for trace in _named(other.data) if other is not None else ():
            found.setdefault(trace, []).append(name)
    return {trace: files for trace, files in found.items() if len(files) > 1}, unread


def _named(data: bytes) -> set[str]:
    """The traces that the bytes of a file name, be it in a link or a log record."""
    if data[:1] == b"\n":
        try:
            return {span.trace_id for span in from_protobuf(data) if span.name or span.start is not None}
        except InputError:
            return set()
    found = {match[1] for match in _TRACE.finditer(data)}
    return {hexadecimal(text.decode("utf-8", "replace"), LENGTH) for text in found} - {""}
