"""How a group did, in figures one can check by hand."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajcredit.service.grouping_figures import MOST_K, mean_of, pass_at_k, spread_of

rewards = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=12)


@pytest.mark.parametrize(
    ("n", "passed", "found"),
    [
        pytest.param(4, 2, [1 / 2, 5 / 6, 1, 1], id="two of four: 1 - C(2,2)/C(4,2) = 5/6"),
        pytest.param(5, 1, [1 / 5, 2 / 5, 3 / 5, 4 / 5, 1], id="one of five: k in five"),
        pytest.param(3, 0, [0, 0, 0], id="nobody passes, whatever k"),
        pytest.param(3, 3, [1, 1, 1], id="everybody passes"),
        pytest.param(10, 3, [3 / 10, 1 - 42 / 90, 1 - 210 / 720], id="three of ten: 1 - C(7,k)/C(10,k)"),
        pytest.param(0, 0, [], id="nobody is scored"),
    ],
)
def test_pass_at_k_by_hand(n: int, passed: int, found: list[float]) -> None:
    assert pass_at_k(n, passed)[: len(found)] == pytest.approx(found)
    assert len(pass_at_k(n, passed)) == n


def test_pass_at_k_of_very_many_stops() -> None:
    assert len(pass_at_k(5000, 10)) == MOST_K
    assert pass_at_k(5000, 10)[0] == pytest.approx(10 / 5000)


def test_the_spread_is_that_of_a_sample() -> None:
    assert spread_of([0, 1, 0, 1]) == pytest.approx((1 / 3) ** 0.5), "not 0.5, which divides by n"
    assert (spread_of([1.0]), spread_of([])) == (None, None)
    assert spread_of([0.1, 0.1, 0.1]) == 0, "exactly"
    assert spread_of([1e308, -1e308]) == pytest.approx(2**0.5 * 1e308)


def test_a_mean_has_no_noise_and_stays_in_range() -> None:
    assert mean_of([-0.75, 0.25, 0.25, 0.25]) == 0
    assert mean_of([1.5e308, 1.5e308]) == pytest.approx(1.5e308)
    assert mean_of([]) is None


@given(rewards, st.randoms(use_true_random=False))
def test_figures_are_those_of_the_standard_library_whatever_the_order(values: list[float], luck: object) -> None:
    shuffled = list(values)
    luck.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis types its random numbers as object
    assert mean_of(values) == pytest.approx(statistics.fmean(values))
    assert spread_of(values) == pytest.approx(statistics.stdev(values), abs=1e-6)
    assert (mean_of(shuffled), spread_of(shuffled)) == (mean_of(values), spread_of(values))
