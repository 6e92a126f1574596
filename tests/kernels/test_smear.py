"""Deltas of scores, and how they go back along edges: by hand, against matrices, by law."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajcredit import kernels
from trajcredit.arrays import BOOL, F64, I64

NAN = np.nan
Links: TypeAlias = tuple[I64, I64, F64]
"""Offsets, parents, weights."""
Drawn: TypeAlias = tuple[F64, BOOL, Links, BOOL]


@pytest.mark.parametrize(
    ("scores", "actions", "offsets", "wanted"),
    [
        pytest.param([0.5, NAN, 0.25], [1, 0, 1], [0, 3], [-0.5, 0, -0.25], id="each against the one before"),
        pytest.param([0.5, 0.5], [1, 1], [0, 1, 2], [-0.5, -0.5], id="the next trajectory starts anew"),
        pytest.param([0.5, NAN, 0.5], [1, 1, 1], [0, 3], [-0.5, 0, 0], id="no opinion changes nothing"),
        pytest.param([0.2, 0.9], [0, 1], [0, 0, 2], [0, -0.1], id="observations have none; an empty run is legal"),
        pytest.param([0.5, 1.0], [1, 1], [0, 2], [-0.5, 0.5], id="what is put right is progress"),
    ],
)
def test_deltas_by_hand(scores: list[float], actions: list[int], offsets: list[int], wanted: list[float]) -> None:
    for start in (NAN, 1.0):
        starts = np.full(len(offsets) - 1, start)
        got = kernels.score_deltas(np.array(scores), starts, np.array(actions, dtype=bool), np.array(offsets))
        np.testing.assert_allclose(got, wanted, atol=1e-15)


def test_the_first_action_is_held_against_where_the_judge_began() -> None:
    actions, offsets = np.ones(3, dtype=bool), np.array([0, 2, 3])
    got = kernels.score_deltas(np.array([0.5, 1.0, -0.5]), np.array([0.25, 0.0]), actions, offsets)
    np.testing.assert_array_equal(got, [0.25, 0.5, -0.5])


def edges(n: int, *given: tuple[int, int, float]) -> Links:
    """CSR of (parent, child, weight)."""
    ordered = sorted(given, key=lambda e: (e[1], e[0]))
    offsets = np.searchsorted([e[1] for e in ordered], np.arange(n + 1)).astype(np.int64)
    return offsets, np.array([e[0] for e in ordered], dtype=np.int64), np.array([e[2] for e in ordered])


def test_a_step_keeps_a_part_and_what_it_rests_on_gets_the_rest_by_weight() -> None:
    """Call 0 and 1, result 2 of call 1, answer 3 that rests on 0 (weight 1) and on 2 (weight 3)."""
    actions = np.array([True, True, False, True])
    links = edges(4, (1, 2, 1.0), (0, 3, 1.0), (2, 3, 3.0))
    gate = np.ones(3, dtype=bool)
    got = kernels.smeared(np.array([0, 0, 0, -1.0]), actions, *links, gate, 0.4)
    np.testing.assert_allclose(got, [-0.1, -0.3, 0, -0.6])
    gate[2] = False
    got = kernels.smeared(np.array([0, 0, 0, -1.0]), actions, *links, gate, 0.4)
    np.testing.assert_allclose(got, [-0.4, 0, 0, -0.6])


def test_what_rests_on_no_action_keeps_all() -> None:
    links = edges(2, (0, 1, 1.0))
    got = kernels.smeared(np.array([0, -1.0]), np.array([False, True]), *links, np.array([True]), 0.9)
    np.testing.assert_array_equal(got, [0, -1])


@st.composite
def graphs(draw: st.DrawFn) -> Drawn:
    n = draw(st.integers(1, 8))
    actions = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    pairs = [(p, c) for c in range(n) for p in range(c)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    links = edges(n, *((p, c, draw(st.sampled_from([0.25, 0.5, 1.0]))) for p, c in chosen))
    gate = np.array(draw(st.lists(st.booleans(), min_size=len(chosen), max_size=len(chosen))), dtype=bool)
    deltas = np.array(draw(st.lists(st.floats(-1, 1), min_size=n, max_size=n))) * actions
    return deltas, actions, links, gate


@given(graphs(), st.floats(0, 0.99))
def test_it_says_what_the_recursion_says_and_loses_nothing(drawn: Drawn, smear: float) -> None:
    deltas, actions, links, gate = drawn
    got = kernels.smeared(deltas, actions, *links, gate, smear)
    np.testing.assert_allclose(got, _slow(deltas, actions, links, gate, smear), atol=1e-12)
    assert got.sum() == pytest.approx(deltas.sum(), abs=1e-9)
    assert not got[~actions].any()
    for target in np.flatnonzero(actions).tolist():
        shares = kernels.smeared_onto(target, actions, *links, gate, smear)
        assert float(shares @ deltas) == pytest.approx(float(got[target]), abs=1e-12)


def _slow(deltas: F64, actions: BOOL, links: Links, gate: BOOL, smear: float) -> F64:
    """One delta at a time, down every path."""
    offsets, parents, weight = links
    out = np.zeros(len(deltas))

    def below(i: int) -> list[tuple[int, float]]:
        return [(int(parents[e]), float(weight[e])) for e in range(offsets[i], offsets[i + 1]) if gate[e]]

    def leads(i: int) -> bool:
        return bool(actions[i]) or any(leads(p) for p, _ in below(i))

    def give(i: int, amount: float) -> None:
        to = [(p, w) for p, w in below(i) if leads(p)]
        passed = amount * (smear if actions[i] else 1.0) if to else 0.0
        out[i] += amount - passed
        for p, w in to:
            give(p, passed * w / sum(w for _, w in to))

    for i, delta in enumerate(deltas.tolist()):
        if delta:
            give(i, delta)
    return out
