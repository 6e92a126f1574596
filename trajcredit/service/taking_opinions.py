"""Opinions that somebody else computed, or that `trajcredit judge` wrote, kept as a judging."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trajcredit.errors import InputError
from trajcredit.graph import SpanGraph
from trajcredit.judges.opinions import Opinion, decoded, encoded, fitted, named
from trajcredit.service.ingesting import Item
from trajcredit.service.judgings import JudgingView, find
from trajcredit.service.versions import code_version
from trajcredit.store import Store, documents, ids, judgings
from trajcredit.store.ids import Known
from trajcredit.store.judgings import Asked, Outlay
from trajcredit.store.opinions import Kept, save

__all__ = ["Taken", "take"]

MOST_ROWS = 100_000
"""Rows of one request."""
WINDOW = 200
MOST_NAMED = 5
"""Lines that a reason names."""


@dataclass(frozen=True, slots=True)
class Taken:
    """One answer a row, in order; null where no row could be kept: then there is no judging."""

    judging: JudgingView | None
    kept: int
    rejected: int
    items: tuple[Item, ...]


def take(store: Store, project: str, data: bytes) -> Taken:
    """Keep rows of `trajcredit.opinion/1`, one a line, as a judging of judge `file` that is done.

    A trajectory goes by the log's own id. A row that cannot be read, does not fit the spans that are stored, or names
    nothing stored, is rejected with the reason; the rest is kept. InputError where rows are of several judges or
    scales.
    """
    items, rows = list[Item](), list[tuple[int, Opinion]]()
    for line, name, row in _rows(data):
        if isinstance(row, str):
            items.append(Item("rejected", external_id=name, reason=row, line=line))
        else:
            rows.append((len(items), row))
            items.append(Item("created", external_id=row.trajectory_id, line=line))
    for what in ("judge", "scale"):
        found = sorted({str(getattr(row, what)) for _, row in rows})
        if len(found) > 1:
            raise InputError(f"opinions of several {what}s: {', '.join(found)[:200]}; expected one")
    kept = [one for one in _fitting(store, project, rows, items) if one is not None]
    if not kept:
        return Taken(None, 0, len(items), tuple(items))
    said = [row for place, row in rows if items[place].status == "created"]
    first = said[0]
    asked = Asked(
        judge="file",
        label=f"file:{first.judge}",
        parameters={},
        scale=first.scale,
        segments="as given",
        code_version=code_version(),
    )
    with store.write() as conn:
        judging = judgings.create(conn, project, asked)
        judgings.start(conn, judging)
        judgings.begin(
            conn,
            judging,
            len(kept),
            _common([row.fingerprint for row in said]) or "",
            _common([row.model for row in said]),
            _common([row.prompt_version for row in said]),
        )
        save(conn, judging, kept)
        judgings.progress(conn, judging, Outlay())
        missing = sum(one.missing is not None for one in kept)
        why = f"{missing:,} of {len(kept):,} were not judged" if missing else None
        judgings.end(conn, judging, "incomplete" if missing else "done", why)
    return Taken(find(store, project, judging.id), len(kept), len(items) - len(kept), tuple(items))


def _common(values: Sequence[str | None]) -> str | None:
    """What all rows say; null where they do not say one thing, which is nothing to say of the whole."""
    return values[0] if len({*values}) == 1 else None


def _fitting(store: Store, project: str, rows: list[tuple[int, Opinion]], items: list[Item]) -> Iterator[Kept | None]:
    """What can be kept; of the others `items` say why not."""
    second = _second(rows, items)
    for first in range(0, len(rows), WINDOW):
        some = rows[first : first + WINDOW]
        names = [ids.EXTERNAL + row.trajectory_id for _, row in some]
        with store.read() as conn:
            known = ids.known(conn, project, names)
            there = list({one.id: None for one in known.values()})
            graphs = dict(zip(there, documents.graphs(conn, project, there), strict=True))
        for (place, row), name in zip(some, names, strict=True):
            one = known.get(name)
            why = second.get(place) or _why_not(row, one, graphs)
            if one is None or why is not None:
                line = items[place].line
                items[place] = Item("rejected", external_id=row.trajectory_id, reason=why, line=line)
            else:
                items[place] = Item("created", one.id, row.trajectory_id, line=items[place].line)
                yield Kept(one.key, row.missing, encoded(row))


def _second(rows: list[tuple[int, Opinion]], items: list[Item]) -> dict[int, str]:
    """Which rows cannot be the only one of their trajectory, by place among `items`, as `judge=FILE` reads them.

    Of two opinions neither is taken: nothing says which one is meant. One that is missing gives way to one that is not,
    else to a later one.
    """
    of = defaultdict[str, list[tuple[int, Opinion]]](list)
    for place, row in rows:
        of[row.trajectory_id].append((place, row))
    found = dict[int, str]()
    for one in items:
        if one.status == "rejected" and one.external_id is not None and one.external_id in of:
            why = f"line {one.line} is about it too, and cannot be read"
            found.update(dict.fromkeys((place for place, _ in of.pop(one.external_id)), why))
    for own in of.values():
        judged = [place for place, row in own if row.missing is None]
        if len(judged) > 1:
            where = ", ".join(str(items[place].line) for place in judged[:MOST_NAMED])
            why = f"there are {len(judged)} opinions of it, in lines {where}; expected one"
            found.update(dict.fromkeys((place for place, _ in own), why))
            continue
        taken = judged[0] if judged else own[-1][0]
        gone = [place for place, row in own if row.missing is not None and place != taken]
        found.update(dict.fromkeys(gone, f"it gives way to the opinion in line {items[taken].line}"))
    return found


def _why_not(row: Opinion, one: Known | None, graphs: dict[str, SpanGraph]) -> str | None:
    if one is None:
        return "no such trajectory is stored"
    found = fitted(row, graphs[one.id])
    return found if isinstance(found, str) and row.missing is None else None


def _rows(data: bytes) -> Iterator[tuple[int, str | None, Opinion | str]]:
    """(line, trajectory where it can be told, the row or why there is none); empty lines are none."""
    rows = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line or line.isspace():
            continue
        rows += 1
        if rows > MOST_ROWS:
            raise InputError(f"more than {MOST_ROWS:,} opinions in one request: send them in several")
        try:
            row = decoded(line)
        except InputError as error:
            yield number, named(line), str(error)
        else:
            yield number, row.trajectory_id, row
