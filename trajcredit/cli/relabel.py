"""`trajcredit relabel`: failed rollouts as if what they did had been asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from trajcredit.cli.numbers import FINITE
from trajcredit.cli.options import Asked, finish, logs, read_batch, tell
from trajcredit.cli.select import check_out, tell_summary, write_rows
from trajcredit.cli.terminal import amount, line

if TYPE_CHECKING:
    from trajcredit.service.relabelling import Summary

__all__ = ["command"]


@click.command("relabel")
@logs("reward", "group_by", "writes", "reads", "project")
@click.option("--rewards", metavar="FILE", help="JSON, JSON lines or CSV: trajectory id or file name, and its reward.")
@click.option(
    "--pass-at", type=FINITE, default=1.0, show_default=True, metavar="X", help="Outcomes of X and more pass."
)
@click.option("-o", "--out", metavar="FILE", help="Write the trajectories to FILE; else to stdout.")
@click.option("--json", "as_json", is_flag=True, help="The summary as one JSON object on stdout; needs -o.")
def command(asked: Asked, rewards: str | None, pass_at: float, out: str | None, as_json: bool) -> None:
    """Write failed rollouts once more, asked for what they did (hindsight experience replay, adapted to text).

    Only where a rollout of the same group passed, the two differ in values alone, and the user says the asked value
    word for word: their words then name the value that was done. Every other failed rollout is refused and counted by
    reason; --json lists them one by one.

    The reward of a relabelled trajectory is named hindsight and is of source judge: no verifier has seen it.
    """
    from trajcredit.service import notes, relabelling

    check_out(asked, rewards, out, as_json)
    reading, batch = read_batch(asked, rewards)
    relabelled = relabelling.relabel(batch, pass_at)
    write_rows(relabelling.lines(relabelled), out)
    tell(found for found in notes.of_reading(relabelled.trajectories) if found[1].code == relabelling.REWARD_NAME)
    tell_summary(relabelled.summary, _report(relabelled.summary), as_json)
    finish(reading)


def _report(summary: Summary) -> Iterator[str]:
    from trajcredit.service.relabelling import REASONS

    yield f"read {amount(summary.read, 'rollout')}, {summary.passing:,} pass at {summary.pass_at:g}"
    for code, count in summary.refused.items():
        first = next(refusal for refusal in summary.refusals if refusal.code == code)
        detail = f" ({line(first.detail, 100)})" if first.detail else ""
        yield f"  refused: {count:,}: {REASONS[code]} ({code}), e.g. {line(first.trajectory)}{detail}"
    yield f"relabelled {amount(summary.relabelled, 'rollout')}"
