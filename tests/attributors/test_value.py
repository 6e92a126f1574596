"""Jumps of values: by hand, against the slow loop, what adds up."""

from __future__ import annotations

from dataclasses import replace
from math import fsum, isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.attributors.meetings import meetings, steps_by_hand
from tests.build import batch_of, run
from trajcredit.attributors import Gae, Value, configure
from trajcredit.batching import Batch, decisions
from trajcredit.errors import InputError
from trajcredit.model import Trajectory

NAN = np.nan


def test_a_chain_by_hand() -> None:
    batch = batch_of(run("ucra", 1.0, values=[None, 0.5, None, 0.75]))
    found = Value()(batch)
    np.testing.assert_array_equal(found.credit, [NAN, 0.25, NAN, 0.25])
    np.testing.assert_array_equal(found.advantage, found.credit)
    assert found.notes == ()


def test_calls_of_one_message_share_the_jump_and_words_carry_all_of_it() -> None:
    # V .5 before the message, .9 before the answer; reward .1 on the second call, 1 at the end
    batch = batch_of(run("utccrra", values=[None, 0.5, 0.5, 0.5, None, None, 0.9], rewards={3: 0.125, 6: 1.0}))
    each = (0.125 + 0.9 - 0.5) / 2
    np.testing.assert_allclose(Value()(batch).credit, [NAN, 2 * each, each, each, NAN, NAN, 0.1], atol=1e-15)
    np.testing.assert_allclose(Value("zero")(batch).credit, [NAN, 0, each, each, NAN, NAN, 0.1], atol=1e-15)


def test_each_call_of_a_message_has_the_effect_of_its_own_choice_where_q_tells_it() -> None:
    batch = batch_of(run("uccrra", 1.0, values=[None, 0.5, 0.7, None, None, 0.9]))
    batch = replace(batch, q_values=np.array([NAN, 0.7, 0.6, NAN, NAN, NAN]))
    # effects .2 and -.1; of the jump .4 the rest, .3, is shared evenly
    np.testing.assert_allclose(Value()(batch).credit, [NAN, 0.35, 0.05, NAN, NAN, 0.1], atol=1e-15)
    assert [term.name for term in Value().explain(batch, 1)] == [
        "effect of this choice, Q - V",
        "rewards of this turn, 1 / 2 of it",
        "V before the next turn, 1 / 2 of it",
        "V before this turn, 1 / 2 of it",
        "effects of the choices of this turn, 1 / 2 of it",
    ]


@pytest.mark.parametrize(
    ("bootstrap", "last", "codes"),
    [
        pytest.param(0.25, 0.25 - 0.75, [], id="its logged value"),
        pytest.param(None, -0.75, ["no-bootstrap"], id="0 and a note where none is logged"),
    ],
)
def test_after_the_end_of_a_run_that_was_cut_off_comes(bootstrap: float | None, last: float, codes: list[str]) -> None:
    batch = batch_of(run("ucr", 0.0, values=[None, 0.75, None], truncated=True, bootstrap=bootstrap))
    found = Value()(batch)
    assert found.credit[1] == last
    assert [note.code for note in found.notes] == codes


def test_a_turn_without_a_value_leaves_its_run_unscored_and_is_told() -> None:
    batch = batch_of(run("ucra", 1.0, values=[None, 0.5, None, None]), run("ua", 0.0, values=[None, 0.5]))
    found = Value()(batch)
    np.testing.assert_array_equal(found.credit, [NAN] * 4 + [NAN, -0.5])
    [note] = found.notes
    assert (note.code, note.message, note.trajectory) == (
        "missing-values", "1 of its turns has no value: not scored", "t0"
    )  # fmt: skip
    assert Value().explain(batch, 1) == ()


def test_without_any_value_it_says_what_to_do_and_so_does_a_wrong_parameter() -> None:
    with pytest.raises(InputError, match=r"value needs a critic's values .*`critic=`"):
        Value()(batch_of(run("ua", 1.0)))
    with pytest.raises(InputError, match="words='none' is not one of turn, zero"):
        Value("none")  # type: ignore[arg-type]
    assert configure(Value, {"words": "zero"}) == Value("zero")


def measured(runs: list[Trajectory], seed: int, q: bool) -> Batch:
    """Their batch with values everywhere, and q where asked for."""
    batch = batch_of(*runs)
    random = np.random.default_rng(seed)
    values, q_values = random.normal(size=(2, batch.n_spans))
    blank = np.full(batch.n_spans, NAN)
    return replace(batch, values=values, q_values=q_values if q else blank)


def naive(batch: Batch, value: Value) -> list[float]:
    credit = [NAN] * batch.n_spans
    chosen = decisions(batch)
    for t in range(batch.n_trajectories):
        turns = list(steps_by_hand(batch, t))
        for m, (_, spans, reward) in enumerate(turns):
            after = batch.values[turns[m + 1][1][0]] if m + 1 < len(turns) else batch.bootstrap[t]
            jump = reward + after - batch.values[spans[0]]
            mine = [i for i in spans if chosen[i]]
            effect = {i: batch.q_values[i] - batch.values[i] for i in mine}
            if any(isnan(e) for e in effect.values()):
                effect = dict.fromkeys(mine, 0.0)
            for i in spans:
                if i in effect:
                    credit[i] = effect[i] + (jump - sum(effect.values())) / len(mine)
                elif not isnan(batch.outcome[t]):
                    credit[i] = jump if value.words == "turn" else 0.0
    return credit


@pytest.mark.parametrize("value", [Value(), Value("zero")], ids=str)
@settings(max_examples=40)
@given(runs=meetings(), seed=st.integers(0, 9), q=st.booleans())
def test_it_says_what_the_slow_loop_says_and_the_terms_add_up(
    value: Value, runs: list[Trajectory], seed: int, q: bool
) -> None:
    batch = measured(runs, seed, q)
    credit = value(batch).credit
    np.testing.assert_allclose(credit, naive(batch, value), atol=1e-9)
    for span in range(min(batch.n_spans, 20)):
        terms = value.explain(batch, span)
        assert bool(terms) != isnan(credit[span])
        assert not terms or abs(fsum(term.value for term in terms) - credit[span]) < 1e-9


@settings(max_examples=40)
@given(runs=meetings(), seed=st.integers(0, 9), q=st.booleans())
def test_the_choices_of_a_rollout_add_up_to_its_outcome_minus_the_value_of_the_start(
    runs: list[Trajectory], seed: int, q: bool
) -> None:
    batch = measured(runs, seed, q)
    chosen = decisions(batch)
    turn, every = Value()(batch).credit, Value("zero")(batch).credit
    for t in np.flatnonzero(~np.isnan(batch.outcome)).tolist():
        mine = slice(int(batch.span_offsets[t]), int(batch.span_offsets[t + 1]))
        actions = np.flatnonzero(batch.action_mask[mine])
        wanted = batch.outcome[t] - batch.values[mine][actions[0]] if len(actions) else 0.0
        assert abs(fsum(turn[mine][chosen[mine]]) - wanted) < 1e-9
        assert abs(fsum(every[mine][actions]) - wanted) < 1e-9


@settings(max_examples=30)
@given(runs=meetings(), seed=st.integers(0, 9))
def test_of_one_choice_a_turn_it_is_gae_with_lambda_0(runs: list[Trajectory], seed: int) -> None:
    batch = measured(runs, seed, q=True)
    credit, wanted = Value()(batch).credit, Gae(lam=0.0, unit="turn")(batch).credit
    chosen = decisions(batch)
    alone = np.array([chosen[_same_turn(batch, i)].sum() == 1 for i in range(batch.n_spans)], dtype=bool)
    np.testing.assert_allclose(credit[alone], wanted[alone], atol=1e-12)


def _same_turn(batch: Batch, span: int) -> slice:
    t = batch.trajectory_of(span)
    start, end = int(batch.span_offsets[t]), int(batch.span_offsets[t + 1])
    same = start + np.flatnonzero((batch.turn[start:end] == batch.turn[span]) & batch.action_mask[start:end])
    return slice(int(same[0]), int(same[-1]) + 1) if len(same) else slice(0, 0)
