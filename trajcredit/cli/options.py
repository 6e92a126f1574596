"""Options that commands share, and reading logs with them."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from trajcredit import settings
from trajcredit.cli.terminal import COMPILING, amount, say, watched, working
from trajcredit.errors import InputError, ParseError, SkippedFile
from trajcredit.settings import Settings

if TYPE_CHECKING:
    from trajcredit.engines import Engine
    from trajcredit.model import Note
    from trajcredit.service.stateless import Batch, Reading

__all__ = [
    "Asked",
    "attributor",
    "engine",
    "finish",
    "logs",
    "read_batch",
    "read_logs",
    "read_logs_with_tools",
    "tell",
    "tell_errors",
    "trajectory",
    "warn_of_unknown_tools",
]

Command = Callable[..., Any]

ENGINES = ("in-process", "pool", "ray")
MOST_SKIPPED = 10
"""Files of a folder that are no logs, named one by one; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Which logs, and the project's settings with the flags laid over them."""

    paths: tuple[str, ...]
    format_name: str | None
    settings: Settings


FLAGS: dict[str, Callable[[Command], Command]] = {
    "writes": click.option("--writes", multiple=True, metavar="TOOL", help="This tool changes state (repeatable)."),
    "reads": click.option("--reads", multiple=True, metavar="TOOL", help="This tool only looks (repeatable)."),
    "reward": click.option(
        "--reward",
        metavar="SOURCE|NAME",
        help="verifier, human, reward_model or judge; else the name of a reward; else the first source present.",
    ),
    "group_by": click.option(
        "--group-by", metavar="KEY", help="Fields that make a group, joined by +, e.g. task+step."
    ),
    "project": click.option("--project", metavar="NAME", help="Project; of logs, of those that name none."),
}
"""Flags that mean the same as the key of trajcredit.toml."""


def engine(command: Command) -> Command:
    """--engine and --workers."""
    workers = click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Of the engine [one a core].")
    told = "Who works: this process, a pool of processes, or Ray."
    which = click.option("--engine", type=click.Choice(ENGINES), default=ENGINES[0], show_default=True, help=told)
    return which(workers(command))


trajectory = click.option("--trajectory", metavar="ID", help="Only this trajectory.")


def attributor(**how: Any) -> Callable[[Command], Command]:
    """-a NAME[:key=value,...]."""
    text = "Attributor (`trajcredit attributors` lists them); list values are joined by +."
    return click.option("-a", "--attributor", metavar="NAME[:K=V,...]", show_default=True, help=text, **how)


def logs(*flags: str, takes: str = "PATH...", required: bool = True) -> Callable[[Command], Command]:
    """PATH..., --format and some of FLAGS; the command gets them as its first argument, an `Asked`."""

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def wrapped(paths: tuple[str, ...], format_name: str | None, **rest: Any) -> Any:
            given = {name: rest.pop(name) for name in flags}
            return command(Asked(paths, format_name, _laid_over(settings.find(paths), given)), **rest)

        asking: Command = wrapped
        for name in reversed(flags):
            asking = FLAGS[name](asking)
        asking = click.option("--format", "format_name", metavar="NAME", help="Log format; else recognised.")(asking)
        return click.argument("paths", nargs=-1, required=required, metavar=takes)(asking)

    return decorate


def read_logs(asked: Asked) -> Reading:
    """Every trajectory of the paths; what cannot be read is named on standard error, nothing readable is an error.

    Files of a folder that are no logs are notes.
    """
    from trajcredit.service import stateless

    found = watched(stateless.records(asked.paths, asked.format_name), "reading")
    reading = stateless.gather(found, asked.settings.project)
    tell_errors(reading.errors)
    if not reading:
        raise InputError(f"nothing readable in {', '.join(asked.paths)}")
    return reading


def tell_errors(errors: Iterable[ParseError]) -> None:
    """What could not be read, on standard error; of files that were passed over the first few."""
    skipped = []
    for error in errors:
        if isinstance(error, SkippedFile):
            skipped.append(error)
        else:
            say(f"error: {error}")
    for error in skipped[:MOST_SKIPPED]:
        say(f"note: {error}")
    if len(skipped) > MOST_SKIPPED:
        say(f"note: {amount(len(skipped) - MOST_SKIPPED, 'file')} more passed over")


def warn_of_unknown_tools(named: Iterable[str], there: Collection[str], where: str = "the logs read") -> None:
    """Settings of tools that do not exist there, one line each, on standard error."""
    from trajcredit.service.tools import unknown_tools

    for said in unknown_tools(named, there, where):
        say(f"warning: {said}")


def read_logs_with_tools(asked: Asked) -> Reading:
    """`read_logs`, and warned of settings of tools that none of the logs has."""
    from trajcredit.service.tools import tools_of

    reading = read_logs(asked)
    if asked.settings.writes:
        warn_of_unknown_tools(asked.settings.writes, tools_of(reading))
    return reading


def read_batch(asked: Asked, rewards: str | None, engine: Engine | None = None) -> tuple[Reading, Batch]:
    """The logs with the rewards of a file beside them, and their batch; what was guessed or left out is told."""
    from trajcredit.service import notes, stateless

    reading = read_logs_with_tools(asked)
    tell(notes.of_reading(reading))
    if rewards is not None:
        known = len(reading.errors)
        reading, unmatched = stateless.with_rewards(reading, Path(rewards), asked.paths)
        for error in reading.errors[known:]:
            say(f"error: {error}")
        tell(notes.of_rewards(unmatched))
    chosen = asked.settings
    with working(COMPILING):
        batch = stateless.batch(reading, chosen.reward, chosen.group_by, chosen.writes, engine)
    tell(notes.of_batch(batch))
    return reading, batch


def tell(notes: Iterable[tuple[str, Note, str]]) -> None:
    """What was guessed or left out, one line a kind, on standard error."""
    from trajcredit.service.notes import count_notes

    for count in count_notes(notes):
        say(f"note: {count}")


def finish(reading: Reading) -> NoReturn:
    """Exit 1 where some of the input failed, else 0; a file that was passed over did not fail."""
    sys.exit(0 if all(isinstance(error, SkippedFile) for error in reading.errors) else 1)


def _laid_over(found: Settings, given: Mapping[str, Any]) -> Settings:
    """Flags win over the file; tools are added to the file's table."""
    tools = settings.tool_table(given.get("writes", ()), given.get("reads", ()))
    texts = {name: given[name] for name in ("reward", "group_by", "project") if given.get(name) is not None}
    return replace(found, writes={**found.writes, **tools}, **texts)
