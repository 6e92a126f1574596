"""The arithmetic of the dashboard: worked by hand, held against slow twins, and its laws."""

from __future__ import annotations

from fractions import Fraction
from math import comb, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajcredit.kernels.ranks import midranks, spearman
from trajcredit.service.dashboard_agreement import correlations
from trajcredit.service.dashboard_figures import (
    Interval,
    deciles,
    ks,
    mean_interval,
    pass_at_k,
    settled,
    snapped,
    step_bins,
    unbiased,
    wilson,
)
from trajcredit.service.dashboard_length import within_groups

NAN = float("nan")
counts = st.integers(1, 12).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))
groups = st.lists(counts, min_size=1, max_size=8)
few = st.integers(-3, 3).map(float)


def i64(*values):
    return np.array(values, dtype=np.int64)


def f64(*values):
    return np.array(values, dtype=np.float64)


@pytest.mark.parametrize(
    ("n", "c", "k", "value"),
    [
        pytest.param(4, 2, 1, 1 / 2, id="one draw is the share that passed"),
        pytest.param(4, 2, 2, 5 / 6, id="1 - C(2,2)/C(4,2)"),
        pytest.param(5, 1, 3, 3 / 5, id="1 - C(4,3)/C(5,3)"),
        pytest.param(4, 2, 3, 1.0, id="three of four cannot miss two"),
        pytest.param(4, 0, 4, 0.0, id="none passed"),
    ],
)
def test_one_group_by_hand(n, c, k, value):
    assert unbiased(n, c, k) == pytest.approx(value, abs=1e-15)


@given(st.integers(1, 300), st.data())
def test_the_product_is_the_ratio_of_binomials(n, data):
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    assert unbiased(n, c, k) == pytest.approx(float(1 - Fraction(comb(n - c, k), comb(n, k))), abs=1e-12)


def test_pass_at_k_by_hand():
    found = pass_at_k([(4, 2), (4, 0), (2, 1)])
    assert [(one.k, one.groups, one.left_out) for one in found] == [(1, 3, 0), (2, 3, 0), (3, 2, 1), (4, 2, 1)]
    np.testing.assert_allclose([one.value for one in found], [1 / 3, 11 / 18, 1 / 2, 1 / 2], atol=1e-15)
    assert (found[3].low, found[3].high) == (0.0, 1.0), "of two groups a quarter of the draws has neither that passed"
    assert [(one.value, one.low, one.high) for one in pass_at_k([(2, 1)])] == [(0.5, None, None), (1.0, None, None)]
    assert pass_at_k([]) == []


def test_the_interval_is_near_that_of_the_normal_approximation():
    [one, *_] = pass_at_k([(1, 1)] * 60 + [(1, 0)] * 40)
    assert one.low == pytest.approx(0.6 - 1.96 * sqrt(0.24 / 100), abs=0.012)
    assert one.high == pytest.approx(0.6 + 1.96 * sqrt(0.24 / 100), abs=0.012)


@given(groups, st.randoms())
def test_no_order_of_groups_changes_a_figure(some, random):
    shuffled = random.sample(some, len(some))
    assert pass_at_k(shuffled, draws=20) == pass_at_k(some, draws=20)


@given(groups)
def test_the_same_groups_twice_have_the_same_pass_at_k(some):
    once, twice = pass_at_k(some, draws=5), pass_at_k(some + some, draws=5)
    np.testing.assert_allclose([one.value for one in twice], [one.value for one in once], atol=1e-12)
    assert [one.groups for one in twice] == [2 * one.groups for one in once]


@given(groups)
def test_more_draws_never_pass_less_in_the_same_groups(some):
    whole = [kind for kind in some if kind[0] == max(n for n, _ in some)]
    values = [one.value for one in pass_at_k(whole, draws=2)]
    assert values == sorted(values)


def test_which_k_are_shown():
    assert ks(0) == []
    assert ks(3) == [1, 2, 3]
    assert ks(40) == [1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 40]


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(7, 10, 0.396778, 0.892209), (1, 2, 0.094531, 0.905469), (0, 10, 0.0, 0.277533), (10, 10, 0.722467, 1.0)],
)
def test_wilson_by_hand(hits, n, low, high):
    found = wilson(hits, n)
    assert found is not None
    assert (found.value, round(found.low or 0, 6), round(found.high or 0, 6)) == (hits / n, low, high)


def test_wilson_of_nothing_is_null():
    assert wilson(0, 0) is None


def test_midranks_share_the_mean_of_their_ranks_and_never_leave_their_owner():
    np.testing.assert_array_equal(midranks(f64(3, 1, 3, 2, 5, 5), i64(0, 0, 0, 0, 2, 2)), [3.5, 1, 3.5, 2, 1.5, 1.5])
    assert len(midranks(f64(), i64())) == 0


@given(st.lists(st.lists(few, max_size=6), max_size=4))
def test_midranks_say_what_the_slow_count_says(pieces):
    values = f64(*(value for piece in pieces for value in piece))
    owner = np.repeat(np.arange(len(pieces)), [len(piece) for piece in pieces]).astype(np.int64)
    slow = [sum(o < v for o in piece) + (piece.count(v) + 1) / 2 for piece in pieces for v in piece]
    np.testing.assert_array_equal(midranks(values, owner), slow)


@pytest.mark.parametrize(
    ("a", "b", "value"),
    [
        pytest.param([1, 2, 3, 4], [1, 3, 2, 4], 0.8, id="1 - 6 x 2 / 60"),
        pytest.param([1, 2, 2, 3], [1, 2, 3, 4], sqrt(0.9), id="a tie at 2.5: 4.5 / sqrt(4.5 x 5)"),
        pytest.param([1, 2], [5, 4], -1.0, id="two in the other order"),
        pytest.param([1, 1], [5, 4], NAN, id="a constant has no ranks"),
        pytest.param([1], [5], NAN, id="nor has a single one"),
    ],
)
def test_spearman_by_hand(a, b, value):
    found = spearman(f64(*a), f64(*b), np.zeros(len(a), dtype=np.int64), 1)
    np.testing.assert_allclose(found, [value], atol=1e-15)


@given(st.lists(st.tuples(few, few), min_size=1, max_size=12))
def test_rank_correlation_is_symmetric_bounded_and_blind_to_the_scale(pairs):
    a, b = (f64(*column) for column in zip(*pairs, strict=True))
    owner = np.zeros(len(a), dtype=np.int64)
    found = spearman(a, b, owner, 1)
    np.testing.assert_array_equal(found, spearman(b, a, owner, 1))
    np.testing.assert_array_equal(found, spearman(a**3, 7 * b - 2, owner, 1))
    assert np.isnan(found[0]) or -1 <= found[0] <= 1


def test_credit_that_differs_by_rounding_is_equal():
    credit = f64(0.1 + 0.2, 0.3, -0.3, 1e-12, 0.0)
    np.testing.assert_array_equal(np.diff(snapped(credit, i64(0, 0, 0, 0, 0), 1)) == 0, [True, False, False, True])


def test_tenths_hold_a_tenth_each_and_equal_lengths_stay_together():
    assert np.bincount(deciles(np.arange(40.0)), minlength=10).tolist() == [4] * 10
    assert len(set(deciles(f64(*[7] * 9)).tolist())) == 1
    assert deciles(f64(5, 1)).tolist() == [7, 2]
    assert len(deciles(f64())) == 0


@given(st.lists(st.integers(-500, 500), min_size=1, max_size=60))
def test_every_step_is_in_exactly_one_bin(steps):
    bins = step_bins(steps)
    assert len(bins) <= 30
    assert all(sum(first <= step <= last for first, last in bins) == 1 for step in steps)


def test_steps_far_apart_make_bins_of_one_width():
    assert step_bins([3, 1, 3]) == [(1, 1), (3, 3)]
    bins = step_bins(range(100))
    assert (bins[0], bins[-1], len(bins)) == ((0, 3), (96, 99), 25)


def test_a_mean_with_its_interval():
    assert mean_interval(f64()) is None
    assert mean_interval(f64(0.5)) == Interval(0.5, None, None)
    assert mean_interval(f64(-1, 1)) == Interval(0.0, -1.0, 1.0)
    assert mean_interval(f64(1, -1, 0.5)) == mean_interval(f64(0.5, 1, -1))


def test_within_groups_by_hand():
    reward = f64(0, 1, 1, 0, 0, 1, 1, 1, 0, 0.5, 0, 1)
    length = f64(9, 2, 4, 5, 8, 3, 3, 7, 6, 6, 1, 2)
    group = i64(0, 0, 0, 1, 1, 2, 3, 3, 4, 4, 5, 5)
    found = within_groups(reward, length, group, np.array([False] * 5 + [True]))
    assert (found.groups, found.same_reward, found.too_small, found.same_length, found.cut) == (1, 2, 1, 1, 1)
    assert found.mean is not None
    assert found.mean.value == pytest.approx(-sqrt(3) / 2)  # ranks 1 2.5 2.5 against 3 1 2: -1.5 / sqrt(1.5 x 2)


@given(st.lists(st.tuples(few, few, st.integers(0, 3)), min_size=1, max_size=20), st.randoms())
def test_no_order_of_rollouts_changes_what_is_within_groups(rows, random):
    def found(rows):
        rows = sorted(rows, key=lambda row: row[2])
        reward, length, group = (np.array(column) for column in zip(*rows, strict=True))
        return within_groups(f64(*reward), f64(*length), i64(*group), np.zeros(4, dtype=bool))

    one, other = found(rows), found(random.sample(rows, len(rows)))
    assert (one.groups, one.too_small, one.same_reward) == (other.groups, other.too_small, other.same_reward)
    assert (one.mean is None) == (other.mean is None)
    if one.mean is not None and other.mean is not None:
        assert one.mean.value == pytest.approx(other.mean.value)


def test_runs_correlate_inside_trajectories_over_what_all_of_them_scored():
    credit = np.array(
        [
            [1.0, 2.0, 3.0, NAN, 5.0, 6.0, 1.0],
            [3.0, 2.0, 1.0, 4.0, 7.0, 7.0, 1.0],
            [1.0, 3.0, 2.0, 1.0, NAN, 1.0, 2.0],
        ]
    )
    owner, shared = i64(0, 0, 0, 0, 1, 1, 2), np.array([True, True, True])
    kept, pairs = correlations(credit, owner, shared)
    assert kept.tolist() == [0]
    np.testing.assert_allclose(pairs, [[-1.0], [0.5], [-0.5]])
    kept, pairs = correlations(credit[:2], owner, shared)
    assert kept.tolist() == [0, 1]
    np.testing.assert_allclose(pairs, [[-1.0, NAN]])
    kept, pairs = correlations(credit[:2], owner, np.array([False, True, True]))
    assert (kept.tolist(), pairs.shape) == ([1], (1, 1))


def test_what_floats_leave_of_a_sum_that_cancels_is_0() -> None:
    credit = np.array([0.1, 0.2, -0.3])
    assert credit.sum() != 0
    assert settled(float(credit.sum()), float(np.abs(credit).sum())) == 0.0
    assert settled(1e-9, 0.6) == 1e-9
    assert settled(0.0, 0.0) == 0.0
