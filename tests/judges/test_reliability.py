"""All that is said of a judge, in one go: what is there, what is not and why, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from trajcredit.errors import InputError
from trajcredit.judges.estimates import Sampling
from trajcredit.judges.reliability import Reliability, Segments, reliability
from trajcredit.judges.states import running_totals

NAN = np.nan
QUICK = Sampling(draws=50)
RUNS, STEPS = 80, 4


@pytest.fixture
def made():
    """Final scores, outcomes, groups and segments of a judge that knows a little."""
    random = np.random.default_rng(0)
    outcome = (random.random(RUNS) < 0.5).astype(float)
    credit = 0.2 * (np.repeat(outcome, STEPS) - 0.5) + 0.1 * random.standard_normal(RUNS * STEPS)
    offsets = np.arange(RUNS + 1) * STEPS
    final = np.clip(0.5 + running_totals(credit, offsets)[STEPS - 1 :: STEPS], 0, 1)
    segments = Segments(offsets, credit, random.integers(5, 500, RUNS * STEPS).astype(float))
    return final, outcome, np.arange(RUNS) // 4, segments


def test_all_of_it_is_there_and_goes_to_json_and_back(made):
    final, outcome, group, segments = made
    final[0], outcome[1] = NAN, NAN
    noisy = segments.credit + 0.01 * np.random.default_rng(1).standard_normal(RUNS * STEPS)
    found = reliability(
        final,
        outcome,
        group,
        characters=segments.characters.reshape(RUNS, STEPS).sum(1),
        segments=segments,
        repeats=np.stack([segments.credit, noisy]),
        others={"noisy": noisy},
        labels=np.sign(segments.credit),
        sampling=QUICK,
    )
    assert (found.trajectories, found.unscored, found.no_outcome, found.groups) == (RUNS - 2, 1, 1, RUNS // 4)
    assert found.passed == np.nansum(outcome[2:])
    assert found.auc.value is not None
    assert found.auc.value > 0.9
    assert found.without == {}
    assert [one.scores for one in found.against_base_rate] == ["raw", "calibrated"]
    assert [one.verdict for one in found.against_base_rate] == ["better", "better"]
    assert found.warnings == ()
    assert [one.name for one in found.agreement] == ["noisy", "labels"]
    assert found.consistency is not None
    assert found.consistency.icc.value is not None
    assert found.consistency.icc.value > 0.95
    again = msgspec.json.decode(msgspec.json.encode(found), type=Reliability)
    assert again == found


def test_a_sum_of_credits_is_no_probability(made):
    final, outcome, group, _ = made
    found = reliability(4 * final - 2, outcome, group, "credit", sampling=QUICK)
    assert found.raw is None
    assert found.without["raw"] == "a sum of credits is no probability; see `calibrated`"
    assert [one.scores for one in found.against_base_rate] == ["calibrated"]
    as_state = reliability(final, outcome, group, sampling=QUICK)
    assert found.calibrated is not None
    assert as_state.calibrated is not None
    assert found.calibrated.equal_width == as_state.calibrated.equal_width, "an isotonic map knows only the order"
    assert found.auc == as_state.auc


def test_the_parts_that_nothing_was_given_for_say_so(made):
    final, outcome, group, segments = made
    found = reliability(final, outcome, group, sampling=QUICK)
    assert (found.position, found.length, found.consistency, found.agreement) == (None, None, None, ())
    assert set(found.without) == {"position", "length", "consistency", "agreement"}
    bare = replace(segments, characters=None)
    found = reliability(final, outcome, group, segments=bare, characters=final, sampling=QUICK)
    assert set(found.without) == {"length.segment", "consistency", "agreement"}
    assert found.position is not None
    assert found.length is not None
    assert found.length.segment is None


def test_one_class_of_outcomes_leaves_brier_and_no_auc(made):
    final, outcome, group, _ = made
    found = reliability(final, outcome * 0, group, sampling=QUICK)
    assert (found.auc.value, found.auc.why) == (None, "it takes runs that passed and runs that did not")
    assert found.raw is not None
    assert found.raw.brier.value == pytest.approx(float((final**2).mean()))
    assert {one.verdict for one in found.against_base_rate} == {"one_outcome"}


@pytest.mark.parametrize(
    ("final", "group", "why"),
    [
        pytest.param([0.5, 0.7], [1, 1], "no other fold of groups has an outcome to calibrate on", id="one group"),
        pytest.param([NAN, NAN], [1, 2], "no trajectory has a score and an outcome", id="no score"),
        pytest.param([], [], "no trajectory has a score and an outcome", id="no trajectory"),
    ],
)
def test_too_little_is_no_error(final, group, why):
    final, group = np.array(final, dtype=float), np.array(group, dtype=np.int64)
    found = reliability(final, np.arange(len(final), dtype=np.float64), group, sampling=QUICK)
    assert found.calibrated is None
    assert found.without["calibrated"] == why
    assert found.against_base_rate[-1].verdict == "too_few"


def test_a_warning_is_a_sentence_with_the_figures(made):
    final, outcome, group, _ = made
    found = reliability(1 - final, outcome, group, sampling=QUICK)
    assert found.warnings[0].startswith("worse than the base rate: Brier score of its scores 0.")
    assert len(found.warnings) == 2, "no increasing map helps"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param({"outcome": np.zeros(3)}, r"outcome: shape \(3,\), and final_score has \(80,\)", id="lengths"),
        pytest.param({"scale": "vibe"}, "scale: 'vibe', and it is one of state, credit", id="scale"),
        pytest.param({"final_score": np.full(80, 1.5)}, "final_score: from 0 to 1.5", id="no probability"),
        pytest.param({"final_score": np.full(80, np.inf)}, "final_score: infinite", id="infinite"),
        pytest.param({"repeats": np.zeros(320)}, r"repeats: shape \(320,\)", id="repeats of one dimension"),
        pytest.param(
            {"others": {"b": np.zeros(2)}}, r"b: shape \(2,\), and there are 320 segments", id="another judge"
        ),
        pytest.param({"labels": np.full(320, 0.5)}, "labels: -1, 0 or 1", id="labels"),
        pytest.param({"segments": Segments(np.array([0, 320]), np.zeros(320))}, "segments.offsets", id="offsets"),
    ],
)
def test_what_does_not_fit_is_named(made, change, message):
    final, outcome, group, segments = made
    given = {"final_score": final, "outcome": outcome, "group": group, "segments": segments, "sampling": QUICK}
    with pytest.raises(InputError, match=message):
        reliability(**{**given, **change})
