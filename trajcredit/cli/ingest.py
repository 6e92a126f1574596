"""`trajcredit ingest`: logs into the database."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click
import msgspec

from trajcredit.cli.options import Asked, logs, tell, warn_of_unknown_tools
from trajcredit.cli.stored import DEFAULT_PROJECT, database
from trajcredit.cli.streams import json_stdout
from trajcredit.cli.terminal import line, say, watched
from trajcredit.errors import InputError

if TYPE_CHECKING:
    from trajcredit.model import Note
    from trajcredit.service.ingesting import Item

__all__ = ["command"]

FAILED = ("rejected", "conflict")
ENDS = ("created", "duplicate", "replaced", *FAILED)
REPLACE = " (--replace puts this one in its place)"


@click.command("ingest")
@logs("writes", "reads", "project")
@database
@click.option("--replace", is_flag=True, help="Put a trajectory in the place of a stored one of its id.")
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Processes that read logs at once, each file by one of them; only this one writes.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a trajectory, as soon as it is on disk.")
def command(asked: Asked, db: str, replace: bool, workers: int, as_json: bool) -> None:
    """Keep the trajectories of logs in the database, which is made where there is none.

    PATH is a file, folder or glob, also .gz and .zst, or - for standard input. What was kept before is a duplicate and
    changes nothing; the same id with other content is a conflict. Edges are worked out now: which tools write is said
    here, or in trajcredit.toml.
    """
    from trajcredit import engines
    from trajcredit.service import ingesting_ahead, listing, opening

    project = asked.settings.project or DEFAULT_PROJECT
    by = engines.engine("in-process" if workers == 1 else "pool", workers)
    with by as engine, opening.open_store(db) as store:
        items = ingesting_ahead.ingest_paths(
            engine, store, project, asked.paths, asked.format_name, replace, asked.settings.writes
        )
        counts = _written(items) if as_json else _told(watched(items, "storing"))
        writes = asked.settings.writes
        if writes and any(counts[end] for end in ENDS if end not in FAILED):
            warn_of_unknown_tools(writes, listing.tools(store, project), f"project {project}")
        summary = f"{_counted(counts)} in project {line(project)} of {line(store.name)}"
    if not any(counts[end] for end in ENDS if end != "rejected"):
        raise InputError(f"nothing readable in {', '.join(asked.paths)}")
    if as_json:
        say(summary)
    else:
        click.echo(summary)
    sys.exit(1 if any(counts[end] for end in FAILED) else 0)


def _written(items: Iterable[Item]) -> Counter[str]:
    """Every item as JSON, at once: whoever reads it knows what is on disk."""
    counts: Counter[str] = Counter()
    for item in items:
        counts[item.status] += 1
        json_stdout().write(msgspec.json.encode(item) + b"\n")
        sys.stdout.flush()
    return counts


def _told(items: Iterable[Item]) -> Counter[str]:
    """One line a file on standard output, what failed or was passed over on standard error; notes at the end."""
    counts: Counter[str] = Counter()
    own: Counter[str] = Counter()
    file: str | None = None
    notes: list[tuple[str, Note, str]] = []
    for item in items:
        if item.file != file:
            _end_of(file, own)
            file = item.file
        own[item.status] += 1
        counts[item.status] += 1
        if item.status in FAILED:
            say(f"error: {_why(item)}")
        elif item.status == "skipped" or (item.status == "replaced" and item.reason):
            say(f"note: {_why(item)}")
        else:
            notes += [("ingest", note, _place(item, note)) for note in item.report]
    _end_of(file, own)
    tell(notes)
    return counts


def _place(item: Item, note: Note) -> str:
    return f"{item.external_id}" if note.span is None else f"{item.external_id} span {note.span}"


def _end_of(file: str | None, own: Counter[str]) -> None:
    if any(own[end] for end in ENDS if end != "rejected"):
        click.echo(f"{line(file or 'stdin')}: {_counted(own)}")
    own.clear()


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[end]:,} {end}" for end in ENDS if counts[end] or end == "created")


def _why(item: Item) -> str:
    place = item.file or ""
    place += "" if item.line is None else f":{item.line}"
    what = "" if item.external_id is None else f"trajectory {item.external_id!r}: "
    from trajcredit.service.ingesting import MADE_FROM_NAME

    more = REPLACE if item.status == "conflict" and MADE_FROM_NAME not in (item.reason or "") else ""
    return f"{place}: {what}{item.reason}{more}"
