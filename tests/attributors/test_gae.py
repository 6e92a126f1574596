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
