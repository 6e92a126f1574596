"""GAE from logged values: what it reads, what it refuses, what it leaves unscored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.build import batch_of, run
from trajcredit.attributors import Gae, Rtg
from trajcredit.errors import InputError

NAN = np.nan


def test_three_observations_between_two_actions_are_stepped_over() -> None:
    batch = batch_of(run("aarrraa", 1.0, values=[0.5, 0.6, 9, 9, 9, 0.4, 0.7]))
    got = Gae(gamma=0.9, lam=0.8)(batch)
    np.testing.assert_allclose(got.credit, [0.0984064, 0.08112, NAN, NAN, NAN, 0.446, 0.3], atol=1e-12)
    np.testing.assert_array_equal(got.credit, got.advantage)


def test_a_truncated_run_bootstraps_and_a_terminated_one_does_not() -> None:
    values = [0.3, 0.5, 0.4]
    batch = batch_of(
        run("aaa", rewards={2: 0.2}, values=values, truncated=True, bootstrap=0.6),
        run("aaa", rewards={2: 0.2}, values=values),
    )
    got = Gae(gamma=0.9, lam=0.5)(batch)
    np.testing.assert_allclose(got.credit, [0.15585, 0.013, 0.34, 0.0465, -0.23, -0.2], atol=1e-12)


def test_without_values_it_is_refused_and_says_what_to_do() -> None:
    with pytest.raises(
        InputError, match=r"log `value` on the spans, or ask for values=zero .*or name a critic .*critic=compatible"
    ):
        Gae()(batch_of(run("ua", 1.0, values=[0.5, None])))


def test_values_zero_needs_nothing_and_is_reward_to_go() -> None:
    batch = batch_of(run("ucra", rewards={1: 0.5, 3: 1.0}, truncated=True), run("a", 0.0))
    gae = Gae(gamma=0.9, lam=1.0, values="zero")
    assert (Gae().needs, gae.needs) == (("values",), ())
    np.testing.assert_allclose(gae(batch).credit, Rtg(gamma=0.9)(batch).credit, atol=1e-12)
    assert gae(batch).notes == ()


def test_a_run_that_lacks_a_value_is_not_scored_and_the_others_are() -> None:
    batch = batch_of(
        run("aa", 1.0, values=[0.5, None]),
        run("aa", 1.0, values=[0.5, 0.5], truncated=True),
        run("aa", 1.0, values=[0.5, 0.5]),
        run("aa", None, values=[None, None]),
    )
    got = Gae(lam=1.0)(batch)
    np.testing.assert_array_equal(got.credit, [NAN, NAN, NAN, NAN, 0.5, 0.5, NAN, NAN])
    assert [(note.code, note.trajectory) for note in got.notes] == [("missing-values", "t0"), ("no-bootstrap", "t1")]
    assert Gae().explain(batch, 0) == Gae().explain(batch, 2) == ()


def test_by_turn_only_the_value_at_the_first_action_is_needed() -> None:
    batch = batch_of(run("tcra", rewards={1: 0.5, 3: 1.0}, values=[0.2, None, None, 0.4]))
    got = Gae(gamma=0.9, lam=0.8, unit="turn")(batch)
    first = (0.5 + 0.9 * 0.4 - 0.2) + 0.72 * 0.6
    np.testing.assert_allclose(got.credit, [first, first, NAN, 0.6], atol=1e-12)
    terms = Gae(gamma=0.9, lam=0.8, unit="turn").explain(batch, 1)
    assert [term.spans for term in terms] == [(0, 1), (3,)]
    np.testing.assert_allclose([term.value for term in terms], [0.66, 0.432])


def test_turn_rewards_to_go_are_copied_to_all_actions_of_the_turn() -> None:
    batch = batch_of(run("aararaaara", rewards={0: 0.1, 6: -0.2, 9: 1.0}))
    got = Gae(gamma=0.9, lam=1.0, unit="turn", values="zero")(batch)
    np.testing.assert_allclose(got.credit, [0.667, 0.667, NAN, 0.63, NAN, 0.7, 0.7, 0.7, NAN, 1.0], atol=1e-12)


@pytest.mark.parametrize("unit", ["span", "turn"])
def test_of_thousands_of_steps_the_largest_are_explained_and_the_rest_as_a_sum(unit: Any) -> None:
    n = 1000
    batch = batch_of(run("ar" * n, rewards={2 * i: i * 7919 % 100 / 100 for i in range(n)}))
    gae = Gae(gamma=0.999, lam=0.99, unit=unit, values="zero")
    terms = gae.explain(batch, 0)
    assert len(terms) == 64
    assert terms[-1].name == f"{n - 63} more steps"
    assert abs(sum(term.value for term in terms) - gae(batch).credit[0]) < 1e-6


def test_a_turn_of_thousands_of_actions_names_no_more_spans_than_can_be_read() -> None:
    [term] = Gae(unit="turn", values="zero").explain(batch_of(run("a" * 1000, 1.0)), 500)
    assert term.spans == tuple(range(64))


@pytest.mark.parametrize(
    ("flavour", "credit"),
    [
        # the answer: 1 - .5 = .5
        pytest.param("verl", [-0.25 + 0.25 + 0.125, NAN, 0.5], id="verl steps over the result"),
        pytest.param("openrlhf", [-0.25 + 0.25 * (0.25 + 0.125), NAN, 0.5], id="in openrlhf it is a step at V = 0"),
        pytest.param("skyrl", [2 - 0.25 + 0.25 * (0.25 - 4 + 0.125), NAN, 0.5], id="skyrl reads its V"),
        pytest.param("slime", [2 - 0.25 + 0.25 * (0.25 - 4 + 0.125), NAN, 0.5], id="so does slime"),
    ],
)
def test_a_result_between_two_actions_as_each_trainer_has_it(flavour: Any, credit: list[float]) -> None:
    batch = batch_of(run("cra", 1.0, values=[0.25, 4, 0.5]))
    gae = Gae(0.5, 0.5, flavour=flavour)
    np.testing.assert_allclose(gae(batch).credit, credit, rtol=0, atol=1e-12)
    for span in range(3):
        total = sum(term.value for term in gae.explain(batch, span))
        np.testing.assert_allclose(total, np.nan_to_num(credit[span]), rtol=0, atol=1e-12)


def test_where_every_value_is_read_every_span_needs_one() -> None:
    batch = batch_of(run("cra", 1.0, values=[0.25, None, 0.5]), run("a", 1.0, values=[0.5]))
    for flavour in ("verl", "openrlhf"):
        assert Gae(flavour=flavour)(batch).notes == ()
    got = Gae(flavour="skyrl")(batch)
    np.testing.assert_array_equal(got.credit, [NAN, NAN, NAN, 0.5])
    assert [(note.code, note.trajectory) for note in got.notes] == [("missing-values", "t0")]


@pytest.mark.parametrize(
    ("flavour", "over"),
    [("verl", (0.5 + 1e-8) ** 0.5), ("openrlhf", 0.5), ("areal", 0.5**0.5 + 1e-5)],
)
def test_advantages_are_whitened_as_each_trainer_does(flavour: Any, over: float) -> None:
    batch = batch_of(run("ua", 1.0, values=[None, 0.5]), run("a", 2.0, values=[0.5]), run("a", None, values=[0.5]))
    gae = Gae(flavour=flavour, whiten=True)
    assert (gae.scope, Gae().scope) == ("batch", "group")
    got = gae(batch)
    np.testing.assert_array_equal(got.credit, [NAN, 0.5, 1.5, NAN])
    np.testing.assert_allclose(got.advantage, [NAN, -0.5 / over, 0.5 / over, NAN], rtol=0, atol=1e-12)
    alike = gae(batch_of(run("a", 1.0, values=[0.5])))
    assert alike.advantage.tolist() == [0.0]
    assert [note.code for note in alike.notes] == ["nothing-to-whiten"]
