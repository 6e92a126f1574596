"""The one sentence over the rollouts of a group, and what is to be known of how it was found."""

from __future__ import annotations

from collections.abc import Sequence

from trajcredit.service.grouping_split import NoSplit, Side, Split
from trajcredit.service.wording import count, plain

__all__ = ["split_sentence"]

LONGEST = 40
"""Characters of a value in a sentence."""
LEAD = 12
"""Characters before the first difference of two long values that begin alike."""
RARE = 0.05
"""A split as wide as this rarely comes by chance."""
WHY_NOT: dict[NoSplit, str] = {
    "unscored": "fewer than two of these rollouts have a reward",
    "equal": "all rewards are equal",
    "no_calls": "no rollout calls a tool",
    "identical": "all rollouts make the same calls with the same arguments, at most in another order or number",
    "follows": "the calls differ only in wording or in values that were shown to one side alone",
}


def split_sentence(found: Split | NoSplit) -> str:
    """What divides the rollouts as their rewards do, on how many it rests, and how often chance does as well."""
    if not isinstance(found, Split):
        return f"No split matters: {WHY_NOT[found]}."
    if found.argument is None:
        where = f"whether {found.tool} is called"
    else:
        where = f"{found.tool} " + (f"argument '{found.argument}'" if found.argument else "arguments")
    others = [f"'{one}'" for one in found.also[:3]]
    also = f" (and {', '.join(others)})" if others else ""
    low, high = _side(found.low, found.high), _side(found.high, found.low)
    sides = f"{low} mean {plain(found.low.mean)}, {high} mean {plain(found.high.mean)}"
    numbers = f"n {len(found.low.members):,} vs {len(found.high.members):,}"
    weak = ", weak" if found.weak else ""
    return f"First split that matters: {_step(found)}, {where}{also} ({sides}, {numbers}{weak}). {_chance(found)}"


def _step(found: Split) -> str:
    if found.step == found.last_step:
        return f"step {found.step:,}"
    return f"steps {found.step:,} to {found.last_step:,}"


def _side(side: Side, other: Side) -> str:
    if not side.values:
        own = "called" if side.has else "not called"
        return own if not other.values else f"without {_cut(other.values[0])}"
    names = ", ".join(_cut(value, (*side.values, *other.values)) for value in side.values)
    more = f" and {side.more_values:,} more" if side.more_values else ""
    return names + more + (" or none" if side.without else "")


def _cut(value: str, beside: Sequence[str] = ()) -> str:
    """A value in at most `LONGEST` characters: its beginning, or where it differs from others that begin alike."""
    line = _line(value)
    if len(line) <= LONGEST:
        return line
    alike = [_alike(line, other) for other in map(_line, beside) if other != line]
    start = max(0, max(alike, default=0) - LEAD)
    if start + LEAD < LONGEST - 1:
        return f"{line[: LONGEST - 1]}…"
    rest = line[start:]
    return f"…{rest}" if len(rest) < LONGEST else f"…{rest[: LONGEST - 2]}…"


def _alike(one: str, other: str) -> int:
    """Characters that both begin with."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _line(value: str) -> str:
    return " ".join(value.split())


def _chance(found: Split) -> str:
    luck = found.chance
    if luck.exact:
        how = f"in {luck.as_wide:,} of the {luck.ways:,} ways to deal these rewards out"
    else:
        part = "less than 1 %" if luck.p < 0.01 else f"{round(100 * luck.p)} %"
        how = f"in {part} of {luck.ways:,} random ways to deal these rewards out"
    often = "Chance alone divides them as widely" if luck.p > RARE else "Chance alone rarely divides them as widely:"
    left = f" {count(found.left_out, 'rollout')} left aside: nothing showed them that value." if found.left_out else ""
    return f"{often} {how} ({count(found.looked_at, 'split')} looked at).{left}"
