"""Ranks of rows that count several times: by hand, against scikit-learn and scipy, by law."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from trajcredit.kernels.ranks import area_under_curve, counted_spearman, places

few = st.integers(-2, 2).map(float)
rows = st.lists(st.tuples(few, few, st.booleans(), st.integers(0, 3)), min_size=2)


@pytest.mark.parametrize(
    ("score", "passed", "weight", "area"),
    [
        pytest.param([1, 2, 3, 4], [0, 0, 1, 1], [1, 1, 1, 1], 1.0, id="all that passed above all that did not"),
        pytest.param([4, 3, 2, 1], [0, 0, 1, 1], [1, 1, 1, 1], 0.0, id="the wrong way round"),
        pytest.param([5, 5, 5], [0, 1, 1], [1, 1, 1], 0.5, id="one score for all is a coin"),
        pytest.param([1, 2, 2, 3], [0, 0, 1, 1], [1, 1, 1, 1], 3.5 / 4, id="a tie counts one half"),
        pytest.param([1, 2, 3], [1, 0, 1], [1, 1, 3], 3 / 4, id="a row that counts three times"),
        pytest.param([1, 2, 3], [1, 1, 1], [1, 1, 1], np.nan, id="one class"),
        pytest.param([1, 2, 3], [1, 0, 1], [1, 0, 1], np.nan, id="a class that does not count"),
    ],
)
def test_area_by_hand(score, passed, weight, area):
    got = area_under_curve(places(np.array(score, dtype=float)), np.array(passed, dtype=bool), np.array(weight) * 1.0)
    np.testing.assert_allclose(got, area)


@settings(max_examples=40)
@given(rows)
def test_area_is_that_of_scikit_learn(drawn):
    score, _, passed, weight = (np.array(column) for column in zip(*drawn, strict=True))
    assume(len(set(passed[weight > 0].tolist())) == 2)
    for counts in (weight * 1.0, weight * 0.37):
        ours = area_under_curve(places(score), passed, counts)
        assert ours == pytest.approx(roc_auc_score(passed, score, sample_weight=counts), abs=1e-12)


@settings(max_examples=40)
@given(rows)
def test_rank_correlation_is_that_of_scipy_on_rows_written_out(drawn):
    a, b, _, weight = (np.array(column) for column in zip(*drawn, strict=True))
    long_a, long_b = np.repeat(a, weight), np.repeat(b, weight)
    ours = counted_spearman(places(a), places(b), weight.astype(float))
    if len(set(long_a.tolist())) < 2 or len(set(long_b.tolist())) < 2:
        assert np.isnan(ours), "a constant column has no order, not even by rounding"
    else:
        assert ours == pytest.approx(spearmanr(long_a, long_b).statistic, abs=1e-12)


def test_rank_correlation_by_hand():
    """Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: 4.5 / sqrt(4.5 x 5)."""
    a, b = places(np.array([0.0, 7, 7, 9])), places(np.array([1.0, 2, 3, 4]))
    assert counted_spearman(a, b, np.ones(4)) == pytest.approx(4.5 / np.sqrt(4.5 * 5), abs=1e-15)
