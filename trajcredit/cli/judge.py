"""`trajcredit judge`: what a judge says of every trajectory, kept in a file."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from trajcredit.cli.options import Asked, finish, logs, read_logs_with_tools, trajectory
from trajcredit.cli.streams import json_stdout
from trajcredit.cli.terminal import amount, line, say, watched, working
from trajcredit.errors import InputError, JudgeError

if TYPE_CHECKING:
    from trajcredit.service.judging import Judging

__all__ = ["command"]


@click.command("judge")
@click.argument("judge", metavar="NAME[:K=V,...]")
@logs("writes", "reads", "project")
@trajectory
@click.option("-o", "--out", metavar="FILE", required=True, help="Where the opinions go, JSON lines.")
@click.option("--judges", "models", metavar="FILE", help="TOML with the models that may be asked [TRAJCREDIT_JUDGES].")
@click.option("--answers", metavar="FILE", help="Answers that were paid for [OUT.answers.jsonl].")
@click.option("--json", "as_json", is_flag=True, help="What it took, as one JSON object on standard output.")
def command(
    asked: Asked,
    judge: str,
    trajectory: str | None,
    out: str,
    models: str | None,
    answers: str | None,
    as_json: bool,
) -> None:
    """Ask a judge about your logs; `score -a judge:judge=FILE` gives credit by what it said.

    What a model answers is kept the moment it comes: after an outage, or Ctrl-C, the same command goes on and asks
    only what it has no answer to. Exit code 3: some trajectories could not be judged; they are in the file with the
    reason, and get no credit.
    """
    from trajcredit.service import files, judging, plugins, stateless

    name, made = plugins.judge_of(judge)
    target = Path(out)
    asks = judging.asks_model(made)
    if answers is not None and not asks:
        raise InputError(f"--answers: the judge {name!r} asks no model; there is nothing to keep")
    files.keep_apart(target, asked.paths)
    models_file = None if models is None else Path(models)
    made.basis(judging.means_of(models_file))  # what is not configured is said before logs are read
    reading = read_logs_with_tools(asked)
    some = stateless.only(reading, trajectory)
    with working("reading dependencies"):
        graphs = stateless.graphs(some, asked.settings.writes)
    kept = Path(answers) if answers is not None else target.with_name(f"{target.name}.answers.jsonl")
    with judging.kept_answers(kept) if asks else nullcontext() as found:
        means = judging.means_of(models_file, found)
        done = judging.Judging(spent=means.spent)
        try:
            rows = judging.opinions(name, made, graphs, means)
            judging.written(watched(rows, "judging", len(graphs)), done, target)
        except KeyboardInterrupt:
            say(_stopped(done, len(graphs), kept if asks else None))
            raise
    _tell(done, asks, out, as_json)
    if done.missing:
        sys.exit(JudgeError.exit_code)
    finish(reading)


def _stopped(done: Judging, total: int, kept: Path | None) -> str:
    far = f"stopped: {done.judged:,} of {amount(total, 'trajectory', 'trajectories')} judged, nothing is written"
    if kept is None:
        return far
    return f"{far}; {amount(done.spent.requests, 'request')} sent, answers are kept in {kept}: the same command goes on"


def _tell(done: Judging, asks: bool, out: str, as_json: bool) -> None:
    missing, spent = done.missing.total(), done.spent
    say(f"{amount(done.judged, 'trajectory', 'trajectories')} judged, {missing:,} not: {out}")
    for why, count in done.missing.most_common(10):
        say(f"not judged, {count:,}: {line(why)}")
    if len(done.missing) > 10:
        say(f"not judged for {len(done.missing) - 10:,} more reasons: they are in {out}")
    if done.judged:
        say("scores are an opinion and rest on no outcome: `trajcredit trust` says how far they can be trusted")
    if asks:
        say(
            f"{amount(spent.requests, 'request')} ({spent.retries:,} again), {spent.cached:,} answers kept before; "
            f"{spent.tokens_in:,} tokens asked, {spent.tokens_out:,} answered; cost {spent.cost:g}"
        )
        if spent.uncounted:
            say(f"the server did not count the tokens of {amount(spent.uncounted, 'answer')}: neither does the cost")
    if as_json:
        told = {"judged": done.judged, "missing": dict(done.missing), "spent": msgspec.to_builtins(spent)}
        json_stdout().write(msgspec.json.encode(told) + b"\n")
