"""Cohen's kappa of confusion tables: by hand, against scikit-learn, many at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from trajcredit.kernels.agreement import cohen, linear, nominal

NAN = np.nan
said = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("table", "plain", "ordered"),
    [
        pytest.param([[5, 0, 0], [0, 3, 0], [0, 0, 2]], 1.0, 1.0, id="all agree"),
        pytest.param([[20, 5], [10, 15]], 0.4, 0.4, id="Cohen's own kind of table: 0.7 seen, 0.5 by chance"),
        pytest.param([[1, 0, 1], [0, 2, 0], [1, 0, 1]], 0.5, 0.25, id="far apart weighs twice"),
        pytest.param([[4, 0], [0, 0]], NAN, NAN, id="one and the same of everything"),
        pytest.param([[0, 0], [0, 0]], NAN, NAN, id="nothing said"),
        pytest.param([[0, 3], [0, 0]], 0.0, 0.0, id="each its own word always: no better than chance"),
    ],
)
def test_kappa_by_hand(table, plain, ordered):
    counts = np.array(table, dtype=float)
    np.testing.assert_allclose(cohen(counts, nominal(len(table))), plain, atol=1e-15)
    np.testing.assert_allclose(cohen(counts, linear(len(table))), ordered, atol=1e-15)


@settings(max_examples=40)
@given(said)
def test_kappa_is_that_of_scikit_learn(pairs):
    first, second = (np.array(column) for column in zip(*pairs, strict=True))
    table = np.zeros((3, 3))
    np.add.at(table, (first, second), 1)
    if len({*first.tolist(), *second.tolist()}) == 1:
        assert np.isnan(cohen(table, nominal(3))), "scikit-learn warns, and says what it is told to"
        return
    for weights, distance in ((None, nominal(3)), ("linear", linear(3))):
        theirs = cohen_kappa_score(first, second, labels=[0, 1, 2], weights=weights)
        assert float(cohen(table, distance)) == pytest.approx(theirs, abs=1e-12)
    many = cohen(np.stack([table, table.T]), nominal(3))
    assert many[0] == cohen(table, nominal(3))
    assert many[0] == pytest.approx(many[1], abs=1e-12), "neither rater comes first"
