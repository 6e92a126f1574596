"""Stored runs graded on labels: the numbers of the dashboard, of the API and of `trajcredit eval --stored`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np

from trajcredit.arrays import F64
from trajcredit.batching import Batch, assemble
from trajcredit.errors import InputError
from trajcredit.service.grading import DRAWS
from trajcredit.service.grading_hits import Hits, hits
from trajcredit.service.grading_labels import Labels, SpanLabel
from trajcredit.service.grading_places import Case, laid
from trajcredit.service.labelling_agreement import Kappa, kappa
from trajcredit.store import Store, graded, ids, labels, run_inputs, run_numbers
from trajcredit.store.labels import Label
from trajcredit.store.run_inputs import Numbers
from trajcredit.store.runs import Run

__all__ = ["PARTS", "Grades", "Interval", "Part", "RunGrades", "grades"]

Part: TypeAlias = Literal["all", "blind", "random"]
"""Labels that count: all; those given before any credit was seen; those from the random queue."""
PARTS: tuple[Part, ...] = get_args(Part)
MOST_RUNS = 100


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and its 95 % interval; NaN where there is nothing to take it over."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class RunGrades:
    """How well one finished run blames the labelled culprits."""

    run: str
    number: int
    label: str
    stale: bool
    stale_reason: str | None
    graded: int
    """Labelled trajectories with a culprit that the run scored."""
    hit_at_1: Interval
    hit_at_3: Interval
    mrr: Interval


@dataclass(frozen=True, slots=True)
class Grades:
    """Finished runs, newest first, and the labels they are graded on."""

    labelled: int
    """Trajectories with a label."""
    labels: int
    blind: int
    """Labels given before any credit of the trajectory was seen."""
    runs: tuple[RunGrades, ...]
    kappa: Kappa | None
    remarks: tuple[str, ...]
    """What was decided about labels, and which of them grade nothing."""


def grades(
    store: Store,
    project: str,
    part: Part = "all",
    trajectory: str | None = None,
    given: Labels | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> Grades:
    """Every finished run, of one label the newest, graded on the stored labels, or on those `given`.

    With `trajectory` (an id as in paths) only its labels count, and every run is told that scored it. A trajectory that
    a run did not read does not count for that run; a culprit that it read and left without a number ranks last.
    """
    with store.read() as conn:
        only = None if trajectory is None else ids.find(conn, project, trajectory)
        stored = labels.each(conn, project) if only is None else labels.of_trajectory(conn, project, only.id)
        known = _of_part(given or _as_labels(stored), part)
        spans = tuple(one for one in known.spans if only is None or one.trajectory_id == only.external_id)
        names = list(dict.fromkeys(one.trajectory_id for one in spans))
        loaded, graphs = graded.named(conn, project, names, any(one.span_index is None for one in spans))
        finished = graded.finished(conn, project, every=only is not None, most=MOST_RUNS)
        numbers = run_numbers.numbers(conn, project, [run.id for run in finished])
        said = {run.id: run_inputs.credits_among(conn, run, loaded.ids) for run in finished}
    batch = assemble(loaded.heads, loaded.columns, loaded.rewards, graphs=graphs)
    ours = dict(zip(batch.trajectory_ids, loaded.ids, strict=True))
    found = laid(replace(known, spans=spans), batch)
    told = {run.id: _ranked(batch, ours, said[run.id]) for run in finished if trajectory is None or said[run.id]}
    hit = _hits([case for case in found.cases if case.culprits], ours, said, told, draws, seed)
    return Grades(
        labelled=len({one.trajectory_id for one in spans}),
        labels=len(spans),
        blind=sum(one.blind is True for one in spans),
        runs=tuple(_of_run(run, numbers[run.id], hit[run.id]) for run in finished if run.id in hit),
        kappa=kappa((_place(one), one.labeller, one.verdict) for one in spans if one.labeller and one.verdict),
        remarks=(*found.remarks, *found.unmatched),
    )


def _as_labels(some: Iterable[Label]) -> Labels:
    spans = [
        SpanLabel(
            trajectory_id=one.external_id,
            line=line,
            span_index=one.span,
            verdict=one.verdict,
            labeller=one.labeller,
            at=one.at,
            blind=one.blind,
            queue=one.queue,
        )
        for line, one in enumerate(some, 1)
    ]
    return Labels("the labels", tuple(spans))


def _of_part(known: Labels, part: Part) -> Labels:
    """Only verdicts grade runs here; true values and the rows of benches are for `trajcredit eval LOGS`."""
    if known.cases or any(one.value is not None for one in known.spans):
        raise InputError(f"{known.file}: stored runs are graded on verdicts; for other rows name the logs instead")
    if part not in PARTS:
        raise InputError(f"no part {part!r}; known: {', '.join(PARTS)}")
    return replace(known, spans=tuple(one for one in known.spans if _counts(one, part)))


def _counts(one: SpanLabel, part: Part) -> bool:
    return part == "all" or (one.blind is True if part == "blind" else one.queue == "random")


def _ranked(batch: Batch, ours: Mapping[str, str], said: Mapping[str, Numbers]) -> F64:
    """Advantages f64[N] of a run, NaN where it scored nothing."""
    out = np.full(batch.n_spans, np.nan)
    for t, name in enumerate(batch.trajectory_ids):
        if ours[name] in said:
            first, end = batch.span_offsets[t : t + 2].tolist()
            out[first:end] = said[ours[name]].advantage
    return out


def _hits(
    cases: Sequence[Case],
    ours: Mapping[str, str],
    said: Mapping[str, Mapping[str, Numbers]],
    told: Mapping[str, F64],
    draws: int,
    seed: int,
) -> dict[str, Hits]:
    """By run; those that scored the same cases are drawn together."""
    alike: dict[tuple[Case, ...], dict[str, F64]] = {}
    for run, advantage in told.items():
        own = tuple(case for case in cases if ours[case.trajectory_id] in said[run])
        alike.setdefault(own, {})[run] = advantage
    return {
        run: found for own, advantages in alike.items() for run, found in hits(own, advantages, draws, seed).items()
    }


def _of_run(run: Run, number: int, found: Hits) -> RunGrades:
    measures = (Interval(one.value, one.low, one.high) for one in (found.hit_at_1, found.hit_at_3, found.mrr))
    stale = run.stale is not None
    return RunGrades(run.id, number, run.asked.label, stale, run.stale, found.graded, *measures)


def _place(one: SpanLabel) -> tuple[str, int | None, int | None, str | None]:
    return one.trajectory_id, one.span_index, one.message_index, one.tool_call_id
