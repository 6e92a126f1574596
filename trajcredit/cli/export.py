"""`trajcredit export`: the rows of a stored run."""

from __future__ import annotations

from pathlib import Path

import click

from trajcredit.cli.stored import database, project, project_of
from trajcredit.cli.streams import binary_stdout, json_stdout
from trajcredit.cli.terminal import amount, say, working
from trajcredit.errors import InputError

__all__ = ["command"]


@click.command("export")
@click.option("--run", metavar="R", required=True, help="Its id, or an attributor: then its newest finished run.")
@click.option("--to", metavar="KIND", help="jsonl or parquet; else by the ending of OUT.")
@click.option("-o", "--out", metavar="OUT", help="Write to this file, not to stdout.")
@project
@database
def command(run: str, to: str | None, out: str | None, project: str | None, db: str) -> None:
    """The credit rows of a finished run: what `score` gives the same logs, and the run's id."""
    from trajcredit.service import exporting, opening, plugins, running

    kind = to or ("jsonl" if out is None else plugins.exporter_for(Path(out)))
    plugins.exporter_named(kind)
    if out is None and kind == "parquet":
        raise InputError("a parquet file cannot be written to standard output: name a file with -o")
    with opening.existing(db) as store:
        place = project_of(project)
        found = running.find(store, place, run)
        if found.stale:
            say(f"note: run {found.label} #{found.number} is stale: {found.stale_reason}; its rows are what it saw")
        if out is None:
            exporting.export(store, place, run, kind, json_stdout() if kind == "jsonl" else binary_stdout())
            return
        with working("writing"):
            rows = exporting.export_file(store, place, run, kind, Path(out))
    say(f"{amount(rows, 'row')}: {out}")
