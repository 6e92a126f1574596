"""Scores put on the scale of outcomes: nobody is mapped by a map that saw the outcomes of their group."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from trajcredit.arrays import offsets_of
from trajcredit.critics.folds import FOLDS, folds_of
from trajcredit.judges.crossfit import calibrated, cross_fitted, folds

NAN = np.nan
score = st.one_of(st.just(NAN), st.integers(0, 5).map(lambda k: k / 5))
outcome = st.sampled_from([0.0, 1.0, 0.5, NAN])
runs = st.lists(
    st.tuples(st.lists(st.tuples(score, st.booleans()), max_size=5), outcome, st.integers(0, 13)),
    min_size=1,
    max_size=20,
)


def arrays(drawn):
    """The arguments of `calibrated`."""
    states = [state for states, _, _ in drawn for state in states]
    return (
        np.array([one for one, _ in states], dtype=float),
        np.array([acts for _, acts in states], dtype=bool),
        offsets_of(len(states) for states, _, _ in drawn),
        np.array([result for _, result, _ in drawn]),
        np.array([group for _, _, group in drawn], dtype=np.int64),
    )


def test_calibrated_by_hand():
    """Two groups, so two folds. Group 0 is mapped by group 1: states .2 and .8 of a run that failed, .8 of one that
    passed; each run weighs 1, so .8 comes to (0 x 1/2 + 1 x 1) / 1.5."""
    scores = np.array([0.2, 0.5, 0.9, 0.2, NAN, 0.8, 0.8])
    acts = np.array([1, 1, 1, 1, 0, 1, 1], dtype=bool)
    got = calibrated(scores, acts, np.array([0, 3, 6, 7]), np.array([1.0, 0.0, 1.0]), np.array([0, 1, 1]))
    np.testing.assert_allclose(got, [0, 1 / 3, 2 / 3, 1, NAN, 1, 1])


def test_without_outcomes_elsewhere_there_is_no_map():
    args = np.array([0.2, 0.9]), np.ones(2, dtype=bool), np.array([0, 1, 2])
    assert np.isnan(calibrated(*args, np.array([0.0, 1.0]), np.array([4, 4]))).all()
    one = calibrated(*args, np.array([NAN, 1.0]), np.array([4, 5]))
    np.testing.assert_array_equal(one, [1.0, NAN])


def test_folds_are_those_of_critics_whatever_the_order():
    group = np.array([7, 3, 7, 12, 3, 90])
    known = [str(number) for number in (3, 7, 12, 90)]
    wanted = dict(zip((3, 7, 12, 90), folds_of(known, FOLDS).tolist(), strict=True))
    assert folds(group).tolist() == [wanted[number] for number in group.tolist()]
    assert folds(group[::-1]).tolist() == folds(group).tolist()[::-1]


@settings(max_examples=40, deadline=None)
@given(runs, st.data())
def test_the_outcomes_of_a_group_never_reach_its_own_scores(drawn, data):
    scores, acts, offsets, results, group = arrays(drawn)
    before = calibrated(scores, acts, offsets, results, group)
    own = group == data.draw(st.sampled_from(group.tolist()))
    changed = np.where(own, data.draw(st.lists(outcome, min_size=len(own), max_size=len(own))), results)
    after = calibrated(scores, acts, offsets, changed, group)
    mine = np.repeat(own, np.diff(offsets))
    np.testing.assert_array_equal(before[mine], after[mine])


@settings(max_examples=40, deadline=None)
@given(runs)
def test_it_is_scikit_learn_fitted_on_the_other_folds_and_keeps_the_order(drawn):
    scores, acts, offsets, results, group = arrays(drawn)
    got = calibrated(scores, acts, offsets, results, group)
    owner = np.repeat(np.arange(len(results)), np.diff(offsets))
    fold = folds(group)[owner]
    asked = acts & ~np.isnan(scores)
    assert np.isnan(got[~asked]).all()
    for number in set(fold.tolist()):
        own = asked & (fold == number)
        taught = asked & (fold != number) & ~np.isnan(results[owner])
        if not taught.any():
            assert np.isnan(got[own]).all()
            continue
        weight = np.array([1 / (asked & (owner == t)).sum() for t in owner[taught]])
        theirs = IsotonicRegression(out_of_bounds="clip").fit(scores[taught], results[owner][taught], weight)
        if own.any():
            np.testing.assert_allclose(got[own], theirs.predict(scores[own]), rtol=0, atol=1e-12)
            order = np.argsort(scores[own], kind="stable")
            assert (np.diff(got[own][order]) >= -1e-15).all()


def test_a_judge_that_is_off_by_a_habit_is_put_right():
    """Scores that say half of the truth."""
    random = np.random.default_rng(2)
    truth = random.random(600)
    passed = (random.random(600) < truth).astype(float)
    got = cross_fitted(truth / 2, passed, np.ones(600), folds(np.arange(600)))
    assert ((got - passed) ** 2).mean() < ((truth / 2 - passed) ** 2).mean() - 0.05
    assert np.abs(got - truth).mean() < 0.08
