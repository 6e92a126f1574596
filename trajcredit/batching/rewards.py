"""Which reward counts, and on which action it lands (design section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

from trajcredit.errors import InputError
from trajcredit.model import ACTION_KINDS, REWARD_SOURCES, Note, Reward, RewardSource, Trajectory

__all__ = ["choose_source", "step_rewards"]

TOLERANCE = 1e-4
"""A trajectory-level figure may differ this much from the sum of its span rewards before a note says so."""


def choose_source(trajectories: Sequence[Trajectory], asked: str | None) -> RewardSource | None:
    """The one source a batch reads: the one asked for, else the most trusted that any trajectory has."""
    if asked is not None:
        if asked not in REWARD_SOURCES:
            raise InputError(f"no reward source {asked!r}; known: {', '.join(REWARD_SOURCES)}")
        return next(source for source in REWARD_SOURCES if source == asked)
    present = {reward.source for trajectory in trajectories for reward in trajectory.rewards}
    return next((source for source in REWARD_SOURCES if source in present), None)


def step_rewards(trajectory: Trajectory, source: RewardSource | None) -> tuple[list[float], float, list[Note]]:
    """r_k on every span (NaN throughout when unscored), their sum R, and what there is to say about them.

    Span rewards of the source are the outcome where there are any, and a trajectory-level figure is only checked
    against their sum; otherwise that figure sits on the last action.
    """
    spans = trajectory.spans
    actions = [i for i, span in enumerate(spans) if span.kind in ACTION_KINDS]
    if not actions:
        return [nan] * len(spans), nan, [_note(trajectory, "no-action", "no action in the log: nothing can get credit")]
    placed, total = _newest(trajectory.rewards, source)
    if not placed and total is None:
        why = f"no reward from {source}" if trajectory.rewards else "no reward"
        return [nan] * len(spans), nan, [_note(trajectory, "unscored", f"{why}: left out of every baseline")]
    steps = [0.0] * len(spans)
    if not placed:
        assert total is not None
        steps[actions[-1]] = total
        return steps, total, []
    notes, last_action, landed = [], -1, 0.0
    for i, span in enumerate(spans):
        last_action = i if span.kind in ACTION_KINDS else last_action
        if i not in placed:
            continue
        cause = span.result_of if span.result_of is not None else last_action
        if cause < 0:
            text = f"reward {placed[i]} comes before the first action: nobody earned it"
            notes.append(_note(trajectory, "reward-before-action", text, i))
            continue
        steps[cause] += placed[i]
        landed += placed[i]
    if total is not None and abs(total - landed) > TOLERANCE:
        text = f"span rewards add up to {landed:.6g}, the trajectory says {total:.6g}: the span rewards count"
        notes.append(_note(trajectory, "reward-mismatch", text))
    return steps, landed, notes


def _newest(rewards: Sequence[Reward], source: RewardSource | None) -> tuple[dict[int, float], float | None]:
    """The newest reward on each span and on the whole, of one source; of equally new ones the last listed."""
    placed: dict[int, float] = {}
    total: float | None = None
    for reward in sorted((r for r in rewards if r.source == source), key=lambda r: r.at or ""):
        if reward.span is None:
            total = reward.value
        else:
            placed[reward.span] = reward.value
    return placed, total


def _note(trajectory: Trajectory, code: str, message: str, span: int | None = None) -> Note:
    return Note(code=code, message=message, trajectory=trajectory.id, span=span)
