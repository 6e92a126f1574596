"""Intervals by clusters: written out by hand, and what they must not depend on."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from trajcredit.diagnostics.intervals import bootstrap, change, mean, portion, ratio, share, spearman, t_quantile


@pytest.mark.parametrize(("df", "expected"), [(7, 2.3646), (9, 2.2622), (20, 2.0860), (60, 2.0003), (10_000, 1.9602)])
def test_students_t_is_that_of_the_tables(df, expected):
    assert t_quantile(df) == pytest.approx(expected, abs=2e-3)


def test_a_ratio_by_hand():
    # clusters 0 and 1: (1 + 0) of (2 + 2), 3 of 4; R = 4/8; residuals 1 - 2 = -1 and 3 - 2 = 1
    found = ratio(np.array([1.0, 0.0, 3.0]), np.array([2.0, 2.0, 4.0]), np.array([0, 0, 1]))
    spread = sqrt(2 / 1 * (1 + 1)) / 8
    assert found.value == 0.5
    assert found.high - found.value == pytest.approx(t_quantile(1) * spread)
    assert found.clusters == 2


def test_a_part_stays_between_none_and_all_and_is_never_certain():
    whole, task = np.full(24, 3.0), np.arange(24) // 2
    none, all_of_it = (portion(part, whole, task) for part in (np.zeros(24), whole))
    assert (none.value, none.low, none.clusters) == (0.0, 0.0, 12)
    assert none.high == pytest.approx(1.959964**2 / (12 + 1.959964**2))
    assert (all_of_it.value, all_of_it.high) == (1.0, 1.0)
    assert all_of_it.low == pytest.approx(1 - none.high)
    once = portion(np.eye(24)[0], whole, task)
    assert ratio(np.eye(24)[0], whole, task).low < 0 == once.low < once.value == 1 / 72
    assert once.high == ratio(np.eye(24)[0], whole, task).high


def test_a_share_of_independent_units_is_wilsons():
    flags = np.array([True, False, True, False] * 5)
    found = share(flags, np.arange(20))
    z2 = 1.959964**2
    middle, reach = 0.5, sqrt(0.25 / 20 + z2 / 1600) * 1.959964 / (1 + z2 / 20)
    # every unit its own cluster: variance 20/19 of the binomial one, so n_eff = 19
    assert found.low < middle - reach
    assert found.low == pytest.approx(middle - sqrt(0.25 / 19 + z2 / 1444) * 1.959964 / (1 + z2 / 19), abs=1e-6)


def test_rollouts_that_all_agree_count_once_a_task():
    flags, task = np.repeat([True, False] * 5, 10), np.repeat(np.arange(10), 10)
    assert share(flags, task).low == pytest.approx(share(np.array([True, False] * 5), np.arange(10)).low)


def test_one_task_says_as_much_as_one_unit():
    one = share(np.array([True, False, True]), np.zeros(3, dtype=np.int64))
    assert (one.value, one.clusters) == (2 / 3, 1)
    assert one.low < 0.1
    assert one.high > 0.9


def test_no_true_unit_is_exactly_zero_and_still_uncertain():
    found = share(np.zeros(30, dtype=bool), np.arange(30) // 3)
    assert (found.value, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(1.959964**2 / (10 + 1.959964**2))


def test_a_change_is_paired_where_tasks_repeat():
    task = np.tile(np.arange(8), 2)
    values = np.concatenate([np.arange(8.0), np.arange(8.0) + 1])  # each task one higher: no spread but of tasks
    before = np.arange(16) < 8
    found = change(values, before, ~before, task)
    assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)
    apart = change(values, before, ~before, np.arange(16))
    assert apart.value == 1.0
    assert apart.low < 0 < apart.high


def test_too_few_tasks_have_no_change():
    before = np.arange(6) < 3
    assert np.isnan(change(np.arange(6.0), before, ~before, np.arange(6)).low)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        pytest.param([1, 2, 3], [10, 20, 30], 1.0, id="same order"),
        pytest.param([1, 2, 3], [3, 2, 1], -1.0, id="reversed"),
        pytest.param([0, 0, 1, 1], [1, 2, 3, 4], 2 / sqrt(5), id="ties share their mean rank"),
    ],
)
def test_rank_correlation_by_hand(a, b, expected):
    assert spearman(np.array(a, dtype=float), np.array(b, dtype=float)) == pytest.approx(expected)


def test_rank_correlation_of_what_does_not_vary_is_not_known():
    assert np.isnan(spearman(np.ones(4), np.arange(4.0)))


def test_a_bootstrap_brackets_the_mean_and_repeats_itself():
    values = np.random.default_rng(0).normal(3, 1, 40)
    found = bootstrap(values, np.ones(40), draws=500)
    plain = mean(values, np.arange(40))
    assert found.low == pytest.approx(plain.low, abs=0.08)
    assert found == bootstrap(values, np.ones(40), draws=500)


def test_a_bootstrap_of_a_ratio_weighs_clusters_by_what_they_hold():
    found = bootstrap(np.array([1.0, 3.0]), np.array([2.0, 6.0]))
    assert (found.value, found.low, found.high) == (0.5, 0.5, 0.5)
