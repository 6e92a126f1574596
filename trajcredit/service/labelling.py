"""Labels given, listed, handed out as rows and read back, and the queue that says what to label next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from trajcredit.batching import assemble
from trajcredit.errors import InputError
from trajcredit.service.grading_labels import SCHEMA, SpanLabel
from trajcredit.service.grading_places import Spans
from trajcredit.service.ingesting import Item
from trajcredit.service.wording import count, plain, share
from trajcredit.store import Store, batches, documents, ids, label_queue, labels
from trajcredit.store.ids import EXTERNAL
from trajcredit.store.label_queue import Next, Result
from trajcredit.store.labels import Given, Label, Queue, Taken, Verdict

__all__ = ["LabelList", "Labelled", "Result", "Turn", "give", "labels_of", "listed", "next_of", "rows"]

MOST_ROWS = 100_000
"""Rows of one request."""


class _Row(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, gc=False):
    """One line: a label row of the schema, or the same without it. A verdict of null withdraws."""

    schema: str = SCHEMA
    trajectory_id: str
    span_index: int | None = None
    message_index: int | None = None
    tool_call_id: str | None = None
    verdict: Verdict | None
    labeller: str
    note: str | None = None
    blind: bool = False
    seconds: float | None = None
    queue: Queue | None = None
    at: str | None = None
    value: float | None = None
    family: str | None = None


@dataclass(frozen=True, slots=True)
class Labelled:
    """One answer a row, in order."""

    given: int
    rejected: int
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class LabelList:
    """Some labels, and where the next page begins; null on the last."""

    items: tuple[Label, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class Turn:
    """What a person labels next, and how far that person is."""

    queue: Queue
    trajectory: str | None
    score: float | None
    runs: int
    left: int
    left_random: int
    left_other: int
    done: int
    """Trajectories that this person has labelled."""
    why: str
    """Why this one, or why there is none."""


_decode = msgspec.json.Decoder(_Row).decode
_encode = msgspec.json.Encoder().encode


def give(store: Store, project: str, data: bytes) -> Labelled:
    """Append the labels of JSON lines in the form of label rows, whose schema, note and times may lack.

    A trajectory goes by our id, by `ext:` and the log's own, or by the log's own alone where that is no id of another.
    Sent again they change nothing. A row that cannot be read, or names no action of anything stored, is rejected; the
    rest counts.
    """
    read = list(_read(data))
    items = [_refused(line, row) if isinstance(row, str) else Item("created", line=line) for line, row in read]
    said = [(place, row) for place, (_, row) in enumerate(read) if isinstance(row, _Row)]
    if not said:
        return _counted(items)
    with store.read() as conn:
        known = ids.meant(conn, project, list({row.trajectory_id for _, row in said}))
    spans = _spans(store, project, [row for _, row in said], known)
    sure: list[tuple[int, Given]] = []
    for place, row in said:
        given = _given(row, known.get(row.trajectory_id), spans)
        if isinstance(given, Given):
            sure.append((place, given))
        else:
            items[place] = _refused(read[place][0], given)
    with store.write() as conn:
        answers = labels.append(conn, project, [given for _, given in sure])
    for (place, given), answer in zip(sure, answers, strict=True):
        items[place] = _answered(read[place][0], given.trajectory, answer)
    return _counted(items)


def labels_of(store: Store, project: str, ref: str) -> LabelList:
    """The labels of one trajectory, all on one page."""
    with store.read() as conn:
        return LabelList(tuple(labels.of_trajectory(conn, project, ref)), None)


def listed(store: Store, project: str, cursor: str | None = None, limit: int = 100) -> LabelList:
    """The labels of a project, those that came last first."""
    with store.read() as conn:
        page = labels.page(conn, project, cursor, limit)
    return LabelList(page.labels, page.next)


def next_of(
    store: Store, project: str, labeller: str, queue: Queue, result: Result = "fail", after: str | None = None
) -> Turn:
    """The next trajectory of a queue for a person; `after`: one that is passed over, with all before it."""
    if not labeller.strip():
        raise InputError("labeller: expected a name")
    with store.read() as conn:
        found = label_queue.following(conn, project, labeller, queue, result, after)
        done = labels.labelled_by(conn, project, labeller.strip())
    return Turn(
        queue,
        found.trajectory,
        found.score,
        found.runs,
        found.left,
        found.left_random,
        found.left_other,
        done,
        _why(found, queue, result),
    )


def rows(store: Store, project: str) -> Iterator[bytes]:
    """Every label as a JSON line of the schema, in the order they came, read in one state of the database."""
    with store.read() as conn:
        for one in labels.each(conn, project):
            row = {
                "schema": SCHEMA,
                "trajectory_id": one.external_id,
                "span_index": one.span,
                "verdict": one.verdict,
                "labeller": one.labeller,
                "at": one.at,
                "blind": one.blind,
                "seconds": one.seconds,
                "note": one.note,
                "queue": one.queue,
            }
            yield _encode(row) + b"\n"


def _why(found: Next, queue: Queue, result: Result) -> str:
    ends = {"fail": "failed ", "pass": "passed ", "any": ""}[result]
    if found.trajectory is None:
        return f"no {ends}trajectory is left in this queue" if not found.left else "the end of this queue"
    if queue == "random":
        return "random: of the tenth that no attributor picks from"
    if found.score is None:
        lacks = "fewer than two finished runs single out a span of it" if queue == "disagree" else "no run scored it"
        return f"in random order: {lacks}"
    if queue == "high":
        return f"a credit of size {plain(found.score)}, in reward units, the largest in {count(found.runs, 'run')}"
    if not found.score:
        return f"the {found.runs} runs that single out a span agree on it"
    if found.score == 1:
        return f"the {found.runs} runs that single out a span all name different ones"
    return f"of the {found.runs} runs that single out a span, {share(found.score)} the pairs disagree on it"


def _spans(
    store: Store, project: str, rows: Sequence[_Row], known: Mapping[str, ids.Known | InputError]
) -> Spans | None:
    """Where messages and calls are in the trajectories of rows that name a span by them; null where none does."""
    meant = [known.get(row.trajectory_id) for row in rows if row.span_index is None]
    names = sorted({one.id for one in meant if isinstance(one, ids.Known)})
    if not names:
        return None
    with store.read() as conn:
        loaded = batches.load(conn, project, names)
        graphs = documents.graphs(conn, project, names)
    return Spans(assemble(loaded.heads, loaded.columns, loaded.rewards, graphs=graphs))


def _given(row: _Row, known: ids.Known | InputError | None, spans: Spans | None) -> Given | str:
    """The label, or why it is none."""
    if isinstance(known, InputError):
        return str(known)
    if row.schema != SCHEMA:
        return f"schema {row.schema[:40]!r}: expected {SCHEMA!r}"
    if row.value is not None or row.family is not None:
        return (
            "`value` and `family` are of benchmarks: what is stored are verdicts; `trajcredit eval --labels` reads both"
        )
    if known is None:
        return f"no trajectory {row.trajectory_id!r}"
    span = row.span_index
    if span is None:
        if row.message_index is None or spans is None:
            return "names no span; expected `span_index`, or `message_index` with `tool_call_id` (null for text)"
        found = spans.of(SpanLabel(known.external_id, 0, None, row.message_index, row.tool_call_id))
        if isinstance(found, str):
            return found
        span = found[0] - int(spans.batch.span_offsets[spans.number[known.external_id]])
    return Given(
        trajectory=known.id if row.trajectory_id == known.id else EXTERNAL + known.external_id,
        span=span,
        verdict=row.verdict,
        labeller=row.labeller,
        note=row.note,
        blind=row.blind,
        seconds=row.seconds,
        queue=row.queue,
        at=row.at,
    )


def _counted(items: Sequence[Item]) -> Labelled:
    ends = [item.status for item in items]
    return Labelled(ends.count("created"), ends.count("rejected"), tuple(items))


def _read(data: bytes) -> Iterator[tuple[int, _Row | str]]:
    """(line, the row or why there is none); empty lines are none."""
    found = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line or line.isspace():
            continue
        found += 1
        if found > MOST_ROWS:
            raise InputError(f"more than {MOST_ROWS:,} labels in one request: send them in several")
        try:
            yield number, _decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            yield number, "nested too deep" if isinstance(error, RecursionError) else str(error)


def _answered(line: int, name: str, answer: Taken) -> Item:
    """`name` is what the row calls its trajectory."""
    if name.startswith(EXTERNAL):
        return Item(answer.status, None, name.removeprefix(EXTERNAL), answer.reason, line=line)
    return Item(answer.status, name, reason=answer.reason, line=line)


def _refused(line: int, reason: str) -> Item:
    return Item("rejected", reason=reason, line=line)
