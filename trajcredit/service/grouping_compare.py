"""Two rollouts of a group side by side, with what a run says of each call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from trajcredit.arrays import F64
from trajcredit.batching import call_keys
from trajcredit.errors import InputError
from trajcredit.model import Span, Trajectory, body
from trajcredit.service.grouping_align import Item, Pair, Same, align
from trajcredit.service.grouping_calls import arguments_of
from trajcredit.service.wording import count
from trajcredit.store import Store, groups, ids, runs
from trajcredit.store.filters import PASS
from trajcredit.store.group_pages import find_group
from trajcredit.store.pages import Listed

__all__ = ["Alignment", "Aside", "Cell", "Difference", "Row", "alignment"]

MOST_ITEMS = 2000
"""Calls and messages of one rollout that are shown."""
MESSAGES = ("system", "user", "assistant")
LONGEST = 1000
"""Characters of an argument's value, and of a message."""
RESULT = 240
"""Characters of a result."""


@dataclass(frozen=True, slots=True)
class Aside:
    """One of the two: which it is, and how it did."""

    id: str
    external_id: str
    number: int
    reward: float | None
    passed: bool | None


@dataclass(frozen=True, slots=True)
class Value:
    """An argument of a call: path, and value as JSON, cut."""

    path: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A call or a message in one rollout."""

    span: int
    step: int | None
    """Number of the call among the calls of its rollout, from 1; null for a message."""
    kind: Literal["system", "user", "assistant", "tool_call"]
    name: str | None
    text: str
    """Of a call its arguments as logged; cut."""
    size: int
    """Characters of all of it."""
    arguments: tuple[Value, ...]
    result: str | None
    """How the result begins."""
    result_size: int
    is_error: bool
    credit: float | None
    folded: int
    """Reasoning blocks and stray results between the cell before and this one."""


@dataclass(frozen=True, slots=True)
class Difference:
    """An argument that the two calls have otherwise; null where one has it not."""

    path: str
    a: str | None
    b: str | None


@dataclass(frozen=True, slots=True)
class Row:
    """What stands side by side."""

    state: Same
    a: Cell | None
    b: Cell | None
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Alignment:
    """Both rollouts, row by row."""

    a: Aside
    b: Aside
    rows: tuple[Row, ...]
    first: int | None
    """Position of the first row whose calls differ; null where all calls are the same."""
    scale: float
    """Largest size of a credit in the rows; 0 where there is none."""
    run: str | None
    label: str | None
    notes: tuple[str, ...]


def alignment(store: Store, project: str, ref: str, a: str, b: str, run: str | None = None) -> Alignment:
    """`a` and `b` by our ids or `ext:` and the client's; both must be of the group."""
    with store.read() as conn:
        of = None if run is None else runs.find(conn, project, run)
        head = find_group(conn, project, ref)
        members = groups.members(conn, project, head.key)
        own = [one.id for one in ids.find_all(conn, project, [a, b])]
        places = {one.id: at for at, one in enumerate(members)}
        for side, asked, identity in zip("ab", (a, b), own, strict=True):
            if identity not in places:
                raise InputError(f"{side}: trajectory {asked!r} is not in group {head.name!r}")
        _, rewards = groups.by_one_source([(one.outcome, one.outcome_source) for one in members])
        documents = dict(groups.documents(conn, project, sorted(set(own))))
        said = {} if of is None else groups.credits(conn, of.id, own)
    sides = [_aside(members[places[one]], places[one], rewards[places[one]]) for one in own]
    cells = [_cells(documents[one], said.get(one)) for one in own]
    rows, notes = _rows(cells[0], cells[1], [documents[one] for one in own])
    return Alignment(
        a=sides[0],
        b=sides[1],
        rows=rows,
        first=next((at for at, row in enumerate(rows) if row.state != "same" and _is_call(row)), None),
        scale=max((abs(cell.credit) for own in cells for cell in own if cell.credit is not None), default=0.0),
        run=None if of is None else of.id,
        label=None if of is None else of.asked.label,
        notes=(*notes, *_unread(said, sides, of is not None)),
    )


def _rows(
    a: Sequence[Cell], b: Sequence[Cell], documents: Sequence[Trajectory]
) -> tuple[tuple[Row, ...], tuple[str, ...]]:
    items = [_items(cells, document) for cells, document in zip((a, b), documents, strict=True)]
    pairs, left = align(items[0], items[1])
    rows = tuple(_row(pair, a, b, documents) for pair in pairs)
    notes = []
    for name, cells, document in zip("AB", (a, b), documents, strict=True):
        more = sum(span.kind in (*MESSAGES, "tool_call") for span in document.spans) - len(cells)
        if more:
            notes.append(f"{name} goes on for {more:,} more calls and messages, not shown.")
    if left:
        notes.append(f"{count(left, 'row')} too many to be aligned: they stand one side after the other.")
    return rows, tuple(notes)


def _items(cells: Sequence[Cell], document: Trajectory) -> list[Item]:
    keys = call_keys(document)
    return [
        Item(cell.span, f"call {cell.name}", keys[cell.span], frozenset(arguments_of(document.spans[cell.span])))
        if cell.kind == "tool_call"
        else Item(cell.span, cell.kind, document.spans[cell.span].text)
        for cell in cells
    ]


def _row(pair: Pair, a: Sequence[Cell], b: Sequence[Cell], documents: Sequence[Trajectory]) -> Row:
    left = None if pair.a is None else a[pair.a]
    right = None if pair.b is None else b[pair.b]
    if pair.state != "differs" or left is None or right is None or left.kind != "tool_call":
        return Row(pair.state, left, right, ())
    own = dict(arguments_of(documents[0].spans[left.span]))
    other = dict(arguments_of(documents[1].spans[right.span]))
    paths = [path for path in sorted({*own, *other}) if own.get(path) != other.get(path)]
    return Row(pair.state, left, right, tuple(Difference(p, _value(own, p), _value(other, p)) for p in paths))


def _value(arguments: Mapping[str, str], path: str) -> str | None:
    value = arguments.get(path)
    return None if value is None else _cut(value, LONGEST)


def _cells(document: Trajectory, credit: F64 | None) -> list[Cell]:
    spans = document.spans
    results = {span.result_of: span for span in reversed(spans) if span.result_of is not None}
    found: list[Cell] = []
    folded = calls = 0
    for at, span in enumerate(spans):
        if len(found) == MOST_ITEMS:
            break
        is_call = span.kind == "tool_call"
        if not is_call and span.kind not in MESSAGES:
            folded += span.result_of is None
            continue
        calls += is_call
        found.append(_cell(at, span, calls if is_call else None, results.get(at), credit, folded))
        folded = 0
    return found


def _cell(at: int, span: Span, step: int | None, result: Span | None, credit: F64 | None, folded: int) -> Cell:
    text = body(span)
    number = None if credit is None else float(credit[at])
    assert span.kind in (*MESSAGES, "tool_call")
    return Cell(
        span=at,
        step=step,
        kind=span.kind,  # type: ignore[arg-type]  # one of these four, as asserted
        name=span.name,
        text=_cut(text, LONGEST),
        size=len(text),
        arguments=()
        if step is None
        else tuple(Value(path, _cut(value, LONGEST)) for path, value in arguments_of(span)),
        result=None if result is None else _cut(result.text, RESULT),
        result_size=0 if result is None else len(result.text),
        is_error=result is not None and bool(result.error),
        credit=None if number is None or number != number else number,  # NaN differs from itself
        folded=folded,
    )


def _aside(one: Listed, at: int, reward: float | None) -> Aside:
    return Aside(one.id, one.external_id, at + 1, reward, None if reward is None else reward >= PASS)


def _is_call(row: Row) -> bool:
    return any(cell is not None and cell.kind == "tool_call" for cell in (row.a, row.b))


def _unread(said: Mapping[str, F64], sides: Sequence[Aside], asked: bool) -> list[str]:
    if not asked:
        return []
    named = zip("AB", sides, strict=True)
    return [f"The run did not read {name} (#{one.number})." for name, one in named if one.id not in said]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
