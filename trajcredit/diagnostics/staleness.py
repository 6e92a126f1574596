"""Async staleness: rollouts sampled by weights that are many updates older than those they train."""

from __future__ import annotations

import numpy as np

from trajcredit.arrays import F64
from trajcredit.diagnostics.answer import Finding, Status, Verdict, lacking, undecided
from trajcredit.diagnostics.intervals import LEAST, Interval, share
from trajcredit.diagnostics.table import Table
from trajcredit.tokens.versions import version_number

__all__ = ["STALE_SHARE", "THRESHOLD", "async_staleness"]

THRESHOLD = 4.0
"""Updates: asynchronous trainers report no loss up to about this lag (AReaL, arXiv 2505.24298, figure 5: plain PPO
suffers from 1 on, a decoupled objective holds up to 8)."""
STALE_SHARE = 0.05
"""A 95th percentile is beyond the threshold where the share of rollouts beyond it is above this: of that share an
interval is known, and found is where all of it is above."""


def async_staleness(table: Table) -> Verdict:
    """95th percentile of trainer step minus the oldest policy version that sampled some of the rollout."""
    steps = np.array([np.nan if one.step is None else float(one.step) for one in table.seen])
    oldest = _oldest(table)
    if np.isnan(oldest).all():
        odd = any(one.versions for one in table.seen)
        needs = "`policy_version` as a number" if odd else "`policy_version` of the rollout or of its turns"
        return lacking(needs, "no policy version is a number" if odd else "no policy version is logged", THRESHOLD)
    if np.isnan(steps).all():
        return lacking("`step`, the trainer step that used the rollout", "no training step is logged", THRESHOLD)
    who = np.flatnonzero(~np.isnan(steps - oldest))
    if not len(who):
        return lacking("`step` and `policy_version` on the same rollouts", "no rollout has both", THRESHOLD)
    lag = steps[who] - oldest[who]
    unlike = _unlike(steps[who], oldest[who])
    if unlike is not None:
        return lacking("`policy_version` counted in trainer steps", unlike, THRESHOLD)
    late = share(lag > THRESHOLD, table.group[who])
    p50, p95 = np.percentile(lag, [50, 95])
    says = (
        f"half of {len(who):,} rollouts were sampled at most {p50:g} updates behind the trainer, 95 % at most {p95:g}; "
        f"{late.value:.1%} (95 % interval {late.low:.1%} to {late.high:.1%}) were more than {THRESHOLD:g} behind"
    )
    evidence = tuple(
        Finding(int(who[k]), None, f"step {steps[who[k]]:g}, sampled by version {oldest[who[k]]:g}: {lag[k]:g} behind")
        for k in np.argsort(-lag, kind="stable").tolist()
        if lag[k] > THRESHOLD
    )
    if late.clusters < LEAST:
        figure = Interval(float(p95), float(p95), float(p95), late.clusters)
        return undecided(figure, THRESHOLD, says, evidence, "groups with step and version")
    status: Status = "found" if late.low > STALE_SHARE else "clear"
    return Verdict(status, float(p95), None, None, THRESHOLD, says, None, evidence)


def _oldest(table: Table) -> F64:
    """The smallest version that is a number, NaN where any is none."""
    found = []
    for one in table.seen:
        numbers = [version_number(version) for version in one.versions]
        known = [number for number in numbers if number is not None]
        found.append(min(known) if known and len(known) == len(numbers) else np.nan)
    return np.array(found, dtype=np.float64)


def _unlike(steps: F64, versions: F64) -> str | None:
    """Why the two do not count the same thing; None where they may."""
    if (versions > steps).mean() > 0.5:
        return "most policy versions are greater than the training step: they do not count the same thing"
    places, which = np.unique(steps, return_inverse=True)
    if len(places) < 3:
        return None
    freshest = np.full(len(places), -np.inf)
    np.maximum.at(freshest, which, versions)  # stragglers are as old as they are: the newest says how versions count
    slope = float(np.polyfit(places, freshest, 1)[0])
    if 0.5 <= slope <= 2:
        return None
    return (
        f"the newest policy versions go up by {slope:.2g} a training step, not by 1: they do not count the same thing"
    )
