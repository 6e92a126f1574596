"""A diagnosis as Markdown that one can paste into a ticket; text of logs is shown and never read as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trajcredit.service.diagnosing import Diagnosis, Mode
from trajcredit.service.diagnosing_tables import TICKS, begun, grids, left_out, over, reading, told
from trajcredit.visible import visible

__all__ = ["markdown"]

SPECIAL = re.compile(r"([\\`*_{}\[\]<>#!|~&$^@]|:(?=//))")
"""What could begin or end something in Markdown, a table, HTML, a mention or a link."""
MOST = 300
"""Characters of one cell that come from a log."""


def markdown(found: Diagnosis) -> str:
    """The whole report."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Diagnosis) -> Iterator[str]:
    yield "# Diagnosis"
    yield ""
    yield f"{_text(over(found))}."
    skipped = left_out(found)
    if skipped is not None:
        yield f"**{_text(skipped)}.**"
    yield ""
    yield from _table(
        ("failure mode", "status", "figure", "says"),
        [(m.title, _status(m), reading(m), told(m)) for m in found.modes],
    )
    for mode in found.modes:
        if mode.status == "found":
            yield from _found(mode)
    for grid in grids(found):
        yield ""
        yield f"## {_text(grid.title)}"
        yield ""
        yield from _table(grid.head, grid.rows)
        yield ""
        yield _text(grid.note)
    yield ""
    yield "## Checklist"
    yield ""
    yield from _table(
        ("in place?", "item", "what the log says"), [(TICKS[i.tick], i.item, i.says) for i in found.checklist]
    )


def _found(mode: Mode) -> Iterator[str]:
    yield ""
    yield f"## {_text(mode.title)}"
    yield ""
    yield _text(begun(mode.says))
    yield ""
    yield f"What to do: {_text(mode.mitigation)}"
    yield ""
    for one in mode.evidence:
        place = f"{one.external_id or one.trajectory}" + ("" if one.span is None else f" span {one.span}")
        yield f"- {_text(place)}: {_text(one.says)}"
    if mode.more:
        yield f"- and {mode.more:,} more trajectories"


def _status(mode: Mode) -> str:
    return mode.status.upper() if mode.status == "found" else mode.status


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(map(_text, head))} |"
    yield f"| {' | '.join('---' for _ in head)} |"
    for row in rows:
        yield f"| {' | '.join(map(_text, row))} |"


def _text(text: str) -> str:
    """On one line, harmless, cut."""
    flat = visible(" ".join(text.split()))
    return SPECIAL.sub(r"\\\1", flat if len(flat) <= MOST else flat[: MOST - 1] + "…")
