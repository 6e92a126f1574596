"""What is wrong with a run: ten failure modes, pass@k, diversity, the course of training, a comparison, a checklist."""

from __future__ import annotations

from typing import Literal

from pydantic import FiniteFloat

from trajcredit.api.models.common import NoteOut, Out

__all__ = [
    "ChecklistItem",
    "ComparisonOut",
    "DiagnosedOver",
    "Diagnosis",
    "DifferenceOut",
    "DiversityOut",
    "FailureEvidence",
    "FailureModeOut",
    "PassAtKOut",
    "TrendOut",
    "TrendPoint",
]


class FailureEvidence(Out):
    """One place to look at."""

    trajectory: str
    """Our id."""
    external_id: str | None
    """The log's own."""
    span: int | None
    """Null: all of it."""
    says: str


class FailureModeOut(Out):
    """One failure mode. Figure, its 95 % interval by tasks and the threshold are in `unit`; null: not to be taken."""

    mode: str
    title: str
    status: Literal["found", "clear", "needs"]
    """`found`: the whole interval lies beyond the threshold; `needs`: the log lacks what `needs` names."""
    figure: FiniteFloat | None
    low: FiniteFloat | None
    high: FiniteFloat | None
    unit: str
    threshold: FiniteFloat | None
    says: str
    needs: str | None
    mitigation: str
    evidence: list[FailureEvidence]
    more: int
    """Trajectories beyond the evidence that show it too."""


class DiagnosedOver(Out):
    """What was read."""

    trajectories: int
    groups: int
    tasks: int
    scored: int
    reward: str | None
    """The reward that is the outcome."""
    proxy: str | None
    """The reward that is doubted."""
    trusted: str | None
    """What it is held against."""
    attributor: str
    """Whose credit is looked at."""
    pass_at: FiniteFloat
    passed: int
    """Trajectories whose outcome is at least `pass_at`."""
    lowest: FiniteFloat | None
    """Outcome; null where nothing is scored, as `highest`."""
    highest: FiniteFloat | None
    split: str | None
    """Why `pass_at` tells no outcome from another although they differ; null where it does, or they do not."""
    steps: int
    versions: int
    left_out: int
    """Trajectories of the selection that were not read, there being too many: the newest were."""


class PassAtKOut(Out):
    """1 - C(n-c, k) / C(n, k), mean of groups with n >= k; 95 % bootstrap over tasks."""

    k: int
    value: FiniteFloat
    low: FiniteFloat | None
    high: FiniteFloat | None
    groups: int
    left_out: int
    """Groups with fewer rollouts."""


class DiversityOut(Out):
    """How unlike the calls of siblings are; null where no group makes any."""

    groups: int
    distinct: FiniteFloat | None
    """Share of rollouts of a group with a sequence of calls of their own, mean."""
    overlap: FiniteFloat | None
    """Jaccard overlap of the calls of two siblings, mean."""
    identical: int
    """Groups whose rollouts all make the same calls."""


class TrendPoint(Out):
    """One step or version, or so many neighbours; intervals are null below 8 tasks."""

    first: FiniteFloat
    last: FiniteFloat
    label: str
    trajectories: int
    scored: int
    reward: FiniteFloat | None
    reward_low: FiniteFloat | None
    reward_high: FiniteFloat | None
    doubted: FiniteFloat | None
    """Mean of the reward that is held against a more trusted one, where there are two."""
    pass_rate: FiniteFloat | None
    pass_low: FiniteFloat | None
    pass_high: FiniteFloat | None
    kl: FiniteFloat | None
    """Nats a token from the reference."""
    length: FiniteFloat


class TrendOut(Out):
    """The course of training, in order."""

    axis: str
    """`training step`, `policy version`, or empty where neither is logged."""
    length_unit: str
    points: list[TrendPoint]
    common_tasks: int
    """Tasks that every point has."""
    unplaced: int
    """Trajectories without a step or version."""


class DifferenceOut(Out):
    """One measure: means over common tasks, b minus a with its 95 % interval, tasks that went up, down, or stayed."""

    measure: str
    unit: str
    a: FiniteFloat
    b: FiniteFloat
    difference: FiniteFloat
    low: FiniteFloat | None
    high: FiniteFloat | None
    tasks: int
    up: int
    down: int
    same: int


class ComparisonOut(Out):
    """Two policy versions, models, data sets or steps on the same tasks, paired."""

    a: str
    b: str
    field: str
    rollouts_a: int
    rollouts_b: int
    common: int
    only_a: int
    only_b: int
    differences: list[DifferenceOut]


class ChecklistItem(Out):
    """One thing a run should have in place, as far as a log can tell (`ask`: it cannot)."""

    item: str
    tick: Literal["yes", "no", "in part", "ask"]
    says: str


class Diagnosis(Out):
    """Everything there is to say of a selection."""

    modes: list[FailureModeOut]
    over: DiagnosedOver
    pass_at_k: list[PassAtKOut]
    diversity: DiversityOut
    trend: TrendOut
    comparison: ComparisonOut | None
    checklist: list[ChecklistItem]
    notes: list[NoteOut]
    """What was guessed or left out, the first of each kind with how often."""
