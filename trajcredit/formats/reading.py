"""Paths or bytes -> trajectories: finds the reader of each log and keeps ids apart.

| note | says |
| --- | --- |
| `duplicate-id` | another trajectory had this id: a number was added |
| `twin` | another record holds the same bytes, and neither gives an id: two rollouts that went alike |
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from hashlib import sha256
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from trajcredit.errors import InputError, ParseError, SkippedFile
from trajcredit.formats.ahead import read_ahead
from trajcredit.formats.document import Document, Match, decoded
from trajcredit.formats.forks import Forks
from trajcredit.formats.mixed import Mixed
from trajcredit.formats.sources import Source, expand, load, unpack
from trajcredit.formats.split import Record
from trajcredit.formats.told import with_told_errors
from trajcredit.formats.unpacking import LIMIT, CutOff
from trajcredit.formats.unquoting import unquoted
from trajcredit.model import Note, Trajectory, encode, instant
from trajcredit.registry import formats

__all__ = ["Reader", "read", "read_bytes", "read_source"]

OWN = {
    "trajcredit.credit/1": "credit rows that trajcredit wrote",
    "trajcredit.label/1": "labels that trajcredit wrote",
    "trajcredit.opinion/1": "opinions of a judge that trajcredit wrote",
    "trajcredit.answer/1": "answers of a judge's model that trajcredit kept",
}
NO_LOGS = {
    frozenset({"trajectory_id", "child", "parent", "kind"}): "edge rows that trajcredit wrote",
    frozenset({"trajectory_id", "spans", "edges"}): "a dependency graph that trajcredit wrote",
    frozenset({"env", "model", "num_examples", "rollouts_per_example"}): "the settings of a verifiers run",
    frozenset({"trajectory_id", "failures", "root_cause"}): "failure labels of AgentRx",
    frozenset({"trial_name", "task_name", "verifier_result"}): "the result of a Harbor trial, read with its trajectory",
    frozenset({"trials_dir", "environment", "verifier"}): "the configuration of a Harbor trial",
    frozenset({"commands", "task_complete"}): "an answer of Terminus, read with the results of its trial",
    frozenset({"commands", "is_task_complete"}): "an answer of Terminus, read with the results of its trial",
    frozenset({"execution_status", "persistence_dir", "agent"}): "the state of an OpenHands conversation",
    frozenset({"info", "tasks", "timestamp"}): "the set-up of a tau2-bench run, whose simulations are elsewhere",
    frozenset({"version", "width", "height"}): "a recording of a terminal, read with the results beside it",
}
"""What lies beside logs and is none: by the schema in it, or by its keys."""


class Reader(Protocol):
    """What a format registers: a frozen dataclass whose fields, if any, are its options."""

    def sniff(self, document: Document) -> Match:
        """How sure it is that the document is its own, judged by structure, never by the name alone.

        Where no reader knows the first object of a log, all are asked again from the second on, and so forth.
        """

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """Every trajectory of the document; a record that breaks the format is an error in its place."""


def read(
    paths: str | Path | Iterable[str | Path], format: str | None = None, strict: bool = False
) -> Iterator[Trajectory | ParseError]:
    """The trajectories of files, folders, patterns and `-` (standard input), gzip and zstd included.

    The format is sniffed, or the one named. What cannot be read is a ParseError in its place, and the rest goes on;
    `strict` raises the first one instead. A file of a folder that is no log is a SkippedFile: nothing failed.

    No two trajectories share an id, and ids do not depend on how a path was typed: a file goes by the shortest end of
    its absolute path that no other file of this call has. A record that comes again under the id that it gives itself
    is read once, and so is a file that is named twice, or that lies there packed too; without an id of its own it is
    another rollout, whether it is a row or a file.
    """
    given = [paths] if isinstance(paths, str | Path) else paths
    return _strictly(_of_files(given, format)) if strict else _of_files(given, format)


def read_bytes(
    data: bytes,
    name: str,
    format: str | None = None,
    dataset: str | None = None,
    strict: bool = False,
    limit: int = LIMIT,
) -> Iterator[Trajectory | ParseError]:
    """The trajectories of one log in memory; `name` is what ids and reports call it.

    It is refused where it, or what is packed inside of it, decodes to more than `limit` bytes.
    """
    found = _of_log(lambda: unpack(data, name, limit), Source(name), format, _Ids(), dataset=dataset, limit=limit)
    return _strictly(found) if strict else found


def read_source(
    source: Source, data: bytes, format: str | None = None, contents: dict[bytes, Source] | None = None
) -> Iterator[Trajectory | ParseError]:
    """The trajectories of one of the files that `expand` named, whose bytes `load` gave: ids as those of `read`.

    `contents` knows the logs before it by their hash, and this one afterwards: bytes that come again are an error.
    """
    return _of_log(lambda: data, source, format, _Ids(), contents)


def _strictly(found: Iterator[Trajectory | ParseError]) -> Iterator[Trajectory]:
    for item in found:
        if isinstance(item, Trajectory):
            yield item
        elif not isinstance(item, SkippedFile):
            raise item


def _of_files(paths: Iterable[str | Path], format: str | None) -> Iterator[Trajectory | ParseError]:
    ids = _Ids()
    sources = expand(paths)
    contents: dict[bytes, Source] | None = {} if len(sources) > 1 else None
    for source in sources:
        if isinstance(source, ParseError):
            yield source
        else:
            yield from _of_log(partial(load, source), source, format, ids, contents)


def _of_log(
    load: Callable[[], bytes],
    source: Source,
    format: str | None,
    ids: _Ids,
    contents: dict[bytes, Source] | None = None,
    dataset: str | None = None,
    limit: int = LIMIT,
) -> Iterator[Trajectory | ParseError]:
    """The trajectories of one log; `contents` knows those before it by their hash, null where it is the only one."""
    cut: CutOff | None = None
    try:
        try:
            data = load()
        except CutOff as error:
            cut, data = error, error.data
        document = Document(source.name, data, dataset, source.shown, source.folder, source.siblings, limit)
        known, document = _recognised(unquoted(document), format, source.walked)
    except ParseError as error:
        yield error if cut is None else ParseError(cut.reason, cut.file)
        return
    if format is None:
        items: Iterable[Trajectory | ParseError] = Mixed(_surest).read(document, known)
    else:
        items = formats.get(known)().read(document)
    if contents is not None:
        first = contents.setdefault(sha256(document.data).digest(), source)
        if first is not source:
            items = list(items)
            if _is_packed(first, source) or ids.know(items, document):
                yield document.error(f"holds the same bytes as {first.shown}: read once")
                return
    ids.begin()
    empty = True
    renamed: dict[str, str] = {}
    forks = Forks()
    told = (with_told_errors(item) if isinstance(item, Trajectory) else item for item in items)
    for found in chain(document.slips, read_ahead(told), [ParseError(cut.reason, cut.file)] if cut else ()):
        empty = False
        if isinstance(found, Trajectory):
            try:
                for reward in found.rewards:
                    if reward.at is not None:
                        instant(reward.at)  # readers take it as it is logged
            except InputError as error:
                yield document.error(f"trajectory {found.id!r}: {error}")
                continue
            name, found = found.id, ids.settle(forks.follow(_below(found, renamed) if renamed else found), document)
            forks.settled(name, found.id if isinstance(found, Trajectory) else None)
            if isinstance(found, Trajectory) and found.id != name:
                renamed[name] = found.id
        yield found
    if empty:
        yield document.error(f"nothing in it can be read as {known}")


def _is_packed(first: Source, second: Source) -> bool:
    """Whether one is the other, packed: they lie in one folder and have one name but for that."""
    bare = {source.shown.removesuffix(".gz").removesuffix(".zst") for source in (first, second)}
    return len(bare) == 1


def _below(trajectory: Trajectory, renamed: dict[str, str]) -> Trajectory:
    """The trajectory, its parent by the name that this got when it was read from the same log."""
    parent = trajectory.parent
    if parent is None or parent.trajectory not in renamed:
        return trajectory
    return replace(trajectory, parent=replace(parent, trajectory=renamed[parent.trajectory]))


def _recognised(document: Document, format: str | None, walked: bool) -> tuple[str, Document]:
    """The format, and the document from the first object on that a reader of it knows; ParseError where there is none.

    A format that was named is taken at its word, unless the file lay in a folder and is no log at all.
    """
    readers = formats.items() if format is None else {format: formats.get(format)}
    own = _own(document)
    for view in [document] if own else document.views():
        names = _surest_of(readers, view)
        if len(names) > 1 and view.first is not None and len(view.records) > 1:  # several formats in its first records?
            names = _surest_of(readers, view.only([view.first.record]))
        if len(names) > 1:
            raise document.error(f"could be {' or '.join(names)}: say which with format=")
        if names:
            return names[0], view
    damaged = None if own else _damaged(document)
    if damaged is not None:
        raise document.error(damaged)
    if walked and (own or document.shape == "other"):
        raise SkippedFile(f"no log: {own or _what_it_is(document)}", document.place)
    if format is None:
        raise document.error(f"no known format: {own or _what_it_is(document)}")
    return format, document


def _surest_of(readers: Mapping[str, Callable[[], Reader]], document: Document) -> list[str]:
    """The formats that are surest that the document is theirs; none where nobody knows it."""
    matches = {name: plugin().sniff(document) for name, plugin in readers.items()}
    best = max(matches.values(), default=Match.NO)
    return [name for name, match in matches.items() if match == best] if best else []


def _surest(document: Document) -> str | None:
    """The one format that is surest that the document is its own."""
    names = _surest_of(formats.items(), document)
    return names[0] if len(names) == 1 else None


PACKED = {
    b"PK\x03\x04": "a zip archive that is damaged or cut off",
    b"\x1f\x8b": "gzip inside of gzip: unpack it once",
    b"\x28\xb5\x2f\xfd": "zstd inside of what was unpacked: unpack it once",
    b"\xff\xfe": "text as UTF-16 or UTF-32: expected UTF-8",
    b"\xfe\xff": "text as UTF-16: expected UTF-8",
    b"\0\0\xfe\xff": "text as UTF-32: expected UTF-8",
}
"""First bytes of what was a log before something happened to it."""
OF_LOGS = (".jsonl", ".ndjson", ".eval", ".sse", ".pb")
"""Endings of files that are logs and nothing else: a note that they were passed over would lose runs without a word."""


MOST_OF_KEY = 60
"""Characters of a key that are shown."""


def _damaged(document: Document) -> str | None:
    """What is wrong with a file that must be a log, by its first bytes or its name; None where it may be anything."""
    if document.shape != "other" or not document.data or document.data.isspace():
        return None
    found = next((what for start, what in PACKED.items() if document.data[:4].startswith(start)), None)
    if found is not None and not zipfile.is_zipfile(BytesIO(document.data)):
        return f"no known format: {found} (it starts with {document.data[:4].hex(' ')})"
    name = document.name.removesuffix(".gz").removesuffix(".zst")
    ending = next((end for end in OF_LOGS if name.endswith(end)), None)
    return None if ending is None else f"no known format: it is named {ending}, and {_what_it_is(document)}"


def _own(document: Document) -> str | None:
    """What this is that lies beside logs and is none: our own output, settings, labels."""
    schema = document.peek("schema")
    what = OWN.get(schema) if isinstance(schema, str) else None
    return what or next((what for keys, what in NO_LOGS.items() if keys <= document.keys), None)


def _what_it_is(document: Document) -> str:
    """What is found in a document that no reader knows."""
    if document.first is not None:
        keys = [key[:MOST_OF_KEY] for key in sorted(document.keys)[:10]]
        return f"its objects have the keys {', '.join(keys) or '(none)'}"
    if not document.data or document.data.isspace():
        return "the file is empty"
    if b"\0" in document.data[:4] and document.data[:4].strip(b"\0")[:1] in (b"{", b"["):
        return "it is text as UTF-16 or UTF-32: expected UTF-8"
    first = next(iter(document.records), None)
    try:
        if isinstance(first, Record):
            decoded(document, first, msgspec.json.Decoder(dict[str, Any]).decode)
    except ParseError as error:
        first = error
    return first.reason if isinstance(first, ParseError) else "it holds no JSON objects"


class _Ids:
    """The ids given out so far, each with the records that asked for it: hash -> log and line."""

    def __init__(self) -> None:
        self._taken: dict[str, tuple[str, str, int | None]] = {}
        """Id -> the first record that asked for it: hash, log and line. Most ids are asked for once."""
        self._asked: dict[str, dict[str, tuple[str, int | None]]] = {}
        """Id that was asked for again -> all of them: hash -> log and line."""
        self._first: dict[str | tuple[str, int], str] = {}
        """Hash of a record, and which of its trajectories if not the first -> the id that the first of them got."""
        self._nth: dict[str, int] = {}
        """Hash and line of a record -> its trajectories so far."""

    def begin(self) -> None:
        """Another log: its records are counted anew."""
        self._nth.clear()

    def know(self, items: Iterable[Trajectory | ParseError], document: Document) -> bool:
        """Whether there is no trajectory but such as were read before, of the same id and content.

        Where every file has ids of its own to settle, as when it is stored, equal bytes are the same log.
        """
        if not self._taken:
            return True
        found = [item for item in items if isinstance(item, Trajectory)]
        return all(_identity(item, document)[0] in self._records(item.id) for item in found)

    def settle(self, trajectory: Trajectory, document: Document) -> Trajectory | ParseError:
        """The trajectory under an id of its own, or an error where the same record was read before."""
        content, line = _identity(trajectory, document)
        record = f"{content} {line}"
        self._nth[record] = nth = self._nth.get(record, 0) + 1
        if trajectory.id not in self._taken:
            self._taken[trajectory.id] = content, document.place, line
            twin = self._first.setdefault(content if nth == 1 else (content, nth), trajectory.id)
            if twin == trajectory.id:
                return trajectory
            note = Note("twin", f"holds the same bytes as {twin!r}, and has no id: a rollout of its own")
            return replace(trajectory, report=[*trajectory.report, note])
        known = self._records(trajectory.id)
        if content in known:
            place, first = known[content]
            before = place if first is None else f"record {first} of {place}"
            reason = f"trajectory {trajectory.id!r} repeats {before}: read once"
            return ParseError(reason if line is None else f"record {line}: {reason}", document.place, line)
        known[content] = document.place, line
        number = len(known)
        while (name := f"{trajectory.id}#{number}") in self._taken:
            number += 1
        self._taken[name] = content, document.place, line
        note = Note("duplicate-id", f"another trajectory has the id {trajectory.id!r}: this one is {name!r}")
        return replace(trajectory, id=name, report=[*trajectory.report, note])

    def _records(self, name: str) -> dict[str, tuple[str, int | None]]:
        """The records that asked for an id: hash -> log and line; changes to it are kept where there is one."""
        if name not in self._taken:
            return {}
        content, place, line = self._taken[name]
        return self._asked.setdefault(name, {content: (place, line)})


def _identity(trajectory: Trajectory, document: Document) -> tuple[str, int | None]:
    """Hash and line of the record; a canonical line has the origin of another file, and is hashed itself."""
    source = trajectory.source
    if source is not None and source.file == document.name and source.sha256 is not None:
        return source.sha256, source.line
    return sha256(encode(trajectory)).hexdigest(), None
