"""`trajcredit export`: a stored run as credit rows, or as the file a trainer takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trajcredit.cli.exported import fitting, tell_counted, to_stdout
from trajcredit.cli.stored import database, project, project_of
from trajcredit.cli.streams import json_stdout
from trajcredit.cli.terminal import amount, line, say, working

if TYPE_CHECKING:
    from trajcredit.service.plugins import Plugin

__all__ = ["command"]


@click.command("export")
@click.option("--run", metavar="R", help="Its id, or an attributor: then its newest finished run.")
@click.option("--to", metavar="NAME[:k=v,...]", help="An exporter with its parameters; else by the ending of OUT.")
@click.option("--tokenizer", metavar="T", help="Folder or tokenizer.json, for exporters that write tokens.")
@click.option("-o", "--out", metavar="OUT", help="Write to this file, not to stdout.")
@click.option("--list", "listed", is_flag=True, help="The exporters and their parameters, and nothing else.")
@project
@database
def command(
    run: str | None, to: str | None, tokenizer: str | None, out: str | None, listed: bool, project: str | None, db: str
) -> None:
    """A finished run: the credit rows that `score` gives the same logs, or a trainer's file of tokens."""
    from trajcredit.service import exporting, opening, plugins, running

    if listed:
        click.echo("\n".join(_listed(plugins.exporters())))
        return
    if run is None:
        raise click.UsageError("Missing option '--run'.")
    exporter = plugins.exporter_of(
        to or ("jsonl" if out is None else plugins.exporter_for(Path(out))), tokenizer=tokenizer
    )
    if out is None:
        to_stdout(exporter)
    else:
        fitting(exporter, out)
    with opening.existing(db) as store:
        place = project_of(project)
        found = running.find(store, place, run)
        if found.stale:
            say(f"note: run {found.label} #{found.number} is stale: {found.stale_reason}; its rows are what it saw")
        if out is None:
            done = exporting.export(store, place, run, exporter, json_stdout())
        else:
            with working("writing"):
                done = exporting.export_file(store, place, run, exporter, Path(out))
    if out is not None:
        say(f"{amount(done.rows, 'row')}: {out}")
    tell_counted(done)


def _listed(found: Sequence[Plugin]) -> Iterator[str]:
    from trajcredit.service.plugins import default_text, type_text

    for plugin in found:
        yield f"{line(plugin.name)}  {line(plugin.summary)} Writes {plugin.suffix} files."
        for p in plugin.parameters:
            yield f"    {p.name}={default_text(p.default)}  ({type_text(p.type)}) {line(p.sentence)}"
