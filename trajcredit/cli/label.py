"""`trajcredit label`: what people say of spans, read from rows and written as rows."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import msgspec

from trajcredit.cli.stored import database, project, project_of
from trajcredit.cli.streams import json_stdout
from trajcredit.cli.terminal import say
from trajcredit.errors import InputError

__all__ = ["command"]


@click.command("label")
@click.argument("file", required=False, metavar="FILE | --export")
@click.option("--export", "out", is_flag=True, help="Write every label that counts as a row to standard output.")
@project
@database
@click.option("--json", "as_json", is_flag=True, help="Of FILE: the answers as one JSON object.")
def command(file: str | None, out: bool, project: str | None, db: str, as_json: bool) -> None:
    """Append labels to what is stored, or write those that are stored.

    FILE (or - for standard input) has one trajcredit.label/1 row a line: trajectory_id, span_index (or message_index
    with tool_call_id), verdict (culprit, contributed, innocent or unsure; null withdraws), labeller, and if need be
    blind, seconds, note, queue, at.
    """
    from trajcredit.service import labelling, opening

    if out == (file is not None) or (out and as_json):
        raise InputError("expected FILE, or --export")
    with opening.existing(db) as store:
        if out:
            for row in labelling.rows(store, project_of(project)):
                json_stdout().write(row)
            return
        found = labelling.give(store, project_of(project), _read(file or "-"))
    if as_json:
        json_stdout().write(msgspec.json.encode(found) + b"\n")
    for item in found.items:
        if item.status == "rejected":
            say(f"error: {'stdin' if file == '-' else file}:{item.line}: {item.reason}")
    same = len(found.items) - found.given - found.rejected
    say(f"{found.given:,} given, {same:,} known already, {found.rejected:,} rejected")
    if found.rejected:
        sys.exit(1 if len(found.items) > found.rejected else 2)


def _read(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}") from error
