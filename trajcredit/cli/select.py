"""`trajcredit select`: which rollouts to train on."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
import msgspec

from trajcredit.cli.numbers import FINITE
from trajcredit.cli.options import Asked, finish, logs, read_batch
from trajcredit.cli.streams import json_stdout
from trajcredit.cli.terminal import amount, line, say
from trajcredit.errors import InputError

if TYPE_CHECKING:
    from trajcredit.service.selecting import Failed, Summary
    from trajcredit.service.selecting_terms import Form, ZeroVariance

__all__ = ["command", "write_rows"]

MOST_NAMED = 10
"""Rollouts that failed, named one by one; the rest is counted."""


@click.command("select")
@logs("reward", "group_by", "writes", "reads", "project")
@click.option("--rewards", metavar="FILE", help="JSON, JSON lines or CSV: trajectory id or file name, and its reward.")
@click.option(
    "--to",
    type=click.Choice(["sft", "pairs", "jsonl"]),
    default="sft",
    show_default=True,
    help="Fine-tuning rows, preference pairs, or trajectories.",
)
@click.option("--pass-at", type=FINITE, metavar="X", help="Outcomes of X and more pass [1.0; with --best-of all].")
@click.option("--best-of", type=click.IntRange(min=1), metavar="N", help="At most N rows of a group, best first.")
@click.option("--per-task", type=click.IntRange(min=1), metavar="N", help="At most N rows of a task, best first.")
@click.option("--distinct", is_flag=True, help="Rollouts of a group with the same calls count once.")
@click.option(
    "--zero-variance",
    type=click.Choice(["keep", "drop"]),
    default="keep",
    show_default=True,
    help="Groups whose outcomes are all equal.",
)
@click.option("--max-lag", type=FINITE, metavar="K", help="Withhold what is more than K policy versions old.")
@click.option("--current-version", type=FINITE, metavar="V", help="What that is counted from [the newest read].")
@click.option("-o", "--out", metavar="FILE", help="Write the rows to FILE; else to stdout.")
@click.option("--json", "as_json", is_flag=True, help="The summary as one JSON object on stdout; needs -o.")
def command(
    asked: Asked,
    rewards: str | None,
    to: str,
    pass_at: float | None,
    best_of: int | None,
    per_task: int | None,
    distinct: bool,
    zero_variance: str,
    max_lag: float | None,
    current_version: float | None,
    out: str | None,
    as_json: bool,
) -> None:
    """Choose rollouts to train on: passing ones, the best of each group, or pairs of a pass and a fail.

    \b
    sft    {"messages", "tools", "trajectory_id", "group_id", "outcome"}: one row a rollout
    pairs  {"prompt", "chosen", "rejected", "tools", ...}: the same words and calls up to where the two first differ
    jsonl  the trajectories as every other command reads them

    Better is a greater outcome, then fewer actions, then the smaller id. What is left out is counted by reason on
    standard error. A rollout without a policy version is withheld where --max-lag is asked for.
    """
    from trajcredit.service import selecting

    terms = selecting.Terms(
        to=cast("Form", to),
        pass_at=pass_at,
        best_of=best_of,
        per_task=per_task,
        distinct=distinct,
        zero_variance=cast("ZeroVariance", zero_variance),
        max_lag=max_lag,
        current_version=current_version,
    )
    check_out(asked, rewards, out, as_json)
    reading, batch = read_batch(asked, rewards)
    selected = selecting.select(batch, terms)
    write_rows(selecting.lines(selected), out)
    tell_failed(selected.failed)
    tell_summary(selected.summary, _report(selected.summary), as_json)
    if selected.failed:
        sys.exit(1)
    finish(reading)


def check_out(asked: Asked, rewards: str | None, out: str | None, as_json: bool) -> None:
    """InputError where rows would go over a log, or rows and summary to one stream."""
    from trajcredit.service import files

    if out is not None:
        files.keep_apart(Path(out), (*asked.paths, *([rewards] if rewards is not None else [])))
    elif as_json:
        raise InputError(
            "--json writes the summary to standard output, where the rows go: name a file for them with -o"
        )


def write_rows(rows: Iterable[bytes], out: str | None) -> None:
    """JSON lines to a file that appears whole or not at all, else to standard output."""
    from trajcredit.service import files

    if out is None:
        stream = json_stdout()
        for row in rows:
            stream.write(row)
        return
    with files.written_whole(Path(out)) as file:
        file.writelines(rows)


def tell_failed(failed: Iterable[Failed]) -> None:
    """What could not be taken, one line each, the rest counted."""
    told = list(failed)
    for one in told[:MOST_NAMED]:
        say(f"error: {one}")
    if len(told) > MOST_NAMED:
        say(f"error: {amount(len(told) - MOST_NAMED, 'rollout')} more, counted below")


def tell_summary(summary: msgspec.Struct, report: Iterable[str], as_json: bool) -> None:
    """Sentences on standard error; as JSON, one object on standard output."""
    if as_json:
        json_stdout().write(msgspec.json.encode(summary) + b"\n")
        return
    for sentence in report:
        say(sentence)


def _report(summary: Summary) -> Iterator[str]:
    from trajcredit.service.selecting import NOTES, PAIR_REASONS, REASONS

    yield f"read {amount(summary.read, 'rollout')}, {summary.scored:,} with an outcome, of {_groups(summary)}"
    if summary.passing is not None:
        yield f"  {summary.passing:,} pass at {summary.pass_at:g}{_best(summary)}"
    if summary.current_version is not None:
        yield f"  lags are counted from version {summary.current_version:g}"
    yield from _counted("left out", summary.dropped, REASONS)
    yield from _counted("pairs left out", summary.pairs_dropped, PAIR_REASONS)
    yield from _counted("note", summary.notes, NOTES)
    held = f" of {amount(summary.trajectories, 'rollout')}" if summary.to == "pairs" else ""
    yield f"selected {amount(summary.rows, 'pair' if summary.to == 'pairs' else 'rollout')}{held}"


def _groups(summary: Summary) -> str:
    parts = {
        "without a pass": summary.groups_without_pass,
        "without a fail": summary.groups_without_fail,
        "of one outcome": summary.groups_zero_variance,
    }
    said = ", ".join(f"{count:,} {what}" for what, count in parts.items() if count is not None)
    return f"{amount(summary.groups, 'group')} ({said})"


def _best(summary: Summary) -> str:
    if summary.passing or summary.best_outcome is None:
        return ""
    return f": the best outcome is {summary.best_outcome:g}, --pass-at says what passes"


def _counted(what: str, counts: Mapping[str, int], sentences: Mapping[str, Any]) -> Iterator[str]:
    for code, count in counts.items():
        yield f"  {what}: {count:,}: {line(sentences[code])} ({code})"
