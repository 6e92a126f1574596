"""Which reward counts, and on which action it lands (design section 4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.errors import InputError
from trajcredit.model import REWARD_SOURCES, Note, Reward, RewardSource, instant

__all__ = ["choose_source", "named", "place_rewards"]

TOLERANCE = 1e-4
"""A trajectory-level figure may differ this much from the sum of its span rewards before a note says so."""


def choose_source(rewards: Sequence[Sequence[Reward]], asked: str | None) -> RewardSource | None:
    """The one source a batch reads: the one asked for, else the most trusted that any trajectory has."""
    if asked is not None:
        if asked not in REWARD_SOURCES:
            raise InputError(f"no reward source {asked!r}; known: {', '.join(REWARD_SOURCES)}")
        return next(source for source in REWARD_SOURCES if source == asked)
    present = {reward.source for given in rewards for reward in given}
    return next((source for source in REWARD_SOURCES if source in present), None)


def named(
    rewards: Sequence[Sequence[Reward]], asked: str | None, some: bool = False
) -> tuple[Sequence[Sequence[Reward]], str | None]:
    """The rewards to read, and the source asked for: where `asked` is no source, only those of that name.

    InputError where none has it, unless these are but `some` of all.
    """
    if asked is None or asked in REWARD_SOURCES:
        return rewards, asked
    kept = [[reward for reward in given if reward.name == asked] for given in rewards]
    if not any(kept) and not some:
        names = sorted({reward.name for given in rewards for reward in given if reward.name is not None})
        there = f"; and no reward of that name, but {', '.join(names[:10])}" if names else ""
        raise InputError(f"no reward source {asked!r}; known: {', '.join(REWARD_SOURCES)}{there}")
    return kept, None


def place_rewards(
    ids: Sequence[str],
    rewards: Sequence[Sequence[Reward]],
    source: RewardSource | None,
    span_offsets: I64,
    action_mask: BOOL,
    result_of: I64,
) -> tuple[F64, F64, list[Note]]:
    """r_k on every span, R of every trajectory (both NaN where unscored), and what there is to say about them.

    Span rewards of the source are the outcome where there are any, and a trajectory-level figure is only checked
    against their sum; otherwise that figure sits on the last action. A reward on an observation belongs to the call it
    answers, else to the action before it.
    """
    steps = np.zeros(len(action_mask))
    outcome = np.full(len(ids), np.nan)
    actions = np.flatnonzero(action_mask)
    before = np.searchsorted(actions, span_offsets)
    notes: list[Note] = []
    for t, (name, given) in enumerate(zip(ids, rewards, strict=True)):
        first, last = int(span_offsets[t]), int(span_offsets[t + 1])
        own = actions[before[t] : before[t + 1]]
        placed, total = _newest(given, source)
        if not len(own):
            notes.append(Note("no-action", "no action in the log: nothing can get credit", trajectory=name))
        elif placed:
            outcome[t], said = _place(placed, first, own, result_of, steps)
            notes += [Note(code, text, span, name) for code, text, span in said]
            if total is not None and abs(total - outcome[t]) > TOLERANCE:
                text = f"span rewards add up to {outcome[t]:.6g}, the trajectory says {total:.6g}"
                notes.append(Note("reward-mismatch", f"{text}: the span rewards count", trajectory=name))
        elif total is not None:
            steps[own[-1]] = outcome[t] = total
        else:
            why = f"no reward from {source}" if given else "no reward"
            notes.append(Note("unscored", f"{why}: left out of every baseline", trajectory=name))
        if np.isnan(outcome[t]):
            steps[first:last] = np.nan
    return steps, outcome, notes


def _place(
    placed: dict[int, float], first: int, own: I64, result_of: I64, steps: F64
) -> tuple[float, list[tuple[str, str, int]]]:
    """Put span rewards on the actions that earned them; their sum, and those nobody earned."""
    said: list[tuple[str, str, int]] = []
    landed = 0.0
    for span, value in sorted(placed.items()):
        call = int(result_of[first + span])
        at = int(np.searchsorted(own, first + span, side="right")) - 1
        if call < 0 and at < 0:
            said.append(
                ("reward-before-action", f"reward {value} comes before the first action: nobody earned it", span)
            )
            continue
        steps[call if call >= 0 else own[at]] += value
        landed += value
    return landed, said


def _newest(rewards: Sequence[Reward], source: RewardSource | None) -> tuple[dict[int, float], float | None]:
    """The newest reward on each span and on the whole, of one source; of equally new ones the last listed."""
    placed: dict[int, float] = {}
    total: float | None = None
    for reward in sorted((r for r in rewards if r.source == source), key=lambda r: instant(r.at)):
        if reward.span is None:
            total = reward.value
        else:
            placed[reward.span] = reward.value
    return placed, total
