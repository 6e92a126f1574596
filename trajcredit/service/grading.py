"""Attributors graded on labels: known culprits, true advantages. Labels are never an input to what is graded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from trajcredit.arrays import F64
from trajcredit.batching import Batch
from trajcredit.errors import InputError, TrajcreditError
from trajcredit.service import grading_culprits, grading_truth
from trajcredit.service.attributing import Filled, scored
from trajcredit.service.grading_culprits import Culprits
from trajcredit.service.grading_intervals import Figure, bootstrap, numbered
from trajcredit.service.grading_labels import Labels, read_labels
from trajcredit.service.grading_places import Placed, placed
from trajcredit.service.grading_truth import Actions, Truths
from trajcredit.service.notes import NoteCount, count_notes, of_credit
from trajcredit.service.plugins import Choice
from trajcredit.service.wording import count

__all__ = ["DRAWS", "Failed", "Figure", "Grading", "Labels", "Table", "grade", "grade_advantages", "read_labels"]

DRAWS = 2000
"""Bootstrap draws behind an interval."""

Figures = dict[str, dict[str, Figure]]
"""Attributor -> measure -> figure."""


@dataclass(frozen=True, slots=True)
class Failed:
    """An attributor that could not score these runs, and why; the others are graded."""

    attributor: str
    reason: str


@dataclass(frozen=True, slots=True)
class Table:
    """The measures of every attributor on one set of labels.

    `part` is `runs` for culprits; for true advantages `macro` (the mean of families), `overall` (all actions together)
    or `family`, whose name is `family`. `differences` are paired, each attributor's figures minus the first one's.
    """

    labels: Literal["culprits", "advantages"]
    part: Literal["runs", "macro", "overall", "family"]
    family: str | None
    n: int
    """Runs, or actions."""
    groups: int
    """What is drawn in the bootstrap."""
    figures: Figures
    differences: Figures


@dataclass(frozen=True, slots=True)
class Grading:
    """What `trajcredit eval` found."""

    labels_file: str
    reference: str | None
    """The attributor that differences are to: the first one asked for; null where it failed."""
    draws: int
    seed: int
    tables: tuple[Table, ...]
    failed: tuple[Failed, ...]
    unmatched: tuple[str, ...]
    """A sentence for each label about nothing that was read."""
    bad_rows: tuple[str, ...]
    remarks: tuple[str, ...]
    """What was decided about labels, and what attributors left without a number."""
    notes: tuple[NoteCount, ...]
    """What attributors said of these runs."""


def grade(batch: Batch, choices: Sequence[Choice], labels: Labels, draws: int = DRAWS, seed: int = 0) -> Grading:
    """Every attributor of `choices` scored on the batch and graded on the labels, with 95 % intervals by groups.

    InputError where no label is about what was read, or no attributor can score it.
    """
    place = placed(labels, batch)
    advantages, failed, notes = _scored(batch, choices)
    if not advantages:
        raise InputError(f"no attributor could score these runs: {'; '.join(one.reason for one in failed)}")
    reference = choices[0].label if choices[0].label in advantages else None
    remarks = list(place.remarks)
    tables = _tables(place, advantages, draws, seed, remarks)
    if reference is None:
        tables = [_without_differences(table) for table in tables]
        remarks.append(f"no differences: {choices[0].label!r}, which they would be to, failed")
    return Grading(
        labels_file=labels.file,
        reference=reference,
        draws=draws,
        seed=seed,
        tables=tuple(tables),
        failed=tuple(failed),
        unmatched=place.unmatched,
        bad_rows=tuple(map(str, labels.errors)),
        remarks=tuple(remarks),
        notes=tuple(notes),
    )


def grade_advantages(
    batch: Batch, advantages: Mapping[str, F64], labels: Labels, draws: int = DRAWS, seed: int = 0
) -> list[Table]:
    """The same of numbers that are there already: advantages f64[N] by name, differences to the first."""
    return _tables(placed(labels, batch), advantages, draws, seed, [])


def _tables(place: Placed, advantages: Mapping[str, F64], draws: int, seed: int, remarks: list[str]) -> list[Table]:
    """`remarks` gets what the advantages leave without a number."""
    culprits = [_of_culprits(place, advantages, draws, seed, remarks)] if place.cases else []
    truths = _of_truths(place, advantages, draws, seed, remarks) if place.truths else []
    return [*culprits, *truths]


def _scored(batch: Batch, choices: Sequence[Choice]) -> tuple[dict[str, F64], list[Failed], list[NoteCount]]:
    """The advantages of each attributor by label; one that fails is told with its reason."""
    filled: Filled = {}
    advantages: dict[str, F64] = {}
    failed: list[Failed] = []
    notes: list[NoteCount] = []
    for choice in choices:
        try:
            credit = scored(batch, choice.label, choice.attributor, choice.critic, filled, choice.judge)
        except TrajcreditError as error:
            failed.append(Failed(choice.label, str(error)))
            continue
        advantages[choice.label] = credit.advantage
        notes += count_notes(of_credit(credit))
    return advantages, failed, notes


def _of_culprits(place: Placed, advantages: Mapping[str, F64], draws: int, seed: int, remarks: list[str]) -> Table:
    cluster = numbered([case.cluster for case in place.cases])
    graded = {name: Culprits(place.cases, advantage, cluster) for name, advantage in advantages.items()}
    for name, one in graded.items():
        if one.without:
            remarks.append(f"{name}: no number on any candidate of {count(one.without, 'labelled run')}, counted as 0")
        if one.partly:
            remarks.append(f"{name}: candidates without a number in {count(one.partly, 'labelled run')} rank last")
    strata = np.zeros(int(cluster.max()) + 1, dtype=np.int64)
    counts = next(iter(graded.values())).counts
    figures, differences = bootstrap(graded, counts, strata, draws, seed)
    names = grading_culprits.MEASURES
    return Table(
        labels="culprits",
        part="runs",
        family=None,
        n=len(place.cases),
        groups=len(strata),
        figures={who: dict(zip(names, found, strict=True)) for who, found in figures.items()},
        differences={who: dict(zip(names, found, strict=True)) for who, found in differences.items()},
    )


def _of_truths(place: Placed, advantages: Mapping[str, F64], draws: int, seed: int, remarks: list[str]) -> list[Table]:
    """The mean of families, all actions together, then every family; one table where there is only one family."""
    actions = Actions(place.truths, place.failed, numbered([truth.cluster for truth in place.truths]))
    graded = {name: Truths(actions, advantage) for name, advantage in advantages.items()}
    for name, one in graded.items():
        if one.missing:
            remarks.append(f"{name}: {count(one.missing, 'labelled action')} without a number, counted as 0")
    figures, differences = bootstrap(graded, actions.counts.ravel(), actions.strata, draws, seed)
    width = len(grading_truth.MEASURES)

    def cut(found: dict[str, list[Figure]], part: int) -> Figures:
        piece = slice(width * part, width * (part + 1))
        return {who: dict(zip(grading_truth.MEASURES, own[piece], strict=True)) for who, own in found.items()}

    n = len(actions.families)
    parts: list[tuple[int, Literal["macro", "overall", "family"], str | None]] = [
        (n + 1, "macro", None),
        (n, "overall", None),
        *((k, "family", name) for k, name in enumerate(actions.families)),
    ]
    return [
        Table(
            labels="advantages",
            part=part,
            family=family,
            n=int(actions.counts[k, 0]),
            groups=int((actions.strata == k).sum()) if part == "family" else actions.n_clusters,
            figures=cut(figures, k),
            differences=cut(differences, k),
        )
        for k, part, family in (parts if n > 1 else parts[1:2])
    ]


def _without_differences(table: Table) -> Table:
    return Table(table.labels, table.part, table.family, table.n, table.groups, table.figures, {})
