"""How far a judge can be trusted on some runs: against outcomes, itself, other judges and labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path

import numpy as np

from trajcredit import judges, registry
from trajcredit.arrays import F64
from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.judges.agreement import DEAD_ZONE, agreement
from trajcredit.judges.base import Scale
from trajcredit.judges.estimates import Sampling
from trajcredit.judges.reliability import LABELS, PASSED, Reliability, Segments, reliability
from trajcredit.judges.states import final_scores, owners
from trajcredit.service.grading_labels import Labels
from trajcredit.service.grading_places import placed
from trajcredit.service.judged import judged, local
from trajcredit.service.notes import count_notes
from trajcredit.service.trusting_repeats import check_files
from trajcredit.service.trusting_rows import Rows, characters, rows_of
from trajcredit.service.wording import count

__all__ = ["VALUES", "Trust", "asked", "passed", "scale_of", "trust"]

VALUES = "true advantages"
"""The name of labels that are numbers, among the other judges."""


@dataclass(frozen=True, slots=True)
class Trust:
    """What can be told of one judge on some runs."""

    judge: str
    pass_at: float
    """An outcome of at least this has passed."""
    asked: int
    """How often it was asked of the same."""
    segments: int
    """Segments that it has an opinion on, in any repeat."""
    reliability: Reliability
    remarks: tuple[str, ...]
    """What was decided about labels, and what is about nothing that was read."""


def asked(
    batch: Batch,
    names: Sequence[str],
    repeats: Sequence[str] = (),
    labels: Labels | None = None,
    pass_at: float = PASSED,
    draws: int = 2000,
    seed: int = 0,
) -> Trust:
    """The first of the judges, by names or files of opinions, held against the others and against what it said again.

    InputError or UnknownNameError where one is no judge to ask on the spot.
    """
    first, *others = names
    own, again = judged(batch, first), [judged(batch, name) for name in repeats]
    against = {name: judged(batch, name) for name in others}
    remarks = check_files(first, repeats)
    found = trust(
        own,
        first,
        _scale_named(first),
        repeats=again,
        others=against,
        labels=labels,
        pass_at=pass_at,
        sampling=Sampling(draws, seed),
    )
    told = [
        ("judge", note, note.trajectory or "the whole batch")
        for one in (own, *again, *against.values())
        for note in one.notes[len(batch.notes) :]
        if note.code != "judge"
    ]
    return replace(found, remarks=(*map(str, count_notes(told)), *remarks, *found.remarks))


def trust(
    batch: Batch,
    judge: str,
    scale: Scale | None = None,
    *,
    repeats: Sequence[Batch] = (),
    others: Mapping[str, Batch] | None = None,
    labels: Labels | None = None,
    pass_at: float = PASSED,
    sampling: Sampling | None = None,
) -> Trust:
    """Everything that can be told from the columns of a judge in `batch`.

    scale     what its scores are; not given: `scale_of`
    repeats   the same trajectories with what it said when it was asked again
    others    the same with what other judges say, by their names
    labels    verdicts of people (culprit and contributed: negative; innocent: neutral), and true advantages. A verdict
              knows no praise, so what the judge praises counts as neutral against it
    pass_at   an outcome of at least this has passed

    InputError where repeats or others are of other trajectories, scores of states are out of [0, 1], or no label is
    about what was read.
    """
    if not isfinite(pass_at):
        raise InputError(f"pass_at: expected a finite number, found {pass_at}")
    sampling = sampling or Sampling()
    scale = scale or scale_of(judge, batch)
    rows = rows_of(batch, repeats)
    own = rows.steps(batch)
    against = {name: rows.steps(_same(batch, one)) for name, one in (others or {}).items()}
    said, values, remarks = (None, None, ()) if labels is None else _labelled(labels, batch, rows)
    found = reliability(
        final_scores(batch.scores, batch.action_mask, batch.span_offsets),
        passed(batch, pass_at),
        batch.group,
        scale,
        characters=_lengths(batch),
        segments=Segments(rows.offsets, own, None if batch.graphs is None else rows.characters),
        repeats=np.stack([own, *(rows.steps(one) for one in repeats)]) if repeats else None,
        others=against if values is None else {**against, VALUES: values},
        sampling=sampling,
    )
    if said is not None:
        of_segment = batch.group[owners(rows.offsets)]
        people = agreement(np.minimum(own, 0.0), said, of_segment, LABELS, sampling, DEAD_ZONE)
        without = {part: why for part, why in found.without.items() if part != "agreement"}
        found = replace(found, agreement=(*found.agreement, people), without=without)
    return Trust(judge, pass_at, 1 + len(repeats), len(own), found, remarks)


def passed(batch: Batch, pass_at: float) -> F64:
    """f64[T]: 1 where the outcome is at least `pass_at`, 0 below, NaN where there is none."""
    return np.where(np.isnan(batch.outcome), np.nan, (batch.outcome >= pass_at).astype(np.float64))


def scale_of(judge: str, batch: Batch) -> Scale:
    """What a judge's scores are: by the judge of that name where there is one, else told from the columns.

    Those of credits start from 0 by contract; so scores that leave [0, 1], or start from 0 throughout, are read as
    running totals, of which only the calibrated sum is held against outcomes.
    """
    kinds = registry.judges.items()
    parts = judge.split("+")
    if all(part in kinds for part in parts):
        scales: set[Scale] = {kinds[part]().scale for part in parts}
        if len(scales) == 1:
            return scales.pop()
    scores, start = batch.scores[batch.action_mask], batch.score_start
    low, high = np.nanmin(scores, initial=0.0), np.nanmax(scores, initial=0.0)
    judged = start[~np.isnan(start)]
    totals = low < 0.0 or high > 1.0 or (len(judged) > 0 and not judged.any())
    return "credit" if totals else "state"


def _scale_named(spec: str) -> Scale:
    """Of a judge, a file, or the first of several: they are on one scale."""
    name = spec.partition("+")[0]
    found: Scale = registry.judges.get(name)().scale if local(name) else judges.load(Path(name)).scale
    return found


def _same(batch: Batch, other: Batch) -> Batch:
    rows_of(batch, [other])  # refuses one of other trajectories
    return other


def _lengths(batch: Batch) -> F64 | None:
    """f64[T]; None where there are no texts."""
    if batch.graphs is None:
        return None
    owner = owners(batch.span_offsets)
    return np.bincount(owner, characters(batch), minlength=batch.n_trajectories).astype(np.float64)


def _labelled(labels: Labels, batch: Batch, rows: Rows) -> tuple[F64 | None, F64 | None, tuple[str, ...]]:
    """Verdicts f64[S] (-1, 0) and true advantages f64[S] over segments, None where there are none; what to say."""
    place = placed(labels, batch)
    verdict, value = np.full(batch.n_spans, np.nan), np.full(batch.n_spans, np.nan)
    for case in place.cases:
        for number, spans in enumerate(case.candidates):
            if number in case.culprits or number in case.wrong:
                verdict[list(spans)] = -1.0
            elif number in case.right:
                verdict[list(spans)] = 0.0
    for truth in place.truths:
        value[list(truth.places)] = truth.value / max(1, len(truth.places))
    remarks = list(place.remarks)
    if place.unmatched:
        remarks.append(f"{count(len(place.unmatched), 'label')} about nothing that was read, e.g. {place.unmatched[0]}")
    if labels.errors:
        remarks.append(f"{count(len(labels.errors), 'row')} of labels could not be read, e.g. {labels.errors[0]}")
    said = rows.least(verdict) if place.cases else None
    return said, rows.sums(value) if place.truths else None, tuple(remarks)
