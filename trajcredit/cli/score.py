"""`trajcredit score`: credit of every span."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trajcredit.cli.engine import engine as where
from trajcredit.cli.exported import fitting, tell_counted, to_stdout
from trajcredit.cli.options import Asked, attributor, finish, logs, read_batch, tell
from trajcredit.cli.streams import json_stdout
from trajcredit.cli.terminal import amount, say, watched

if TYPE_CHECKING:
    from trajcredit.service.stateless import Credit

__all__ = ["command"]


@click.command("score")
@logs("reward", "group_by", "writes", "reads", "project")
@attributor(multiple=True, default=("dag",))
@click.option("--rewards", metavar="FILE", help="JSON, JSON lines or CSV: trajectory id or file name, and its reward.")
@click.option("-o", "--out", metavar="FILE", help="Write to FILE.jsonl or FILE.parquet; else JSON lines to stdout.")
@click.option("--to", metavar="NAME[:k=v,...]", help="An exporter with its parameters; `export --list` has them.")
@click.option("--tokenizer", metavar="T", help="Folder or tokenizer.json, for exporters that write tokens.")
@where
def command(
    asked: Asked,
    attributor: tuple[str, ...],
    rewards: str | None,
    out: str | None,
    to: str | None,
    tokenizer: str | None,
    engine: str,
    workers: int | None,
) -> None:
    """Credit of every span of your logs: one row a span and attributor.

    PATH is a file, folder or glob, also .gz and .zst, or - for standard input.
    """
    from trajcredit.service import engines, files, plugins, stateless

    chosen = engines.engine_of(engine, workers)
    choices = plugins.choose(attributor)
    spec = to or ("jsonl" if out is None else plugins.exporter_for(Path(out)))
    exporter = plugins.exporter_of(spec, tokenizer=tokenizer)
    if out is None:
        to_stdout(exporter)
    else:
        fitting(exporter, out)
    if out is not None:
        files.keep_apart(Path(out), (*asked.paths, *([rewards] if rewards is not None else [])))
    reading, batch = read_batch(asked, rewards)
    with chosen as opened:
        scored = stateless.score(batch, choices, opened)
        if out is None:
            done = plugins.exported(exporter, _told(scored), json_stdout())
        else:
            done = stateless.write(_told(watched(scored, "scoring", len(choices))), exporter, Path(out))
    if out is not None:
        runs = amount(batch.n_trajectories, "trajectory", "trajectories")
        say(f"{amount(done.rows, 'row')} of {runs} in {amount(len(batch.group_ids), 'group')}: {out}")
    tell_counted(done)
    finish(reading)


def _told(scored: Iterable[Credit]) -> Iterator[Credit]:
    """Each credit, after its notes are told."""
    from trajcredit.service import notes

    for credit in scored:
        tell(notes.of_credit(credit))
        yield credit
