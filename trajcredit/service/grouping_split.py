"""The first split that matters: the tool or argument that divides the rollouts of a group as their rewards do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from trajcredit.arrays import BOOL, F64
from trajcredit.service.grouping_calls import LONGEST_COPIED, Call, Rollout, shown, words
from trajcredit.service.grouping_chance import NEAR, Chance, chance, explained
from trajcredit.service.grouping_figures import mean_of

__all__ = ["NoSplit", "Side", "Split", "first_split"]

FEWEST = 3
"""Rollouts on a side below which a split is weak."""
MOST_VALUES = 3
"""Values of an argument that a side names."""
SENTENCE = 6
"""Words from which on a value that one rollout alone has is its own wording, which always differs, and no choice."""

NoSplit: TypeAlias = Literal["unscored", "equal", "no_calls", "identical", "follows"]
"""Fewer than two rollouts have a reward; all rewards are equal; no rollout calls a tool; all make the same calls, at
most in another order or number; the calls differ only in values that were shown to one side alone, or in wording."""


@dataclass(frozen=True, slots=True)
class Side:
    """Rollouts that go one way."""

    has: bool
    """Whether these are the rollouts that call the tool, or call it with that value; the others never do."""
    values: tuple[str, ...]
    """Of the argument, as text: the value, or of the others those that only they give, the most frequent first. Empty
    where there are none, and where the split is whether the tool is called."""
    more_values: int
    without: int
    """How many of them never call the tool, or never with that argument."""
    members: tuple[int, ...]
    """Numbers in the group."""
    mean: float


@dataclass(frozen=True, slots=True)
class Split:
    """A tool that some rollouts call and others do not, or an argument of it that has one value in some."""

    step: int
    """The earliest call that makes the difference, counted among the calls of its rollout from 1."""
    last_step: int
    """The latest of the first such calls."""
    tool: str
    argument: str | None
    """Path of the argument ("" where arguments are no object); null where the split is whether the tool is called."""
    also: tuple[str, ...]
    """Other arguments of the same calls that divide the rollouts in the same way."""
    low: Side
    high: Side
    gap: float
    """Mean reward of `high` minus that of `low`: positive."""
    share: float
    """Of the squared spread of rewards, 0..1; the split with the largest is chosen, of equals the first."""
    weak: bool
    """Fewer than 3 rollouts on a side."""
    chance: Chance
    looked_at: int
    """Different ways in which tools and arguments divide the rollouts."""
    left_out: int
    """Scored rollouts on neither side, because nothing showed them the value that the others copied."""


@dataclass(frozen=True, slots=True, order=True)
class _Feature:
    """What some rollouts do: call a tool; call it with that value. Sorts by how it is told: the tool, then by path."""

    tool: str
    argument: str
    value: str


@dataclass(slots=True)
class _Use:
    """Who does so: position of a rollout -> the number of its first such call from 1; whether all copied the value."""

    first: dict[int, int] = field(default_factory=dict)
    copied: bool = True


@dataclass(frozen=True, slots=True)
class _Candidate:
    feature: _Feature
    is_tool: bool
    step: int
    last_step: int
    holders: frozenset[int]
    others: frozenset[int]


def first_split(rollouts: Sequence[Rollout]) -> Split | NoSplit:
    """Whatever the order of the rollouts. Those without a reward are left aside.

    A value that rollouts copied from what they were shown divides only those that were shown it: an id that came out of
    an earlier difference never wins over that difference.
    """
    scored = sorted((one for one in rollouts if one.reward is not None), key=lambda one: (one.id, one.number))
    rewards = np.array([one.reward for one in scored], dtype=np.float64)
    if len(scored) < 2:
        return "unscored"
    if (rewards == rewards[0]).all():
        return "equal"
    if not any(one.calls for one in scored):
        return "no_calls"
    found, followed = _candidates(scored)
    if not found:
        return "follows" if followed else "identical"
    return _widest(scored, _scaled(rewards), found)


def _widest(scored: Sequence[Rollout], rewards: F64, found: Sequence[_Candidate]) -> Split:
    different = list({_division(one): one for one in found})
    places = {division: at for at, division in enumerate(different)}
    sides = [_mask(division, len(scored)) for division in zip(*different, strict=True)]
    wide = explained(rewards[None, :], sides[0], sides[1])[0]
    most = wide.max()
    best = [one for one in found if wide[places[_division(one)]] >= most - NEAR * most]
    best.sort(key=lambda one: (one.step, not one.is_tool, one.feature))
    first = best[0]
    same = [one for one in best if _division(one) == _division(first) and one.step == first.step]
    return _told(scored, first, same, float(most / (rewards**2).sum()), chance(rewards, *sides), len(different))


def _told(
    scored: Sequence[Rollout], one: _Candidate, same: Sequence[_Candidate], share: float, luck: Chance, looked_at: int
) -> Split:
    tool, argument = one.feature.tool, None if one.is_tool else one.feature.argument
    sides = [_side(scored, members, tool, argument, one) for members in (one.holders, one.others)]
    low, high = sorted(sides, key=lambda side: side.mean)
    others = {o.feature.argument for o in same if o.feature.tool == tool and not o.is_tool}
    return Split(
        step=one.step,
        last_step=one.last_step,
        tool=tool,
        argument=argument,
        also=() if argument is None else tuple(sorted(others - {argument})),
        low=low,
        high=high,
        gap=high.mean - low.mean,
        share=min(1.0, share),
        weak=min(len(low.members), len(high.members)) < FEWEST,
        chance=luck,
        looked_at=looked_at,
        left_out=len(scored) - len(one.holders) - len(one.others),
    )


def _side(scored: Sequence[Rollout], members: frozenset[int], tool: str, argument: str | None, one: _Candidate) -> Side:
    own = [scored[at] for at in sorted(members)]
    holds = members == one.holders
    each = [_values(member, tool, argument) for member in own]
    values: list[str] = []
    if argument is not None:
        theirs = {value for at in one.holders for value in _values(scored[at], tool, argument)}
        counts = Counter(value for some in each for value in some - theirs)
        values = [one.feature.value] if holds else sorted(counts, key=lambda value: (-counts[value], value))
    middle = mean_of([member.reward for member in own if member.reward is not None])
    assert middle is not None
    return Side(
        has=holds,
        values=tuple(map(shown, values[:MOST_VALUES])),
        more_values=max(0, len(values) - MOST_VALUES),
        without=sum(not some for some in each),
        members=tuple(sorted(member.number for member in own)),
        mean=middle,
    )


def _values(one: Rollout, tool: str, argument: str | None) -> set[str]:
    """What a rollout gives a tool as an argument; without one, whether it calls the tool."""
    calls = [call for call in one.calls if call.tool == tool]
    if argument is None:
        return {tool} if calls else set()
    return {value for call in calls for path, value in call.arguments if path == argument}


def _candidates(scored: Sequence[Rollout]) -> tuple[list[_Candidate], bool]:
    """Every feature that divides the rollouts; and whether any was left aside: it follows from others, or is words."""
    everyone = frozenset(range(len(scored)))
    tools: dict[str, _Use] = {}
    values: dict[_Feature, _Use] = {}
    for at, one in enumerate(scored):
        for step, call in enumerate(one.calls, 1):
            tools.setdefault(call.tool, _Use(copied=False)).first.setdefault(at, step)
            for feature in _features(call):
                use = values.setdefault(feature, _Use())
                if at not in use.first:
                    use.first[at] = step
                    use.copied = use.copied and _copied(one, call, feature.value)
    found = [_candidate(_Feature(tool, "", ""), True, use, everyone) for tool, use in tools.items()]
    followed = False
    for feature, use in values.items():
        if len(use.first) == 1 and feature.value.count(" ") >= SENTENCE:
            followed = True
            continue
        could = everyone if not use.copied else _shown_to(scored, use, feature.value)
        followed = followed or (len(use.first) < len(everyone) and could == use.first.keys())
        found.append(_candidate(feature, False, use, could))
    return [one for one in found if one.holders and one.others], followed


def _candidate(feature: _Feature, is_tool: bool, use: _Use, could: frozenset[int]) -> _Candidate:
    holders = frozenset(use.first)
    return _Candidate(feature, is_tool, min(use.first.values()), max(use.first.values()), holders, could - holders)


def _features(call: Call) -> Iterator[_Feature]:
    for path, value in call.arguments:
        yield _Feature(call.tool, path, value)


def _copied(one: Rollout, call: Call, value: str) -> bool:
    """Whether everything in a value was shown before the call: it may be a copy, and not the policy's own choice."""
    own = _copyable(value)
    return bool(own) and all(one.seen.get(word, call.span) < call.span for word in own)


def _shown_to(scored: Sequence[Rollout], use: _Use, value: str) -> frozenset[int]:
    """Those that do so, and those that were shown the value at any time."""
    own = _copyable(value)
    return frozenset(at for at, one in enumerate(scored) if at in use.first or all(word in one.seen for word in own))


def _copyable(value: str) -> list[str]:
    return words(shown(value)) if len(value) <= LONGEST_COPIED and value not in ("true", "false", "null") else []


def _division(one: _Candidate) -> tuple[frozenset[int], frozenset[int]]:
    """The two sides, in an order that does not depend on which of them has the feature."""
    first, second = sorted((one.holders, one.others), key=min)
    return first, second


def _mask(sides: Sequence[frozenset[int]], n: int) -> BOOL:
    found = np.zeros((len(sides), n), dtype=bool)
    for row, members in enumerate(sides):
        found[row, list(members)] = True
    return found


def _scaled(rewards: F64) -> F64:
    """With mean 0 and largest size 1, so that squares stay in the range of numbers."""
    largest = np.abs(rewards).max()
    small = rewards / largest
    centred: F64 = small - small.mean()
    return centred
