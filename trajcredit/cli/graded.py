"""`trajcredit eval --stored`: the finished runs of a database graded on labels."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click
import msgspec

from trajcredit.cli.stored import project_of
from trajcredit.cli.streams import json_stdout
from trajcredit.cli.terminal import aligned, amount, line, say
from trajcredit.errors import InputError

if TYPE_CHECKING:
    from trajcredit.service.labelling_grades import Grades, Interval

__all__ = ["grade_stored", "report"]

PARTS = {"all": "labels", "blind": "blind labels", "random": "labels from the random queue"}


def grade_stored(
    project: str | None,
    labels: str | None,
    part: str,
    db: str,
    draws: int,
    seed: int,
    as_json: bool,
) -> None:
    """Print the grades on one part of the labels; without --json those from the random queue as well."""
    from trajcredit.service import opening
    from trajcredit.service.grading import read_labels
    from trajcredit.service.labelling_grades import Part, grades

    asked = cast(Part, part)
    given = None if labels is None else read_labels(Path(labels))
    place = project_of(project)
    with opening.existing(db) as store:
        found = grades(store, place, asked, given=given, draws=draws, seed=seed)
        random = grades(store, place, "random", given=given, draws=draws, seed=seed) if part == "all" else None
    for error in () if given is None else given.errors:
        say(f"error: {error}")
    for remark in found.remarks:
        say(f"note: {remark}")
    if as_json:
        json_stdout().write(msgspec.json.encode(found) + b"\n")
    elif not found.labels:
        raise InputError(
            f"project {place!r} has no {PARTS[part]}: `trajcredit label FILE`, or Labels in the web interface"
        )
    else:
        click.echo("\n".join(report(found, part)))
        if random is not None:
            click.echo("\n" + ("\n".join(report(random, "random")) if random.labels else f"no {PARTS['random']} yet"))
    if given is not None and given.errors:
        sys.exit(1)


def report(found: Grades, part: str) -> Iterator[str]:
    """A table with one row a run."""
    of = amount(found.labelled, "trajectory", "trajectories")
    yield f"{found.labels:,} {PARTS[part]}, {found.blind:,} of them blind, on {of}; 95 % intervals"
    if found.runs:
        head = ["run", "graded", "hit@1", "hit@3", "mrr"]
        yield from aligned(
            [
                head,
                *(
                    [
                        f"{line(run.label)} #{run.number}",
                        f"{run.graded:,}",
                        *map(_cell, (run.hit_at_1, run.hit_at_3, run.mrr)),
                    ]
                    for run in found.runs
                ),
            ]
        )
    else:
        yield "  no finished run to grade"
    if found.kappa is not None:
        value = "not defined: both said the same of all" if found.kappa.value is None else f"{found.kappa.value:.3f}"
        who = " and ".join(map(line, found.kappa.labellers))
        yield f"Cohen's kappa of {who} over {amount(found.kappa.n, 'span')}: {value}"


def _cell(found: Interval) -> str:
    if isnan(found.value):
        return "-"
    return f"{found.value:.3f}" if isnan(found.low) else f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"
