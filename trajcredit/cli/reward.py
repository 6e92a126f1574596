"""`trajcredit reward`: verdicts that come after the log was kept."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from trajcredit.cli.stored import database, project, project_of
from trajcredit.cli.streams import json_stdout
from trajcredit.cli.terminal import amount, say
from trajcredit.errors import InputError

if TYPE_CHECKING:
    from trajcredit.service.rewarding import Late

__all__ = ["command"]


@click.command("reward", context_settings={"ignore_unknown_options": True})  # a value may begin with a minus
@click.argument("what", nargs=-1, required=True, metavar="FILE | ID VALUE")
@click.option("--source", metavar="SOURCE", help="Of ID VALUE: verifier, human, reward_model or judge [human].")
@click.option("--span", type=int, metavar="N", help="Of ID VALUE: on this span, not on the whole.")
@click.option("--name", metavar="TEXT", help="Of ID VALUE: what is judged.")
@click.option("--at", metavar="TIME", help="Of ID VALUE: when, ISO 8601; else now.")
@project
@database
@click.option("--json", "as_json", is_flag=True, help="The answers as one JSON object.")
def command(
    what: tuple[str, ...],
    source: str | None,
    span: int | None,
    name: str | None,
    at: str | None,
    project: str | None,
    db: str,
    as_json: bool,
) -> None:
    """Append rewards to what is stored; runs that saw others are stale from then on.

    FILE (or - for standard input) has one JSON object a line: trajectory, value, and if need be source, span, name, at.
    A trajectory goes by its id here or by the log's own, after ext: where that is another's id here. Or one by ID and
    VALUE.
    """
    from trajcredit.service import opening, rewarding

    given = {"source": source, "span": span, "name": name, "at": at}
    with opening.existing(db) as store:
        place = project_of(project)
        if len(what) == 1:
            if any(value is not None for value in given.values()):
                raise InputError("--source, --span, --name and --at belong to ID VALUE; a FILE has them in its rows")
            late = rewarding.late(store, place, _read(what[0]))
        elif len(what) == 2:
            late = rewarding.late_one(store, place, what[0], what[1], given)
        else:
            raise InputError(f"expected FILE, or ID and VALUE; found {amount(len(what), 'argument')}")
    if as_json:
        json_stdout().write(msgspec.json.encode(late) + b"\n")
    _tell(late, "stdin" if what[0] == "-" else what[0], len(what) == 1)
    if late.rejected:
        sys.exit(1 if len(late.items) > late.rejected else 2)


def _tell(late: Late, place: str, lines: bool) -> None:
    for item in late.items:
        if item.status == "rejected":
            say(f"error: {place}{f':{item.line}' if lines else ''}: {item.reason}")
    same = len(late.items) - late.appended - late.rejected
    runs = amount(late.stale_runs, "run")
    say(f"{late.appended:,} appended, {same:,} known already, {late.rejected:,} rejected; {runs} stale by it")


def _read(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}") from error
