"""`trajcredit eval`: attributors graded on labels."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec
from click.core import ParameterSource

from trajcredit.cli.graded import grade_stored
from trajcredit.cli.options import Asked, attributor, finish, logs, read_batch
from trajcredit.cli.stored import database
from trajcredit.cli.streams import json_stdout
from trajcredit.cli.terminal import COMPILING, aligned, amount, line, say, working
from trajcredit.errors import InputError

if TYPE_CHECKING:
    from trajcredit.service.grading import Figure, Grading, Table

__all__ = ["command", "report"]

MOST_NAMED = 10
"""Labels about nothing that was read, named one by one; the rest is counted."""
UNITS = {"culprits": "run", "advantages": "action"}
TITLES = {"runs": "known culprits", "macro": "true advantages, mean of families", "overall": "true advantages"}


@click.command("eval")
@logs("reward", "group_by", "writes", "reads", "project", takes="PATH... | --stored", required=False)
@click.option("--labels", metavar="FILE", help="JSON lines: trajcredit.label/1, or a benchmark's rows.")
@click.option("--stored", is_flag=True, help="Grade the finished runs of a database, on --labels or on those in it.")
@click.option(
    "--part", type=click.Choice(["all", "blind", "random"]), help="With --stored: the labels that count [all]."
)
@database
@attributor(multiple=True, default=("grpo", "dag"))
@click.option("--rewards", metavar="FILE", help="JSON, JSON lines or CSV: trajectory id or file name, and its reward.")
@click.option("--draws", type=click.IntRange(min=1), default=2000, show_default=True, help="Of the bootstrap.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the bootstrap.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object, families apart too.")
def command(
    asked: Asked,
    labels: str | None,
    stored: bool,
    part: str | None,
    db: str,
    attributor: tuple[str, ...],
    rewards: str | None,
    draws: int,
    seed: int,
    as_json: bool,
) -> None:
    """Grade attributors on labels: known culprits, true advantages.

    Each figure has a 95 % interval (bootstrap over groups), and is compared to that of the first attributor named, pair
    by pair. Labels never enter what is graded.

    With --stored no log is read: every finished run of the project is graded as the web interface does it, hits with
    Wilson intervals, the mean reciprocal rank with a bootstrap over trajectories.
    """
    if stored:
        _refuse("reads what is stored", "paths", "attributor", "rewards", "reward", "group_by", "writes", "reads")
        grade_stored(asked.settings.project, labels, part or "all", db, draws, seed, as_json)
        return
    if not asked.paths or labels is None:
        missing = "option '--labels'" if asked.paths else "argument 'PATH...'"
        raise InputError(
            f"Missing {missing}: expected PATH... and --labels FILE; or --stored, for what a database holds"
        )
    _refuse("reads logs; --stored reads a database", "part", "db")
    from trajcredit.service import grading, plugins

    choices = plugins.choose(attributor)
    known = grading.read_labels(Path(labels))
    reading, batch = read_batch(asked, rewards)
    with working(COMPILING):
        found = grading.grade(batch, choices, known, draws, seed)
    _tell(found)
    if as_json:
        json_stdout().write(msgspec.json.encode(found) + b"\n")
    else:
        click.echo("\n".join(report(found)))
    if found.failed or found.bad_rows:
        sys.exit(1)
    finish(reading)


def _refuse(why: str, *names: str) -> None:
    """InputError where one of these was given on the command line, which would change nothing."""
    context = click.get_current_context()
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if parameter.name in names and given and context.params[parameter.name]:
            raise InputError(f"{parameter.get_error_hint(context)}: this {why}")


def _tell(found: Grading) -> None:
    for row in found.bad_rows:
        say(f"error: {row}")
    for failed in found.failed:
        say(f"error: {failed.attributor}: {failed.reason}")
    for count in found.notes:
        say(f"note: {count}")
    for sentence in found.unmatched[:MOST_NAMED]:
        say(f"warning: a label grades nothing: {sentence}")
    if len(found.unmatched) > MOST_NAMED:
        say(f"warning: {amount(len(found.unmatched) - MOST_NAMED, 'label')} more grade nothing")
    for remark in found.remarks:
        say(f"note: {remark}")


def report(found: Grading) -> Iterator[str]:
    """The tables as text: a figure with its interval; then differences, a star where the interval leaves out 0."""
    for place, table in enumerate(found.tables):
        if table.part == "family":
            continue
        yield from ([""] if place else [])
        many = amount(table.n, UNITS[table.labels])
        yield f"{TITLES[table.part]}: {many} of {amount(table.groups, 'group')}, 95 % intervals by groups"
        yield from _grid(table.figures, signed=False)
        if table.differences:
            yield f"minus {line(found.reference or '')}, paired:"
            yield from _grid(table.differences, signed=True)
    families = [table for table in found.tables if table.part == "family"]
    if families:
        yield ""
        yield from _families(families)


def _grid(figures: dict[str, dict[str, Figure]], signed: bool) -> Iterator[str]:
    """One row an attributor, one column a measure that anything was measured of."""
    measures = [m for m in next(iter(figures.values())) if any(not isnan(own[m].value) for own in figures.values())]
    rows = [[line(name), *(_cell(own[m], signed) for m in measures)] for name, own in figures.items()]
    counts = ["n", *(f"{next(iter(figures.values()))[m].n:,}" for m in measures)]
    yield from aligned([["", *measures], *rows, *([] if signed else [counts])])


def _families(tables: Sequence[Table]) -> Iterator[str]:
    """The correlation by family; --json has every measure."""
    yield "pearson by family (--json has every measure):"
    rows = [[line(name), *(_number(table.figures[name]["pearson"]) for table in tables)] for name in tables[0].figures]
    yield from aligned([["", *(line(table.family or "(none named)") for table in tables)], *rows])


def _cell(figure: Figure, signed: bool) -> str:
    if isnan(figure.value):
        return "-"
    sign = "+" if signed else ""
    interval = f"[{figure.low:{sign}.3f}, {figure.high:{sign}.3f}]"
    star = ("*" if figure.low > 0 or figure.high < 0 else " ") if signed else ""
    return f"{figure.value:{sign}.3f} {interval}{star}"


def _number(figure: Figure) -> str:
    return "-" if isnan(figure.value) else f"{figure.value:.3f}"
