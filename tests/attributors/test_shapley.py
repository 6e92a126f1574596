"""Shares of calls: by hand, against all orders, what adds up, and the wrong flight."""

from __future__ import annotations

from itertools import pairwise, permutations
from math import fsum, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import trajcredit as tc
from tests.attributors.meetings import meetings, told
from tests.build import batch_of, run
from trajcredit.attributors import Dag, Grpo, Rloo, Shapley, Term, configure
from trajcredit.attributors import shapley as module
from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.graph import EDGE_KINDS
from trajcredit.kernels.coalitions import exact_shares, sampled_shares
from trajcredit.model import Trajectory

NAN = np.nan
FLIGHTS = Path(tc.__file__).parent / "data" / "wrong_flight.jsonl"
STABLE = ("call", "explicit")
"""Edge kinds that no rule of the graph builder adds to these trajectories."""


def _two_calls(*outcomes: float, edges: Any = ((1, 5), (3, 5))) -> Batch:
    """Four rollouts: looks 1 and 2, 1 and 3, 4 and 2, 4 and 3; the answer rests on both."""
    pairs = ["c1 r:x c2 r:y", "c1 r:x c3 r:z", "c4 r:v c2 r:y", "c4 r:v c3 r:z"]
    return batch_of(*(told(f"u {p} a", r, edges=edges) for p, r in zip(pairs, outcomes, strict=True)))


def test_two_calls_by_hand() -> None:
    # of the first: b = 1/3; v(1) = (0 + 1/3) / 2 = 1/6; v(2) = (1 + 1/3) / 2 = 2/3; v(both) = 1
    credit = Shapley(kinds=STABLE, coalitions="all")(_two_calls(1, 0, 1, 0)).credit
    first = ((1 / 6 - 1 / 3) + (1 - 2 / 3)) / 2
    second = ((2 / 3 - 1 / 3) + (1 - 1 / 6)) / 2
    np.testing.assert_allclose(credit[:6], [NAN, first, NAN, second, NAN, 0], atol=1e-15)


def test_a_call_is_kept_only_with_the_call_it_uses() -> None:
    # now the second uses the first: v(2) is what nothing kept is worth, 1/3
    batch = _two_calls(1, 0, 1, 0, edges=((2, 3), (3, 5)))
    credit = Shapley(kinds=STABLE)(batch).credit
    first = ((1 / 6 - 1 / 3) + (1 - 1 / 3)) / 2
    second = (0 + (1 - 1 / 6)) / 2
    np.testing.assert_allclose(credit[:6], [NAN, first, NAN, second, NAN, 0], atol=1e-15)


def test_a_call_the_outcome_does_not_rest_on_gets_nothing() -> None:
    credit = Shapley(kinds=STABLE)(_two_calls(1, 0, 0, 0, edges=((1, 5),))).credit
    assert credit[3] == 0
    np.testing.assert_allclose(credit[1], 1, atol=1e-15)


def test_the_same_call_made_twice_shares_alike() -> None:
    edges = ((1, 5), (3, 5))
    batch = batch_of(
        told("u c1 r:x c1 r:x a", 1.0, edges=edges), told("u c1 r:x c2 r:y a", 0.0), told("u c2 r:y c2 r:y a", 0.0)
    )
    credit = Shapley(kinds=STABLE)(batch).credit
    np.testing.assert_allclose(credit[[1, 3]], [0.5, 0.5], atol=1e-15)


def test_without_a_call_the_actions_that_carry_the_outcome_share_it() -> None:
    batch = batch_of(run("uta", 1.0), run("ua", 0.0), run("uaa", rewards={1: 1.0, 2: 1.0}), run("uca", None))
    got = Shapley(kinds=STABLE)(batch)
    np.testing.assert_allclose(got.credit, [NAN, 0, 0, NAN, -1.5, NAN, 0.75, 0.75, NAN, NAN, NAN], atol=1e-15)
    assert [(note.code, note.trajectory) for note in got.notes] == [("no-call", f"t{t}") for t in range(3)]
    terms = Shapley(kinds=STABLE).explain(batch, 6)
    assert terms == (Term("outcome / 2", 1.0, (6, 7)), Term("mean of siblings / 2", -0.25, (2, 4)))


def test_a_group_of_one_gets_nothing_and_is_named() -> None:
    got = Shapley()(batch_of(told("u c1 r:x a", 0.8, edges=[(1, 3)]), told("u c1 r:x a", None)))
    np.testing.assert_array_equal(got.credit, [NAN, 0, NAN, 0, NAN, NAN, NAN, NAN])
    assert [(note.code, note.trajectory) for note in got.notes] == [("singleton-group", "t0")]


def test_an_unscored_sibling_says_nothing() -> None:
    four = [told(f"u c{i} r:x a", float(i == 1), edges=[(1, 3)]) for i in (1, 1, 2)]
    plain = Shapley(kinds=STABLE)(batch_of(*four)).credit
    more = Shapley(kinds=STABLE)(batch_of(*four, told("u c1 r:x a", None, edges=[(1, 3)]))).credit
    np.testing.assert_array_equal(more[: len(plain)], plain)


# ---------------------------------------------------------------- the wrong flight


@pytest.fixture(scope="module")
def flights() -> Batch:
    """Four rollouts of one booking: two search for the wrong airport; two look at a weather that plays no part."""
    return tc.batch(tc.read(str(FLIGHTS)))


def _calls(batch: Batch, credit: Any) -> list[dict[str, float]]:
    """Credit of each call by tool, a rollout a row."""
    found: list[dict[str, float]] = [{} for _ in range(batch.n_trajectories)]
    for i in np.flatnonzero(batch.call_key):
        found[batch.trajectory_of(int(i))][batch.tool_names[batch.tool[i]]] = float(credit[i])
    return found


def test_the_search_for_the_wrong_airport_takes_the_largest_blame(flights: Batch) -> None:
    wrong, right = 4 / 9, 1 / 9
    lost = {"search_flights": -wrong, "select_itinerary": -right, "pay": -right}
    for credit, failed, weather in zip(
        _calls(flights, Shapley()(flights).credit), (True, False, True, False), (True, False, False, True), strict=True
    ):
        if failed:
            assert min(credit, key=lambda tool: credit[tool]) == "search_flights"
            assert sorted(credit.values())[0] < sorted(credit.values())[1] - 0.3
        assert credit == pytest.approx(
            {tool: x if failed else -x for tool, x in lost.items()} | ({"get_weather": 0.0} if weather else {})
        )


def test_as_if_inputs_came_from_nowhere_the_selection_is_blamed_as_much_as_its_search(flights: Batch) -> None:
    first = _calls(flights, Shapley(coalitions="all")(flights).credit)[0]
    assert first == pytest.approx(
        {"search_flights": -1 / 3, "get_weather": 0.0, "select_itinerary": -1 / 3, "pay": 0.0}
    )


def test_flat_credit_blames_all_calls_alike_and_the_graph_clears_the_weather(flights: Batch) -> None:
    flat, masked = (_calls(flights, attributor(flights).credit)[0] for attributor in (Grpo(), Dag()))
    assert set(flat.values()) == {-0.5}
    assert masked == {"search_flights": -0.5, "get_weather": 0.0, "select_itinerary": -0.5, "pay": -0.5}


# ---------------------------------------------------------------- against all orders


def _parents(batch: Batch, shapley: Shapley) -> list[list[int]]:
    """What each span uses, over edges that count."""
    ends = batch.parent_offsets.tolist()
    return [
        [
            int(batch.parents[e])
            for e in range(first, last)
            if batch.parent_weight[e] >= shapley.min_weight and EDGE_KINDS[batch.parent_kind[e]] in shapley.kinds
        ]
        for first, last in pairwise(ends)
    ]


def _value(
    coalition: set[int], needs: dict[int, set[int]], batch: Batch, outcome: float, others: list[tuple[set[int], float]]
) -> float:
    """v: the siblings that made all that is kept, and one pseudo-count at their mean."""
    mean = fsum(reward for _, reward in others) / len(others) if others else outcome
    kept = {int(batch.call_key[i]) for i in coalition if needs[i] <= coalition}
    if not kept:
        return mean
    if len(coalition) == len(needs):
        return outcome
    also = [reward for made, reward in others if kept <= made]
    return (fsum(also) + mean) / (len(also) + 1)


def _naive(batch: Batch, shapley: Shapley) -> list[float]:
    """Every order of joining, every coalition looked up among the siblings."""
    parents = _parents(batch, shapley)

    def under(span: int) -> set[int]:
        return set(parents[span]).union(*(under(parent) for parent in parents[span]))

    on_path = Dag(min_weight=shapley.min_weight, kinds=shapley.kinds, sinks=shapley.sinks).shares(batch)[1]
    spans = [range(*ends) for ends in pairwise(batch.span_offsets.tolist())]
    made = [{int(batch.call_key[i]) for i in of if batch.call_key[i]} for of in spans]
    scored = np.flatnonzero(~np.isnan(batch.outcome)).tolist()
    credit = [nan] * batch.n_spans
    for t in scored:
        actions = [i for i in spans[t] if batch.action_mask[i]]
        outcome = float(batch.outcome[t])
        others = [(made[j], float(batch.outcome[j])) for j in scored if j != t and batch.group[j] == batch.group[t]]
        players = [i for i in actions if batch.call_key[i] and on_path[i]]
        needs = {i: (under(i) & set(players) if shapley.coalitions == "feasible" else set()) for i in players}
        carry = [i for i in actions if batch.rewards[i] != 0] or actions[-1:]
        for i in actions:
            alone = (outcome - _value(set(), {}, batch, outcome, others)) / len(carry)
            credit[i] = alone if not players and i in carry else 0.0
        orders = list(permutations(players))
        for order in orders:
            for k, i in enumerate(order):
                after, before = (_value(set(order[:n]), needs, batch, outcome, others) for n in (k + 1, k))
                credit[i] += (after - before) / len(orders)
    return credit


@pytest.mark.parametrize(
    "shapley", [Shapley(), Shapley(coalitions="all"), Shapley(kinds=STABLE, sinks=("answer",))], ids=str
)
@given(runs=meetings())
def test_it_says_what_all_orders_say(shapley: Shapley, runs: list[Trajectory]) -> None:
    batch = batch_of(*runs)
    assume(np.diff(shapley._game(batch).player_offsets).max() <= 5)  # 120 orders
    np.testing.assert_allclose(shapley(batch).credit, _naive(batch, shapley), atol=1e-9)


def _long(n: int, group: str = "g") -> list[Trajectory]:
    """Three rollouts of n calls each, every second one made by all, all under the answer, some under a later call."""
    edges = [(2 * k + 1, 2 * n + 1) for k in range(n)] + [(2 * k + 2, 2 * k + 5) for k in range(0, n - 2, 3)]
    return [
        told(
            f"u {' '.join(f'c{k if k % 2 else 100 * t + k} r:x' for k in range(n))} a", reward, edges=edges, group=group
        )
        for t, reward in enumerate((1.0, 0.0, 0.5))
    ]


@given(runs=meetings(), bins=st.integers(1, 5))
def test_all_orders_drawn_are_all_coalitions_walked(runs: list[Trajectory], bins: int) -> None:
    game = Shapley()._game(batch_of(*runs))
    assume(np.diff(game.player_offsets).max() <= 5)
    n = np.where(np.isnan(game.against), 0, np.diff(game.player_offsets))
    for many in set(n[n > 0].tolist()):
        which = np.flatnonzero(n == many)
        orders = np.array(list(permutations(range(many))))
        np.testing.assert_allclose(
            sampled_shares(game, which, orders, bins), exact_shares(game, which, bins), atol=1e-9
        )


def test_what_is_drawn_comes_near_what_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = batch_of(*_long(10))
    exact = Shapley(kinds=STABLE)(batch).credit
    monkeypatch.setattr(module, "EXACT", 0)
    drawn = [Shapley(samples=400, seed=seed, kinds=STABLE)(batch).credit for seed in (0, 0, 1)]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2], equal_nan=True)
    for got in drawn:
        np.testing.assert_allclose(got, exact, atol=0.02)


@pytest.mark.parametrize("n", [3, 12, 13, 40])
def test_the_shares_of_a_rollout_add_up_to_what_it_got_beyond_its_siblings(n: int) -> None:
    batch = batch_of(*_long(n))
    got, beyond = Shapley(samples=7, kinds=STABLE)(batch), Rloo()(batch).credit
    for t in range(3):
        start, end = batch.span_offsets[t : t + 2]
        assert abs(np.nansum(got.credit[start:end]) - beyond[end - 1]) < 1e-13
    assert [note.code for note in got.notes] == (["sampled"] if n > 12 else [])
    if n > 12:
        assert got.notes[0].message.startswith("3 of its rollouts have over 12 calls: the mean over 7 orders")


@given(runs=meetings())
def test_so_they_do_for_any_rollout(runs: list[Trajectory]) -> None:
    batch = batch_of(*runs)
    credit, beyond = Shapley()(batch).credit, Rloo()(batch).credit
    for t in np.flatnonzero(~np.isnan(batch.outcome)):
        start, end = batch.span_offsets[t : t + 2]
        assert abs(np.nansum(credit[start:end]) - np.nanmax(beyond[start:end])) < 1e-12


def test_orders_do_not_depend_on_what_else_is_in_the_batch() -> None:
    shapley = Shapley(samples=5, kinds=STABLE)
    runs = [_long(n, group=str(n)) for n in (13, 20, 14)]
    apart = [shapley(batch_of(*some)).credit for some in runs]
    together = shapley(batch_of(*(one for some in runs for one in some))).credit
    np.testing.assert_array_equal(together, np.concatenate(apart))


def test_the_explanation_says_how_much_others_had_to_be_kept() -> None:
    batch = _two_calls(1, 0, 1, 0)
    shapley = Shapley(kinds=STABLE, coalitions="all")
    first, second = shapley.explain(batch, 1)
    assert (first.name, first.spans) == ("joined with 0 of the other 1 call kept", (7,))
    assert second.name == "joined with 1 of the other 1 call kept"
    np.testing.assert_allclose([first.value, second.value], [(1 / 6 - 1 / 3) / 2, (1 - 2 / 3) / 2], atol=1e-15)
    assert shapley.explain(batch, 5) == (Term("no call that the outcome rests on", 0.0),)
    assert shapley.explain(batch, 0) == ()
    names = [term.name for term in Shapley(kinds=STABLE).explain(batch_of(*_long(20)), 1)]
    assert names[0] == "joined with 0 to 2 of the other 19 calls kept"
    assert names[-1] == "joined with 18 to 19 of the other 19 calls kept"
    assert len(names) == 8


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"samples": 0}, "shapley: samples=0 is not a number in [1, 100000]"),
        ({"samples": 1.5}, "shapley: samples=1.5 is not a whole number"),
        ({"seed": -1}, "shapley: seed=-1"),
        ({"coalitions": "some"}, "shapley: coalitions='some' is not one of feasible, all"),
        ({"min_weight": 2}, "shapley: min_weight=2"),
        ({"kinds": ("calls",)}, "shapley: kinds='calls' is not one of call, turn"),
        ({"sinks": ()}, "shapley: sinks is empty"),
    ],
)
def test_what_is_out_of_range_is_refused_by_name(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError) as refusal:
        Shapley(**given)
    assert says in str(refusal.value)


def test_parameters_are_read_from_text() -> None:
    assert configure(Shapley, {"samples": "9", "seed": "3", "kinds": "call"}) == Shapley(9, 3, kinds=("call",))
