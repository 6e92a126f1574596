"""Group statistics: exact zeros, small differences, unscored members, any order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.laws import grouped
from trajcredit import kernels
from trajcredit.arrays import F64, I64

NAN = np.nan


def _one_group(*outcomes: float) -> tuple[F64, I64]:
    return np.array(outcomes, dtype=float), np.zeros(len(outcomes), dtype=np.int64)


def test_the_worked_group() -> None:
    outcomes, group = _one_group(0, 1, 0, 1)
    centred = kernels.centre(outcomes, group)
    assert centred.tolist() == [-0.5, 0.5, -0.5, 0.5]
    np.testing.assert_allclose(kernels.leave_one_out(centred, group), [-2 / 3, 2 / 3, -2 / 3, 2 / 3], atol=1e-15)
    np.testing.assert_allclose(kernels.spread(centred, group, 1), np.full(4, np.sqrt(1 / 3)), atol=1e-15)
    np.testing.assert_allclose(kernels.spread(centred, group, 0), np.full(4, 0.5), atol=1e-15)


def test_members_of_two_groups_may_be_interleaved() -> None:
    outcomes, group = np.array([1, 10, 0, 20, 0.5, 30]), np.array([0, 1, 0, 1, 0, 1])
    assert kernels.centre(outcomes, group).tolist() == [0.5, -10, -0.5, 0, 0, 10]


def test_an_unscored_member_is_in_nobodys_mean() -> None:
    outcomes, group = _one_group(1, NAN, 0, 1)
    centred = kernels.centre(outcomes, group)
    np.testing.assert_allclose(centred, [1 / 3, NAN, -2 / 3, 1 / 3], atol=1e-15)
    np.testing.assert_allclose(kernels.spread(centred, group, 0), [2**0.5 / 3, NAN, 2**0.5 / 3, 2**0.5 / 3])
    assert kernels.members(outcomes, group).tolist() == [3, 3, 3, 3]


@pytest.mark.parametrize("reward", [0.1, 0.7, 1 / 3, 1e300, 5e-324, -0.3])
@pytest.mark.parametrize("n", [1, 2, 3, 7, 1000])
def test_equal_rewards_leave_exactly_nothing(reward: float, n: int) -> None:
    outcomes, group = _one_group(*[reward] * n)
    centred = kernels.centre(outcomes, group)
    for exact in (
        centred,
        kernels.leave_one_out(centred, group),
        kernels.spread(centred, group, 1),
        kernels.sibling_spread(centred, group, 1),
        kernels.scaled(centred, kernels.spread(centred, group, 1), 0.0),
    ):
        assert exact.tolist() == [0.0] * n


@pytest.mark.parametrize("base", [1.0, 2.0, 1e15, 1e-290])
def test_rewards_one_bit_apart_are_told_apart(base: float) -> None:
    outcomes, group = _one_group(base, np.nextafter(base, np.inf))
    centred = kernels.centre(outcomes, group)
    got = kernels.scaled(centred, kernels.spread(centred, group, 1), 0.0)
    np.testing.assert_allclose(got, [-(0.5**0.5), 0.5**0.5], rtol=1e-12)


def test_a_small_step_above_coarse_floats_survives() -> None:
    outcomes, group = _one_group(2, 2, 2, 2.015625)
    centred = kernels.centre(outcomes, group)
    np.testing.assert_allclose(kernels.scaled(centred, kernels.spread(centred, group, 1), 0.0), [-0.5, -0.5, -0.5, 1.5])


def test_squares_of_huge_differences_do_not_overflow() -> None:
    outcomes, group = _one_group(-1e200, 1e200)
    np.testing.assert_allclose(kernels.spread(kernels.centre(outcomes, group), group, 0), [1e200, 1e200])


@pytest.mark.parametrize("odd_at", [0, 3, 7])
def test_the_odd_one_out_is_not_blown_up_by_its_equal_siblings(odd_at: int) -> None:
    rewards = [0.7] * 8
    rewards[odd_at] = 0.2
    outcomes, group = _one_group(*rewards)
    centred = kernels.centre(outcomes, group)
    against = kernels.leave_one_out(centred, group)
    got = kernels.scaled(against, kernels.sibling_spread(centred, group, 1), 0.0)
    want = [7**-0.5] * 8
    want[odd_at] = -0.5
    np.testing.assert_allclose(got, want, atol=1e-12)


def test_no_trajectory_no_number() -> None:
    nothing, group = _one_group()
    assert len(kernels.centre(nothing, group)) == len(kernels.members(nothing, group)) == 0
    assert len(kernels.spread(nothing, group, 1)) == len(kernels.sibling_spread(nothing, group, 1)) == 0


@given(grouped())
def test_centre_says_what_the_slow_loop_says(rows: tuple[F64, I64]) -> None:
    np.testing.assert_allclose(kernels.centre(*rows), naive.centre(*rows), atol=1e-9)
    assert kernels.members(*rows).tolist() == naive.members(*rows)


@given(grouped())
def test_leave_one_out_says_what_the_slow_loop_says(rows: tuple[F64, I64]) -> None:
    got = kernels.leave_one_out(kernels.centre(*rows), rows[1])
    np.testing.assert_allclose(got, naive.leave_one_out(*rows), atol=1e-9)


@given(grouped(), st.sampled_from([0, 1]))
def test_spreads_say_what_the_slow_loops_say(rows: tuple[F64, I64], ddof: int) -> None:
    centred = kernels.centre(*rows)
    np.testing.assert_allclose(kernels.spread(centred, rows[1], ddof), naive.spread(*rows, ddof), atol=1e-9)
    got = kernels.sibling_spread(centred, rows[1], ddof)
    np.testing.assert_allclose(got, naive.sibling_spread(*rows, ddof), atol=1e-9)


@given(grouped())
def test_the_spread_is_zero_exactly_where_all_rewards_are_equal(rows: tuple[F64, I64]) -> None:
    outcomes, group = rows
    spread = kernels.spread(kernels.centre(outcomes, group), group, 1)
    for g in set(group.tolist()):
        scored = (group == g) & ~np.isnan(outcomes)
        if scored.any():
            assert (spread[scored] == 0).all() == (len(set(outcomes[scored].tolist())) == 1)


@given(grouped())
def test_order_within_the_batch_changes_nothing(rows: tuple[F64, I64]) -> None:
    outcomes, group = rows
    back = kernels.centre(outcomes[::-1].copy(), group[::-1].copy())[::-1]
    np.testing.assert_allclose(back, kernels.centre(outcomes, group), atol=1e-12)
