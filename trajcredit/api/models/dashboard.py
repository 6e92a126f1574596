"""Panels of the dashboard, each an answer of its own. `needs` says what is missing for one; null where nothing is."""

from __future__ import annotations

from typing import Literal

from pydantic import FiniteFloat

from trajcredit.api.models.common import Out, Source

__all__ = [
    "AgreementPanel",
    "DashboardRun",
    "DecileOut",
    "FurthestOut",
    "IntervalOut",
    "LengthPanel",
    "OffPathPanel",
    "OffPathRow",
    "PairOut",
    "PassPanel",
    "PassPoint",
    "RewardGroup",
    "RewardsPanel",
    "RolloutDot",
    "StepBin",
    "ToolCredit",
    "ToolsPanel",
    "VariancePanel",
    "WithinGroups",
]


class IntervalOut(Out):
    """A figure with its 95 % interval; the ends are null where too little is there to tell."""

    value: FiniteFloat
    low: FiniteFloat | None
    high: FiniteFloat | None


class DashboardRun(Out):
    """A finished run as people call it, `dag #2`."""

    id: str
    number: int
    attributor: str
    label: str
    stale: bool
    stale_reason: str | None
    total: int
    """Trajectories it read."""


class RolloutDot(Out):
    """One rollout; its reward is null where it has none, or none of the source that its group is read by."""

    id: str
    external_id: str
    reward: FiniteFloat | None


class RewardGroup(Out):
    """One group: its rewards by the most trusted source that any of its rollouts has."""

    key: str
    group: str
    """Its name, which several groups may share; `key` is of one."""
    size: int
    scored: int
    passed: int
    mean: FiniteFloat | None
    sd: FiniteFloat | None
    """Divided by n - 1; null of a single one."""
    source: Source | None
    step: int | None
    rollouts: list[RolloutDot]
    """The first 200."""


class RewardsPanel(Out):
    """Groups by mean reward, a page of them; `low` and `high` are over all pages."""

    groups: int
    rollouts: int
    scored: int
    sources: list[Source]
    low: FiniteFloat | None
    high: FiniteFloat | None
    pass_at: FiniteFloat
    """A reward of at least this passes."""
    start: int
    next: int | None
    """`from` of the next page; null on the last."""
    items: list[RewardGroup]
    needs: str | None


class StepBin(Out):
    """The groups of some training steps, both ends included."""

    first: int
    last: int
    groups: int
    all_pass: int
    all_fail: int
    flagged: bool


class VariancePanel(Out):
    """How many groups have one reward throughout, of those with at least two scored rollouts."""

    groups: int
    all_pass: int
    all_fail: int
    share: IntervalOut | None
    """Wilson's interval."""
    threshold: FiniteFloat
    """Shares above it are flagged."""
    flagged: bool
    pass_at: FiniteFloat
    too_small: int
    """Groups left out: fewer than two scored rollouts."""
    without_step: int
    """Of `groups`, in no bin: the log names no training step."""
    bins: list[StepBin]
    needs: str | None


class PassPoint(Out):
    """1 - C(n-c, k) / C(n, k), the mean over the groups of k scored rollouts and more; bootstrap over these groups."""

    k: int
    value: FiniteFloat
    low: FiniteFloat | None
    high: FiniteFloat | None
    groups: int
    left_out: int


class PassPanel(Out):
    """pass@k, every group counted once."""

    groups: int
    rollouts: int
    unscored: int
    pass_at: FiniteFloat
    draws: int
    seed: int
    points: list[PassPoint]
    needs: str | None


class WithinGroups(Out):
    """Rank correlations inside groups, averaged over `groups`; the other groups counted by why not."""

    mean: IntervalOut | None
    groups: int
    too_small: int
    same_reward: int
    same_length: int
    cut: int
    """With members older than what is read."""


class DecileOut(Out):
    """A tenth of the trajectories by length, from 1, the shortest; equal lengths are always in one."""

    tenth: int
    shortest: int
    longest: int
    n: int
    reward: FiniteFloat | None
    """Mean."""
    credit: FiniteFloat | None
    """Mean over the units of those action spans that the run scored; null where none is."""
    scored: int
    """Units that mean is over."""
    example: str
    """The trajectory of median length."""
    example_name: str


class LengthPanel(Out):
    """Reward against the length of action spans, over the newest 10,000 trajectories of the filter."""

    unit: Literal["tokens", "characters"]
    """Tokens where each of the n trajectories logs those of all its action spans."""
    with_tokens: int
    n: int
    source: Source | None
    other_sources: int
    """Left out: scored by a less trusted source alone."""
    read: int
    matching: int
    overall: FiniteFloat | None
    """Spearman over all; null where reward or length is constant."""
    within: WithinGroups
    run: DashboardRun | None
    deciles: list[DecileOut]
    needs: str | None


class ToolCredit(Out):
    """The calls of one tool. Null where none of them is scored."""

    tool: str
    calls: int
    scored: int
    errors: int
    trajectories: int
    mean: FiniteFloat | None
    sd: FiniteFloat | None
    """Divided by n - 1; null of a single one."""
    low: FiniteFloat | None
    """5th percentile."""
    high: FiniteFloat | None
    """95th percentile."""
    negative: FiniteFloat | None
    """Share of all negative credit of the run that its calls carry."""
    ranked: bool


class ToolsPanel(Out):
    """Tools by mean credit, the lowest first, then those of fewer than `least` scored calls; the newest 10,000."""

    run: DashboardRun | None
    read: int
    matching: int
    unread: int
    """Of those read here, trajectories that the run did not read."""
    least: int
    tools: int
    elsewhere: FiniteFloat | None
    """Share of all negative credit on messages and reasoning."""
    items: list[ToolCredit]
    """At most 100."""
    needs: str | None


class FurthestOut(Out):
    """The trajectory on which two runs agree least."""

    id: str
    external_id: str
    value: FiniteFloat


class PairOut(Out):
    """Two runs, as positions in `runs`."""

    a: int
    b: int
    value: FiniteFloat | None
    """Spearman's rank correlation within trajectories, ties by midranks, the mean of n trajectories."""
    n: int
    flat: int
    """Trajectories left out: one of the two gives every span the same."""
    furthest: FurthestOut | None


class AgreementPanel(Out):
    """Finished runs against each other, over the spans that all of them scored; the newest 10,000."""

    runs: list[DashboardRun]
    others: int
    """Finished runs that are not shown."""
    read: int
    matching: int
    shared: int
    """Trajectories that all of the runs read."""
    judged: int
    """Of these, with at least two spans that all of the runs scored."""
    pairs: list[PairOut]
    needs: str | None


class OffPathRow(Out):
    """One run: the part of the size of its credit on action spans with no path to the outcome."""

    run: DashboardRun
    share: FiniteFloat | None
    trajectories: int
    spans: int
    off: int
    """Of `spans`, those with no path."""
    flat: int
    """Of `compared`, trajectories whose spans all get the same."""
    compared: int
    """Trajectories with at least two scored spans."""
    most: str | None
    """The trajectory with most credit off the path."""
    most_name: str | None


class OffPathPanel(Out):
    """By run; the paths are those of `dag` as it comes, over the newest 10,000 trajectories.

    Edges are those that each run saw, with what people had said of them by then.
    """

    min_weight: FiniteFloat
    """Edges below it are not followed."""
    read: int
    matching: int
    others: int
    items: list[OffPathRow]
    needs: str | None
