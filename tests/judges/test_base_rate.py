"""A judge against always saying the base rate: by hand, and said only where the interval supports it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from trajcredit.judges.base_rate import left_out_mean, worse_than_base_rate
from trajcredit.judges.crossfit import cross_fitted, folds
from trajcredit.judges.estimates import LEAST_GROUPS, Sampling

NAN = np.nan
QUICK = Sampling(draws=200)
GROUPS, SIZE = 30, 4


def drawn(seed: int):
    """Outcomes of groups that differ in how hard they are, their groups, and random numbers."""
    random = np.random.default_rng(seed)
    group = np.repeat(np.arange(GROUPS), SIZE)
    hard = random.random(GROUPS)[group]
    return (random.random(len(group)) < hard).astype(float), group, random


def test_the_mean_of_others_by_hand():
    got = left_out_mean(np.array([1.0, 0, 1, 1]), np.array([5, 5, 6, 9]))
    np.testing.assert_allclose(got, [1, 1, 2 / 3, 2 / 3])
    assert np.isnan(left_out_mean(np.array([1.0, 0]), np.array([3, 3]))).all()


def test_by_hand():
    """Always 0.5: 0.25. The base rates of others are 1/3 where a run passed and 2/3 where none did: 4/9."""
    passed, group = np.array([1.0, 1, 0, 0]), np.arange(4)
    found = worse_than_base_rate(np.full(4, 0.5), passed, group, group, "raw", QUICK)
    assert found.base == pytest.approx(4 / 9)
    assert found.difference.value == pytest.approx(1 / 4 - 4 / 9)
    assert found.skill.value == pytest.approx(1 - 9 / 16)
    assert found.in_hindsight.value == pytest.approx(0.0), "the best constant is no worse than itself"
    assert (found.verdict, found.warns) == ("too_few", False)
    assert found.says == (
        "Brier score of its scores 0.250, of always saying the base rate 0.444; "
        f"4 groups, and it takes {LEAST_GROUPS} to compare them"
    )


def test_a_judge_that_says_the_opposite_is_worse_and_calibrating_leaves_it_no_better():
    passed, group, random = drawn(0)
    score = np.clip(0.7 - 0.4 * passed + 0.1 * random.standard_normal(len(passed)), 0, 1)
    raw = worse_than_base_rate(score, passed, group, group, "raw", QUICK)
    assert (raw.verdict, raw.warns) == ("worse", True)
    assert raw.difference.low is not None
    assert raw.difference.low > 0
    assert raw.says.startswith("worse than the base rate: Brier score of its scores 0.500, of always")
    assert raw.says.endswith(", 30 groups")
    fold = folds(group)
    mapped = cross_fitted(score, passed, np.ones(len(score)), fold)
    after = worse_than_base_rate(mapped, passed, fold, group, "calibrated", QUICK)
    assert after.warns, "an increasing map of scores that fall with the outcome is flat"
    assert "calibrated on other groups" in after.says


def test_a_judge_that_knows_is_better():
    passed, group, random = drawn(1)
    score = np.clip(0.3 + 0.4 * passed + 0.1 * random.standard_normal(len(passed)), 0, 1)
    found = worse_than_base_rate(score, passed, group, group, "raw", QUICK)
    assert (found.verdict, found.warns) == ("better", False)
    assert found.skill.value is not None
    assert found.skill.value > 0.5


def test_a_constant_is_neither_better_nor_worse_and_noise_is_never_better():
    said: Counter[str] = Counter()
    for seed in range(100):
        passed, group, random = drawn(seed)
        flat = worse_than_base_rate(np.full(len(passed), 0.5), passed, group, group, "raw", QUICK)
        said[f"flat {flat.verdict}"] += 1
        fold = folds(group)
        mapped = cross_fitted(random.random(len(passed)), passed, np.ones(len(passed)), fold)
        noise = worse_than_base_rate(mapped, passed, fold, group, "calibrated", QUICK)
        said[f"noise {noise.verdict}"] += 1
    assert said["flat better"] == 0
    assert said["flat worse"] <= 5
    assert said["noise better"] <= 5


def test_a_constant_is_calibrated_to_exactly_the_base_rate_of_the_other_folds():
    passed, group, _ = drawn(2)
    fold = folds(group)
    mapped = cross_fitted(np.full(len(passed), 0.9), passed, np.ones(len(passed)), fold)
    found = worse_than_base_rate(mapped, passed, fold, group, "calibrated", QUICK)
    assert found.difference.value == pytest.approx(0, abs=1e-15)
    assert found.verdict == "not_told_from"
    assert found.says.startswith("not told from the base rate: ")


@pytest.mark.parametrize(
    ("score", "passed", "group", "verdict", "why"),
    [
        pytest.param(
            [0.1, 0.9], [1, 1], [0, 1], "one_outcome", "runs that passed and runs that did not", id="all pass"
        ),
        pytest.param([0.1, 0.9], [0, 1], [0, 0], "too_few", "two groups at least", id="one group"),
        pytest.param([NAN, 0.9], [0, 1], [0, 1], "too_few", "two groups at least", id="one score"),
        pytest.param([], [], [], "too_few", "two groups at least", id="nothing"),
    ],
)
def test_what_cannot_be_told_says_why(score, passed, group, verdict, why):
    numbers = np.array(group, dtype=np.int64)
    score, passed = np.array(score, dtype=float), np.array(passed, dtype=float)
    found = worse_than_base_rate(score, passed, numbers, numbers, "raw", QUICK)
    assert (found.verdict, found.warns, found.difference.value, found.base) == (verdict, False, None, None)
    assert found.difference.why is not None
    assert why in found.difference.why
    assert why in found.says
