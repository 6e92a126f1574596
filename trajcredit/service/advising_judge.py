"""Failed runs that outcomes say nothing of: do the rules of a judge have something to read there, never to train on?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trajcredit import judges
from trajcredit.arrays import BOOL
from trajcredit.batching import Batch
from trajcredit.service.diagnosing_facts import PASS
from trajcredit.service.trusting_note import Check, check, unknowable
from trajcredit.service.wording import count

__all__ = ["CALIBRATED", "JUDGE", "MEASURED", "Unheard", "checked", "numbers", "told", "trained", "unheard", "why"]

JUDGE_ASKED = "rules"
JUDGE = "judge"
"""With its defaults: rules, and `rloo`, which has nothing to say of such runs, so that the judge alone speaks there."""
CALIBRATED = "judge:calibrate=true"
"""The same to train on, where its scores are better than the base rate once they are calibrated."""
MEASURED = (
    "real failed runs, each of another task (Who&When, 92 runs): the culprit is the most blamed message in 0.415 of "
    "them (flat 0.130); where culprits are well-formed calls (tau_airline, 33 runs) in 0.012 (flat 0.079)"
)
"""From the tables of docs/credit.md."""


@dataclass(frozen=True, slots=True)
class Unheard:
    """Failed runs, an outcome below PASS and more than one action, that neither siblings nor a critic can tell of.

    faulty, findings   those in which the rules find something, and how much
    """

    runs: int
    faulty: int
    findings: int


def unheard(batch: Batch, mixed: BOOL, believed: BOOL) -> Unheard:
    """Where no group has outcomes that differ, every failed run; else those without a scored sibling in pools whose
    critic foretells nothing: groups that failed throughout are then held against the other groups.

    mixed     bool[G]  groups whose scored outcomes differ
    believed  bool[T]  trajectories in whose pool a fitted critic foretells outcomes
    """
    scored = ~np.isnan(batch.outcome)
    failed = scored & (np.nan_to_num(batch.outcome) < PASS)
    alone = np.bincount(batch.group[scored], minlength=len(batch.group_ids))[batch.group] == 1
    owner = np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))
    several = np.bincount(owner[batch.action_mask], minlength=batch.n_trajectories) > 1
    rows = failed & several & (alone & ~believed if mixed.any() else True)
    graphs = batch.graphs or ()
    found = [len(judges.findings(graphs[t])) for t in np.flatnonzero(rows).tolist()]
    return Unheard(len(found), sum(n > 0 for n in found), sum(found))


def numbers(found: Unheard) -> dict[str, int]:
    """As the question lists them."""
    return {
        "failed_unheard": found.runs,
        "failed_unheard_with_findings": found.faulty,
        "findings": found.findings,
    }


def told(found: Unheard) -> str:
    """What the rules find there, in a sentence."""
    if not found.runs:
        return ""
    runs = f"{count(found.runs, 'failed run')} (outcome below {PASS:g}) of which outcomes tell nothing"
    if not found.findings:
        return f"; the rules of `judge` find nothing in {runs}"
    return f"; the rules of `judge` find {count(found.findings, 'fault')} in {found.faulty:,} of {runs}: to read"


def checked(batch: Batch) -> Check:
    """Scores that the batch has, else those of the rules, against the base rate.

    Rules are asked of every trajectory, but only where outcomes let their answers be checked.
    """
    if not np.isnan(batch.scores[batch.action_mask]).all():
        return check(batch, "")
    why_not = unknowable(batch, ~np.isnan(batch.outcome))
    if why_not is not None:
        return Check(None, None, why_not)
    return check(judges.judge(batch, JUDGE_ASKED), JUDGE_ASKED)


def why(found: Unheard, calibration: Check) -> str:
    """Why it is advised, and what for."""
    return (
        f"{count(found.runs, 'failed run')} with neither siblings nor a critic to hold against: no outcome tells which "
        f"step went wrong. Rules read the texts and find {count(found.findings, 'fault')} in {found.faulty:,} of "
        f"{found.runs:,}; look at those alone. It is an opinion: {_worth(calibration)}"
    )


def trained(calibration: Check) -> str:
    """Why it may be trained on: only where `calibration` says that it is better than the base rate."""
    return f"rules foretell these outcomes, calibrated on other groups: {calibration.says}"


def _worth(calibration: Check) -> str:
    if calibration.calibrated is None:
        return f"its calibration is {calibration.says}: read it, do not train on it"
    if calibration.calibrated == "better":
        return calibration.says
    return f"{calibration.says}: read it, do not train on it"
