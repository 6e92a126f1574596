"""Generalized advantage estimation, by span and by turn."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

from tests import naive
from tests.laws import Columns, columns, unit
from trajcredit import kernels

NAN = np.nan


@pytest.mark.parametrize(
    ("rewards", "offsets", "gamma", "lam", "advantages"),
    [
        pytest.param([0, 0, 0, 1], [0, 4], 1.0, 1.0, [1, 1, 1, 1], id="one late win credits every step"),
        pytest.param([1, 0, 5], [0, 2, 3], 0.5, 1.0, [1, 0, 5], id="the next trajectory never leaks in"),
        pytest.param([2], [0, 0, 1], 1.0, 1.0, [2], id="an empty trajectory costs nothing"),
        pytest.param([0, 0, 1], [0, 3], 1.0, 0.0, [0, 0, 1], id="lam 0 without a critic credits the last step alone"),
    ],
)
def test_gae_by_hand(
    rewards: list[float], offsets: list[int], gamma: float, lam: float, advantages: list[float]
) -> None:
    given_rewards = np.array(rewards, dtype=float)
    every = np.ones(len(rewards), dtype=bool)
    ends = np.zeros(len(offsets) - 1)
    got = kernels.gae(given_rewards, np.zeros_like(given_rewards), every, ends, np.array(offsets), gamma, lam)
    np.testing.assert_allclose(got, advantages)


def test_values_on_observations_are_never_read() -> None:
    mask = np.array([1, 1, 0, 0, 0, 1, 1], dtype=bool)
    values = np.array([0.5, 0.6, 9, 9, 9, 0.4, 0.7])
    rewards = np.array([0, 0, 0, 0, 0, 0, 1.0])
    got = kernels.gae(rewards, values, mask, np.zeros(1), np.array([0, 7]), 0.9, 0.8)
    # deltas .04 -.24 .23 .3; A = delta + .72 A_next
    np.testing.assert_allclose(got, [0.0984064, 0.08112, NAN, NAN, NAN, 0.446, 0.3], atol=1e-12)


def test_a_truncated_episode_bootstraps_and_a_terminated_one_does_not() -> None:
    rewards, values = np.array([0, 0, 0.2] * 2), np.array([0.3, 0.5, 0.4] * 2)
    got = kernels.gae(rewards, values, np.ones(6, dtype=bool), np.array([0.6, 0.0]), np.array([0, 3, 6]), 0.9, 0.5)
    np.testing.assert_allclose(got, [0.15585, 0.013, 0.34, 0.0465, -0.23, -0.2], atol=1e-12)


def test_a_turn_is_one_step_and_all_its_actions_share_the_number() -> None:
    # turn 0: two actions around nothing, reward .1 + .2, V .5; turn 1: one action, reward 1, V .4
    rewards = np.array([0.1, 0.2, 0.0, 1.0])
    values = np.array([0.5, 99.0, 99.0, 0.4])
    mask = np.array([True, True, False, True])
    turn = np.array([0, 0, 0, 1])
    got = kernels.gae_by_turn(rewards, values, mask, turn, np.zeros(1), np.array([0, 4]), 0.9, 0.8)
    first = (0.3 + 0.9 * 0.4 - 0.5) + 0.72 * 0.6
    np.testing.assert_allclose(got, [first, first, NAN, 0.6], atol=1e-12)


def test_the_same_turn_number_in_the_next_trajectory_is_another_turn() -> None:
    ones, turn = np.ones(2), np.zeros(2, dtype=np.int64)
    got = kernels.gae_by_turn(ones, 0 * ones, ones > 0, turn, np.zeros(2), np.array([0, 1, 2]), 1.0, 1.0)
    np.testing.assert_array_equal(got, [1.0, 1.0])


@given(columns(), unit, unit)
def test_gae_says_what_the_slow_loop_says(c: Columns, gamma: float, lam: float) -> None:
    args = (c.rewards, c.values, c.action_mask, c.bootstrap, c.offsets, gamma, lam)
    np.testing.assert_allclose(kernels.gae(*args), naive.gae(*args), atol=1e-9)


@given(columns(), unit, unit)
def test_gae_by_turn_says_what_the_slow_loop_says(c: Columns, gamma: float, lam: float) -> None:
    args = (c.rewards, c.values, c.action_mask, c.turn, c.bootstrap, c.offsets, gamma, lam)
    np.testing.assert_allclose(kernels.gae_by_turn(*args), naive.gae_by_turn(*args), atol=1e-9)


@given(columns(), unit)
def test_without_critic_and_mixing_it_is_reward_to_go(c: Columns, gamma: float) -> None:
    got = kernels.gae(c.rewards, 0 * c.values, c.action_mask, 0 * c.bootstrap, c.offsets, gamma, 1.0)
    np.testing.assert_allclose(got, kernels.reward_to_go(c.rewards, c.action_mask, c.offsets, gamma), atol=1e-9)


@given(columns(), unit, unit)
def test_a_turn_per_action_is_the_span_estimate(c: Columns, gamma: float, lam: float) -> None:
    each = np.arange(len(c.rewards))
    got = kernels.gae_by_turn(c.rewards, c.values, c.action_mask, each, c.bootstrap, c.offsets, gamma, lam)
    want = kernels.gae(c.rewards, c.values, c.action_mask, c.bootstrap, c.offsets, gamma, lam)
    np.testing.assert_allclose(got, want, atol=1e-9)


@given(columns())
def test_a_turn_starts_at_its_first_action(c: Columns) -> None:
    starts = kernels.turn_starts(c.action_mask, c.turn, c.offsets)
    ends = c.offsets.tolist()
    for start, end in pairwise(ends):
        acted = [i for i in range(start, end) if c.action_mask[i]]
        first = {c.turn[i]: i for i in reversed(acted)}
        assert [i for i in range(start, end) if starts[i]] == sorted(first.values())


def test_missing_values_are_counted_where_they_are_needed() -> None:
    column, needed = np.array([NAN, 1.0, NAN, NAN]), np.array([True, True, False, True])
    assert kernels.count_missing(column, needed, np.array([0, 3, 3, 4])).tolist() == [1, 0, 1]
