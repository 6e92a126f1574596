"""A diagnosis as one HTML file that needs nothing else: inline pictures, no scripts, every text escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from trajcredit.service.diagnosing import Diagnosis, Mode
from trajcredit.service.diagnosing_plots import pictures
from trajcredit.service.diagnosing_tables import TICKS, begun, grids, left_out, over, reading, told
from trajcredit.visible import visible

__all__ = ["html"]

MOST = 600
"""Characters of one text that comes from a log."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'none'; base-uri 'none'; form-action 'none'"
STYLE = """
:root { color-scheme: light dark; --line: #c8c8c8; --found: #b35806; --clear: #2166ac; --soft: #777; }
@media (prefers-color-scheme: dark) { :root { --line: #444; --found: #fdae61; --clear: #74add1; --soft: #999; } }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; }
th, td { border-bottom: 1px solid var(--line); padding: .35rem .6rem; text-align: left; vertical-align: top; }
th { font-weight: 600; } td, li { overflow-wrap: anywhere; }
.found { color: var(--found); font-weight: 700; } .clear { color: var(--clear); } .needs, .note { color: var(--soft); }
svg { margin: .5rem 1rem .5rem 0; max-width: 100%; height: auto; }
svg text { font: 12px system-ui, sans-serif; fill: currentColor; } svg .title { font-weight: 600; font-size: 13px; }
svg .y { text-anchor: end; } svg .x { text-anchor: middle; } svg .grid { stroke: var(--line); stroke-width: 1; }
svg .line { fill: none; stroke: var(--clear); stroke-width: 2; } svg .dot { fill: var(--clear); }
svg .band { fill: var(--clear); fill-opacity: .18; stroke: none; }
"""


def html(found: Diagnosis) -> str:
    """The whole page."""
    return "\n".join(_page(found)) + "\n"


def _page(found: Diagnosis) -> Iterator[str]:
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>Diagnosis</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>Diagnosis</h1>"
    yield f"<p>{_text(over(found))}.</p>"
    skipped = left_out(found)
    if skipped is not None:
        yield f'<p class="found">{_text(skipped)}.</p>'
    yield _overview(found.modes)
    for mode in found.modes:
        if mode.status == "found":
            yield from _found(mode)
    drawn = list(pictures(found))
    if drawn:
        yield "<h2>Pictures</h2>"
        yield '<p class="note">Bands are 95 % intervals by tasks.</p>'
        yield from drawn
    for grid in grids(found):
        yield f"<h2>{_text(grid.title)}</h2>"
        yield _table(grid.head, grid.rows)
        yield f'<p class="note">{_said(grid.note)}</p>'
    yield "<h2>Checklist</h2>"
    yield _table(("in place?", "item", "what the log says"), [(TICKS[i.tick], i.item, i.says) for i in found.checklist])
    yield "</body>\n</html>"


def _overview(modes: Sequence[Mode]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{_text(m.title)}</th><td class="{m.status}">{m.status}</td><td>{_text(reading(m))}</td>'
        f"<td>{_said(told(m))}</td></tr>"
        for m in modes
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("failure mode", "status", "figure", "says"))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _found(mode: Mode) -> Iterator[str]:
    yield f"<h2>{_text(mode.title)}</h2>\n<p>{_said(begun(mode.says))}</p>"
    yield f"<p>What to do: {_said(mode.mitigation)}</p>\n<ul>"
    for one in mode.evidence:
        place = f"{one.external_id or one.trajectory}" + ("" if one.span is None else f" span {one.span}")
        yield f"<li><b>{_text(place)}</b>: {_said(one.says)}</li>"
    yield f"<li>and {mode.more:,} more trajectories</li></ul>" if mode.more else "</ul>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f'<th scope="col">{_text(name)}</th>' for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{_said(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _said(text: str) -> str:
    """A sentence of ours: what stands between backticks as code. It is escaped first, whoever wrote it."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", _text(text))


def _text(text: str) -> str:
    flat = visible(" ".join(text.split()))
    return escape(flat if len(flat) <= MOST else flat[: MOST - 1] + "…", quote=True)
