"""Outcomes that sub-agents share with the trajectory that started them (design section 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from trajcredit.model import Note, Reward, RewardSource, instant

__all__ = ["Kin", "shared_outcomes"]

Kin: TypeAlias = tuple[str | None, Sequence[Reward]]
"""The id of a trajectory's parent, and the trajectory's own rewards."""


def shared_outcomes(
    ids: Sequence[str],
    parents: Sequence[str | None],
    rewards: Sequence[Sequence[Reward]],
    elsewhere: Mapping[str, Kin] | None = None,
) -> tuple[list[Sequence[Reward]], list[Note]]:
    """The rewards of every trajectory, with those of its nearest ancestors for the sources of which it has none itself.

    `elsewhere` holds ancestors that are not among the ids. Of an ancestor's span rewards their sum is the outcome.
    """
    family: dict[str, Kin] = dict(elsewhere or {})
    family |= zip(ids, zip(parents, rewards, strict=True), strict=True)
    notes: list[Note] = []
    found: list[Sequence[Reward]] = []
    for name, parent, own in zip(ids, parents, rewards, strict=True):
        shared, whose = _inherited(name, parent, own, family) if parent is not None else ([], [])
        found.append([*own, *shared] if shared else own)
        if shared:
            text = f"no {' or '.join(_sources(shared))} reward of its own: it shares the outcome of"
            notes.append(Note("shared-outcome", f"{text} {' and '.join(whose)}", trajectory=name))
    return found, notes


def _inherited(
    name: str, parent: str | None, own: Sequence[Reward], family: Mapping[str, Kin]
) -> tuple[list[Reward], list[str]]:
    """What the ancestors give, the nearest first, and which of them; a circle of parents ends where it closes."""
    have = set(_sources(own))
    seen = {name}
    shared: list[Reward] = []
    whose: list[str] = []
    while parent is not None and parent not in seen and parent in family:
        seen.add(parent)
        above, given = family[parent]
        new = [reward for source in _sources(given) if source not in have for reward in _outcome(given, source)]
        if new:
            shared += new
            have |= set(_sources(new))
            whose.append(parent)
        parent = above
    return shared, whose


def _sources(rewards: Sequence[Reward]) -> list[RewardSource]:
    return list(dict.fromkeys(reward.source for reward in rewards))


def _outcome(rewards: Sequence[Reward], source: RewardSource) -> list[Reward]:
    """The rewards of one source as rewards of the whole: those that are, or the sum of those on spans as one."""
    ordered = sorted((r for r in rewards if r.source == source), key=lambda reward: instant(reward.at))
    placed = {reward.span: reward for reward in ordered if reward.span is not None}
    if not placed:
        return ordered
    names = {reward.name for reward in placed.values()}
    times = [reward.at for reward in ordered if reward.at is not None]
    total = sum(reward.value for reward in placed.values())
    return [Reward(total, source, None, names.pop() if len(names) == 1 else None, times[-1] if times else None)]
