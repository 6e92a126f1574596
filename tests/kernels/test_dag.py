"""Ancestors and best paths over parents in CSR form."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

from tests import naive
from tests.laws import Columns, Dag, columns, dags, halves
from trajcredit import kernels

NAN = np.nan


def _dag(sinks: str, actions: str, edges: list[tuple[int, int, float]]) -> Dag:
    """Masks as strings of 0 and 1."""
    ends, acts = (np.array([c == "1" for c in text], dtype=bool) for text in (sinks, actions))
    return Dag(ends, acts, sorted(edges, key=lambda e: (e[1], e[0])))


@pytest.mark.parametrize(
    ("dag", "gamma", "factors", "hops"),
    [
        pytest.param(
            _dag("000001", "101011", [(0, 1, 1), (1, 4, 1), (2, 3, 1), (4, 5, 1)]),
            0.9,
            [0.81, NAN, 0, NAN, 0.9, 1],
            [2, 1, -1, -1, 1, 0],
            id="two hops through an observation, which costs none; a side branch gets nothing",
        ),
        pytest.param(
            _dag("0001", "1111", [(0, 3, 1), (0, 1, 1), (1, 2, 1), (2, 3, 1)]),
            0.5,
            [0.5, 0.25, 0.5, 1],
            [1, 2, 1, 0],
            id="the shortest of two paths",
        ),
        pytest.param(
            _dag("0001", "1111", [(0, 3, 0.25), (0, 1, 1), (1, 2, 1), (2, 3, 1)]),
            0.9,
            [0.729, 0.81, 0.9, 1],
            [3, 2, 1, 0],
            id="a long sure path beats a short doubtful one",
        ),
        pytest.param(
            _dag("010", "111", [(0, 2, 1)]), 1.0, [0, 1, 0], [-1, 0, -1], id="a child of a sink is on no path"
        ),
        pytest.param(
            _dag("11", "11", [(0, 1, 1)]), 0.5, [1, 1], [0, 0], id="a sink before another sink keeps all of its credit"
        ),
        pytest.param(_dag("01", "11", [(0, 1, 0)]), 1.0, [0, 1], [-1, 0], id="a shut edge is not followed"),
        pytest.param(_dag("01", "11", [(0, 1, 1)]), 0.0, [0, 1], [1, 0], id="gamma 0 is on the path, at nothing"),
        pytest.param(_dag("", "", []), 1.0, [], [], id="no spans"),
    ],
)
def test_best_path_by_hand(dag: Dag, gamma: float, factors: list[float], hops: list[int]) -> None:
    got, steps = kernels.best_path(dag.sinks, dag.action_mask, dag.parent_offsets, dag.parents, dag.gain, gamma)
    np.testing.assert_allclose(got, factors, atol=1e-12)
    assert steps.tolist() == hops


@given(dags(), halves)
def test_best_path_says_what_walking_every_path_says(dag: Dag, gamma: float) -> None:
    got, steps = kernels.best_path(dag.sinks, dag.action_mask, dag.parent_offsets, dag.parents, dag.gain, gamma)
    factors, hops = naive.best_path(dag.sinks.tolist(), dag.action_mask.tolist(), dag.edges, gamma)
    np.testing.assert_array_equal(got, factors)
    assert steps.tolist() == hops


@given(dags())
def test_ancestors_say_what_the_slow_closure_says(dag: Dag) -> None:
    gate = dag.gain > 0
    got = kernels.ancestors(dag.sinks, dag.parent_offsets, dag.parents, gate)
    assert got.tolist() == naive.ancestors(dag.sinks.tolist(), [(p, c) for p, c, gain in dag.edges if gain > 0])


@given(dags())
def test_a_span_has_a_path_exactly_when_it_is_an_ancestor(dag: Dag) -> None:
    _, hops = kernels.best_path(dag.sinks, dag.action_mask, dag.parent_offsets, dag.parents, dag.gain, 0.5)
    reached = kernels.ancestors(dag.sinks, dag.parent_offsets, dag.parents, dag.gain > 0)
    assert (hops >= 0).tolist() == reached.tolist()


@given(columns())
def test_a_reward_sits_where_it_is_not_zero_else_on_the_last_action(c: Columns) -> None:
    carries = kernels.rewarded(c.rewards, c.action_mask, c.offsets)
    last = kernels.last_actions(c.action_mask, c.offsets)
    ends = c.offsets.tolist()
    for start, end in pairwise(ends):
        actions = [i for i in range(start, end) if c.action_mask[i]]
        assert [i for i in range(start, end) if last[i]] == actions[-1:]
        assert [i for i in range(start, end) if carries[i]] == ([i for i in actions if c.rewards[i]] or actions[-1:])


def test_an_unscored_trajectory_has_its_last_action_for_a_sink() -> None:
    got = kernels.rewarded(np.full(3, NAN), np.array([True, True, False]), np.array([0, 3]))
    assert got.tolist() == [False, True, False]
