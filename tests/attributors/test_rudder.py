"""The outcome taken apart by forecasts: by hand, against the slow loop, what adds up."""

from __future__ import annotations

from dataclasses import replace
from math import fsum, isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.attributors.meetings import meetings
from tests.build import batch_of, run
from trajcredit.attributors import Rudder, configure
from trajcredit.batching import Batch, decisions
from trajcredit.errors import InputError
from trajcredit.model import Trajectory

NAN = np.nan


def booking() -> Batch:
    """A thought, two calls in one message, an answer; .5 paid on the first call, 1 in all. Forecasts of what is to
    come: before .6, .3 and .1 (.5 paid: .8 and .6 in all), after .8, .2 and .3 (.7 and .8 in all)."""
    batch = batch_of(run("utccrra", rewards={2: 0.5, 6: 0.5}))
    return replace(
        batch,
        values=np.array([NAN, 0.6, 0.6, 0.3, NAN, NAN, 0.1]),
        q_values=np.array([NAN, 0.2, 0.8, 0.2, NAN, NAN, 0.3]),
    )


def test_differences_of_the_forecast_and_the_last_error_spread_evenly() -> None:
    credit = Rudder("next")(booking()).credit
    # g: .6 at the start, .8, .7, .8; R = 1: each of three choices has a third of .2
    even = 0.2 / 3
    first, second, last = 0.2 + even, -0.1 + even, 0.1 + even
    np.testing.assert_allclose(credit, [NAN, first + second, first, second, NAN, NAN, last], atol=1e-15)
    assert first + second + last == pytest.approx(1 - 0.6)


def test_what_results_changed_is_spread_with_the_error() -> None:
    credit = Rudder()(booking()).credit
    # choices changed .2, -.1 (from .8 to .7) and .2 (from .6 to .8): the rest of .4 is .1
    even = (0.4 - 0.3) / 3
    first, second, last = 0.2 + even, -0.1 + even, 0.2 + even
    np.testing.assert_allclose(credit, [NAN, first + second, first, second, NAN, NAN, last], atol=1e-15)


def test_it_tells_what_it_rests_on() -> None:
    last = Rudder("next").explain(booking(), 6)
    assert [term.name for term in last] == [
        "forecast after this choice", "forecast after the choice before", "1 / 3 of what the last forecast missed, 0.2"
    ]  # fmt: skip
    assert [term.spans for term in last] == [(6,), (3,), (2, 6)]
    assert [term.name for term in Rudder().explain(booking(), 2)][1:] == [
        "forecast before it", "1 / 3 of what choices do not explain, 0.1"
    ]  # fmt: skip
    assert Rudder("next").explain(booking(), 2)[1].name == "forecast at the start"
    assert Rudder().explain(booking(), 0) == ()


def test_a_choice_without_forecasts_leaves_its_run_unscored_and_is_told() -> None:
    batch = booking()
    gap = np.where(np.arange(7) == 3, NAN, batch.q_values)
    found = Rudder()(replace(batch, q_values=gap))
    assert np.isnan(found.credit).all()
    [note] = found.notes
    assert note.message == "1 of its choices have no forecast before or after them: not scored"


def test_without_any_forecast_it_says_what_to_do_and_so_does_a_wrong_parameter() -> None:
    with pytest.raises(InputError, match=r"rudder needs forecasts .*`critic=sequence`"):
        Rudder()(batch_of(run("ua", 1.0, values=[None, 0.5])))
    with pytest.raises(InputError, match="results='all' is not one of spread, next"):
        Rudder("all")  # type: ignore[arg-type]
    assert configure(Rudder, {"results": "next"}) == Rudder("next")


def measured(runs: list[Trajectory], seed: int) -> Batch:
    batch = batch_of(*runs)
    values, q_values = np.random.default_rng(seed).normal(size=(2, batch.n_spans))
    return replace(batch, values=values, q_values=q_values)


def naive(batch: Batch, rudder: Rudder) -> list[float]:
    credit = [NAN] * batch.n_spans
    chosen = decisions(batch)
    for t in np.flatnonzero(~np.isnan(batch.outcome)).tolist():
        spans = range(int(batch.span_offsets[t]), int(batch.span_offsets[t + 1]))
        actions = [i for i in spans if batch.action_mask[i]]
        if not actions:
            continue
        start = last = batch.values[actions[0]]
        paid, change = 0.0, {}
        for i in actions:
            if chosen[i]:
                after = paid + batch.q_values[i]
                change[i] = after - (last if rudder.results == "next" else paid + batch.values[i])
                last = after
            paid += batch.rewards[i]
        even = (batch.outcome[t] - start - sum(change.values())) / len(change)
        for i in actions:
            turn = [k for k in change if batch.turn[k] == batch.turn[i]]
            credit[i] = change[i] + even if i in change else sum(change[k] + even for k in turn)
    return credit


@pytest.mark.parametrize("rudder", [Rudder(), Rudder("next")], ids=str)
@settings(max_examples=40)
@given(runs=meetings(), seed=st.integers(0, 9))
def test_it_says_what_the_slow_loop_says_and_everything_adds_up(
    rudder: Rudder, runs: list[Trajectory], seed: int
) -> None:
    batch = measured(runs, seed)
    credit, chosen = rudder(batch).credit, decisions(batch)
    np.testing.assert_allclose(credit, naive(batch, rudder), atol=1e-9)
    for t in np.flatnonzero(~np.isnan(batch.outcome)).tolist():
        mine = np.arange(batch.span_offsets[t], batch.span_offsets[t + 1])
        if batch.action_mask[mine].any():
            start = batch.values[mine[batch.action_mask[mine]][0]]
            assert abs(fsum(credit[mine[chosen[mine]]]) - (batch.outcome[t] - start)) < 1e-9
    for span in range(min(batch.n_spans, 20)):
        terms = rudder.explain(batch, span)
        assert bool(terms) != isnan(credit[span])
        assert not terms or abs(fsum(term.value for term in terms) - credit[span]) < 1e-9
