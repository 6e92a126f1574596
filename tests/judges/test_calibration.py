"""Reliability curves, calibration errors, Brier score and AUC: by hand, against scikit-learn, by law."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, roc_auc_score

from trajcredit.judges.calibration import auc, brier, calibration, curve, edges_by_count, edges_by_width
from trajcredit.judges.estimates import LEAST_GROUPS, Sampling

QUICK = Sampling(draws=20)
tied = st.one_of(st.integers(0, 10).map(lambda k: k / 10), st.floats(0, 1))
"""Many at the edges of bins."""
runs = st.lists(st.tuples(tied, st.booleans()), min_size=1, max_size=25)


def arrays(drawn):
    score, passed = zip(*drawn, strict=True)
    return np.array(score), np.array(passed, dtype=float), np.arange(len(drawn)) // 2


def test_the_curve_by_hand():
    """Two bins: scores .2 .4 pass 0 of 2, scores .6 .8 1 pass 2 of 3; the score at the edge is in the bin below."""
    score, passed = np.array([0.2, 0.5, 0.6, 0.8, 1.0]), np.array([0.0, 0, 1, 0, 1])
    found = curve(score, passed, np.arange(5), edges_by_width(2), QUICK)
    low, high = found.bins
    assert (low.low, low.high, low.n, low.passed.value) == (0.0, 0.5, 2, 0.0)
    assert (high.low, high.high, high.n, high.passed.n, high.passed.groups) == (0.5, 1.0, 3, 3, 3)
    assert (low.score, high.score) == pytest.approx((0.35, 0.8))
    assert high.passed.value == pytest.approx(2 / 3)
    assert found.ece.value == pytest.approx((2 * 0.35 + 3 * (0.8 - 2 / 3)) / 5)
    assert found.mce.value == pytest.approx(0.35)
    assert brier(score, passed, np.arange(5), QUICK).value == pytest.approx((0.04 + 0.25 + 0.16 + 0.64) / 5)


def test_a_share_of_none_is_not_certain_and_few_groups_are_taken_for_one_observation_each():
    """Ten runs of two groups, none passed: Wilson's interval of 0 of 2."""
    found = curve(np.full(10, 0.3), np.zeros(10), np.repeat([7, 8], 5), edges_by_width(), QUICK)
    share = found.bins[0].passed
    assert (share.value, share.low, share.n, share.groups) == (0.0, 0.0, 10, 2)
    assert share.high == pytest.approx(3.8414588 / (2 + 3.8414588), abs=1e-6)
    assert found.ece.low is None
    assert found.ece.why == f"no interval: 2 of the {LEAST_GROUPS} groups that it takes"


def test_equal_counts_share_out_the_runs_and_ties_leave_bins_out():
    score = np.arange(20) / 20
    found = calibration(score, np.zeros(20), np.arange(20), QUICK, bins=4)
    assert [one.n for one in found.equal_count.bins] == [5, 5, 5, 5]
    found = calibration(np.full(20, 0.5), np.zeros(20), np.arange(20), QUICK, bins=4)
    assert [one.n for one in found.equal_count.bins] == [20]


@settings(max_examples=30, deadline=None)
@given(runs, st.integers(1, 7))
def test_it_says_what_scikit_learn_says(drawn, bins):
    score, passed, group = arrays(drawn)
    for strategy, edges in (("uniform", edges_by_width(bins)), ("quantile", edges_by_count(score, bins))):
        share, mean = calibration_curve(passed, score, n_bins=bins, strategy=strategy, pos_label=1)
        found = curve(score, passed, group, edges, QUICK)
        assert [one.passed.value for one in found.bins] == pytest.approx(share.tolist(), abs=1e-12)
        np.testing.assert_allclose([one.score for one in found.bins], mean, rtol=0, atol=1e-12)
        n = np.array([one.n for one in found.bins])
        assert n.sum() == len(score)
        assert found.ece.value == pytest.approx(float(n @ np.abs(share - mean)) / len(score), abs=1e-12)
        assert found.mce.value == pytest.approx(float(np.abs(share - mean).max()), abs=1e-12)
    theirs = brier_score_loss(passed, score, pos_label=1)
    assert brier(score, passed, group, QUICK).value == pytest.approx(theirs, abs=1e-12)
    area = auc(score, passed, group, QUICK)
    if len(set(passed.tolist())) == 2:
        assert area.value == pytest.approx(roc_auc_score(passed, score), abs=1e-12)
    else:
        assert (area.value, area.why) == (None, "it takes runs that passed and runs that did not")


def test_what_luck_alone_makes_of_the_error():
    """Chance one half: |hits - n / 2| / n is 1/2 of one run, 1/4 on average of two; scores of 0 and 1 leave no luck."""
    for n, wanted in ((1, 0.5), (2, 0.25)):
        found = curve(np.full(n, 0.5), np.zeros(n), np.arange(n), edges_by_width(), QUICK)
        assert found.ece_by_luck == pytest.approx(wanted, abs=0.05)
    assert curve(np.array([0.0, 1.0]), np.zeros(2), np.arange(2), edges_by_width(), QUICK).ece_by_luck == 0
    random = np.random.default_rng(3)
    score = random.random(500)
    found = curve(score, (random.random(500) < score).astype(float), np.arange(500), edges_by_width(), QUICK)
    assert found.ece.value == pytest.approx(found.ece_by_luck, rel=0.5)
    assert 0.01 < found.ece_by_luck < 0.06


def test_intervals_hold_what_they_say():
    """The share that a calibrated judge gets right is in its interval in about 95 of 100 samples."""
    random, inside, seeds = np.random.default_rng(5), 0, 100
    truth = 0.2 * 0.8  # of always 0.2 where 0.2 pass
    for seed in range(seeds):
        luck = np.repeat(random.choice([0.0, 0.4], 40), 3)  # groups differ: runs are not independent
        passed = (random.random(120) < luck).astype(float)
        found = brier(np.full(120, 0.2), passed, np.repeat(np.arange(40), 3), Sampling(200, seed))
        assert found.low is not None
        assert found.high is not None
        inside += found.low <= truth <= found.high
    assert 88 <= inside <= 99


def test_the_same_seed_gives_the_same_interval_and_group_numbers_do_not_matter():
    random = np.random.default_rng(0)
    score, passed, group = random.random(40), (random.random(40) < 0.5).astype(float), np.repeat(np.arange(20), 2)
    once = calibration(score, passed, group, Sampling(50, 3))
    assert once == calibration(score, passed, group, Sampling(50, 3))
    assert once == calibration(score, passed, 1000 + 7 * group, Sampling(50, 3))
    assert once != calibration(score, passed, group, Sampling(50, 4))
