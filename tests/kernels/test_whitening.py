"""Whitening: by hand, as trainers do it, in chunks."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels import naive_tokens as naive
from tests.trainers import TOLERANCE, golden, rows
from trajcredit import kernels
from trajcredit.kernels import WHITENING, Moments, Whitening

PLAIN = Whitening(ddof=0, eps=0.0, at="outside")
VALUES = np.array([1.0, 3.0, 99.0, 5.0, np.nan])
MASK = np.array([True, True, False, True, False])


@pytest.mark.parametrize(
    ("how", "divisor"),
    [
        pytest.param(PLAIN, sqrt(8 / 3), id="population, nothing added"),
        pytest.param(Whitening(1, 0.5, "inside"), sqrt(4.5), id="eps inside the root"),
        pytest.param(Whitening(1, 9.0, "floor"), 3.0, id="a variance below the floor"),
        pytest.param(Whitening(0, 1e-8, "floor"), sqrt(8 / 3), id="a variance above the floor"),
        pytest.param(Whitening(1, 0.5, "outside"), 2.5, id="eps outside the root"),
    ],
)
def test_what_the_deviation_is_divided_by(how: Whitening, divisor: float) -> None:
    got = kernels.whiten(VALUES, MASK, how)
    np.testing.assert_allclose(got, np.array([-2, 0, 0, 2, 0]) / divisor, rtol=0, atol=1e-12)


@pytest.mark.parametrize("flavour", WHITENING)
@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e300, 5e-324, -0.7])
@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_equal_values_leave_exactly_nothing(flavour: str, value: float, n: int) -> None:
    assert kernels.whiten(np.full(n, value), np.ones(n, dtype=bool), WHITENING[flavour]).tolist() == [0.0] * n


def test_one_value_is_no_sample() -> None:
    assert kernels.whiten(np.array([3.0, 9.0]), np.array([1, 0]), WHITENING["verl"]).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e200])
def test_squares_leave_the_range_of_floats_and_the_result_does_not(size: float) -> None:
    got = kernels.whiten(np.array([-size, size]), np.ones(2, dtype=bool), PLAIN)
    np.testing.assert_allclose(got, [-1, 1], rtol=1e-12)


def test_a_large_mean_does_not_swallow_a_small_spread() -> None:
    got = kernels.whiten(1e9 + np.array([0.0, 0.25]), np.ones(2, dtype=bool), PLAIN)
    np.testing.assert_allclose(got, [-1, 1], rtol=1e-12)


def test_verl_says_the_same() -> None:
    rewards, mask = rows("step_rewards", "step_mask")
    got = kernels.padded_whiten(rewards, mask, WHITENING["verl"])
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, golden()["verl"]["masked_whiten_of_step_on_mask"], atol=TOLERANCE)


def test_areal_says_the_same() -> None:
    rewards, mask = rows("step_rewards", "step_mask")
    got = kernels.padded_whiten(rewards, mask, WHITENING["areal"])
    np.testing.assert_allclose(got, golden()["areal"]["adv_norm_batch_on_step"], atol=TOLERANCE)


def test_moments_by_hand() -> None:
    assert kernels.moments(VALUES, MASK) == Moments(3, 3.0, sqrt(8), 1.0, 5.0)
    assert kernels.moments(VALUES, ~MASK & False) == Moments(0, 0.0, 0.0, inf, -inf)


@given(st.floats(-1e300, 1e300), st.integers(0, 5), st.integers(0, 5))
def test_equal_chunks_merge_to_exactly_their_number(value: float, left: int, right: int) -> None:
    chunks = [kernels.moments(np.full(n, value), np.ones(n, dtype=bool)) for n in (left, right)]
    both = kernels.merged(*chunks)
    assert both == kernels.moments(np.full(left + right, value), np.ones(left + right, dtype=bool))
    assert both.spread(0) == 0.0


column = st.lists(st.tuples(st.floats(-1e3, 1e3), st.booleans()), max_size=12)


@settings(max_examples=60)
@given(column, st.integers(0, 12), st.sampled_from(sorted(WHITENING)))
def test_chunks_are_whitened_as_the_whole_and_as_the_slow_loop(
    given: list[tuple[float, bool]], cut: int, flavour: str
) -> None:
    values, mask = np.array([x for x, _ in given], dtype=float), np.array([m for _, m in given], dtype=bool)
    how = WHITENING[flavour]
    whole = kernels.whiten(values, mask, how)
    wanted = naive.white(values.tolist(), mask.tolist(), how.ddof, how.eps, how.at)
    np.testing.assert_allclose(whole, wanted, rtol=1e-7, atol=1e-7)
    parts = [slice(None, cut), slice(cut, None)]
    of = kernels.merged(*(kernels.moments(values[part], mask[part]) for part in parts))
    chunks = [kernels.whitened(values[part], mask[part], of, how) for part in parts]
    np.testing.assert_allclose(np.concatenate(chunks), whole, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        kernels.whiten(np.where(mask, values, np.nan), mask, how), whole, rtol=0, err_msg="what is off the mask counts"
    )
