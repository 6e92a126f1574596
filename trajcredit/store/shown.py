"""What a page shows of the spans of one trajectory, without decoding what it does not show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
from sqlalchemy import Connection, select

from trajcredit.arrays import BOOL
from trajcredit.batching import Columns
from trajcredit.errors import InputError
from trajcredit.model import Span
from trajcredit.store.evidence import write_basis
from trajcredit.store.ids import find
from trajcredit.store.logs import decompress
from trajcredit.store.outcomes import action_mask
from trajcredit.store.packed import columns_of_keys
from trajcredit.store.tables import documents, packed, spans

__all__ = ["Facts", "check_span", "facts", "own_span", "some_spans", "spans_from"]


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """The spans of one trajectory, each without its text."""

    columns: Columns
    is_action: BOOL
    sizes: tuple[int, ...]
    """Characters of `model.body`."""
    write_basis: tuple[str, ...]
    """What told that a call writes or does not; "" on other spans."""
    agents: tuple[str | None, ...] | None
    """Null where no span names one."""


class _Pieces(msgspec.Struct, frozen=True, gc=False):
    spans: list[msgspec.Raw]


class _Named(msgspec.Struct, frozen=True, gc=False):
    agent: str | None = None


class _Agents(msgspec.Struct, frozen=True, gc=False):
    spans: list[_Named]


_pieces = msgspec.json.Decoder(_Pieces).decode
_agents = msgspec.json.Decoder(_Agents).decode
_span = msgspec.json.Decoder(Span).decode


def facts(conn: Connection, project: str, ref: str) -> Facts:
    """All spans, in order."""
    key = find(conn, project, ref).key
    columns = columns_of_keys(conn, [key])
    sizes = conn.scalars(select(spans.c.size).where(spans.c.trajectory == key).order_by(spans.c.span))
    evidence = conn.scalars(select(packed.c.evidence).where(packed.c.trajectory == key)).one()
    named = _agents_of(_line(conn, key))
    return Facts(
        columns=columns,
        is_action=action_mask(columns),
        sizes=tuple(sizes),
        write_basis=write_basis(evidence, len(columns.kind), len(columns.parents)),
        agents=named,
    )


def some_spans(conn: Connection, project: str, ref: str, first: int, last: int) -> tuple[Span, ...]:
    """Spans first to last, without it; `last` may lie beyond the end, `first` not."""
    trajectory = find(conn, project, ref)
    if not 0 <= first <= last or first > trajectory.n_spans:
        asked = f"spans {first} to {last}"
        raise InputError(f"{asked}: trajectory {ref!r} has {trajectory.n_spans} spans, counted from 0")
    raw = _pieces(_line(conn, trajectory.key)).spans[first:last]
    return tuple(map(_span, raw))


def spans_from(conn: Connection, project: str, ref: str, first: int) -> Iterator[Span]:
    """Spans from `first` on, each decoded when it is asked for: the transaction may have ended by then."""
    trajectory = find(conn, project, ref)
    if first or trajectory.n_spans:
        check_span(first, trajectory.n_spans, ref)
    return map(_span, _pieces(_line(conn, trajectory.key)).spans[first:])


def own_span(conn: Connection, project: str, ref: str, span: int) -> Span:
    """One span; InputError names the range."""
    check_span(span, find(conn, project, ref).n_spans, ref)
    return some_spans(conn, project, ref, span, span + 1)[0]


def check_span(span: int, n_spans: int, ref: str) -> None:
    """InputError where a trajectory of so many spans has none of that index."""
    if not 0 <= span < n_spans:
        has = f"spans 0 to {n_spans - 1}" if n_spans else "no spans"
        raise InputError(f"span {span}: trajectory {ref!r} has {has}")


def _line(conn: Connection, key: int) -> bytes:
    return decompress(conn.scalars(select(documents.c.line).where(documents.c.trajectory == key)).one())


def _agents_of(line: bytes) -> tuple[str | None, ...] | None:
    """In text the quotes are escaped, so most lines need no second look."""
    if b'"agent":' not in line:
        return None
    found = tuple(span.agent for span in _agents(line).spans)
    return found if any(name is not None for name in found) else None
