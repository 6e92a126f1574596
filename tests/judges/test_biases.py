"""Position and length bias: by hand, against scipy, and planted ones that are found."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from trajcredit.judges.biases import length_bias, position_bias, relative_position
from trajcredit.judges.estimates import Sampling

NAN = np.nan
QUICK = Sampling(draws=100)
few = st.integers(0, 3).map(float)


def i64(*values):
    return np.array(values, dtype=np.int64)


def test_positions_run_from_the_first_scored_step_to_the_last():
    scored = np.array([0, 1, 1, 0, 1, 1, 0, 1, 1], dtype=bool)
    got = relative_position(scored, i64(0, 5, 6, 6, 9))
    np.testing.assert_array_equal(got, [NAN, 0, 0.5, NAN, 1, NAN, NAN, 0, 1])


def test_slopes_by_hand():
    """A run of two steps falls by 1, one of three rises by 2; each weighs the same: (-1/4 + 2/6) / (1/4 + 1/6)."""
    step, offsets = np.array([0.0, -1, 5, 6, 7, 3]), i64(0, 2, 5, 6)
    found = position_bias(step, offsets, np.array([0.0, 1, 1]), i64(0, 1, 2), QUICK)
    assert found.failed.value == pytest.approx(-1)
    assert found.passed.value == pytest.approx(2)
    assert found.slope.value == pytest.approx((-1 / 4 + 2 / 6) / (1 / 4 + 1 / 6))
    assert found.slope.n == 2, "a run of one step has no slope"
    assert found.rank.value == pytest.approx((-1 * 1 + 1 * 2) / 3)
    first, last = found.profile[0], found.profile[-1]
    assert (first.passed.value, first.failed.value) == (5, 0)
    assert (last.passed.value, last.failed.value) == (7, -1)
    assert found.profile[3].passed.why == "no step here"


def test_a_habit_is_the_same_in_runs_that_passed_and_blame_is_not():
    """One judge is harsher late in every run; the other one only where the run failed."""
    random = np.random.default_rng(0)
    runs, steps = 120, 8
    offsets, group = np.arange(runs + 1) * steps, np.arange(runs) // 4
    passed = (random.random(runs) < 0.5).astype(float)
    late = np.tile(np.arange(steps) / (steps - 1), runs)
    noise = 0.05 * random.standard_normal(runs * steps)
    habit = position_bias(-0.3 * late + noise, offsets, passed, group, QUICK)
    blame = position_bias(-0.3 * late * (1 - np.repeat(passed, steps)) + noise, offsets, passed, group, QUICK)
    for one in (habit.passed, habit.failed, blame.failed):
        assert one.value == pytest.approx(-0.3, abs=0.03)
        assert one.low is not None
        assert one.high is not None
        assert one.low < -0.3 < one.high < 0
    assert blame.passed.low is not None
    assert blame.passed.high is not None
    assert blame.passed.low < 0 < blame.passed.high
    assert habit.rank.value is not None
    assert habit.rank.value < -0.8


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(few, few, st.booleans(), st.integers(0, 2)), min_size=2, max_size=15))
def test_length_bias_is_that_of_scipy(drawn):
    score, length, passed, group = (np.array(column) for column in zip(*drawn, strict=True))
    found = length_bias(score, length, passed.astype(float), group, QUICK)
    if np.ptp(score) == 0 or np.ptp(length) == 0:
        assert (found.final.value, found.final.why) == (None, "it takes rows that differ in both")
    else:
        assert found.final.value == pytest.approx(spearmanr(score, length).statistic, abs=1e-12)
    total = weight = 0.0
    for g in set(group.tolist()):
        for outcome in (False, True):
            own = (group == g) & (passed == outcome)
            if own.any() and np.ptp(score[own]) > 0 and np.ptp(length[own]) > 0:
                weight += own.sum() - 1
                total += (own.sum() - 1) * spearmanr(score[own], length[own]).statistic
    if weight:
        assert found.final_within.value == pytest.approx(total / weight, abs=1e-12)
    else:
        assert found.final_within.value is None
        assert found.final_within.why is not None
    assert found.segment is None


def test_what_tasks_differ_in_is_no_bias_within_them_and_a_planted_one_is_found():
    """Hard tasks are long and fail; within a task scores know nothing of length, but segments do."""
    random = np.random.default_rng(1)
    tasks, size, steps = 30, 6, 5
    group = np.repeat(np.arange(tasks), size)
    hard = random.random(tasks)[group]
    length = 1000 * hard + random.random(len(group))
    passed = (random.random(len(group)) > hard).astype(float)
    final = 1 - hard + 0.01 * random.random(len(group))
    pieces = random.integers(10, 400, len(group) * steps).astype(float)
    step = pieces / 400 + 0.1 * random.standard_normal(len(pieces))
    step[7] = NAN
    found = length_bias(final, length, passed, group, QUICK, (step, pieces, np.arange(len(group) + 1) * steps))
    assert found.final.value is not None
    assert found.final.value < -0.9
    assert found.final_within.low is not None
    assert found.final_within.high is not None
    assert found.final_within.low < 0 < found.final_within.high
    assert found.segment is not None
    assert found.segment.n == len(pieces) - 1
    assert found.segment_within is not None
    assert found.segment_within.low is not None
    assert found.segment_within.low > 0.8


def test_nothing_at_all_is_null_with_a_reason():
    empty, none = np.zeros(0), i64()
    position = position_bias(empty, i64(0), empty, none, QUICK)
    length = length_bias(empty, empty, empty, none, QUICK, (empty, empty, i64(0)))
    for one in (position.slope, position.rank, length.final, length.final_within, length.segment):
        assert one is not None
        assert one.value is None
        assert one.why
