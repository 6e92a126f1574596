"""Logs read and their graphs built by the workers of an engine, ahead of this process, which alone writes, in order.

What is kept and what is answered is that of `ingesting.ingest_paths`. A log whose ids or place among the others cannot
be known ahead (its bytes were there before, under another name or in another file), or whose worker failed, is read
again here, as if there were no workers.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeAlias

from trajcredit import registry
from trajcredit.engines import Engine
from trajcredit.errors import ParseError
from trajcredit.formats.reading import read_source
from trajcredit.formats.sources import Source, expand, load
from trajcredit.formats.unpacking import CutOff
from trajcredit.service import ingesting
from trajcredit.service.ingesting import Chunk, Item, Log, is_part_of, keep_chunk, keep_source, log_chunks, refused
from trajcredit.service.sharding import together
from trajcredit.store import Store, logs

__all__ = ["ingest_paths"]

Part: TypeAlias = "tuple[list[Item | None], Chunk | None]"
"""A chunk, and the answers that are there before it is kept."""


@dataclass(frozen=True, slots=True)
class Task:
    """Some logs, and how they are read."""

    sources: Sequence[Source]
    project: str
    format: str | None
    writes: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A log, read, but for what the database has to say of it.

    sha256     of its bytes; null where they could not be read
    contents   the hashes by which the same bytes are known in another file
    early      what was refused before any of it was read
    """

    sha256: str | None
    contents: tuple[bytes, ...]
    early: tuple[Item, ...]
    parts: tuple[Part, ...]


def ingest_paths(
    engine: Engine,
    store: Store,
    project: str,
    paths: Sequence[str],
    format: str | None = None,
    replace: bool = False,
    writes: Mapping[str, bool] | None = None,
) -> Iterator[Item]:
    """`ingesting.ingest_paths`, the reading done by the workers of an engine that is open. A log is of one worker."""
    if engine.name == "in-process":
        yield from ingesting.ingest_paths(store, project, paths, format, replace, writes)
        return
    found = [one for one in expand(paths) if isinstance(one, ParseError) or not (one.walked and is_part_of(store, one))]
    out = [one for one in found if isinstance(one, Source) and one.path is not None]
    tasks = (Task(some, project, format, dict(writes or {})) for some in together(out))
    ahead = (one for read in engine.map(prepare, tasks) for one in read)
    contents: dict[bytes, Source] = {}
    for source in found:
        if isinstance(source, ParseError):
            yield refused(source)
            continue
        ready = None if source.path is None else next(ahead)
        if ready is None or not _holds(store, project, source, ready, contents):
            yield from keep_source(store, project, source, format, replace, writes or {}, contents)
            continue
        contents |= dict.fromkeys(ready.contents, source)
        yield from ready.early
        for items, chunk in ready.parts:
            yield from keep_chunk(store, project, source, chunk, items, replace)


def prepare(task: Task) -> list[Prepared | None]:
    """What a worker does; null for a log at which it failed."""
    return [_prepared(source, task) for source in task.sources]


def _prepared(source: Source, task: Task) -> Prepared | None:
    early: list[Item] = []
    try:
        data = load(source)
    except CutOff as error:
        early.append(refused(error))
        data = error.data
    except ParseError as error:
        return Prepared(None, (), (refused(error),), ())
    log = Log(data, source.name, task.format)
    contents: dict[bytes, Source] = {}
    items: list[Item | None] = []
    parts: list[Part] = []
    try:
        found = read_source(source, data, task.format, contents)
        for chunk in log_chunks(log, found, task.project, task.writes, items, sys.maxsize):
            parts.append((list(items), chunk))
            items.clear()
    except registry.FOREIGN:
        return None
    return Prepared(sha256(data).hexdigest(), tuple(contents), tuple(early), (*parts, (items, None)))


def _holds(store: Store, project: str, source: Source, ready: Prepared, contents: Mapping[bytes, Source]) -> bool:
    """Whether the log would be read the same way here and now."""
    if any(content in contents for content in ready.contents):
        return False
    if ready.sha256 is None:
        return True
    with store.read() as conn:
        known = logs.name_of(conn, project, ready.sha256)
    return known in (None, source.name)
