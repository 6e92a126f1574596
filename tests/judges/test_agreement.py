"""Self-consistency and agreement: by hand, against published figures, scikit-learn and scipy, by law."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score

from trajcredit.judges.agreement import agreement, classes, self_consistency
from trajcredit.judges.estimates import Sampling

NAN = np.nan
QUICK = Sampling(draws=100)
credit = st.sampled_from([-1.0, -0.2, -0.05, 0.0, 0.05, 0.3, NAN])
SHROUT_FLEISS = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7.0]])
"""Table 2 of Shrout and Fleiss 1979: six targets, four judges."""


def test_what_is_small_is_neutral_and_the_edge_belongs_to_it():
    assert classes(np.array([-1, -0.051, -0.05, 0, 0.05, 0.051]), 0.05).tolist() == [0, 0, 1, 1, 1, 2]


def test_the_intraclass_correlation_that_shrout_and_fleiss_printed():
    found = self_consistency(SHROUT_FLEISS.T, np.arange(6), QUICK)
    assert found.icc.value == pytest.approx(0.17, abs=0.005)
    msb, msw = 11.24, 6.26  # their table 3
    assert found.icc.value == pytest.approx((msb - msw) / (msb + 3 * msw), abs=0.001)
    assert found.spread.value == pytest.approx(SHROUT_FLEISS.std(axis=1, ddof=1).mean())
    assert (found.repeats, found.same_class.value) == (4, 1.0)


def test_consistency_by_hand():
    """The same twice; of two signs; scored once; 0 and .4: standard deviations 0, .4 sqrt 2 and .4 / sqrt 2."""
    repeats = np.array([[0.5, 0.4, 0.9, 0.0], [0.5, -0.4, NAN, 0.4]])
    found = self_consistency(repeats, np.arange(4), QUICK)
    assert found.spread.n == 3
    assert found.spread.value == pytest.approx((0.4 * np.sqrt(2) + 0.4 / np.sqrt(2)) / 3)
    assert found.same_class.value == pytest.approx(1 / 3)
    assert found.same_class.low is not None, "of few groups it is Wilson's"
    means, grand = np.array([0.5, 0.0, 0.2]), 0.7 / 3
    msb, msw = 2 * ((means - grand) ** 2).sum() / 2, (0.32 + 0.08) / 3
    assert found.icc.value == pytest.approx((msb - msw) / (msb + msw))


def test_unequal_numbers_of_repeats_by_hand():
    """Three of one segment, two of another: k is 5 - 13/5 over 1."""
    repeats = np.array([[0.0, 1.0], [0.0, 2.0], [3.0, NAN]])
    found = self_consistency(repeats, np.arange(2), QUICK)
    between = 3 * (1 - 1.2) ** 2 + 2 * (1.5 - 1.2) ** 2
    within, size = (6 + 0.5) / 3, 5 - 13 / 5
    assert found.icc.value == pytest.approx((between - within) / (between + (size - 1) * within))


@pytest.mark.parametrize(
    ("repeats", "spread", "icc"),
    [
        pytest.param([[0.1, 0.1], [0.1, 0.1], [0.1, 0.1]], 0.0, None, id="nothing varies"),
        pytest.param([[0.1, 0.3], [0.1, 0.3], [0.1, 0.3]], 0.0, 1.0, id="repeats are identical"),
        pytest.param([[0.1, NAN], [NAN, 0.3]], None, None, id="nothing was scored twice"),
    ],
)
def test_limits_of_consistency(repeats, spread, icc):
    found = self_consistency(np.array(repeats), np.arange(2), QUICK)
    assert found.spread.value == (None if spread is None else pytest.approx(spread, abs=1e-15))
    assert found.icc.value == (None if icc is None else pytest.approx(icc))
    assert (found.icc.why is None) == (icc is not None and found.icc.low is not None)


def test_noise_between_repeats_is_seen():
    """Between segments variance 0.04, between repeats 0.01: an intraclass correlation of 0.8."""
    random = np.random.default_rng(0)
    truth = 0.2 * random.standard_normal(2000)
    repeats = truth + 0.1 * random.standard_normal((4, 2000))
    found = self_consistency(repeats, np.arange(2000) // 10, QUICK)
    assert found.icc.value == pytest.approx(0.8, abs=0.02)
    assert found.icc.low is not None
    assert found.icc.high is not None
    assert found.icc.low < 0.8 < found.icc.high
    assert found.spread.value == pytest.approx(0.1, abs=0.01)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(credit, credit), min_size=1, max_size=20))
def test_agreement_is_that_of_scikit_learn_and_scipy(drawn):
    first, second = (np.array(column) for column in zip(*drawn, strict=True))
    found = agreement(first, second, np.arange(len(first)), "other", QUICK)
    both = ~(np.isnan(first) | np.isnan(second))
    a, b = classes(first[both], 0.05), classes(second[both], 0.05)
    assert sum(map(sum, found.confusion)) == both.sum()
    if not both.any():
        assert found.kappa.why == "no segment was scored by both"
        return
    one_class = len({*a.tolist(), *b.tolist()}) == 1
    for ours, weights in ((found.kappa, None), (found.weighted, "linear")):
        if one_class:
            assert ours.value is None
        else:
            theirs = cohen_kappa_score(a, b, labels=[0, 1, 2], weights=weights)
            assert ours.value == pytest.approx(theirs, abs=1e-12)
    if np.ptp(first[both]) > 0 and np.ptp(second[both]) > 0:
        assert found.spearman.value == pytest.approx(spearmanr(first[both], second[both]).statistic, abs=1e-12)
    else:
        assert found.spearman.value is None


def test_agreement_with_labels_by_hand():
    """Two blamed of three culprits, one right span left alone, one praised though it was a culprit."""
    said, labels = np.array([-0.9, -0.5, 0.0, 0.4, NAN]), np.array([-1.0, -1, 0, -1, 1])
    found = agreement(said, labels, np.arange(5), "labels", QUICK)
    assert found.confusion == ((2, 0, 0), (0, 1, 0), (1, 0, 0))
    assert found.kappa.value == pytest.approx((4 * 3 - 7) / (16 - 7))
    assert (found.kappa.n, found.name, found.dead_zone) == (4, "labels", 0.05)
