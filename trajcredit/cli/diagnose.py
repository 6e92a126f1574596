"""`trajcredit diagnose`: ten ways a run looks broken, each found, clear, or what the log lacks to tell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from trajcredit.cli.numbers import FINITE
from trajcredit.cli.options import Asked, attributor, finish, logs, read_logs_with_tools, tell
from trajcredit.cli.stored import database, project_of
from trajcredit.cli.streams import json_stdout
from trajcredit.cli.terminal import COMPILING, amount, line, say, working
from trajcredit.errors import InputError

if TYPE_CHECKING:
    from trajcredit.service.diagnosing import Asked as Looking
    from trajcredit.service.diagnosing import Diagnosis, Mode
    from trajcredit.service.stateless import Reading

__all__ = ["command", "report"]

FORMS = ("text", "md", "html", "json")
ENDINGS = {".md": "md", ".html": "html", ".htm": "html", ".json": "json", ".txt": "text"}
MOST_SHOWN = 3
"""Trajectories named for one failure mode on the terminal; the other forms have more."""


@click.command("diagnose")
@logs("reward", "group_by", "writes", "reads", "project", takes="[PATH]...", required=False)
@database
@attributor(default="grpo")
@click.option("--rewards", metavar="FILE", help="JSON, JSON lines or CSV: trajectory id or file name, and its reward.")
@click.option(
    "--against", metavar="SOURCE|NAME", help="The reward to hold it against; else the most trusted other one."
)
@click.option("--pass-at", type=FINITE, default=0.5, show_default=True, help="An outcome of at least this passes.")
@click.option(
    "--compare", nargs=2, metavar="A B", help="Two policy versions, models, data sets or steps on the same tasks."
)
@click.option("--dataset", metavar="NAME", help="Of the database: only this data set.")
@click.option("--to", type=click.Choice(FORMS), help="Form of the report; else by the ending of -o, else text.")
@click.option("-o", "--out", metavar="FILE", help="Write the report there; else to standard output.")
def command(
    asked: Asked,
    db: str,
    attributor: str,
    rewards: str | None,
    against: str | None,
    pass_at: float,
    compare: tuple[str, str] | None,
    dataset: str | None,
    to: str | None,
    out: str | None,
) -> None:
    """Ten ways a run looks broken: found, clear, or what the log lacks to tell; with pass@k and a checklist.

    PATH is a log, folder or glob; without one the newest trajectories of the project in the database are read. A mode
    is found where the whole 95 % interval of its figure lies beyond the threshold (docs/diagnostics.md).
    """
    from trajcredit.service import files
    from trajcredit.service.diagnosing import Asked as Looking

    form = to or ENDINGS.get(Path(out or "").suffix.lower(), "text")
    if out is not None:
        files.keep_apart(Path(out), (*asked.paths, *([rewards] if rewards is not None else [])))
    chosen = asked.settings
    looking = Looking(chosen.reward, against, chosen.group_by, pass_at, attributor, compare or None)
    if not asked.paths:
        if rewards is not None:
            raise InputError("--rewards goes with logs: `trajcredit reward` adds rewards to the database")
        _write(_stored(asked, db, dataset, looking), form, out)
        return
    if dataset is not None:
        raise InputError("--dataset picks from the database, and logs are named")
    reading, found = _read(asked, rewards, looking)
    _write(found, form, out)
    finish(reading)


def _stored(asked: Asked, db: str, dataset: str | None, looking: Looking) -> Diagnosis:
    from trajcredit.service import opening
    from trajcredit.service.diagnosing_stored import Filters, of_project

    with opening.existing(db) as store, working(COMPILING):
        return of_project(store, project_of(asked.settings.project), Filters(dataset=dataset), looking)


def _read(asked: Asked, rewards: str | None, looking: Looking) -> tuple[Reading, Diagnosis]:
    from trajcredit.service import diagnosing, notes, stateless

    reading = read_logs_with_tools(asked)
    tell(notes.of_reading(reading))
    if rewards is not None:
        known = len(reading.errors)
        reading, unmatched = stateless.with_rewards(reading, Path(rewards), asked.paths)
        for error in reading.errors[known:]:
            say(f"error: {error}")
        tell(notes.of_rewards(unmatched))
    with working(COMPILING):
        graphs = stateless.graphs(reading, asked.settings.writes)
        found = diagnosing.diagnose(graphs, looking)
    tell(
        (*notes.of_graphs(graphs), *(("batch", note, note.trajectory or f"group {note.group}") for note in found.notes))
    )
    return reading, found


def _write(found: Diagnosis, form: str, out: str | None) -> None:
    data = _formed(found, form)
    if out is not None:
        from trajcredit.service.files import written_whole

        with written_whole(Path(out)) as file:
            file.write(data)
        hits = sum(mode.status == "found" for mode in found.modes)
        runs = amount(found.over.trajectories, "trajectory", "trajectories")
        say(f"{amount(hits, 'failure mode')} found in {runs}: {out}")
    elif form == "json":
        json_stdout().write(data)
    else:
        click.echo(data.decode(), nl=False)


def _formed(found: Diagnosis, form: str) -> bytes:
    from trajcredit.service.diagnosing_html import html
    from trajcredit.service.diagnosing_markdown import markdown

    if form == "json":
        return msgspec.json.encode(found) + b"\n"
    if form == "md":
        return markdown(found).encode()
    return html(found).encode() if form == "html" else ("\n".join(report(found)) + "\n").encode()


def report(found: Diagnosis) -> Iterator[str]:
    """The report as text."""
    from trajcredit.service.diagnosing_tables import TICKS, grids, left_out, over

    yield line(over(found))
    skipped = left_out(found)
    if skipped is not None:
        yield line(skipped)
    for status in ("found", "clear", "needs"):
        for mode in found.modes:
            if mode.status == status:
                yield from _mode(mode)
    for grid in grids(found):
        yield ""
        yield f"{line(grid.title)}:"
        rows = [[line(cell) for cell in row] for row in (grid.head, *grid.rows)]
        widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
        for row in rows:
            yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        yield f"  {line(grid.note)}"
    yield ""
    yield "checklist:"
    for item in found.checklist:
        yield f"  {TICKS[item.tick]:<8}{line(item.item)}: {line(item.says)}"


def _mode(mode: Mode) -> Iterator[str]:
    from trajcredit.service.diagnosing_tables import reading

    yield ""
    yield f"{'FOUND' if mode.status == 'found' else mode.status:<6} {mode.title}"
    if mode.needs is not None:
        yield f"       needs {line(mode.needs)}"
        if mode.figure is not None:
            yield f"       so far: {line(mode.says)}"
        return
    yield f"       {line(reading(mode))}"
    yield f"       {line(mode.says)}"
    if mode.status != "found":
        return
    yield f"       do: {line(mode.mitigation)}"
    for one in mode.evidence[:MOST_SHOWN]:
        place = line(one.external_id or one.trajectory) + ("" if one.span is None else f" span {one.span}")
        yield f"         {place}: {line(one.says)}"
    more = mode.more + len(mode.evidence) - MOST_SHOWN
    if more > 0:
        yield f"         and {amount(more, 'other')}"
