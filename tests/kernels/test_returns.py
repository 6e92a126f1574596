"""Reward-to-go, broadcast and the moving average."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.laws import Columns, columns, outcome, unit
from trajcredit import kernels

NAN = np.nan


@pytest.mark.parametrize(
    ("rewards", "offsets", "gamma", "returns"),
    [
        pytest.param([0, 0, 0, 0, 1], [0, 5], 1.0, [1, 1, 1, 1, 1], id="a win at the end credits all five steps"),
        pytest.param([0, 0, 0, 0, 0], [0, 5], 1.0, [0, 0, 0, 0, 0], id="a loss of 0 teaches nothing"),
        pytest.param([1, 0, 5], [0, 2, 3], 0.5, [1, 0, 5], id="the next trajectory never leaks in"),
        pytest.param([2], [0, 0, 1, 1], 1.0, [2], id="an empty trajectory costs nothing"),
        pytest.param([0.1, 0, -0.2, 1], [0, 4], 0.9, [0.667, 0.63, 0.7, 1], id="every turn's own reward counts"),
        pytest.param([1, 2, 4], [0, 3], 0.0, [1, 2, 4], id="gamma 0 sees only its own reward"),
        pytest.param([NAN, NAN, 3], [0, 2, 3], 1.0, [NAN, NAN, 3], id="an unscored trajectory stays unscored"),
        pytest.param([], [0], 1.0, [], id="nothing in, nothing out"),
    ],
)
def test_reward_to_go_by_hand(rewards: list[float], offsets: list[int], gamma: float, returns: list[float]) -> None:
    every = np.ones(len(rewards), dtype=bool)
    got = kernels.reward_to_go(np.array(rewards, dtype=float), every, np.array(offsets), gamma)
    np.testing.assert_allclose(got, returns, atol=1e-12)


def test_an_observation_costs_no_discount_and_gets_no_return() -> None:
    mask = np.array([True, False, False, True])
    got = kernels.reward_to_go(np.array([0.0, 7.0, 7.0, 1.0]), mask, np.array([0, 4]), 0.9)
    np.testing.assert_array_equal(got, [0.9, NAN, NAN, 1.0])


@given(columns(), unit)
def test_reward_to_go_says_what_the_slow_loop_says(c: Columns, gamma: float) -> None:
    args = (c.rewards, c.action_mask, c.offsets, gamma)
    np.testing.assert_allclose(kernels.reward_to_go(*args), naive.reward_to_go(*args), atol=1e-9)


@given(columns())
def test_broadcast_says_what_the_slow_loop_says(c: Columns) -> None:
    args = (c.bootstrap, c.action_mask, c.offsets)
    np.testing.assert_array_equal(kernels.broadcast(*args), naive.broadcast(*args))


@pytest.mark.parametrize(
    ("outcomes", "beta", "baselines"),
    [
        pytest.param([5.0], 0.9, [0.0], id="the first has nothing before it"),
        pytest.param([1.0, 0.0], 0.9, [0.0, 1.0], id="the second is held against the first alone, not a tenth of it"),
        # (1*0 + .5*1)/(1 + .5) = 1/3; (1*1 + .5*0 + .25*1)/1.75 = 5/7
        pytest.param([1.0, 0.0, 1.0, 0.0], 0.5, [0, 1, 1 / 3, 5 / 7], id="later outcomes weigh more"),
        pytest.param([1.0, 2.0, 6.0, 0.0], 1.0, [0, 1, 1.5, 3], id="beta 1 is the plain mean"),
        pytest.param([1.0, 2.0, 6.0, 0.0], 0.0, [0, 1, 2, 6], id="beta 0 is the last outcome"),
        pytest.param([NAN, 1.0, NAN, 3.0], 0.5, [NAN, 0, NAN, 1], id="an unscored one is skipped, and is no zero"),
        pytest.param([], 0.5, [], id="nothing in, nothing out"),
    ],
)
def test_moving_average_by_hand(outcomes: list[float], beta: float, baselines: list[float]) -> None:
    np.testing.assert_allclose(kernels.moving_average(np.array(outcomes, dtype=float), beta), baselines, atol=1e-12)


def test_equal_outcomes_leave_exactly_nothing() -> None:
    outcomes = np.full(1000, 0.1)
    assert (outcomes - kernels.moving_average(outcomes, 0.9))[1:].tolist() == [0.0] * 999


@given(st.lists(outcome, max_size=12), unit)
def test_moving_average_says_what_the_slow_loop_says(outcomes: list[float], beta: float) -> None:
    got = kernels.moving_average(np.array(outcomes, dtype=float), beta)
    np.testing.assert_allclose(got, naive.moving_average(outcomes, beta), atol=1e-9)
