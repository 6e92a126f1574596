"""`trajcredit demo`: the main job on a log that comes with the package, told in plain words."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trajcredit.cli.terminal import COMPILING, line, working
from trajcredit.model import body

if TYPE_CHECKING:
    from trajcredit.service.demo import Demo

__all__ = ["command"]

BAR = 5
"""Characters of a bar at the largest credit on screen."""


@click.command("demo")
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    default="trajcredit-demo.jsonl",
    show_default=True,
    help="FILE.jsonl or FILE.parquet.",
)
def command(out: str) -> None:
    """The main job on bundled logs: a booking agent that flew the customer to the wrong San José.

    Reads the log, builds the dependency graph, scores it with and without it, shows who is blamed, and writes the rows
    a trainer reads.
    """
    from trajcredit.service import demo, plugins, stateless

    exporter = plugins.exporter_for(Path(out))
    with working(COMPILING):
        told = demo.demo()
    click.echo("\n".join(_story(told)))
    rows = stateless.write(told.scored, exporter, Path(out))
    click.echo("\n".join(_next_steps(told, out, rows)))


def _story(demo: Demo) -> Iterator[str]:
    rewards = " ".join(f"{outcome:g}" for outcome in demo.outcomes)
    mean = sum(demo.outcomes) / len(demo.outcomes)
    yield "The customer wrote:"
    yield f"  {line(demo.request)}"
    yield "The agent searched for SJC, San Jose in California (Costa Rica is SJO), booked that, and was thanked with a"
    yield "thumbs-down hours later. It tried the task four times and searched for SJO in two of them."
    yield f"Rewards of the four rollouts: {rewards}; mean {mean:g}."
    yield "Credit of each action of the first rollout, in reward units:"
    yield ""
    yield from _table(demo)
    yield ""
    yield "grpo sees only the outcome: it blames all actions alike, the weather check among them."
    yield "dag asks what the outcome rests on. It follows what each span used, from the end back:"
    yield ""
    for step in demo.steps:
        yield f"  {_short(step.child, demo.names)} <- {_short(step.parent, demo.names)}: {line(step.why)}"
    yield ""
    for row in demo.rows:
        if row.dag == 0:
            name = line(row.span.name or row.span.kind)
            yield f"Nothing used what [{row.span_index}] {name} found: its credit is exactly 0."
    yield "dag clears the innocent. It does not rank the guilty: they share the blame."


def _table(demo: Demo) -> Iterator[str]:
    scale = max(abs(value) for row in demo.rows for value in (row.grpo, row.dag))
    yield f"  {'':54}{'grpo':<16}dag"
    for row in demo.rows:
        what = line(f"{_short(row.span_index, demo.names)} {body(row.span)}", 52)
        yield f"  {what:54}{_bar(row.grpo, scale):<16}{_bar(row.dag, scale)}".rstrip()


def _bar(value: float, scale: float) -> str:
    """The number, and its size against the largest on screen."""
    return f"{value:+.2f} {'#' * round(BAR * abs(value) / scale) if scale else ''}"


def _short(index: int, names: Sequence[str]) -> str:
    return f"[{index}] {line(names[index])}"


def _next_steps(demo: Demo, out: str, rows: int) -> Iterator[str]:
    yield ""
    yield f"Wrote {rows} rows (one a span and attributor, all four rollouts) to {line(out)}."
    yield "Next:"
    yield f"  trajcredit show {_quoted(demo.log)}"
    yield f"  trajcredit blame {_quoted(demo.log)} -a dag"
    yield "  trajcredit score YOUR_LOGS -a dag -o advantages.parquet"


def _quoted(path: Path) -> str:
    return line(shlex.quote(str(path)))
