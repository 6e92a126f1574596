"""What an attributor that hears a judge says of that judge: is it better than always saying how often runs pass?"""

from __future__ import annotations

import numpy as np

from trajcredit.attributors import Attributor
from trajcredit.batching import Batch
from trajcredit.judges.base_rate import BaseRate, worse_than_base_rate
from trajcredit.judges.crossfit import cross_fitted, folds
from trajcredit.judges.estimates import LEAST_GROUPS, Sampling
from trajcredit.judges.reliability import PASSED, passed_of
from trajcredit.judges.states import final_scores
from trajcredit.model import Note
from trajcredit.service.trusting import scale_of

__all__ = ["DRAWS", "checked", "held_against", "outage"]

DRAWS, AT_MOST, AT_LEAST = 2000, 1_000_000, 100
"""Draws behind an interval, as many as in the whole report, but not so many that over a million groups are drawn in
all: of 10,000 groups a hundred draws, which take a fraction of a second where scoring takes many."""
VERDICTS = {"worse": "worse than", "not_told_from": "not told from", "better": "better than"}


def checked(batch: Batch, attributor: Attributor, judge: str | None) -> tuple[Note, ...]:
    """A note on the judge that an attributor heard, unless it is better than the base rate; none where it heard none.

    It is about the last scores of trajectories, as chances to pass where they are scores of states, and under a map
    fitted on other groups: `trajcredit trust` says the rest. Computed when credit is, from columns that are there.
    """
    if "scores" not in attributor.needs or np.isnan(batch.scores[batch.action_mask]).all():
        return ()
    said = _said(batch, judge or "")
    return () if said is None else (Note("judge-check", said),)


def _said(batch: Batch, judge: str) -> str | None:
    final = final_scores(batch.scores, batch.action_mask, batch.span_offsets)
    known = ~(np.isnan(final) | np.isnan(batch.outcome))
    if not known.any():
        return "the judge is not checked: no trajectory has its score and an outcome"
    if len(np.unique(batch.group[known])) < LEAST_GROUPS:
        groups = len(np.unique(batch.group[known]))
        return f"the judge is not checked: outcomes in {groups:,} groups, and it takes {LEAST_GROUPS}"
    found = held_against(batch, judge)
    if any(one.verdict == "one_outcome" for one in found):
        same = "passed" if batch.outcome[known].min() >= PASSED else "failed"
        return f"the judge is not checked: every run that it scored {same} (an outcome of at least {PASSED:g} passes)"
    warned = [_against(one) for one in found if one.verdict != "better"]
    if not warned:
        return None
    groups = len(np.unique(batch.group[known]))
    return f"the judge's last scores as chances to pass: {'; '.join(warned)}; {groups:,} groups"


def _against(one: BaseRate) -> str:
    """Which scores, what is found, and the figure."""
    what = "as they are" if one.scores == "raw" else "calibrated on other groups"
    if one.difference.value is None or one.difference.low is None or one.difference.high is None:
        return f"{what} {one.says}"
    ends = f"{one.difference.value:+.3f} [{one.difference.low:+.3f}, {one.difference.high:+.3f}]"
    return f"{what} {VERDICTS[one.verdict]} the base rate (difference of Brier scores {ends})"


def held_against(batch: Batch, judge: str) -> list[BaseRate]:
    """Its last scores against the base rate: as they are, where they are scores of states, then calibrated."""
    final = final_scores(batch.scores, batch.action_mask, batch.span_offsets)
    passed = passed_of(batch.outcome)
    known = ~(np.isnan(final) | np.isnan(passed))
    score, hit, group, fold = final[known], passed[known], batch.group[known], folds(batch.group)[known]
    sampling = Sampling(draws=max(AT_LEAST, min(DRAWS, AT_MOST // max(1, len(np.unique(group))))))
    mapped = cross_fitted(score, hit, np.ones(len(score)), fold)
    found = [worse_than_base_rate(mapped, hit, fold, group, "calibrated", sampling)]
    if scale_of(judge, batch) == "state" and (score >= 0).all() and (score <= 1).all():
        found.insert(0, worse_than_base_rate(score, hit, group, group, "raw", sampling))
    return found


def outage(batch: Batch) -> str | None:
    """Why no trajectory has a score, where a judge was asked: the first reason that it gave."""
    return next((note.message for note in batch.notes if note.code == "unjudged"), None)
