"""Drift: whether trajectories that a fitted critic is applied to are still like those it was fitted to.

Five figures of every group. The groups that were fitted have them too, told as if each had been left out: so it is
known what new groups may be like, and the mean of n of them is held against the mean of the G fitted ones, whose
difference has the variance s^2 (1 / n + 1 / G) while nothing has changed (Student's t).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from trajcredit.arrays import F64
from trajcredit.critics.describe import Description
from trajcredit.critics.members import Members
from trajcredit.critics.story import MESSAGE
from trajcredit.critics.taught import leave_one_out
from trajcredit.model import Note

__all__ = ["FIGURES", "alarms", "measured", "tools_left_out"]

FIGURES = ("tools", "features", "outcome", "forecast", "error")
"""Columns of what is measured of a group, f64[G, 5]: share of calls of tools that are new to the critic; share of
features that are; mean outcome; sum of squares of its rollouts' total forecasts less their siblings', f, and sum of
f (R - b - f). NaN where the group cannot tell."""
SURE = 3.29
"""Standard errors that one of a thousand figures passes where nothing has changed (two-sided, many groups)."""
LEAST = 0.02
"""Shares that grow by less are no drift."""
LEAST_SLOPE = 0.25
"""Slopes that change by less of themselves are no drift: the model of all tasks forecasts a little more than those that
the fitted figures come from, each without a fold."""


def measured(members: Members, told: Description, advantage: F64, unknown: Sequence[bool]) -> F64:
    """The figures f64[G, 5] of the groups; advantage f64[D] forecasts of decisions, `unknown` of each whether its tool
    is (`tools_left_out`)."""
    n = len(members.names)
    group = members.groups[told.owner]
    calls = np.array([not c.is_message for story in members.stories for c in story.choices], dtype=bool)
    strange = np.array(unknown, dtype=bool) & calls
    total = np.bincount(told.owner, advantage, len(members.groups))
    siblings = leave_one_out(members.outcome, members.groups)
    told_by = ~np.isnan(members.outcome) & ~np.isnan(siblings)
    against = np.where(told_by, members.outcome - siblings, 0.0)
    forecast = np.where(told_by, total - leave_one_out(np.where(told_by, total, np.nan), members.groups), 0.0)
    scored = ~np.isnan(members.outcome)
    with np.errstate(invalid="ignore", divide="ignore"):
        columns = (
            np.bincount(group, strange, n) / np.bincount(group, calls, n),
            np.bincount(group, told.new, n) / np.bincount(group, told.noted, n),
            np.bincount(members.groups[scored], members.outcome[scored], n)
            / np.bincount(members.groups[scored], minlength=n),
            np.bincount(members.groups, forecast**2, n),
            np.bincount(members.groups, forecast * (against - forecast), n),
        )
    return np.stack(columns, axis=1)


def tools_left_out(members: Members) -> tuple[list[bool], frozenset[str]]:
    """Of every decision whether no other group calls its tool, and all tools called."""
    groups: dict[str, set[int]] = {}
    for story, group in zip(members.stories, members.groups.tolist(), strict=True):
        for choice in story.choices:
            groups.setdefault(choice.tool, set()).add(group)
    alone = [len(groups[choice.tool]) == 1 for story in members.stories for choice in story.choices]
    return alone, frozenset(groups) - {MESSAGE}


@dataclass(frozen=True, slots=True)
class _Figure:
    """A figure of the new groups against what it may be: between low and high."""

    found: float
    usual: float
    low: float
    high: float

    @property
    def drifted(self) -> bool:
        return not self.low <= self.found <= self.high


def alarms(fitted: F64, new: F64, pool: str) -> Iterator[Note]:
    """A note of every figure of new groups that the fitted ones make unlikely; both f64[., 5]."""
    for column, what in ((0, "of the calls are of tools"), (1, "of what there is to say of choices and states is")):
        share = _mean_against(fitted[:, column], new[:, column])
        if share is not None and share.found > max(share.high, share.usual + LEAST):
            limit = max(share.high, share.usual + LEAST)
            yield _note(pool, f"{share.found:.1%} {what} new to it; at most {limit:.1%} was to be expected")
    outcome = _mean_against(fitted[:, 2], new[:, 2])
    if outcome is not None and outcome.drifted:
        yield _note(
            pool,
            f"the mean outcome of a task is {outcome.found:.3g}; between {outcome.low:.3g} and {outcome.high:.3g} was "
            "to be expected",
        )
    slope = _slope_against(fitted[:, 3:], new[:, 3:])
    if slope is not None and slope.drifted:
        yield _note(
            pool,
            f"outcomes rise by {slope.found:.2f} where forecasts do by 1; between {slope.low:.2f} and {slope.high:.2f} "
            "was to be expected",
        )


def _note(pool: str, said: str) -> Note:
    return Note("critic-drift", f"the critic was fitted to other data ({pool}): {said}")


def _mean_against(fitted: F64, new: F64) -> _Figure | None:
    """The mean of the new groups, and between what it may be; None where either is of too few."""
    fitted, new = fitted[~np.isnan(fitted)], new[~np.isnan(new)]
    if len(fitted) < 3 or not len(new):
        return None
    usual = float(fitted.mean())
    reach = _reach(len(fitted) - 1) * float(fitted.std(ddof=1)) * float(np.sqrt(1 / len(new) + 1 / len(fitted)))
    return _Figure(float(new.mean()), usual, usual - reach, usual + reach)


def _slope_against(fitted: F64, new: F64) -> _Figure | None:
    """The slope of outcomes on forecasts in new groups, and between what it may be.

    A group's part in it is u = sum f (y - slope f), of mean 0 where the slope is that of the fitted groups, and of a
    variance that grows with sum f^2.
    """
    fitted, new = fitted[fitted[:, 0] > 0], new[new[:, 0] > 0]
    if len(fitted) < 3 or not len(new):
        return None
    power, error = fitted.T
    usual = float(error.sum() / power.sum())
    free = len(fitted) - 1
    spread = float(np.sqrt(((error - usual * power) ** 2 / power).sum() / free))
    reach = _reach(free) * spread * float(np.sqrt(1 / new[:, 0].sum() + 1 / power.sum()))
    slope, found = 1 + usual, 1 + float(new[:, 1].sum() / new[:, 0].sum())
    width = max(reach, LEAST_SLOPE * abs(slope))
    return _Figure(found, slope, slope - width, slope + width)


def _reach(free: int) -> float:
    """The point of Student's t that one of a thousand passes, either way, by its expansion in 1 / degrees of freedom
    (Fisher and Cornish 1960)."""
    z = SURE
    first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / free + second / free**2
