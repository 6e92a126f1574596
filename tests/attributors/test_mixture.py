"""Opinions weighted by what they foretell: by hand, against a search of all subsets, what never leaks."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from tests.attributors.meetings import meetings, told
from tests.build import batch_of, run
from trajcredit.arrays import F64
from trajcredit.attributors import Mixture, Rloo, Shapley, configure
from trajcredit.attributors import hidden as module
from trajcredit.attributors.blending import blended, non_negative
from trajcredit.attributors.hidden import told_by_siblings
from trajcredit.batching import Batch, decisions
from trajcredit.errors import InputError, UnknownNameError
from trajcredit.model import Trajectory

NAN = np.nan


def pairs(*scale: float) -> Batch:
    """A group of two for every number: one won, one lost; the forecast of its one choice is right by so much."""
    runs = [run("ua", float(1 - i % 2), name=f"r{i:02}", group=f"g{i // 2}") for i in range(2 * len(scale))]
    column = np.full(4 * len(scale), NAN)
    column[1::2] = [sign * s for s in scale for sign in (1, -1)]
    return replace(batch_of(*runs), advantage_forecast=column)


def test_what_siblings_got_for_the_same_call_by_hand() -> None:
    batch = batch_of(told("u c1 r:x", 1.0), told("u c1 r:x", 0.0), told("u c2 r:x", 0.0), told("u c1 r:x", None))
    got = told_by_siblings(batch, Rloo(), decisions(batch))
    # the first hidden, the second has 0 - 0; the second hidden, the first has 1 - 0; nobody else made call 2; the last
    # has no outcome to hide: the first has 1 - 0, the second 0 - 1/2. One more counts as 0 each time.
    first, second = 1 - 0, 0 - 1 / 2
    np.testing.assert_allclose(got, [0, 0, 0, 0, first / 2, 0, 0, 0, 0, 0, (1 + second) / 3, 0], atol=1e-15)


@pytest.mark.parametrize("attributor", [Rloo(), Shapley()], ids=["rloo", "shapley"])
def test_what_is_told_of_a_rollout_does_not_rest_on_its_outcome(attributor: Any) -> None:
    stories = ["u c1 r:x b1 r:ok a", "u c2 r:x b1 r:ok a", "u c1 r:x b2 r:ok a", "u c2 r:x a"]
    one = batch_of(*(told(story, float(n % 2)) for n, story in enumerate(stories)))
    own = np.arange(one.span_offsets[1])
    for outcome in (5.0, -5.0):
        other = batch_of(*(told(story, outcome if n == 0 else float(n % 2)) for n, story in enumerate(stories)))
        before, after = (told_by_siblings(batch, attributor, decisions(batch)) for batch in (one, other))
        np.testing.assert_array_equal(before[own], after[own])
        assert (before != after).any(), "the siblings are told of it"


def test_in_large_groups_several_are_hidden_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = batch_of(*(told("u c1 r:x", float(n)) for n in range(4)))
    monkeypatch.setattr(module, "MOST_PASSES", 2)
    got = told_by_siblings(batch, Rloo(), decisions(batch))
    # 0 and 2 are hidden together: 1 and 3 are left, -2 and 2
    np.testing.assert_allclose(got, np.zeros(12), atol=1e-15)
    assert len(list(module._passes(batch))) == 2


def test_a_forecast_that_is_right_but_for_its_scale_is_scaled_by_hand() -> None:
    batch = pairs(*[0.25] * 6)
    made = Mixture(("forecast",), w=0.5)
    # against its sibling each forecast says 0.5, and the outcome is 1: weight 2; of the residual, 1 - 0.5, a half
    np.testing.assert_allclose(made(batch).credit[:4], [NAN, 0.75, NAN, -0.75], atol=1e-12)
    assert [note.code for note in made(batch).notes] == ["mixture-weights"]
    assert made(batch).notes[0].message == "pool 0: forecast 2.00; R2 out of fold 1.00"
    terms = made.explain(batch, 1)
    assert [term.value for term in terms] == pytest.approx([0.5, 0.5, 0.0, -0.25])
    assert terms[0].name == "forecast of this choice, x 2"
    # the forecasts leave nothing unexplained: auto leaves the residual out
    np.testing.assert_allclose(Mixture(("forecast",))(batch).credit[:4], [NAN, 0.5, NAN, -0.5], atol=1e-12)


def test_a_forecast_without_skill_counts_nothing_and_credit_is_that_of_rloo() -> None:
    batch = pairs(0.25, -0.25, 0.25, -0.25, 0.25, -0.25)
    for made in (Mixture(("forecast",)), Mixture(("forecast",), w=0.0), Mixture(("forecast", "rloo", "dag"))):
        got = made(batch)
        np.testing.assert_array_equal(got.credit, Rloo()(batch).credit)
        assert [note.code for note in got.notes] == ["mixture-unskilled"]
        assert got.notes[0].message == "pool 0: no member foretells outcomes there, scored as rloo"


def test_a_group_is_weighed_by_the_others() -> None:
    """The forecast of the first group is four times too small; its own weight is that of the other groups."""
    batch = pairs(0.125, *[0.5] * 7)
    weights = Mixture(("forecast",), w=0.0)(batch).credit[1::2] / batch.advantage_forecast[1::2]
    np.testing.assert_allclose(weights[:2], [1, 1], atol=1e-12)
    assert (weights[2:] > 1).all(), "the first counts with the others"


def test_a_group_of_one_has_the_opinions_alone() -> None:
    batch = pairs(*[0.5] * 6)
    alone = batch_of(*(batch.graphs[t].trajectory for t in range(11)) if batch.graphs else ())
    alone = replace(alone, advantage_forecast=batch.advantage_forecast[:22])
    got = Mixture(("forecast",), w=1.0)(alone)
    assert got.credit[21] == pytest.approx(0.5)
    assert [note.code for note in got.notes] == ["singleton-group", "mixture-weights"]
    assert [term.value for term in Mixture(("forecast",), w=1.0).explain(alone, 21)] == pytest.approx([0.5])


def test_pools_have_weights_of_their_own() -> None:
    batch = pairs(*[0.5] * 6, *[0.25] * 6)
    batch = replace(batch, pool=np.repeat([0, 1], 12))
    got = Mixture(("forecast",), w=0.0)(batch)
    assert got.notes[0].message == (
        "pool 0: forecast 1.00; R2 out of fold 1.00; pool 1: forecast 2.00; R2 out of fold 1.00"
    )
    np.testing.assert_allclose(np.abs(got.credit[1::2]), 0.5, atol=1e-12)


def test_calls_that_siblings_made_foretell_without_a_critic() -> None:
    """Six tasks of four: who makes call 1 wins, who makes call 2 loses."""
    runs = [told(f"u c{1 + n % 2} r:x a", float(1 - n % 2), name=f"r{n:02}", group=f"g{n // 4}") for n in range(24)]
    batch = batch_of(*runs)
    made = Mixture(("rloo",), w=0.0)
    assert made.needs == ()
    got = made(batch)
    assert (got.credit[1::4] > 0.4).sum() == (got.credit[1::4] < -0.4).sum() == 12
    assert (got.credit[3::4] == 0).all(), "no sibling's words are the same"
    assert made.explain(batch, 1)[0].name.startswith("rloo: what siblings got for it, x ")
    assert made.explain(batch, 1)[0].spans == (9,)


def subsets(power: F64, match: F64) -> F64:
    """The best non-negative weights, found by trying every set of members."""
    best: F64 = np.zeros(len(match))
    least = 0.0
    for n in range(1, len(match) + 1):
        for some in map(list, combinations(range(len(match)), n)):
            w = np.zeros(len(match))
            w[some] = np.linalg.lstsq(power[np.ix_(some, some)], match[some], rcond=None)[0]
            loss = float(w @ power @ w / 2 - w @ match)
            if (w >= 0).all() and loss < least:
                best, least = w, loss
    return best


@pytest.mark.parametrize("seed", [0, 1, 2, 4])
def test_weights_are_the_best_there_are_without_a_group_and_with_all(seed: int) -> None:
    random = np.random.default_rng(seed)
    group, pool = np.repeat(np.arange(8), 3), np.zeros(24, dtype=np.int64)
    truth = random.normal(size=(24, 3)) * [1.0, 2.0, 0.5]
    against = truth @ np.array([0.5, 0.3, -0.4]) + 0.05 * random.normal(size=24)
    blend = blended(truth, against, group, pool, np.ones(24, dtype=bool))
    counts = blend.counts[0]
    assert counts.any()
    x = np.column_stack([column - _mean_of_siblings(column, group) for column in truth.T]) * counts
    for g in range(8):
        rest = group != g
        expected = subsets(x[rest].T @ x[rest], x[rest].T @ against[rest])
        np.testing.assert_allclose(blend.weights[group == g], [expected] * 3, atol=1e-8)
    np.testing.assert_allclose(blend.means[0], subsets(x.T @ x, x.T @ against), atol=1e-8)
    foretold = (blend.weights * x).sum(axis=1)
    assert blend.explained[0] == pytest.approx(1 - ((against - foretold) ** 2).sum() / (against**2).sum())


def _mean_of_siblings(column: F64, group: Any) -> F64:
    return np.array([column[(group == g) & (np.arange(len(column)) != i)].mean() for i, g in enumerate(group)])


def test_members_that_say_the_same_or_nothing_are_no_trouble() -> None:
    power = np.array([[[4.0, 4.0, 0.0], [4.0, 4.0, 0.0], [0.0, 0.0, 0.0]]])
    weights = non_negative(power, np.array([[2.0, 2.0, 0.0]]))
    np.testing.assert_allclose(weights, [[0.5, 0, 0]], atol=1e-12)


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        pytest.param({"members": "mixture"}, "names mixture itself", id="itself"),
        pytest.param({"members": "gae"}, "gae needs the columns values: name forecast", id="needs a column"),
        pytest.param({"members": "moving_average"}, "moving_average compares groups", id="compares groups"),
        pytest.param({"members": "rloo+rloo"}, "names one twice", id="twice"),
        pytest.param({"members": ""}, "not a list of one to 8", id="none"),
        pytest.param({"w": "2"}, r"w=2.0 is not a number in \[0, 1\]", id="w out of range"),
        pytest.param({"update_size": "0"}, "update_size=0 is not", id="an update of nothing"),
    ],
)
def test_what_cannot_be_is_refused_by_name(given_: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        configure(Mixture, given_)


def test_an_unknown_member_lists_the_known() -> None:
    with pytest.raises(UnknownNameError, match="no attributor named 'oracle'"):
        configure(Mixture, {"members": "forecast+oracle"})


@settings(max_examples=25)
@given(runs=meetings())
def test_small_groups_are_scored_as_by_rloo_and_explained(runs: list[Trajectory]) -> None:
    batch = batch_of(*runs)
    made = Mixture(("rloo", "dag", "tree"))
    credit = made(batch).credit
    np.testing.assert_array_equal(credit, Rloo()(batch).credit)
    for span in np.flatnonzero(~np.isnan(credit)).tolist():
        assert sum(term.value for term in made.explain(batch, span)) == pytest.approx(credit[span], abs=1e-9)
