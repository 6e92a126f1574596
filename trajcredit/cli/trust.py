"""`trajcredit trust`: how far a judge can be trusted on your runs."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from trajcredit.cli.numbers import FINITE
from trajcredit.cli.options import Asked, finish, logs, read_batch
from trajcredit.cli.streams import json_stdout
from trajcredit.cli.terminal import COMPILING, working
from trajcredit.errors import InputError

__all__ = ["command"]

FORMS = ("text", "md", "json")


@click.command("trust")
@logs("reward", "group_by", "writes", "reads", "project")
@click.option(
    "--judge",
    "judges",
    metavar="NAME|FILE",
    multiple=True,
    default=("rules",),
    show_default=True,
    help="The judge: a name, or a file of opinions; a second one is held against it (repeatable).",
)
@click.option(
    "--repeat",
    "repeats",
    metavar="FILE",
    multiple=True,
    help="What the first judge said of the same runs when it was asked again (repeatable).",
)
@click.option("--labels", metavar="FILE", help="Verdicts of people: JSON lines, trajcredit.label/1 or a benchmark's.")
@click.option("--rewards", metavar="FILE", help="JSON, JSON lines or CSV: trajectory id or file name, and its reward.")
@click.option("--pass-at", type=FINITE, default=0.5, show_default=True, help="An outcome of at least this passes.")
@click.option("--draws", type=click.IntRange(min=1), default=2000, show_default=True, help="Of the bootstrap.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the bootstrap.")
@click.option("--to", type=click.Choice(FORMS), default="text", show_default=True, help="Form of the report.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object: as --to json.")
def command(
    asked: Asked,
    judges: tuple[str, ...],
    repeats: tuple[str, ...],
    labels: str | None,
    rewards: str | None,
    pass_at: float,
    draws: int,
    seed: int,
    to: str,
    as_json: bool,
) -> None:
    """How far a judge can be trusted on these logs: against outcomes, itself, other judges and labels.

    AUC, calibration, the base rate, place and length, each with a 95 % interval (bootstrap over groups). Warnings come
    first. docs/judges.md says what every figure is.
    """
    from trajcredit.service import grading, trusting
    from trajcredit.service.trusting_text import terminal, to_markdown

    twice = [name for name in judges if judges.count(name) > 1]
    if twice:
        raise InputError(f"--judge {twice[0]}: given twice; expected one judge, and others to hold against it")
    known = None if labels is None else grading.read_labels(Path(labels))
    reading, batch = read_batch(asked, rewards)
    with working(COMPILING):
        found = trusting.asked(batch, judges, repeats, known, pass_at, draws, seed)
    if as_json or to == "json":
        json_stdout().write(msgspec.json.encode(found) + b"\n")
    elif to == "md":
        click.echo(to_markdown(found), nl=False)
    else:
        click.echo("\n".join(terminal(found)))
    finish(reading)
