"""Panels of the dashboard that need no run: how rollouts ended, group by group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal, TypeAlias

from trajcredit.errors import InputError
from trajcredit.service.dashboard_figures import DRAWS, SEED, Interval, PassAtK, pass_at_k, step_bins, wilson
from trajcredit.store import Store
from trajcredit.store.border import finite
from trajcredit.store.endings import Ending, GroupEnds, endings_of, group_ends
from trajcredit.store.filters import PASS, Filters

__all__ = ["Filters", "Order", "PassPanel", "RewardsPanel", "VariancePanel", "passes", "rewards", "variance"]

Order: TypeAlias = Literal["mean", "-mean"]
"""A minus: the highest mean first. Groups without a reward are last, whichever the direction."""
MOST_ROWS = 200
MOST_ROLLOUTS = 200
"""Of one group that are shown one by one; the rest is counted."""
FLAGGED = 0.3
"""A larger share of groups without variance is flagged: they teach a group baseline nothing."""
NOTHING = "trajectories: none matches; upload logs, or widen the filter"
UNSCORED = "rewards: no trajectory that matches has one; they may be added later (trajcredit reward, POST /rewards)"
ALONE = "groups: no two scored rollouts that match share one; log a group or task id, or upload more rollouts"


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardRow:
    """One group: its rewards by one source, and its rollouts, the first MOST_ROLLOUTS of them."""

    key: str
    group: str
    """Its name."""
    size: int
    scored: int
    passed: int
    mean: float | None
    sd: float | None
    """Divided by n - 1, as trainers do; null of a single one."""
    source: str | None
    step: int | None
    rollouts: tuple[Ending, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardsPanel:
    """Groups by their mean reward, a page of them; `low` and `high` are of all rewards, so that pages share a scale."""

    groups: int
    rollouts: int
    scored: int
    sources: tuple[str, ...]
    low: float | None
    high: float | None
    pass_at: float
    start: int
    next: int | None
    """Where the next page begins; null on the last."""
    items: tuple[RewardRow, ...]
    needs: str | None
    """What is missing for this panel; null where nothing is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepBin:
    """The groups of some training steps, both ends included."""

    first: int
    last: int
    groups: int
    all_pass: int
    all_fail: int
    flagged: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class VariancePanel:
    """How many groups have one reward throughout, of those with at least two scored rollouts."""

    groups: int
    all_pass: int
    all_fail: int
    share: Interval | None
    threshold: float
    flagged: bool
    pass_at: float
    too_small: int
    """Groups of fewer than two scored rollouts: left out."""
    without_step: int
    """Groups that no bin holds, of `groups`."""
    bins: tuple[StepBin, ...]
    needs: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassPanel:
    """pass@k for some k, over the groups that have so many scored rollouts."""

    groups: int
    """With a scored rollout."""
    rollouts: int
    unscored: int
    pass_at: float
    draws: int
    seed: int
    points: tuple[PassAtK, ...]
    needs: str | None


def rewards(
    store: Store, project: str, filters: Filters, order: Order = "mean", start: int = 0, limit: int = 50
) -> RewardsPanel:
    """Groups from the `start`-th on, by mean reward and then by key."""
    if not 1 <= limit <= MOST_ROWS:
        raise InputError(f"limit {limit}: a page has 1 to {MOST_ROWS} rows")
    with store.read() as conn:
        known = list(group_ends(conn, project, filters))
        page = _sorted(known, order)[start : start + limit]
        members = endings_of(conn, project, filters, [group.key for group in page]) if page else {}
    every = [reward for group in known for reward in group.rewards]
    return RewardsPanel(
        groups=len(known),
        rollouts=sum(group.size for group in known),
        scored=len(every),
        sources=tuple(sorted({group.source for group in known if group.source is not None})),
        low=min(every, default=None),
        high=max(every, default=None),
        pass_at=PASS,
        start=start,
        next=start + limit if start + limit < len(known) else None,
        items=tuple(_row(group, members.get(group.key, [])) for group in page),
        needs=_needs(len(known), len(every)),
    )


def variance(store: Store, project: str, filters: Filters) -> VariancePanel:
    """The share of groups that cannot teach a group baseline anything, and over which training steps."""
    with store.read() as conn:
        known = list(group_ends(conn, project, filters))
    judged = [group for group in known if len(group.rewards) >= 2]
    all_pass, all_fail = _alike(judged)
    share = wilson(all_pass + all_fail, len(judged))
    scored = sum(len(group.rewards) for group in known)
    stepped = [group for group in judged if group.step is not None]
    return VariancePanel(
        groups=len(judged),
        all_pass=all_pass,
        all_fail=all_fail,
        share=share,
        threshold=FLAGGED,
        flagged=share is not None and share.value > FLAGGED,
        pass_at=PASS,
        too_small=len(known) - len(judged),
        without_step=len(judged) - len(stepped),
        bins=_bins(stepped),
        needs=_needs(len(known), scored) or (None if judged else ALONE),
    )


def passes(store: Store, project: str, filters: Filters, draws: int = DRAWS, seed: int = SEED) -> PassPanel:
    """pass@k over the groups of a filter, each counted once however large it is."""
    with store.read() as conn:
        known = list(group_ends(conn, project, filters))
    scored = [group.rewards for group in known if group.rewards]
    rollouts = sum(map(len, scored))
    return PassPanel(
        groups=len(scored),
        rollouts=rollouts,
        unscored=sum(group.size for group in known) - rollouts,
        pass_at=PASS,
        draws=draws,
        seed=seed,
        points=tuple(pass_at_k(((len(own), _passed(own)) for own in scored), draws, seed)),
        needs=_needs(len(known), rollouts),
    )


def _needs(groups: int, scored: int) -> str | None:
    if not groups:
        return NOTHING
    return None if scored else UNSCORED


def _passed(rewards: Iterable[float]) -> int:
    return sum(reward >= PASS for reward in rewards)


def _mean(group: GroupEnds) -> float | None:
    return finite(sum(group.rewards) / len(group.rewards)) if group.rewards else None


def _sorted(known: list[GroupEnds], order: Order) -> list[GroupEnds]:
    sign = -1 if order == "-mean" else 1

    def place(group: GroupEnds) -> tuple[bool, float, str]:
        mean = _mean(group)
        return (mean is None, sign * (mean or 0.0), group.key)

    return sorted(known, key=place)


def _row(group: GroupEnds, members: list[Ending]) -> RewardRow:
    mean, scored = _mean(group), len(group.rewards)
    return RewardRow(
        key=group.key,
        group=group.name,
        size=group.size,
        scored=scored,
        passed=_passed(group.rewards),
        mean=mean,
        sd=_spread(group.rewards, mean),
        source=group.source,
        step=group.step,
        rollouts=tuple(members[:MOST_ROLLOUTS]),
    )


def _spread(rewards: Sequence[float], mean: float | None) -> float | None:
    if mean is None or len(rewards) < 2:
        return None
    return finite(sqrt(sum((reward - mean) * (reward - mean) for reward in rewards) / (len(rewards) - 1)))


def _alike(groups: Iterable[GroupEnds]) -> tuple[int, int]:
    """How many have one reward throughout, compared bit for bit: a pass, or a failure."""
    alike = [group.rewards[0] for group in groups if min(group.rewards) == max(group.rewards)]
    return _passed(alike), len(alike) - _passed(alike)


def _bins(groups: list[GroupEnds]) -> tuple[StepBin, ...]:
    """Those with a group in them."""
    ranges = step_bins([group.step for group in groups if group.step is not None])
    found = []
    for first, last in ranges:
        own = [group for group in groups if group.step is not None and first <= group.step <= last]
        if own:
            passed, failed = _alike(own)
            flagged = (passed + failed) / len(own) > FLAGGED
            found.append(
                StepBin(first=first, last=last, groups=len(own), all_pass=passed, all_fail=failed, flagged=flagged)
            )
    return tuple(found)
