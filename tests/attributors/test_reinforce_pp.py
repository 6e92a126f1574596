"""REINFORCE++ in both forms: returns over observations, whitening, what it says."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.build import batch_of, group_of, run
from tests.kernels import naive_tokens as naive
from trajcredit.attributors import ReinforcePp, Term

NAN = np.nan


@pytest.mark.parametrize(
    ("flavour", "returns"),
    [
        pytest.param("verl", [0.5 + 0.5, 1, NAN, 2], id="verl carries over the result"),
        pytest.param("openrlhf", [0.5 + 0.25, 0.5, NAN, 2], id="openrlhf discounts at it"),
        pytest.param("skyrl", [0.5, 0, NAN, 2], id="skyrl forgets what comes after it"),
    ],
)
def test_returns_over_an_observation(flavour: str, returns: list[float]) -> None:
    batch = batch_of(run("tcra", rewards={0: 0.5, 3: 2.0}))
    made = ReinforcePp(flavour, gamma=0.5)  # type: ignore[arg-type]
    got = made(batch)
    np.testing.assert_allclose(got.credit, returns, rtol=0, atol=1e-12)
    for span in range(4):
        total = sum(term.value for term in made.explain(batch, span))
        np.testing.assert_allclose(total, np.nan_to_num(returns[span]), rtol=0, atol=1e-12)


def test_what_arrives_is_named_and_so_is_nothing() -> None:
    batch = batch_of(run("cra", rewards={0: 0.5, 2: 2.0}), run("cra", rewards={2: 1.0}))
    assert ReinforcePp("openrlhf", gamma=0.5).explain(batch, 0) == (
        Term("reward 0.5, discounted 0 times", 0.5, (0,)),
        Term("reward 2, discounted 2 times", 0.5, (2,)),
    )
    assert ReinforcePp("skyrl").explain(batch, 3) == (Term("no reward from here on", 0.0),)
    assert ReinforcePp().explain(batch, 1) == ()


def test_returns_are_whitened_over_all_actions_of_the_batch() -> None:
    # 1 1 and 3: mean 5/3, squares 4/9 + 4/9 + 16/9 = 8/3
    batch = batch_of(run("aa", 1.0, group="g"), run("a", 3.0, group="h"), run("a", None, group="h"))
    sample = (np.array([1, 1, 3]) - 5 / 3) / sqrt(4 / 3 + 1e-8)
    population = (np.array([1, 1, 3]) - 5 / 3) / sqrt(8 / 9)
    np.testing.assert_allclose(ReinforcePp()(batch).advantage, [*sample, NAN], rtol=0, atol=1e-12)
    np.testing.assert_allclose(ReinforcePp("openrlhf")(batch).advantage, [*population, NAN], rtol=0, atol=1e-12)
    assert ReinforcePp()(batch).notes == ()


def test_a_small_variance_is_no_smaller_than_the_floor() -> None:
    batch = batch_of(*group_of(0.0, 2e-5))
    got = ReinforcePp("openrlhf")(batch)  # population variance 1e-10, below 1e-8
    np.testing.assert_allclose(got.advantage, [-0.1, 0.1], rtol=1e-9)


def test_with_a_baseline_the_group_mean_goes_first() -> None:
    # credits .5 .5 -.5, and 2 -2: mean .1, squares 3 * .25 + 8 - 5 * .01 = 8.7
    batch = batch_of(run("aa", 1.0, group="g"), run("a", 0.0, group="g"), *group_of(4.0, 0.0, group="h"))
    credit = np.array([0.5, 0.5, -0.5, 2, -2])
    for flavour, over in (("verl", sqrt(8.7 / 4 + 1e-8)), ("openrlhf", sqrt(8.7 / 5)), ("nemo", sqrt(8.7 / 5))):
        made = ReinforcePp(flavour, baseline="group")  # type: ignore[arg-type]
        got = made(batch)
        assert got.credit.tolist() == credit.tolist()
        np.testing.assert_allclose(got.advantage, (credit - 0.1) / over, rtol=0, atol=1e-12)
        assert made.explain(batch, 0) == (Term("outcome", 1.0, (1,)), Term("group mean", -0.5, (1, 2)))


@pytest.mark.parametrize(
    ("made", "credit"),
    [
        (ReinforcePp(baseline="group"), 0.0),
        (ReinforcePp(baseline="group", singleton="as_trainer"), 0.75),
        (ReinforcePp("openrlhf", baseline="group", singleton="as_trainer"), 0.0),
        (ReinforcePp("nemo", baseline="group", singleton="as_trainer"), 0.0),
    ],
    ids=str,
)
def test_a_group_of_one(made: ReinforcePp, credit: float) -> None:
    batch = batch_of(*group_of(0.75), *group_of(1, 0, group="h"))
    got = made(batch)
    assert got.credit.tolist() == [credit, 0.5, -0.5]
    assert [(note.code, note.group) for note in got.notes] == [("singleton-group", "g")]
    assert sum(term.value for term in made.explain(batch, 0)) == credit


@pytest.mark.parametrize("outcomes", [[0.1, 0.1, 0.1], [0.3]])
def test_equal_credits_leave_exactly_nothing_and_it_is_said(outcomes: list[float]) -> None:
    batch = batch_of(*group_of(*outcomes))
    plain, based = ReinforcePp()(batch), ReinforcePp(baseline="group")(batch)
    assert plain.advantage.tolist() == based.advantage.tolist() == [0.0] * len(outcomes)
    assert plain.credit.tolist() == outcomes
    assert [note.code for note in plain.notes] == ["nothing-to-whiten"]
    assert based.notes[-1].code == "nothing-to-whiten"
    nobody = ReinforcePp()(batch_of(run("a", None)))
    assert np.isnan(nobody.advantage).all()
    assert not nobody.notes


@settings(max_examples=30)
@given(st.text("acr", min_size=1, max_size=8), st.data(), st.sampled_from([0.0, 0.5, 0.9, 1.0]))
def test_returns_say_what_the_slow_loop_says(spans: str, data: st.DataObject, gamma: float) -> None:
    acts = [i for i, letter in enumerate(spans) if letter != "r"]
    rewards = {i: data.draw(st.sampled_from([0.0, 1.0, -0.5])) for i in acts}
    batch = batch_of(run(spans, rewards=rewards))
    mask = [int(letter != "r") for letter in spans]
    given = [rewards.get(i, 0.0) for i in range(len(spans))]
    for flavour, gap in (("verl", "skip"), ("openrlhf", "step"), ("skyrl", "reset")):
        made = ReinforcePp(flavour, gamma=gamma)  # type: ignore[arg-type]
        got = made(batch).credit
        want = np.where(mask, naive.returns(given, mask, gamma, gap), NAN)
        np.testing.assert_allclose(got, want if acts else np.full(len(spans), NAN), rtol=0, atol=1e-12)
        for span in acts:
            total = sum(term.value for term in made.explain(batch, span))
            np.testing.assert_allclose(total, got[span], rtol=0, atol=1e-9)
