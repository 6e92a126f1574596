"""`trajcredit demo`: the main job on a log that comes with the package, told in plain words."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import click

from trajcredit.cli.serve import HOST, PORT, free_port, tell_missing_web
from trajcredit.cli.terminal import COMPILING, line, working
from trajcredit.model import body

if TYPE_CHECKING:
    from trajcredit.service.demo import Attempt, Demo

__all__ = ["command"]

BAR = 5
"""Characters of a bar at the largest credit on screen."""
DATABASE = "trajcredit-demo.db"


@click.command("demo")
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    default="trajcredit-demo.jsonl",
    show_default=True,
    help="FILE.jsonl or FILE.parquet.",
)
@click.option("--no-serve", is_flag=True, help="End after the story.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="Of the server; 0: any free."
)
def command(out: str, no_serve: bool, port: int) -> None:
    """The main job on bundled logs: a booking agent that flew the customer to the wrong San José.

    Reads the log, builds the dependency graph, scores it with and without it, shows who is blamed, and writes the rows
    a trainer reads. Then keeps it all in a database beside FILE, and serves that on this machine.
    """
    from trajcredit.service import demo, files, opening, plugins, stateless

    exporter = plugins.exporter_of(plugins.exporter_for(Path(out)))
    files.keep_apart(Path(out), [demo.bundled(demo.LOG)])
    with working(COMPILING):
        told = demo.demo()
    click.echo("\n".join(_story(told)))
    rows = stateless.write(told.scored, exporter, Path(out)).rows
    click.echo("\n".join(_next_steps(told, out, rows)))
    if no_serve:
        return
    from trajcredit.api import serving

    db = str(Path(out).with_name(DATABASE))
    with opening.open_store(db) as store:
        failed = demo.keep(store, told)
    click.echo(f"\nKept in {line(db)}, with a run of each attributor.")

    tell_missing_web()
    page = f"p/{opening.DEFAULT_PROJECT}/t/{quote(failed, safe='')}?by=dag&vs=grpo"
    shown = "The failed rollout in the browser (Ctrl-C ends the server):"
    serving.serve(db, HOST, free_port(port), lambda url: click.echo(f"{shown}\n  {url}/{page}"))


def _story(demo: Demo) -> Iterator[str]:
    failed, n = demo.failed, len(demo.attempts)
    yield "The customer wrote:"
    yield f"  {line(demo.request)}"
    hours = round(failed.later / timedelta(hours=1))
    yield f"The agent searched for flights to {_airport(failed)} and paid for one."
    verdict = f"{hours} hours later a {line(failed.source)} gave it {failed.verdict:g}."
    yield f"{verdict} Of its {n} attempts {_searches(demo)}."
    rewards = [attempt.verdict for attempt in demo.attempts]
    yield f"Rewards of the {n} rollouts: {' '.join(f'{reward:g}' for reward in rewards)}; mean {sum(rewards) / n:g}."
    yield f"Credit of each action of rollout {line(demo.name)}, in reward units:"
    yield ""
    yield from _table(demo)
    yield ""
    cleared = [row for row in demo.rows if row.dag == 0]
    names = ", ".join(demo.names[row.span_index] for row in cleared)
    flat, shared = [row.grpo for row in demo.rows], [row.dag for row in demo.rows if row.dag != 0]
    yield f"grpo sees only the outcome: all {len(flat)} actions get {_range(flat)}, {line(names)} among them."
    yield "dag asks what the outcome rests on. It follows what each span used, from the end back:"
    yield ""
    for step in demo.steps:
        yield f"  {_short(step.child, demo.names)} <- {_short(step.parent, demo.names)}: {line(step.why)}"
    yield ""
    for row in cleared:
        yield f"Nothing used what {_short(row.span_index, demo.names)} found: its credit is exactly 0."
    yield f"dag clears the innocent. It does not rank the guilty: the other {len(shared)} get {_range(shared)}."


def _airport(attempt: Attempt) -> str:
    return line(f"{attempt.code} ({attempt.city})")


def _searches(demo: Demo) -> str:
    """How many searched for what: "2 searched for SJC (San Jose, California), 2 for SJO"."""
    counts = Counter(map(_airport, demo.attempts))
    said = [f"{n} {'for' if i else 'searched for'} {airport}" for i, (airport, n) in enumerate(counts.items())]
    return ", ".join(said)


def _range(values: Iterable[float]) -> str:
    """The number where all are equal, else the lowest and the highest."""
    known = sorted(values)
    low, high = (f"{value:+.2f}" for value in (known[0], known[-1]))
    return low if low == high else f"{low} to {high}"


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
    yield f"Wrote {rows} rows (one a span and attributor, all {len(demo.attempts)} rollouts) to {line(out)}."
    yield "Next:"
    yield f"  trajcredit show {_quoted(demo.log)}"
    yield f"  trajcredit blame {_quoted(demo.log)} -a dag"
    yield "  trajcredit score YOUR_LOGS -a dag -o advantages.parquet"


def _quoted(path: Path) -> str:
    return line(shlex.quote(str(path)))
