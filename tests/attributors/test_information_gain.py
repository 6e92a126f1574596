"""Jumps of the log-prob of the known answer: what is read, refused and left unscored."""

from __future__ import annotations

from dataclasses import replace
from math import exp, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from tests.attributors.meetings import measured, meetings, steps_by_hand, told
from tests.build import batch_of, run
from trajcredit.attributors import InformationGain, Term, configure
from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.model import Trajectory

NAN = np.nan


def _search(*logged: float | None, outcome: float | None = 0.0) -> Batch:
    """A thought and a look, another look, an answer: three turns, and what was logged before their first action."""
    info = np.full(7, NAN)
    info[[1, 4, 6]] = [nan if number is None else number for number in logged]
    return replace(batch_of(told("u t c1 r:x c2 r:y a", outcome)), info=info)


def test_a_turn_is_credited_with_what_the_answer_gained_over_it_and_its_results() -> None:
    got = InformationGain()(_search(-4.0, -1.5, -2.0))
    np.testing.assert_array_equal(got.credit, [NAN, 2.5, 2.5, NAN, -0.5, NAN, 0.0])
    np.testing.assert_array_equal(got.credit, got.advantage)
    assert got.notes == ()


def test_the_right_find_of_a_failed_run_is_praised() -> None:
    failed, won = (InformationGain()(_search(-4.0, -1.5, -2.0, outcome=r)).credit for r in (0.0, 1.0))
    np.testing.assert_array_equal(failed, won)
    assert failed[2] > 0


def test_in_probability_the_jumps_lie_between_minus_one_and_one() -> None:
    got = InformationGain("probability")(_search(-4.0, 0.0, -np.inf)).credit
    np.testing.assert_allclose(got, [NAN, 1 - exp(-4), 1 - exp(-4), NAN, -1, NAN, 0])


def test_without_a_measurement_it_is_refused_and_says_what_to_do() -> None:
    for batch in (batch_of(run("ua", 1.0)), _search(None, None, None)):
        with pytest.raises(InputError, match=r"no action span has one: .* dataclasses\.replace\(batch, info=\.\.\.\)"):
            InformationGain()(batch)
    assert InformationGain.needs == ("info",)


@pytest.mark.parametrize(
    "logged",
    [
        pytest.param((-4.0, None, -2.0), id="one is missing"),
        pytest.param((-4.0, 0.5, -2.0), id="one is no log-prob"),
        pytest.param((-4.0, -np.inf, -2.0), id="one is endless"),
    ],
)
def test_a_rollout_that_was_not_measured_throughout_is_not_scored_and_the_others_are(logged: Any) -> None:
    spans = "u t c1 r:x c2 r:y a"
    batches = [_search(*logged), _search(-4.0, -1.5, -2.0)]
    both = batch_of(told(spans, 0.0), told(spans, 0.0), told(spans, None))
    unscored = np.full(7, NAN)
    both = replace(both, info=np.concatenate([*(batch.info for batch in batches), unscored]))
    got = InformationGain()(both)
    np.testing.assert_array_equal(got.credit, [*unscored, NAN, 2.5, 2.5, NAN, -0.5, NAN, 0.0, *unscored])
    assert [(note.code, note.trajectory) for note in got.notes] == [("missing-info", "t0")]
    assert got.notes[0].message.startswith("1 of its turns have no log-prob")
    assert InformationGain().explain(both, 1) == InformationGain().explain(both, 15) == ()


def test_a_log_prob_a_rounding_above_zero_is_one() -> None:
    assert InformationGain()(_search(-4.0, 1e-6, -2.0)).credit[1] == 4.000001


def test_the_explanation_names_both_measurements() -> None:
    batch = _search(-4.0, -1.5, -2.0)
    assert InformationGain().explain(batch, 2) == (
        Term("log-prob of the known answer before the next turn", -1.5, (4,)),
        Term("log-prob of the known answer before this turn", 4.0, (1,)),
    )
    assert InformationGain("probability").explain(batch, 2)[0].name.startswith("probability of the known answer")
    assert InformationGain().explain(batch, 6) == (Term("last turn: nothing is measured after it", 0.0),)
    assert InformationGain().explain(batch, 3) == ()


def test_a_measure_we_lack_is_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"measure='bits': expected log \| probability"):
        configure(InformationGain, {"measure": "bits"})


@pytest.mark.parametrize("measure", ["log", "probability"])
@given(runs=meetings())
def test_it_says_what_the_slow_loop_says_and_adds_up_over_a_rollout(measure: Any, runs: list[Trajectory]) -> None:
    batch = measured(batch_of(*runs))
    if batch.action_mask.any() and np.isnan(batch.info[batch.action_mask]).all():
        with pytest.raises(InputError):
            InformationGain(measure)(batch)
        return
    wanted = [nan] * batch.n_spans
    for t in np.flatnonzero(~np.isnan(batch.outcome)).tolist():
        steps = [spans for _, spans, _ in steps_by_hand(batch, t)]
        told_before = [float(batch.info[spans[0]]) for spans in steps]
        known = [exp(x) for x in told_before] if measure == "probability" else told_before
        if np.isnan(known).any():
            continue
        total = 0.0
        for k, spans in enumerate(steps):
            jump = known[k + 1] - known[k] if k + 1 < len(steps) else 0.0
            total += jump
            for i in spans:
                wanted[i] = jump
        assert abs(total - (known[-1] - known[0])) < 1e-9
    np.testing.assert_allclose(InformationGain(measure)(batch).credit, wanted, atol=1e-12)
