"""A judge against the base rate in one sentence: for the notes of attributors that hear it, and for advice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trajcredit.arrays import BOOL
from trajcredit.attributors import Attributor
from trajcredit.batching import Batch
from trajcredit.judges.base_rate import BaseRate, Verdict, worse_than_base_rate
from trajcredit.judges.crossfit import cross_fitted, folds
from trajcredit.judges.estimates import LEAST_GROUPS, Sampling
from trajcredit.judges.reliability import PASSED, passed_of
from trajcredit.judges.states import final_scores
from trajcredit.model import Note
from trajcredit.service.trusting import scale_of

__all__ = ["Check", "check", "checked", "outage", "unknowable"]

DRAWS, AT_MOST, AT_LEAST = 2000, 1_000_000, 100
"""Draws behind an interval, as many as in the whole report, but not so many that over a million groups are drawn in
all: of 10,000 groups a hundred draws, which take a fraction of a second where scoring takes many."""
VERDICTS = {"worse": "worse than", "not_told_from": "not told from", "better": "better than"}


@dataclass(frozen=True, slots=True)
class Check:
    """Last scores of a judge against always saying how often runs of other groups pass."""

    raw: Verdict | None
    """Of its scores as they are; null where they are no scores of states, or nothing could be checked."""
    calibrated: Verdict | None
    """Of its scores under maps that were fitted on other groups; null where nothing could be checked."""
    says: str
    """What was found, with figures; or why nothing could be checked."""


def checked(batch: Batch, attributor: Attributor, judge: str | None) -> tuple[Note, ...]:
    """A note on the judge that an attributor heard, unless it is better than the base rate; none where it heard none.

    `trajcredit trust` says the rest. Computed when credit is, from columns that are there, in hundredths of a second.
    """
    if "scores" not in attributor.needs or np.isnan(batch.scores[batch.action_mask]).all():
        return ()
    found = check(batch, judge or "")
    if found.calibrated == "better" and found.raw in (None, "better"):
        return ()
    return (Note("judge-check", f"the judge is {found.says}" if found.calibrated is None else found.says),)


def check(batch: Batch, judge: str) -> Check:
    """Of the scores in the batch, by the name of the judge they are of; empty where it is not known."""
    final = final_scores(batch.scores, batch.action_mask, batch.span_offsets)
    known = ~(np.isnan(final) | np.isnan(batch.outcome))
    why = unknowable(batch, known)
    if why is not None:
        return Check(None, None, why)
    score, hit = final[known], passed_of(batch.outcome[known])
    group, fold = batch.group[known], folds(batch.group)[known]
    groups = len(np.unique(group))
    sampling = Sampling(draws=max(AT_LEAST, min(DRAWS, AT_MOST // groups)))
    mapped = cross_fitted(score, hit, np.ones(len(score)), fold)
    calibrated = worse_than_base_rate(mapped, hit, fold, group, "calibrated", sampling)
    found = [calibrated]
    if scale_of(judge, batch) == "state" and (score >= 0).all() and (score <= 1).all():
        found.insert(0, worse_than_base_rate(score, hit, group, group, "raw", sampling))
    says = f"the judge's last scores as chances to pass: {'; '.join(map(_against, found))}; {groups:,} groups"
    return Check(found[0].verdict if len(found) > 1 else None, calibrated.verdict, says)


def unknowable(batch: Batch, known: BOOL) -> str | None:
    """Why nothing can be checked on these trajectories bool[T], scored and with an outcome; null where it can."""
    if not known.any():
        return "not checked: no trajectory has its score and an outcome"
    groups, hit = len(np.unique(batch.group[known])), passed_of(batch.outcome[known])
    if groups < LEAST_GROUPS:
        return f"not checked: scores and outcomes in {groups:,} groups, and it takes {LEAST_GROUPS}"
    if len(np.unique(hit)) < 2:
        same = "passed" if hit[0] else "failed"
        return f"not checked: every run with a score {same} (an outcome of {PASSED:g} passes)"
    return None


def _against(one: BaseRate) -> str:
    """Which scores, what is found, and the figure."""
    what = "as they are" if one.scores == "raw" else "calibrated on other groups"
    if one.difference.value is None or one.difference.low is None or one.difference.high is None:
        return f"{what} {one.says}"
    ends = f"{one.difference.value:+.3f} [{one.difference.low:+.3f}, {one.difference.high:+.3f}]"
    return f"{what} {VERDICTS[one.verdict]} the base rate (difference of Brier scores {ends})"


def outage(batch: Batch) -> str | None:
    """Why no trajectory has a score, where a judge was asked: the first reason that it gave."""
    return next((note.message for note in batch.notes if note.code == "unjudged"), None)
