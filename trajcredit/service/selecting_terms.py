"""What to select, and what is said of a selection."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, isnan
from typing import Literal, TypeAlias, get_args

import msgspec

from trajcredit.errors import InputError

__all__ = ["FORMS", "PAIR_REASONS", "REASONS", "Failed", "Form", "Summary", "Terms", "ZeroVariance"]

Form: TypeAlias = Literal["sft", "pairs", "jsonl"]
FORMS: tuple[Form, ...] = get_args(Form)
ZeroVariance: TypeAlias = Literal["keep", "drop"]

PASS_AT = 1.0
"""What passes where nobody says: the verdict of a verifier that answers 0 or 1."""

REASONS = {
    "unscored": "no reward",
    "stale": "sampled too many policy versions ago",
    "no-version": "the log names no policy version: how far behind it is, is unknown",
    "odd-version": "its policy version is no number: how far behind it is, is unknown",
    "zero-variance": "all scored rollouts of its group have one outcome",
    "below": "outcome below the threshold",
    "beyond-best-of": "its group has enough better ones",
    "duplicate": "a better one of its group did the same",
    "no-chat": "cannot be written as chat messages",
    "beyond-per-task": "its task has enough better ones",
    "unpaired": "no pair holds it",
}
"""Why a rollout is left out; each has the first reason that holds, in this order."""

PAIR_REASONS = {
    "other-tools": "the two were given different tools",
    "other-prompts": "what the two were told differs before either acts",
    "other-observations": "both did and said the same until what they were told or shown differs",
    "one-ends": "both do and say the same until one ends",
    "beyond-best-of": "the group has enough pairs with a longer shared prompt",
    "beyond-per-task": "the task has enough pairs with a longer shared prompt",
}
"""Why a pass and a fail of one group make no pair."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What to select, and as what.

    to               sft: a row of chat messages a rollout; pairs: a passing against a failing rollout of one group;
                     jsonl: canonical trajectories, which every other command reads
    pass_at          outcomes of at least this pass. None: 1.0, but no threshold where best_of is given, save for pairs
    best_of          at most so many rows of a group: the best rollouts, or the pairs with the longest shared prompt
    per_task         at most so many rows of a task, whatever its groups; of its group, where a rollout names no task
    distinct         rollouts of one group that made the same calls in the same order count once, and so do those that
                     made none and said the same
    zero_variance    drop: leave out groups of two or more scored rollouts with one outcome. A group of one stays, as in
                     verl (recipe/dapo/dapo_ray_trainer.py, filter_groups: std > 0 or a single rollout)
    max_lag          withhold what was sampled more than so many versions before the current one; None: do not look.
                     The oldest version of a rollout counts; one without a version is withheld
    current_version  None: the newest version read
    """

    to: Form = "sft"
    pass_at: float | None = None
    best_of: int | None = None
    per_task: int | None = None
    distinct: bool = False
    zero_variance: ZeroVariance = "keep"
    max_lag: float | None = None
    current_version: float | None = None

    def __post_init__(self) -> None:
        if self.pass_at is not None and isnan(self.pass_at):
            raise InputError("pass-at is no number")
        for name, count in (("best-of", self.best_of), ("per-task", self.per_task)):
            if count is not None and count < 1:
                raise InputError(f"{name} is {count}: expected 1 or more")
        for name, number in (("max-lag", self.max_lag), ("current-version", self.current_version)):
            if number is not None and not isfinite(number):
                raise InputError(f"{name} is {number}: expected a number")
        if self.max_lag is not None and self.max_lag < 0:
            raise InputError(f"max-lag is {self.max_lag:g}: expected 0 or more versions")
        if self.current_version is not None and self.max_lag is None:
            raise InputError("current-version is given, and no max-lag that it would be held against")

    @property
    def threshold(self) -> float | None:
        """What an outcome must reach to pass; None: all do."""
        if self.pass_at is None:
            return None if self.best_of is not None and self.to != "pairs" else PASS_AT
        return self.pass_at


class Failed(msgspec.Struct, frozen=True):
    """A rollout that would have been taken, had there not been something wrong with it."""

    trajectory: str
    code: str
    reason: str

    def __str__(self) -> str:
        return f"{self.trajectory}: {self.reason}"


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of what was read, taken and left out; null where nothing is counted.

    Withheld rollouts count among the scored, the passing and in their groups: they belong to the baseline of the group,
    though nothing is trained on them.
    """

    to: Form
    pass_at: float | None
    best_outcome: float | None
    read: int
    scored: int
    passing: int | None
    """Of the scored; null without a threshold."""
    groups: int
    """With a scored rollout."""
    groups_without_pass: int | None
    groups_without_fail: int | None
    groups_zero_variance: int
    """Of two or more scored rollouts, all with one outcome."""
    current_version: float | None
    """What lags are counted from; null where none is asked for."""
    rows: int
    trajectories: int
    """In the rows."""
    dropped: dict[str, int]
    """Code of REASONS -> rollouts."""
    pairs_dropped: dict[str, int]
    """Code of PAIR_REASONS -> pairs."""
    notes: dict[str, int]
    """Code of selecting_chats.NOTES -> rollouts in the rows of which it is true."""
