"""Logs in, each trajectory of them kept once: what was sent again changes nothing, what differs is a conflict."""

from __future__ import annotations

import dataclasses
import logging
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Literal, TypeAlias

import msgspec
from msgspec.structs import replace as changed

from trajcredit import registry
from trajcredit.errors import InputError, ParseError, SkippedFile, TrajcreditError
from trajcredit.formats import read_bytes
from trajcredit.formats.reading import read_source
from trajcredit.formats.sources import Source, expand, load
from trajcredit.formats.unpacking import CutOff
from trajcredit.graph import SpanGraph, build_graphs
from trajcredit.model import Note, Trajectory
from trajcredit.service.opening import DEFAULT_PROJECT
from trajcredit.service.running import compares_across_groups
from trajcredit.store import Store, idempotency, keeping, logs, trajectories
from trajcredit.store.logs import RawLog

__all__ = [
    "MADE_FROM_NAME",
    "MOST_ITEMS",
    "Chunk",
    "Ingested",
    "Item",
    "Log",
    "ingest",
    "ingest_paths",
    "is_part_of",
    "keep_chunk",
    "keep_source",
    "log_chunks",
    "name_of",
    "refused",
]

CHUNK_TRAJECTORIES = 256
CHUNK_SPANS = 50_000
"""What one transaction stores: others wait for it no longer than it takes."""
MOST_ITEMS = 100_000
"""Records of one upload: a body of empty lines has millions, and each would be an answer."""
MOST_DECODED = 64 << 20
"""Bytes that what is packed inside of one upload may decode to: as many as its body may have."""

MADE_FROM_NAME = "the log gives no ids, so they are made from its name: send it under another one"

Read: TypeAlias = Iterable[Trajectory | ParseError]


@dataclass(frozen=True)
class Log:
    """One log as it came, decoded. `name` is what ids and reports call it: a label, never a path."""

    data: bytes
    name: str
    format: str | None = None

    @cached_property
    def sha256(self) -> str:
        """Of its bytes, worked out once."""
        return sha256(self.data).hexdigest()


class Item(msgspec.Struct, frozen=True, gc=False):
    """What became of one trajectory, or of one record that could not be read."""

    status: Literal["created", "duplicate", "replaced", "rejected", "conflict", "skipped"]
    """Skipped: a file of a folder that is no log, which is no failure."""
    id: str | None = None
    external_id: str | None = None
    reason: str | None = None
    file: str | None = None
    line: int | None = None
    report: tuple[Note, ...] = ()


class Ingested(msgspec.Struct, frozen=True, gc=False):
    """The items in the order of the input, and how many of them met which end."""

    created: int
    duplicate: int
    replaced: int
    rejected: int
    conflict: int
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Chunk:
    """What one transaction stores: some trajectories of one log, and the places of their answers."""

    log: RawLog
    kept: list[keeping.Kept]
    places: list[int]


_log = logging.getLogger(__name__)
_decode = msgspec.json.Decoder(Ingested).decode
_encode = msgspec.json.Encoder().encode


def ingest(
    store: Store,
    project: str,
    sent: Sequence[Log],
    replace: bool = False,
    writes: Mapping[str, bool] | None = None,
    key: str | None = None,
) -> Ingested:
    """Keep every trajectory of some logs; when this returns, what it calls created is on disk.

    `writes` says of tools by name whether they change state. The answer is kept under `key`, and given again to whoever
    sends the same once more; another request under that key is an InputError.
    """
    request = _fingerprint(sent, replace)
    known = _recalled(store, project, key, request)
    if known is not None:
        return known
    items: list[Item | None] = []
    chunks = _chunks([_as_known(store, project, log) for log in sent], project, writes or {}, items)
    chunk = next(chunks, None)
    while chunk is not None:
        following = next(chunks, None)  # read before the transaction: the last one also keeps the answer
        last = following is None and key is not None
        with store.write() as conn:
            again = idempotency.recall(conn, project, key or "") if last else None
            if again is not None:  # somebody else sent it meanwhile
                return _same(again, key or "", request)
            added = trajectories.add_log(conn, project, chunk.log, chunk.kept, replace, compares_across_groups)
            _answer(items, chunk, added)
            if last:
                idempotency.remember(conn, project, key or "", request, _encode(_counted(items)))
        chunk = following
    return _counted(items)


def ingest_paths(
    store: Store,
    project: str,
    paths: Sequence[str],
    format: str | None = None,
    replace: bool = False,
    writes: Mapping[str, bool] | None = None,
) -> Iterator[Item]:
    """Keep the logs of files, folders and patterns, one after the other; each answer after what it says is on disk.

    Names and ids are those that `read` gives the same paths, but an id that a file before had is a conflict. The same
    bytes in two files are read once. The database itself, where it lies in a folder, is passed over.
    """
    contents: dict[bytes, Source] = {}
    for source in expand(paths):
        if isinstance(source, ParseError):
            yield refused(source)
            continue
        if source.walked and is_part_of(store, source):
            continue
        yield from keep_source(store, project, source, format, replace, writes or {}, contents)


def keep_source(
    store: Store,
    project: str,
    source: Source,
    format: str | None,
    replace: bool,
    writes: Mapping[str, bool],
    contents: dict[bytes, Source],
) -> Iterator[Item]:
    """Read and keep one log; `contents` knows those before it by their hash, and this one afterwards."""
    try:
        data = load(source)
    except CutOff as error:
        yield refused(error)
        data = error.data
    except ParseError as error:
        yield refused(error)
        return
    items: list[Item | None] = []
    log = _as_known(store, project, Log(data, source.name, format))
    found = read_source(dataclasses.replace(source, name=log.name), data, format, contents)
    for chunk in log_chunks(log, found, project, writes, items, sys.maxsize):
        yield from keep_chunk(store, project, source, chunk, items, replace)
        items.clear()  # the places of the next chunk count from here
    yield from _placed(items, source)


def keep_chunk(
    store: Store, project: str, source: Source, chunk: Chunk | None, items: list[Item | None], replace: bool
) -> Iterator[Item]:
    """Keep a chunk in one transaction; then the answers to it and to what could not be read beside it."""
    if chunk is not None:
        with store.write() as conn:
            added = trajectories.add_log(conn, project, chunk.log, chunk.kept, replace, compares_across_groups)
            _answer(items, chunk, added)
    yield from _placed(items, source)


def name_of(label: str | None, data: bytes) -> str:
    """What a log that came over the network is called: the last part of the client's label, else after its content."""
    shown = (label or "").replace("\\", "/").rstrip("/").rpartition("/")[2].strip()
    return shown[:200] or f"upload-{sha256(data).hexdigest()[:12]}"


def _as_known(store: Store, project: str, log: Log) -> Log:
    """The log under the name its bytes first came by: ids that it does not give itself are made from that."""
    with store.read() as conn:
        known = logs.name_of(conn, project, log.sha256)
    return log if known in (None, log.name) else Log(log.data, known or "", log.format)


def _chunks(sent: Sequence[Log], project: str, writes: Mapping[str, bool], items: list[Item | None]) -> Iterator[Chunk]:
    for log in sent:
        found = read_bytes(log.data, log.name, log.format, limit=MOST_DECODED)
        yield from log_chunks(log, found, project, writes, items, MOST_ITEMS)


def log_chunks(
    log: Log,
    found: Read,
    project: str,
    writes: Mapping[str, bool],
    items: list[Item | None],
    most: int,
) -> Iterator[Chunk]:
    """The trajectories of a log, so many at a time; records that could not be read go to their place in `items`."""
    raw: RawLog | None = None
    for places, some in _portions(_read(found, log.name), items, most):
        raw = raw or logs.packed(log.data, log.name, log.format, log.sha256)
        named = project != DEFAULT_PROJECT  # an equal name that is another object would be written out: other content
        mine = [changed(t, project=project) if named and t.project == DEFAULT_PROJECT else t for t in some]
        graphs, kept_places = _graphs(mine, places, writes, items)
        kept = keeping.keep(project, graphs, raw.sha256)
        for place, graph in zip(kept_places, graphs, strict=True):
            origin = graph.trajectory.source
            items[place] = Item(
                "rejected",
                external_id=graph.trajectory.id,
                file=log.name,
                line=None if origin is None else origin.line,
                report=(*graph.trajectory.report, *graph.notes),
            )
        yield Chunk(raw, kept, kept_places)


def _read(found: Read, name: str) -> Read:
    """What a reader finds. Formats may be anybody's code: what one raises is a record that could not be read."""
    try:
        yield from found
    except TrajcreditError:
        raise
    except registry.FOREIGN as error:
        _log.exception("the reader of %r failed", name)
        yield ParseError(f"its reader failed: {type(error).__name__}", name)


def _portions(found: Read, items: list[Item | None], most: int) -> Iterator[tuple[list[int], list[Trajectory]]]:
    places: list[int] = []
    some: list[Trajectory] = []
    spans = 0
    for record in found:
        if len(items) >= most:
            items.append(Item("rejected", reason=f"the rest was not read: at most {most:,} records an upload"))
            break
        items.append(None)
        if isinstance(record, ParseError):
            items[-1] = refused(record)
            continue
        places.append(len(items) - 1)
        some.append(record)
        spans += len(record.spans)
        if len(some) == CHUNK_TRAJECTORIES or spans >= CHUNK_SPANS:
            yield places, some
            places, some, spans = [], [], 0
    if some:
        yield places, some


def _graphs(
    some: list[Trajectory], places: list[int], writes: Mapping[str, bool], items: list[Item | None]
) -> tuple[list[SpanGraph], list[int]]:
    """The graph of each; where one cannot be built, the others are, one by one, and that one is refused."""
    try:
        return build_graphs(some, writes=writes), places
    except TrajcreditError:
        pass
    graphs: list[SpanGraph] = []
    kept: list[int] = []
    for place, trajectory in zip(places, some, strict=True):
        try:
            graphs += build_graphs([trajectory], writes=writes)
            kept.append(place)
        except TrajcreditError as error:
            origin = trajectory.source
            line = None if origin is None else origin.line
            items[place] = Item("rejected", external_id=trajectory.id, reason=str(error), line=line)
    return graphs, kept


def _answer(items: list[Item | None], chunk: Chunk, added: Sequence[trajectories.Added]) -> None:
    for place, one in zip(chunk.places, added, strict=True):
        prepared = items[place]
        assert prepared is not None
        made = one.status == "conflict" and one.external_id.startswith(chunk.log.name or one.external_id + "/")
        reason = f"{one.reason}; {MADE_FROM_NAME}" if made else one.reason
        items[place] = changed(prepared, status=one.status, id=one.id, reason=reason)


def _placed(items: Sequence[Item | None], source: Source) -> Iterator[Item]:
    """The answers, each naming the file as it was given."""
    return (changed(item, file=source.shown) for item in items if item is not None)


def is_part_of(store: Store, source: Source) -> bool:
    """Whether the file is the database, or one of those beside it."""
    return source.path is not None and str(source.path.resolve()).startswith(store.name)


def refused(error: ParseError) -> Item:
    status: Literal["skipped", "rejected"] = "skipped" if isinstance(error, SkippedFile) else "rejected"
    return Item(status, reason=error.reason, file=error.file or None, line=error.line)


def _counted(items: Sequence[Item | None]) -> Ingested:
    found = tuple(item for item in items if item is not None)
    ends = Counter(item.status for item in found)
    return Ingested(
        created=ends["created"],
        duplicate=ends["duplicate"],
        replaced=ends["replaced"],
        rejected=ends["rejected"],
        conflict=ends["conflict"],
        items=found,
    )


def _fingerprint(sent: Sequence[Log], replace: bool) -> str:
    digest = sha256(b"replace" if replace else b"")
    for log in sent:
        digest.update(_encode((log.name, log.format, log.sha256)))
    return digest.hexdigest()


def _recalled(store: Store, project: str, key: str | None, request: str) -> Ingested | None:
    """The answer kept under a key, null where there is none."""
    if key is None:
        return None
    if not 0 < len(key) <= idempotency.LONGEST_KEY:
        raise InputError(f"an Idempotency-Key has 1 to {idempotency.LONGEST_KEY} characters, not {len(key)}")
    with store.read() as conn:
        known = idempotency.recall(conn, project, key)
    return None if known is None else _same(known, key, request)


def _same(known: idempotency.Remembered, key: str, request: str) -> Ingested:
    """The answer; InputError where it was given to another request."""
    if known.request_sha256 != request:
        raise InputError(f"Idempotency-Key {key!r} was used for another request: send a new key")
    return _decode(known.response)
