"""Several judges as one: by hand, and no run has a say in the weights it is judged with."""

from __future__ import annotations

import numpy as np
import pytest

from trajcredit.errors import InputError
from trajcredit.judges.ensemble import combined, skill_weights

NAN = np.nan


@pytest.mark.parametrize(
    ("how", "weight", "wanted"),
    [
        pytest.param("mean", None, [0.2, -0.25, 0.5, NAN], id="mean of those that have an opinion"),
        pytest.param("median", None, [0.1, -0.25, 0.5, NAN], id="median, which one judge alone cannot move"),
        pytest.param("mean", [3, 1, 0], [0.05, 0.0, NAN, NAN], id="by weight; weight 0 is no opinion"),
    ],
)
def test_combined_by_hand(how, weight, wanted):
    steps = np.array([[0.0, 0.0, NAN, NAN], [0.2, NAN, NAN, NAN], [0.1, -0.5, 0.5, NAN]])
    if how == "mean" and weight is None:
        steps[2, 0] = 0.4
    each = None if weight is None else np.repeat(np.array(weight, dtype=float)[:, None], 4, axis=1)
    np.testing.assert_allclose(combined(steps, how, each), wanted, atol=1e-15)


def test_what_cannot_be_combined_is_refused():
    with pytest.raises(InputError, match="how: 'mode', and it is one of mean, median"):
        combined(np.zeros((2, 1)), "mode")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="weight: a median takes none"):
        combined(np.zeros((2, 1)), "median", np.ones((2, 1)))


def judges(seed: int):
    """Final scores of one that knows and one that guesses; outcomes; groups of three."""
    random = np.random.default_rng(seed)
    outcome = (random.random(90) < 0.5).astype(float)
    outcome[5] = NAN
    knows = 0.5 * np.nan_to_num(outcome) + 0.5 * random.random(90)
    return np.stack([knows, random.random(90)]), outcome, np.arange(90) // 3


def test_the_one_that_knows_gets_most_of_the_weight():
    final, outcome, group = judges(0)
    weight = skill_weights(final, outcome, group)
    np.testing.assert_allclose(weight.sum(0), 1)
    assert (weight[0] > 0.9).all()
    assert len({tuple(pair) for pair in weight.T.tolist()}) <= 10, "one pair of weights a fold"


def test_where_none_has_skill_all_weigh_the_same():
    final, outcome, group = judges(1)
    np.testing.assert_array_equal(skill_weights(final[1:].repeat(2, 0) * 0, outcome, group), 0.5)
    np.testing.assert_array_equal(skill_weights(final, np.full(90, NAN), group), 0.5)


@pytest.mark.parametrize("own", [0, 7, 29])
def test_the_outcomes_of_a_group_never_reach_its_own_weights(own):
    final, outcome, group = judges(2)
    final[1] += final[0]  # knows a little too
    before = skill_weights(final, outcome, group)
    after = skill_weights(final, np.where(group == own, 1 - outcome, outcome), group)
    np.testing.assert_array_equal(before[:, group == own], after[:, group == own])
    assert (before != after).any(), "but those of others"
