"""`trajcredit sweep`: many parameter settings over one batch, a line each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from trajcredit.cli.options import Asked, attributor, finish, logs, read_batch
from trajcredit.cli.streams import json_stdout
from trajcredit.cli.terminal import COMPILING, aligned, amount, say, working

if TYPE_CHECKING:
    from trajcredit.service.sweeping import Sweep

__all__ = ["command"]


@click.command("sweep")
@logs("reward", "group_by", "writes", "reads", "project")
@attributor(multiple=True, default=("grpo:flavour=verl/trl/art,scale=group/none", "dag:off_path=0/0.3/1"))
@click.option("--rewards", metavar="FILE", help="JSON, JSON lines or CSV: trajectory id or file name, and its reward.")
@click.option(
    "--labels", metavar="FILE", help="JSON lines of known culprits: trajcredit.label/1, or a benchmark's rows."
)
@click.option("--device", default="cpu", show_default=True, help="Where to compute, as torch names it: cpu, cuda.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(
    asked: Asked, attributor: tuple[str, ...], rewards: str | None, labels: str | None, device: str, as_json: bool
) -> None:
    """Many parameter settings in one pass: `-a gae:gamma=0.9/1,lam=0.5/0.95` is four.

    Values of a parameter are set apart by /; every combination is a setting. rtg, gae, grpo, rloo and dag can be swept.

    It runs in torch on --device; on a CPU the kernels of `score` take less time a setting.

    Columns: scored trajectories; those with one number on all actions (flat), whose credits add up to their outcome R
    or to R minus the mean of their group; then against the first setting, over the actions that both score: share of
    equal signs of the advantage, and Spearman's rank correlation (-1..1). With --labels: the share of labelled runs
    whose most blamed choice is a culprit.
    """
    from trajcredit.service import grading, sweeping

    chosen = sweeping.settings(attributor)
    known = grading.read_labels(Path(labels)) if labels is not None else None
    reading, batch = read_batch(asked, rewards)
    with working(COMPILING):
        found = sweeping.sweep(batch, chosen, known, device)
    for remark in found.remarks:
        say(f"note: {remark}")
    if as_json:
        json_stdout().write(msgspec.json.encode(found) + b"\n")
    else:
        click.echo("\n".join(_report(found, labels is not None)))
    finish(reading)


def _report(found: Sweep, labelled: bool) -> Iterator[str]:
    yield f"{amount(len(found.lines), 'setting')}, each against the first:"
    head = ["", "scored", "flat", "sum R", "sum R-mean", "same sign", "rank corr"]
    rows = [
        [
            line.setting,
            *map(str, (line.scored, line.flat, line.sums_to_outcome, line.sums_to_centred)),
            *map(_share, (line.same_sign, line.rank_correlation)),
            *([_share(line.hit_at_1)] if labelled else []),
        ]
        for line in found.lines
    ]
    yield from aligned([[*head, *(["hit@1"] if labelled else [])], *rows])
    if labelled:
        yield f"hit@1 is of {amount(found.labelled, 'labelled run')} with a culprit"


def _share(number: float | None) -> str:
    return "-" if number is None else f"{number:.3f}"
