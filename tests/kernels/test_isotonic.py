"""Isotonic regression: by hand, against scikit-learn, by law."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from trajcredit.kernels.isotonic import isotonic, mapped

NAN = np.nan
grid = st.integers(0, 6).map(lambda k: k / 6)
"""Few values, so that many are equal."""
rows = st.lists(
    st.tuples(grid, st.one_of(st.sampled_from([0.0, 1.0]), st.floats(-3, 3)), st.integers(0, 3)), min_size=1
)


@pytest.mark.parametrize(
    ("x", "y", "weight", "knots", "values"),
    [
        pytest.param([1, 2, 3], [0, 1, 2], [1, 1, 1], [1, 2, 3], [0, 1, 2], id="what is in order stays"),
        pytest.param([1, 2, 3], [0, 3, 0], [1, 1, 1], [1, 2, 3], [0, 1.5, 1.5], id="violators become their mean"),
        pytest.param([1, 2, 3], [0, 3, 0], [1, 1, 2], [1, 2, 3], [0, 1, 1], id="by weight"),
        pytest.param(
            [3, 1, 2], [0, 4, 2], [1, 1, 1], [1, 2, 3], [2, 2, 2], id="all downhill is the mean, in any order"
        ),
        pytest.param([1, 1, 2], [0, 1, 1], [3, 1, 1], [1, 2], [0.25, 1], id="equal x are one point"),
        pytest.param([1, 2, 3], [0, 9, 1], [1, 0, 1], [1, 3], [0, 1], id="weight 0 does not count"),
        pytest.param([1, 2, 3, 4], [1, 2, 0, 3], [1, 1, 1, 1], [1, 2, 3, 4], [1, 1, 1, 3], id="a pool swallows back"),
        pytest.param([], [], [], [], [], id="nothing"),
    ],
)
def test_the_map_by_hand(x, y, weight, knots, values):
    found = isotonic(*(np.array(column, dtype=float) for column in (x, y, weight)))
    np.testing.assert_allclose(found[0], knots)
    np.testing.assert_allclose(found[1], values, atol=1e-15)


def test_between_knots_it_is_linear_and_beyond_them_constant():
    got = mapped(np.array([1.0, 3.0]), np.array([0.0, 1.0]), np.array([-5, 1, 1.5, 3, 9, NAN]))
    np.testing.assert_array_equal(got, [0, 0, 0.25, 1, 1, NAN])
    np.testing.assert_array_equal(mapped(np.array([1.0]), np.array([0.5]), np.array([0, NAN])), [0.5, NAN])
    assert np.isnan(mapped(np.zeros(0), np.zeros(0), np.array([0.5]))).all()


@settings(max_examples=40)
@given(rows, st.lists(st.floats(-0.5, 1.5), max_size=5))
def test_it_says_what_scikit_learn_says(drawn, asked):
    x, y, weight = (np.array(column, dtype=float) for column in zip(*drawn, strict=True))
    if not weight.any():
        weight += 1.0
    theirs = IsotonicRegression(out_of_bounds="clip").fit(x, y, sample_weight=weight)
    at = np.concatenate([x, asked])
    ours = isotonic(x, y, weight)
    np.testing.assert_allclose(mapped(*ours, at), theirs.predict(at), rtol=0, atol=1e-12)
    assert (np.diff(ours[1]) >= -1e-15).all()
    counted = np.bincount(np.searchsorted(ours[0], x[weight > 0]), weight[weight > 0])
    assert float(counted @ ours[1]) == pytest.approx(float(weight @ y), abs=1e-9), "no weight of outcome is lost"
