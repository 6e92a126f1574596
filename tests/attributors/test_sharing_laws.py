"""Shares of what forecasts leave unexplained: against the slow loops, by law, and in hostile shapes."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.attributors import naive_sharing as naive
from tests.attributors.meetings import told
from tests.build import batch_of, run
from trajcredit.arrays import BOOL, F64, I64, offsets_of
from trajcredit.attributors import sharing
from trajcredit.attributors.sharing import Shared, doubts, levels, share_out, spreads
from trajcredit.batching import Batch, decisions
from trajcredit.model import KIND_CODES


def _close(got: F64, wanted: F64 | list[float]) -> None:
    """The same but for rounding; outcomes and forecasts are of the size of 1."""
    np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)


@dataclass(frozen=True)
class Case:
    """A batch with forecasts and how far each trajectory's pool is trusted."""

    batch: Batch
    forecast: F64
    trust: F64

    @property
    def chosen(self) -> BOOL:
        return decisions(self.batch)

    @property
    def owner(self) -> I64:
        return np.repeat(np.arange(self.batch.n_trajectories), np.diff(self.batch.span_offsets))

    def scored(self, part: float = 0.3) -> Shared:
        return share_out(self.batch, self.forecast, self.chosen, self.trust, part)


STEPS = [
    "c1 r:x",
    "c2 r:x",
    "b1 r:ok",
    "b2 r:ok",
    "b3 r:ok",
    "c1 b2 r:x r:ok",
    "b1 b1 r:ok r:ok",
    "t b3 r:ok",
    "a u:more",
]
STORIES = st.lists(st.sampled_from(STEPS), max_size=4).flatmap(
    lambda steps: st.sampled_from([" ".join(["u", *steps, *end]) for end in ([], ["a"], ["t"])])
)


@st.composite
def cases(draw: st.DrawFn, straddle: bool = True) -> Case:
    """A few runs of up to three tasks in two pools: unscored ones, failures, calls without a name, none at all."""
    n = draw(st.integers(0, 7))
    batch = batch_of(*(told(draw(STORIES), group="g") for _ in range(n)))
    calls = batch.kind == KIND_CODES["tool_call"]
    by_span = np.random.default_rng(draw(st.integers(0, 99)))  # drawn one by one these would take most of the time
    group = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)), dtype=np.int64)
    names, group = np.unique(group, return_inverse=True)
    pool = np.array(draw(st.lists(st.integers(0, 1), min_size=3, max_size=3)))[names][group].astype(np.int64)
    if straddle and n and draw(st.booleans()):
        pool[0] = 1 - pool[0]
    outcome = draw(st.lists(st.sampled_from([nan, 0.0, 0.0, 1.0, 1.0, 0.5, -0.25, 2.0]), min_size=n, max_size=n))
    batch = replace(
        batch,
        group=group,
        group_ids=tuple(f"g{name}" for name in names),
        pool=pool,
        outcome=np.array(outcome, dtype=float),
        is_error=calls & (by_span.random(batch.n_spans) < 0.3),
        tool=np.where(calls & (by_span.random(batch.n_spans) < 0.2), -1, batch.tool),
    )
    forecast = by_span.integers(-32, 33, batch.n_spans) / 16
    trust = np.array(draw(st.lists(st.sampled_from([0.0, 0.4, 1.0]), min_size=2, max_size=2)))
    return Case(batch, forecast, trust[pool])


def _picked(case: Case, runs: Sequence[int]) -> tuple[Case, I64]:
    """Some of the trajectories, in that order, and where each of their spans was."""
    ends, batch = case.batch.span_offsets, case.batch
    at = np.array([i for t in runs for i in range(ends[t], ends[t + 1])], dtype=np.int64)
    of_span = {
        name: getattr(batch, name)[at]
        for name in ("kind", "action_mask", "turn", "tool", "is_write", "is_error", "call_key")
    }
    of_run = {name: getattr(batch, name)[list(runs)] for name in ("group", "pool", "outcome")}
    offsets = offsets_of(int(ends[t + 1] - ends[t]) for t in runs)
    ids = tuple(batch.trajectory_ids[t] for t in runs)
    less = replace(batch, trajectory_ids=ids, span_offsets=offsets, **of_span, **of_run)
    return Case(less, case.forecast[at], case.trust[list(runs)]), at


# ---------------------------------------------------------------- against the slow loops


@given(case=cases(), part=st.sampled_from([0.0, 0.3, 1.0]))
def test_it_says_what_the_slow_loops_say(case: Case, part: float) -> None:
    got = case.scored(part)
    credit, share, left = naive.share_out(case.batch, case.forecast, case.chosen, case.trust, part)
    _close(levels(case.batch), naive.levels(case.batch))
    _close(got.left, left)
    _close(got.credit, credit)
    # whether a run fell short is a matter of rounding where nothing is left
    sure = ~(np.abs(got.left) < 1e-9)[case.owner]
    _close(got.share[sure], np.array(share)[sure])


@given(case=cases(), short=st.booleans())
def test_so_do_its_parts(case: Case, short: bool) -> None:
    batch, chosen = case.batch, case.chosen
    _close(spreads(batch, case.forecast, chosen), naive.spreads(batch, case.forecast, chosen))
    fell = np.full(batch.n_spans, short)
    _close(doubts(batch, chosen, fell, case.trust), naive.doubts(batch, chosen, fell, case.trust))


# ---------------------------------------------------------------- laws


@given(case=cases())
def test_shares_add_up_and_credit_is_made_of_them(case: Case) -> None:
    got, chosen, owner = case.scored(), case.chosen, case.owner
    n = case.batch.n_trajectories
    decided = np.minimum(np.bincount(owner, chosen, n), 1.0)
    _close(np.bincount(owner, got.share, n).astype(np.float64), decided)
    assert (got.share >= 0).all()
    believed = case.trust[owner] * case.forecast
    np.testing.assert_allclose(
        got.credit[chosen], (believed + 0.3 * got.share * got.left[owner])[chosen], rtol=1e-15, atol=1e-15
    )
    assert not got.credit[~chosen].any()
    unscored = np.isnan(case.batch.outcome)
    np.testing.assert_array_equal(np.isnan(got.credit), chosen & unscored[owner])
    np.testing.assert_array_equal(np.isnan(got.left), unscored)


@given(case=cases())
def test_without_a_part_credit_is_the_trusted_forecast(case: Case) -> None:
    scored = ~np.isnan(case.batch.outcome)[case.owner]
    believed = np.where(case.chosen, case.trust[case.owner] * case.forecast, 0.0)
    np.testing.assert_array_equal(case.scored(part=0.0).credit[scored], believed[scored])


@given(case=cases(), data=st.data())
def test_trajectories_may_be_stored_in_any_order(case: Case, data: st.DataObject) -> None:
    other, at = _picked(case, data.draw(st.permutations(range(case.batch.n_trajectories))))
    _close(other.scored().credit, case.scored().credit[at])


@given(case=cases(), data=st.data())
def test_numbers_of_groups_pools_and_tools_mean_nothing(case: Case, data: st.DataObject) -> None:
    batch = case.batch
    group = np.array(data.draw(st.permutations(range(len(batch.group_ids)))), dtype=np.int64)
    tool = np.array([*data.draw(st.permutations(range(len(batch.tool_names)))), -1], dtype=np.int64)
    named = replace(
        batch,
        group=group[batch.group],
        group_ids=tuple(batch.group_ids[g] for g in np.argsort(group)),
        tool=tool[batch.tool],
        tool_names=tuple(batch.tool_names[k] for k in np.argsort(tool[:-1])),
        pool=1 - batch.pool,
    )
    _close(replace(case, batch=named).scored().credit, case.scored().credit)


@given(case=cases(), constant=st.sampled_from([0.1, -3.0, 1000.0]))
def test_a_constant_on_all_rewards_changes_nothing(case: Case, constant: float) -> None:
    moved = replace(case, batch=replace(case.batch, outcome=case.batch.outcome + constant))
    np.testing.assert_allclose(moved.scored().credit, case.scored().credit, rtol=1e-10, atol=1e-10)


def _mixed(batch: Batch) -> BOOL:
    """The trajectories of groups whose scored members did not all do equally well."""
    seen = [set(batch.outcome[(batch.group == g) & ~np.isnan(batch.outcome)]) for g in range(len(batch.group_ids))]
    return np.array([len(seen[g]) > 1 for g in batch.group], dtype=bool)


@given(case=cases(), data=st.data())
def test_a_constant_on_a_mixed_group_changes_no_mixed_group(case: Case, data: st.DataObject) -> None:
    mixed = _mixed(case.batch)
    assume(mixed.any())
    group = data.draw(st.sampled_from(sorted(set(case.batch.group[mixed].tolist()))))
    outcome = case.batch.outcome + 3.0 * (case.batch.group == group)
    moved = replace(case, batch=replace(case.batch, outcome=outcome)).scored().credit
    kept = mixed[case.owner]
    _close(moved[kept], case.scored().credit[kept])


def test_it_changes_what_unanimous_groups_lean_on() -> None:
    batch = batch_of(*(run("a", reward, group=group) for reward, group in zip([1, 0, 0, 0], "mmuu", strict=True)))
    moved = levels(replace(batch, outcome=batch.outcome + np.array([3.0, 3.0, 0.0, 0.0])))
    np.testing.assert_array_equal(moved[:2], levels(batch)[:2])
    # means 7/2 and 0; within 1/4; between 49/8 - 1/8 = 6; k = 1/24
    np.testing.assert_allclose(moved[2:], -7 / 2 / 25, rtol=1e-14)


@given(case=cases())
def test_unscored_runs_do_not_count(case: Case) -> None:
    less, at = _picked(case, np.flatnonzero(~np.isnan(case.batch.outcome)).tolist())
    _close(less.scored().credit, case.scored().credit[at])


@given(case=cases(), t=st.integers(0, 6), reward=st.sampled_from([-2.0, 0.25, 3.0]))
def test_the_own_outcome_is_not_in_the_own_spread_nor_in_the_baseline(case: Case, t: int, reward: float) -> None:
    batch = case.batch
    assume(t < batch.n_trajectories and not np.isnan(batch.outcome[t]))
    outcome = batch.outcome.copy()
    outcome[t] = reward
    other = replace(batch, outcome=outcome)
    np.testing.assert_array_equal(
        spreads(other, case.forecast, case.chosen), spreads(batch, case.forecast, case.chosen)
    )
    if _mixed(batch)[t] and _mixed(other)[t]:
        gain = levels(other)[t] - levels(batch)[t]
        _close(gain, reward - batch.outcome[t])


@given(case=cases(straddle=False), t=st.integers(0, 6))
def test_only_siblings_that_did_better_have_a_vote(case: Case, t: int) -> None:
    """So no run votes on itself; a far group holds the widest range, so that no outcome of this one does."""
    assume(t < case.batch.n_trajectories and not np.isnan(case.batch.outcome[t]))
    case = _with_a_wide_group(case)
    batch, short = case.batch, np.zeros(case.batch.n_spans, dtype=bool)
    voters = (batch.group != batch.group[t]) | (batch.outcome > batch.outcome[t])
    voters[t] = True
    less, at = _picked(case, np.flatnonzero(voters).tolist())
    own = case.owner[at] == t
    _close(
        doubts(less.batch, less.chosen, short[at], less.trust)[own],
        doubts(batch, case.chosen, short, case.trust)[case.owner == t],
    )
    # nor does a rerun of it with the same outcome
    twice, at = _picked(case, [*range(batch.n_trajectories), t])
    _close(
        doubts(twice.batch, twice.chosen, short[at], twice.trust)[: batch.n_spans][case.owner == t],
        doubts(batch, case.chosen, short, case.trust)[case.owner == t],
    )


def _with_a_wide_group(case: Case) -> Case:
    """The same in one pool, with two runs without spans whose outcomes are far apart."""
    batch, ends = case.batch, case.batch.span_offsets
    batch = replace(
        batch,
        trajectory_ids=(*batch.trajectory_ids, "high", "low"),
        group_ids=(*batch.group_ids, "wide"),
        span_offsets=np.append(ends, [ends[-1]] * 2),
        outcome=np.append(batch.outcome, [9.0, -9.0]),
        group=np.append(batch.group, [len(batch.group_ids)] * 2),
        pool=np.zeros(batch.n_trajectories + 2, dtype=np.int64),
    )
    return Case(batch, case.forecast, np.append(case.trust, [0.0, 0.0]))


# ---------------------------------------------------------------- hostile shapes


def test_nothing_and_runs_without_decisions() -> None:
    nothing = Case(batch_of(), np.zeros(0), np.zeros(0)).scored()
    assert [column.shape for column in (nothing.credit, nothing.share, nothing.left)] == [(0,)] * 3
    batch = batch_of(run("u"), told("u b1 r:ok a"), run(""), run("s"))
    batch = replace(batch, outcome=np.array([1, 0, 0.5, nan]))
    got = Case(batch, np.full(batch.n_spans, 0.5), np.ones(4)).scored()
    np.testing.assert_allclose(got.left, [0.75, -1.75, 0, nan])
    assert np.flatnonzero(got.credit).tolist() == [2, 4]
    batch = replace(batch_of(run("u"), run("su")), outcome=np.array([1.0, 0.0]))
    assert not Case(batch, np.ones(3), np.ones(2)).scored().credit.any()


def test_rewards_and_forecasts_as_large_as_they_may_be() -> None:
    most = 2.0**53 - 1
    batch = batch_of(
        *(told("u b1 r:ok a", most * sign, group=group) for sign, group in zip([1, -1, 1, 1], "mmuu", strict=True))
    )
    for trust in (0.0, 0.5, 1.0):
        got = Case(batch, np.where(np.arange(16) % 2, most, -most), np.full(4, trust)).scored()
        assert np.isfinite(got.credit).all()
        np.testing.assert_allclose(np.bincount(np.arange(16) // 4, got.share), 1, rtol=1e-12)


def _crowd(n: int, each: int, makers: int) -> Case:
    """One group of n runs of nothing but effects, every call made by a few neighbours."""
    rows, columns = np.divmod(np.arange(n * each), each)
    like = batch_of(told("b1", 1.0))
    span: dict[str, Any] = {
        name: np.repeat(getattr(like, name), n * each)
        for name in ("kind", "action_mask", "tool", "is_write", "is_error")
    }
    batch = replace(
        like,
        trajectory_ids=tuple(f"t{t}" for t in range(n)),
        span_offsets=np.arange(n + 1) * each,
        turn=columns,
        call_key=(rows // makers * each + columns + 1).astype(np.uint64),
        outcome=(np.arange(n) * 7 % 5) / 4,
        group=np.zeros(n, dtype=np.int64),
        pool=np.zeros(n, dtype=np.int64),
        **span,
    )
    return Case(batch, np.zeros(n * each), np.zeros(n))


@pytest.mark.parametrize("cells", [1, 100, 700])
def test_calls_may_be_compared_a_few_at_a_time(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    case = _crowd(30, 6, 3)
    whole = case.scored()
    monkeypatch.setattr(sharing, "CELLS", cells)
    np.testing.assert_allclose(case.scored().share, whole.share, rtol=1e-12)
    _close(whole.credit, naive.share_out(case.batch, case.forecast, case.chosen, case.trust, 0.3)[0])


def test_a_group_of_many_runs_takes_little_memory() -> None:
    case = _crowd(600, 40, 2)
    tracemalloc.start()
    got = case.scored()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(np.bincount(case.owner, got.share), 1, rtol=1e-12)
    # a table of all runs by all calls would be 600 x 12000 x 8 bytes = 58 MB; there were several
    assert most < 60e6
