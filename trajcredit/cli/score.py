"""`trajcredit score`: credit of every span."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trajcredit.cli.exported import fitting, tell_counted, to_stdout
from trajcredit.cli.options import Asked, attributor, engine, finish, logs, read_batch, tell
from trajcredit.cli.sharded import is_folder, score_folder
from trajcredit.cli.streams import json_stdout
from trajcredit.cli.terminal import amount, say, watched

if TYPE_CHECKING:
    from trajcredit.service.stateless import Credit

__all__ = ["command"]


@click.command("score")
@logs("reward", "group_by", "writes", "reads", "project")
@attributor(multiple=True, default=("dag",))
@click.option("--rewards", metavar="FILE", help="JSON, JSON lines or CSV: trajectory id or file name, and its reward.")
@click.option(
    "-o", "--out", metavar="FILE|DIR/", help="FILE.jsonl or FILE.parquet; DIR/: files of whole groups; else to stdout."
)
@click.option("--to", metavar="NAME[:k=v,...]", help="An exporter with its parameters; `export --list` has them.")
@click.option("--tokenizer", metavar="T", help="Folder or tokenizer.json, for exporters that write tokens.")
@engine
@click.option("--shard-spans", type=click.IntRange(min=1), metavar="N", help="Spans of one file of DIR/ [100000].")
def command(
    asked: Asked,
    attributor: tuple[str, ...],
    rewards: str | None,
    out: str | None,
    to: str | None,
    tokenizer: str | None,
    engine: str,
    workers: int | None,
    shard_spans: int | None,
) -> None:
    """Credit of every span of your logs: one row a span and attributor.

    PATH is a file, folder or glob, also .gz and .zst, or - for standard input. Every engine writes the same rows.
    """
    if out is not None and is_folder(out):
        score_folder(asked, attributor, out, to, rewards, tokenizer, engine, workers, shard_spans)
    if shard_spans is not None:
        raise click.UsageError("--shard-spans is for -o DIR/")
    from trajcredit import engines
    from trajcredit.service import files, plugins, stateless

    choices = plugins.choose(attributor)
    spec = to or ("jsonl" if out is None else plugins.exporter_for(Path(out)))
    exporter = plugins.exporter_of(spec, tokenizer=tokenizer)
    if out is None:
        to_stdout(exporter)
    else:
        fitting(exporter, out)
        files.keep_apart(Path(out), (*asked.paths, *([rewards] if rewards is not None else [])))
    with engines.engine(engine, workers) as working:
        reading, batch = read_batch(asked, rewards, working)
    scored = stateless.score(batch, choices)
    if out is None:
        done = plugins.exported(exporter, _told(scored), json_stdout())
    else:
        done = stateless.write(_told(watched(scored, "scoring", len(choices))), exporter, Path(out))
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
