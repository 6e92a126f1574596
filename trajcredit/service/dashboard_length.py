"""Length bias: whether longer rollouts are rewarded otherwise, and what credit a token gets in short and long ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.kernels.ranks import spearman
from trajcredit.model import REWARD_SOURCES
from trajcredit.service.dashboard_figures import Interval, deciles, mean_interval, settled
from trajcredit.service.dashboard_runs import MOST_READ, RunRef, chosen
from trajcredit.store import Store
from trajcredit.store.border import finite
from trajcredit.store.filters import Filters
from trajcredit.store.slices import Newest, Slice, newest, sizes_of, slices

__all__ = ["Decile", "LengthPanel", "WithinGroups", "length", "within_groups"]

NEEDS = "rewards: no trajectory that matches has both a reward and an action span"


@dataclass(frozen=True, slots=True)
class WithinGroups:
    """Rank correlations inside groups, averaged over the groups that have one; the others counted by why not."""

    mean: Interval | None
    groups: int
    too_small: int
    """Fewer than two scored rollouts."""
    same_reward: int
    same_length: int
    """Of those whose rewards differ."""
    cut: int
    """With members older than what is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decile:
    """A tenth of the trajectories by length; equal lengths are always in one."""

    tenth: int
    """From 1, the shortest."""
    shortest: int
    longest: int
    n: int
    reward: float | None
    """Mean."""
    credit: float | None
    """Mean of a token (or character) of those action spans that the run scored; null where none is."""
    scored: int
    """Tokens (or characters) that mean is over."""
    example: str
    """Our id of the one of median length."""
    example_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthPanel:
    """Reward against the length of what the policy wrote, over the newest trajectories of a filter."""

    unit: Literal["tokens", "characters"]
    """Tokens where every trajectory that counts logs those of all its action spans."""
    with_tokens: int
    n: int
    """Scored trajectories with an action span: what counts."""
    source: str | None
    other_sources: int
    """Trajectories scored by a less trusted source alone: left out."""
    read: int
    matching: int
    overall: float | None
    """Spearman over all, which difficult tasks confound; null where reward or length is constant."""
    within: WithinGroups
    run: RunRef | None
    deciles: tuple[Decile, ...]
    needs: str | None


@dataclass(frozen=True, slots=True, eq=False)
class _Lengths:
    """T trajectories: length of what the policy wrote, and the credit of a unit summed over scored action spans."""

    tokens: F64
    """f64[T]; NaN where some action span logs none."""
    characters: F64
    weighed: F64
    """f64[2, T]: sum of credit x tokens, of credit x characters, over action spans that are scored."""
    sizes: F64
    """f64[2, T]: the same of the sizes of credit: what a sum near 0 is held against."""
    units: F64
    """f64[2, T]: sum of tokens, of characters, of those spans."""
    actions: I64


def length(store: Store, project: str, filters: Filters, run: Sequence[str] = ()) -> LengthPanel:
    """Of the first of the runs named, else of the newest."""
    which = chosen(store, project, run)
    of = which.runs[:1]
    with store.read() as conn:
        found = newest(conn, project, filters, MOST_READ)
        pieces = [_lengths(some, sizes_of(conn, some)) for some in slices(conn, found, [one.id for one in of])]
    return _panel(found, _joined(pieces), of[0] if of else None)


def within_groups(reward: F64, length: F64, group: I64, cut: BOOL) -> WithinGroups:
    """Spearman of reward and length in every group, averaged.

    reward, length  f64[n]  of scored rollouts
    group           i64[n]  ascending, numbers from 0
    cut             bool[G] groups that are not whole, which are left out
    """
    size = len(cut)
    n = np.bincount(group, minlength=size)
    found = spearman(reward, length, group, size)
    whole = ~cut & (n > 0)
    small = whole & (n < 2)
    same_reward = whole & ~small & _constant(reward, group, size)
    same_length = whole & ~small & ~same_reward & _constant(length, group, size)
    values = found[whole & ~small & ~same_reward & ~same_length]
    return WithinGroups(
        mean=mean_interval(values),
        groups=len(values),
        too_small=int(small.sum()),
        same_reward=int(same_reward.sum()),
        same_length=int(same_length.sum()),
        cut=int((cut & (n > 0)).sum()),
    )


def _constant(values: F64, group: I64, size: int) -> BOOL:
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(low, group, values)
    np.maximum.at(high, group, values)
    return np.asarray(low == high, dtype=bool)


def _lengths(some: Slice, characters: I64) -> _Lengths:
    owner, size = some.owner, len(some.members)
    acts, credit = some.actions, some.credit[0] if len(some.credit) else np.full(len(some.actions), np.nan)
    tokens = some.columns.n_tokens
    scored = acts & ~np.isnan(credit)
    units = np.array([np.maximum(tokens, 0), characters], dtype=np.float64)
    total = [np.bincount(owner[acts], unit[acts], size) for unit in units]
    untold = np.bincount(owner[acts & (tokens < 0)], minlength=size) > 0
    return _Lengths(
        tokens=np.where(untold, np.nan, total[0]),
        characters=total[1].astype(np.float64),
        weighed=np.array([np.bincount(owner[scored], (unit * credit)[scored], size) for unit in units]),
        sizes=np.array([np.bincount(owner[scored], (unit * np.abs(credit))[scored], size) for unit in units]),
        units=np.array([np.bincount(owner[scored], unit[scored], size) for unit in units]),
        actions=np.bincount(owner[acts], minlength=size).astype(np.int64),
    )


def _joined(pieces: Sequence[_Lengths]) -> _Lengths:
    if not pieces:
        nothing, two = np.zeros(0), np.zeros((2, 0))
        return _Lengths(nothing, nothing, two, two, two, np.zeros(0, dtype=np.int64))
    return _Lengths(
        np.concatenate([piece.tokens for piece in pieces]),
        np.concatenate([piece.characters for piece in pieces]),
        np.concatenate([piece.weighed for piece in pieces], axis=1),
        np.concatenate([piece.sizes for piece in pieces], axis=1),
        np.concatenate([piece.units for piece in pieces], axis=1),
        np.concatenate([piece.actions for piece in pieces]),
    )


def _panel(found: Newest, lengths: _Lengths, run: RunRef | None) -> LengthPanel:
    members = found.members
    sources = {member.source for member in members if member.outcome is not None}
    source = next((one for one in REWARD_SOURCES if one in sources), None)
    acts = lengths.actions > 0
    scored = np.array([member.outcome is not None for member in members], dtype=bool) & acts
    counts = scored & np.array([member.source == source for member in members], dtype=bool)
    at = np.flatnonzero(counts)
    with_tokens = int((~np.isnan(lengths.tokens[at])).sum())
    unit = 0 if len(at) and with_tokens == len(at) else 1
    reward = np.array([members[t].outcome for t in at.tolist()], dtype=np.float64)
    long = (lengths.characters if unit else lengths.tokens)[at]
    overall = spearman(reward, long, np.zeros(len(at), dtype=np.int64), 1)[0]
    return LengthPanel(
        unit="characters" if unit else "tokens",
        with_tokens=with_tokens,
        n=len(at),
        source=source,
        other_sources=int((scored & ~counts).sum()),
        read=len(members),
        matching=found.matching,
        overall=None if np.isnan(overall) else float(overall),
        within=_within(found, at, reward, long),
        run=run,
        deciles=_tenths(found, at, reward, long, lengths, unit),
        needs=None if len(at) else NEEDS,
    )


def _within(found: Newest, at: I64, reward: F64, long: F64) -> WithinGroups:
    number: dict[str, int] = {}
    group = np.array([number.setdefault(found.members[t].group_key, len(number)) for t in at.tolist()], dtype=np.int64)
    order = np.argsort(group, kind="stable")
    cut = np.array([key in found.cut_groups for key in number], dtype=bool)
    return within_groups(reward[order], long[order], group[order], cut)


def _tenths(found: Newest, at: I64, reward: F64, long: F64, lengths: _Lengths, unit: int) -> tuple[Decile, ...]:
    tenth, weighed, sizes, units = deciles(long), lengths.weighed[unit], lengths.sizes[unit], lengths.units[unit]
    made = []
    for number in np.unique(tenth).tolist():
        own = np.flatnonzero(tenth == number)
        own = own[np.argsort(long[own], kind="stable")]
        scored = float(units[at[own]].sum())
        total = settled(float(weighed[at[own]].sum()), float(sizes[at[own]].sum()))
        example = found.members[at[own[len(own) // 2]]]
        made.append(
            Decile(
                tenth=number + 1,
                shortest=int(long[own[0]]),
                longest=int(long[own[-1]]),
                n=len(own),
                reward=finite(float(reward[own].mean())),
                credit=finite(total / scored) if scored else None,
                scored=int(scored),
                example=example.id,
                example_name=example.external_id,
            )
        )
    return tuple(made)
