"""Which choice the rest of an outcome belongs to: what forecasts leave unexplained, shared out over the decisions.

A critic forecasts the advantage c_k of every decision; R - b - sum_j c_j is left. Part of it is luck, part belongs to
the decisions: decision k takes v_k / sum_j v_j of that part, v_k being how far from 0 its advantage may be. So a
decision that could have gone either way takes more than a routine one. (Were all independent and Gaussian, v_k would be
a variance; the scale itself measured better, as forecasts understate what routine decisions can do.) v_k comes from the
forecasts as far as these are trusted, else from doubt: how likely it is that this decision spoilt the run.

Doubt is diagnosis from test runs (Abreu, Zoeteweij, van Gemund 2009, spectrum-based multiple fault localisation). The
parts that can be faulty are effects, for a verifier looks at what was changed; the test runs are siblings. A better
sibling with the same effect clears it, one without makes it more suspect. Ending the run is suspect where better
siblings went on to do more, or where an effect was tried in vain. After a wrong effect there is less left to spoil.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from trajcredit import kernels
from trajcredit.arrays import BOOL, F64, I64
from trajcredit.batching import Batch, turns_of
from trajcredit.model import KIND_CODES

__all__ = ["Shared", "doubts", "levels", "share_out", "spreads"]

PART = 0.3
"""Part of what is left that is the decisions' own; the rest is luck, and what no transcript shows."""
EFFECT, OTHER = 0.3, 0.1
"""Chance that a decision spoils the run, before siblings are asked: a change of state, anything else."""
STOP, IN_VAIN = 0.1, 0.3
"""The same of ending the run here; where an effect was tried and never came about."""
SLIP = 0.05
"""Chance that a run as good as can be has a given wrong effect in it."""
MISSED = 0.5
"""Chance that such a run lacks a given right one."""
CELLS = 1 << 21
"""Numbers that a table of runs by calls holds at most; calls beyond are compared in further tables."""
LEAST = 1e-9
"""Variance between groups, in parts of what luck alone makes of it, that is told from rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """Credit of every decision and what it is made of; 0 on spans that are none.

    credit  f64[N]  trusted forecast + part x share x left; NaN on the decisions of an unscored trajectory
    share   f64[N]  part of a decision in what is left; sums to 1 over the decisions of a trajectory
    left    f64[T]  R - b - sum of the trusted forecasts; 0 in a group of one, where there is no b; NaN unscored
    """

    credit: F64
    share: F64
    left: F64


def share_out(batch: Batch, forecast: F64, chosen: BOOL, trust: F64, part: float = PART) -> Shared:
    """What forecasts leave unexplained of the outcomes, shared out over the decisions.

    forecast  f64[N]   cross-fitted forecast of each choice's advantage, finite where `chosen`
    chosen    bool[N]  the decisions (`batching.decisions`)
    trust     f64[T]   0..1: how far the forecasts of a trajectory's pool are believed (skill)
    part      0..1: of what is left, the decisions' own

    Unscored trajectories change no number of a scored one.
    """
    owner = np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))
    believed = np.where(chosen, trust[owner] * np.where(chosen, forecast, 0.0), 0.0)
    scored = ~np.isnan(batch.outcome)
    alone = scored & (kernels.members(batch.outcome, batch.group) == 1)
    left = np.where(alone, 0.0, levels(batch) - np.bincount(owner, believed, batch.n_trajectories))
    short = np.nan_to_num(left)[owner] < 0
    usual = spreads(batch, believed, chosen)
    known = usual + np.where(short, np.abs(believed), 0.0)
    # an unknown decision counts as much as its even part of the spread of outcomes would make it
    count = np.maximum(np.bincount(owner, chosen, batch.n_trajectories), 1)
    within = np.where(alone, np.nan, kernels.centre(batch.outcome, batch.group) ** 2)
    per_run = np.maximum(_pool_means(np.where(scored, count, np.nan), batch.pool), 1.0)
    unknown = np.sqrt(_pool_means(within, batch.pool)) / np.sqrt(per_run)
    weight = known + ((1 - trust) * unknown)[owner] * doubts(batch, chosen, short, trust)
    weight = np.where(chosen, weight, 0.0)
    total = np.bincount(owner, weight, batch.n_trajectories)
    even = chosen / count[owner]
    share = np.where(total[owner] > 0, weight / np.where(total > 0, total, 1.0)[owner], even)
    return Shared(np.where(chosen, believed + part * share * left[owner], 0.0), share, left)


def levels(batch: Batch) -> F64:
    """R - b f64[T]: the outcome against the mean of the siblings; NaN unscored, 0 in a group of one.

    Where all members of a group did equally well siblings say nothing. There b leans on the other groups of the pool:
    (k m + (n - 1) R) / (k + n - 1), m the mean of their group means, k the variance within groups over that between
    them (the best linear forecast; James and Stein 1961). Where groups differ no more than luck makes them, k is the
    size of the largest. The trajectory's own outcome enters b by its part in k alone, which all groups have.
    """
    against = kernels.leave_one_out(kernels.centre(batch.outcome, batch.group), batch.group)
    counted = ~np.isnan(batch.outcome) & (kernels.members(batch.outcome, batch.group) > 1)
    for number in np.unique(batch.pool[counted]).tolist():
        mine = counted & (batch.pool == number)
        # rollouts of one task may have tools of two pools: the group is whole in both
        rows = np.flatnonzero(counted & np.isin(batch.group, batch.group[mine]))
        leaning = _against_pool(batch.outcome[rows], batch.group[rows], against[rows])
        against[rows[mine[rows]]] = leaning[mine[rows]]
    return against


def _against_pool(outcome: F64, group: I64, against: F64) -> F64:
    """R - b of the scored members of one pool, none alone in its group; only members of unanimous groups change."""
    which = np.unique(group, return_inverse=True)[1]
    n = np.bincount(which)
    low, high = np.full(len(n), np.inf), np.full(len(n), -np.inf)
    np.minimum.at(low, which, outcome)
    np.maximum.at(high, which, outcome)
    if len(n) < 2 or not (low == high).any():
        return against
    lowest = low.min()  # rewards far from 0 would leave rounding in the differences of means
    above = outcome - lowest
    mean = np.where(low == high, low - lowest, np.bincount(which, above) / n)
    within = float((np.bincount(which, (above - mean[which]) ** 2) / (n - 1)).mean())
    luck = float((within / n).mean())
    between = float(np.var(mean, ddof=1)) - luck
    if between <= LEAST * luck:  # groups differ by luck alone: nothing tells a hard task from failures
        between = within / int(n.max()) if within > 0 else 1.0
    k = within / between
    others = (mean.sum() - mean) / (len(n) - 1)
    leaning = k * (mean - others) / (k + n - 1)
    changed: F64 = np.where((low == high)[which], leaning[which], against)
    return changed


def spreads(batch: Batch, forecast: F64, chosen: BOOL) -> F64:
    """Root mean square f64[N] of the forecasts of decisions like this one: same pool, tool and last call before it.

    Messages count as one tool while the run goes on and as another where they end it, calls without a name as a third.
    Decisions of scored trajectories are looked at; 0 where none is like this one, and beside decisions.
    """
    spans = np.flatnonzero(chosen)
    owner = np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))[spans]
    n_tools = len(batch.tool_names) + 1  # the last has no name, and the number -1
    tool = batch.tool[spans] % n_tools
    what = np.where(batch.kind[spans] == KIND_CODES["tool_call"], tool, n_tools + _ends(owner))
    code = (batch.pool[owner] * (n_tools + 2) + what) * (2 * n_tools + 1) + _last_calls(batch, spans, owner)
    cell = np.unique(code, return_inverse=True)[1]
    scored = ~np.isnan(batch.outcome[owner])
    count = np.bincount(cell, scored)
    squares = np.bincount(cell, np.where(scored, forecast[spans] ** 2, 0.0))
    out = np.zeros(batch.n_spans)
    out[spans] = np.sqrt(squares / np.maximum(count, 1.0))[cell]
    return out


def _ends(owner: I64) -> BOOL:
    """The last decision of each trajectory; owners ascend."""
    return np.append(owner[1:] != owner[:-1], True) if len(owner) else np.zeros(0, dtype=bool)


def _last_calls(batch: Batch, spans: I64, owner: I64) -> I64:
    """For each decision the last call of an earlier turn: 1 + 2 tool + failed; 0 where there is none.

    Calls without a name are the tool after the named ones.
    """
    turn = turns_of(batch)
    is_call = batch.action_mask & (batch.kind == KIND_CODES["tool_call"])
    latest = np.maximum.accumulate(np.where(is_call, np.arange(batch.n_spans), -1))
    actions = np.flatnonzero(batch.action_mask)
    first = actions[np.unique(turn[actions], return_index=True)[1]]
    opens = first[turn[spans]]
    before = np.where(opens > 0, latest[opens - 1], -1)
    code = 1 + 2 * (batch.tool[before] % (len(batch.tool_names) + 1)) + batch.is_error[before]
    return np.where(before >= batch.span_offsets[owner], code, 0)


def doubts(batch: Batch, chosen: BOOL, short: BOOL, trust: F64) -> F64:
    """Chance f64[N] that a decision is what spoilt the run, from siblings; 0 beside decisions.

    Odds of an effect: EFFECT, x SLIP for each better sibling that made the same call, / MISSED for each that did not.
    Odds of ending the run: STOP, or IN_VAIN; x SLIP for each better sibling whose effects were all made here too,
    / MISSED for each that did more. Siblings count by how much better they did, as a part of the widest range within a
    group of the pool; those that did no better have no vote.
    Where a run fell short (`short` bool[N]), only the first wrong effect counts: as far as forecasts are not trusted to
    tell what was left to win (`trust` f64[T]), decisions count by the chance that no earlier effect was wrong.
    """
    owner = np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))
    effect = chosen & batch.is_write & ~batch.is_error
    spans = np.flatnonzero(chosen)
    end = spans[_ends(owner[spans])]
    evidence, ending = _votes(batch, effect, owner)
    chance = np.where(chosen, OTHER, 0.0)
    chance[effect] = _chance(EFFECT, evidence[effect])
    stop = _chance(np.where(_in_vain(batch, owner), IN_VAIN, STOP), ending)[owner[end]]
    chance[end] = 1 - (1 - chance[end]) * (1 - stop)
    intact = np.where(short, _intact(chance, effect, batch.span_offsets), 1.0)
    return chance * (trust[owner] + (1 - trust[owner]) * intact)


def _votes(batch: Batch, effect: BOOL, owner: I64) -> tuple[F64, F64]:
    """Log-likelihood ratios of siblings: of every effect f64[N], of every run's end f64[T]."""
    evidence, ending = np.zeros(batch.n_spans), np.zeros(batch.n_trajectories)
    widest = _widest(batch)
    cleared, suspect = np.log(SLIP), -np.log(MISSED)
    made = np.flatnonzero(effect)
    made = made[np.argsort(batch.group[owner[made]], kind="stable")]
    order = np.argsort(batch.group, kind="stable")
    bounds = np.searchsorted(batch.group[order], np.arange(len(batch.group_ids) + 1))
    starts = np.searchsorted(batch.group[owner[made]], np.arange(len(batch.group_ids) + 1))
    for g in np.flatnonzero(np.diff(bounds) > 1).tolist():
        runs, spans = order[bounds[g] : bounds[g + 1]], made[starts[g] : starts[g + 1]]
        outcome = batch.outcome[runs]
        gap = np.nan_to_num(np.maximum(outcome - outcome[:, None], 0.0))  # how much better each sibling (column) did
        if not gap.any():
            continue
        gap /= widest[batch.pool[runs]][:, None]
        row = np.searchsorted(runs, owner[spans])
        agree, more = _compared(gap, row, np.unique(batch.call_key[spans], return_inverse=True)[1])
        evidence[spans] = agree * cleared + (gap.sum(axis=1)[row] - agree) * suspect
        ending[runs] = (gap * np.where(more, suspect, cleared)).sum(axis=1)
    return evidence, ending


def _compared(gap: F64, row: I64, key: I64) -> tuple[F64, BOOL]:
    """The effects of n runs of a group held against each other.

    gap       f64[n,n]  how much better the run of the column did
    row, key  i64[E]    run and call of every effect
    returns   f64[E]    sum of gap over the runs that made the same call
              bool[n,n] the run of the column made a call that the run of the row did not (true or not on the diagonal)
    """
    n = len(gap)
    once = np.unique(key * n + row)
    makers = np.bincount(once // n)
    agree, both = np.zeros(len(key)), np.zeros((n, n))
    common = np.flatnonzero(makers > 1)  # with a call that one run alone made no other run agrees
    step = max(CELLS // n, 1)
    for start in range(0, len(common), step):
        some = common[start : start + step]
        place = np.full(len(makers), -1)
        place[some] = np.arange(len(some))
        at = np.flatnonzero(place[key] >= 0)
        did = np.zeros((n, len(some)))
        did[row[at], place[key[at]]] = 1.0
        agree[at] = (gap @ did)[row[at], place[key[at]]]
        both += did @ did.T
    return agree, np.bincount(once % n, minlength=n) > both


def _widest(batch: Batch) -> F64:
    """The largest range of outcomes within a group of each pool; 1 where all groups are unanimous."""
    scored = ~np.isnan(batch.outcome)
    low, high = np.full(len(batch.group_ids), np.inf), np.full(len(batch.group_ids), -np.inf)
    np.minimum.at(low, batch.group[scored], batch.outcome[scored])
    np.maximum.at(high, batch.group[scored], batch.outcome[scored])
    widest = np.zeros(int(batch.pool.max(initial=-1)) + 1)
    np.maximum.at(widest, batch.pool[scored], (high - low)[batch.group[scored]])
    return np.where(widest > 0, widest, 1.0)


def _chance(prior: F64 | float, evidence: F64) -> F64:
    """Prior chance and log-likelihood ratio -> chance, bounded away from 0 and 1."""
    odds = np.log(prior) - np.log1p(-np.asarray(prior)) + evidence
    chance: F64 = 1 / (1 + np.exp(-np.clip(odds, -30.0, 30.0)))
    return chance


def _in_vain(batch: Batch, owner: I64) -> BOOL:
    """Runs bool[T] in which the last call of a tool that changes state failed: what was wanted never came about."""
    writes = np.flatnonzero(batch.is_write & batch.action_mask)
    code = owner[writes] * (len(batch.tool_names) + 1) + batch.tool[writes]
    last = len(writes) - 1 - np.unique(code[::-1], return_index=True)[1]
    out = np.zeros(batch.n_trajectories, dtype=bool)
    out[owner[writes[last]][batch.is_error[writes[last]]]] = True
    return out


def _intact(chance: F64, effect: BOOL, offsets: I64) -> F64:
    """Chance f64[N] that no earlier effect of the same trajectory was wrong; offsets i64[T+1]."""
    counted = np.concatenate(([0], np.cumsum(effect)))
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    earlier = counted[:-1] - counted[offsets[:-1]][owner]
    through = np.append(1 - chance[np.flatnonzero(effect)], 1.0)
    for start, end in pairwise(counted[offsets].tolist()):
        through[start:end] = np.cumprod(through[start:end])
    intact: F64 = np.where(earlier > 0, through[counted[:-1] - 1], 1.0)
    return intact


def _pool_means(values: F64 | I64, pool: I64) -> F64:
    """The mean f64[T] over each trajectory's pool of a number of every trajectory; NaN counts as none."""
    known = ~np.isnan(values)
    n = int(pool.max(initial=-1)) + 1
    total = np.bincount(pool[known], values[known], minlength=n)
    means: F64 = (total / np.maximum(np.bincount(pool[known], minlength=n), 1))[pool]
    return means
