"""`trajcredit advise`: which attributor suits a data set, and why."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click
import msgspec

from trajcredit.cli.options import Asked, finish, logs, read_batch
from trajcredit.cli.streams import json_stdout
from trajcredit.cli.terminal import COMPILING, line, working

if TYPE_CHECKING:
    from trajcredit.service.advising import Advice, Recommendation

__all__ = ["command", "report"]

PURPOSES = {"train": "to train on", "read": "to read, or to look for a culprit"}


@click.command("advise")
@logs("reward", "group_by", "writes", "reads", "project")
@click.option("--rewards", metavar="FILE", help="JSON, JSON lines or CSV: trajectory id or file name, and its reward.")
@click.option(
    "--update-size",
    type=click.IntRange(min=1),
    default=256,
    show_default=True,
    help="Trajectories in one update of the policy.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(asked: Asked, rewards: str | None, update_size: int, as_json: bool) -> None:
    """Which attributor suits your logs, and why: the questions in order, what was found, a command to run.

    Nothing is recommended that these logs cannot run; what a better one would need is said. Where there are tasks
    enough a critic is fitted to see whether it can be trusted, which takes as long as scoring with doubly_robust.
    """
    from trajcredit.service import advising

    reading, batch = read_batch(asked, rewards)
    with working(COMPILING):
        advice = advising.advise(batch, update_size)
    commands = [_command(one, rewards) for one in advice.recommended]
    if as_json:
        found = msgspec.to_builtins(advice)
        for one, text in zip(found["recommended"], commands, strict=True):
            one["command"] = text
        json_stdout().write(msgspec.json.encode(found) + b"\n")
    else:
        click.echo("\n".join(report(advice, commands)))
    finish(reading)


def _command(one: Recommendation, rewards: str | None) -> str:
    """The arguments of this call, with `score` for `advise`."""
    given = click.get_current_context().params
    words = ["trajcredit", "score", *given["paths"]]
    flags = {"format_name": "--format", "reward": "--reward", "group_by": "--group-by", "project": "--project"}
    for name, flag in flags.items():
        words += [] if given[name] is None else [flag, given[name]]
    for name in ("writes", "reads"):
        words += [word for tool in given[name] for word in (f"--{name}", tool)]
    words += [] if rewards is None else ["--rewards", rewards]
    return shlex.join([*words, "-a", one.attributor])


def report(advice: Advice, commands: list[str]) -> Iterator[str]:
    """The walk as text."""
    for number, question in enumerate(advice.questions, 1):
        yield f"{number}. {question.question} {question.answer.capitalize()}."
        yield f"   {line(question.found)}"
    yield ""
    if not any(one.purpose == "train" for one in advice.recommended):
        yield "recommended to train on: nothing" if advice.recommended else "recommended: nothing"
    for one, text in zip(advice.recommended, commands, strict=True):
        yield f"recommended {PURPOSES[one.purpose]}: {line(one.attributor)}"
        yield f"  why: {line(one.why)}"
        yield f"  measured: {line(one.measured or 'not under conditions like these')}"
        yield f"  {line(text)}"
    for missing in advice.missing:
        yield f"missing: {line(missing)}"
