"""Credit in hindsight: by hand, against the slow loop, what it says where there is nothing to compare."""

from __future__ import annotations

from math import fsum, isnan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from tests.attributors.meetings import meetings, told
from tests.build import batch_of
from trajcredit.attributors import Hindsight, configure
from trajcredit.attributors.events import better, events_of
from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.model import Trajectory

NAN = np.nan
LOOKS = [
    told("u c1 r:x a", 1.0, name="won"),
    told("u c1 r:x a", 1.0, name="won too"),
    told("u c2 r:y a", 0.0, name="lost"),
    told("u c2 r:y a", 0.0, name="lost too"),
    told("u c1 r:x a", 0.0, name="unlucky"),
]


@pytest.mark.parametrize(
    ("limit", "unlucky"),
    [pytest.param(1.0, -1.0, id="held to the limit"), pytest.param(5.0, 1 - 3, id="as it is: 1 - 3 / 1")],
)
def test_a_group_by_hand(limit: float, unlucky: float) -> None:
    credit = Hindsight(limit=limit)(batch_of(*LOOKS)).credit
    # won: of 4 others 2 looked 1 up, of the 1 that won too 1: pi / h = (2 + 1) / (4 + 1); R - b = 1 - 1 / 4
    won = (1 - 3 / 5) * 0.75
    # lost: of 4 others 1 looked 2 up, of the 2 that lost 1: (1 + 1) / (2 + 1); R - b = -1 / 2
    lost = (1 - 2 / 3) * -0.5
    # unlucky: of 4 others 2 looked 1 up, of the 2 that lost none: it did what winners do
    spared = unlucky * -0.5
    first, last = credit[1::4], credit[3::4]
    np.testing.assert_allclose(first, [won, won, lost, lost, spared], atol=1e-15)
    assert last.tolist() == [0.0] * 5, "everybody answers: that tells nothing"


def test_what_nobody_else_chose_has_no_credit() -> None:
    found = Hindsight()(batch_of(*LOOKS, told("u c9 r:z a", 0.0, name="odd")))
    assert found.credit[21] == 0.0


def test_where_no_sibling_came_other_tasks_that_share_tools_are_asked() -> None:
    def task(g: int, first: str) -> list[Trajectory]:
        return [
            told(f"u:{g} {call}{g} r:{g} a", win, name=f"{g}{call}", group=f"g{g}")
            for call, win in ((first, 1.0), ("b", 0.0))
        ]

    batch = batch_of(*(run for g in range(3) for run in task(g, "c")))
    found = Hindsight(least=2)(batch)
    # each start has one sibling only; of the 4 rollouts of other tasks 2 looked first, both that won did
    won, lost = (1 - 3 / 5) * 1.0, (1 - 3 / 5) * -1.0
    np.testing.assert_allclose(found.credit[1::8], [won] * 3, atol=1e-15)
    np.testing.assert_allclose(found.credit[5::8], [lost] * 3, atol=1e-15)
    [term, _] = Hindsight().explain(batch, 1)
    assert term.name == (
        "outcome, x 1 - pi / h = 0.4 (2 of 4 rollouts of other tasks at such a point chose alike, 2 of the 2 that did "
        "as well)"
    )


def test_what_has_nothing_to_be_compared_with_gets_0_and_is_counted() -> None:
    batch = batch_of(told("u c1 r:x a", 1.0), told("u a", 0.0))
    found = Hindsight()(batch)
    assert not found.credit[batch.action_mask].any()
    [note] = found.notes
    assert note.message.startswith("3 of 3 choices have nothing to compare them with")
    assert "nothing to compare" in Hindsight().explain(batch, 1)[0].name
    alone = batch_of(told("u a", 1.0))
    assert Hindsight().explain(alone, 1)[0].name == "one scored rollout: no sibling to hold it against"


def test_words_beside_calls_carry_the_sum_of_their_turn() -> None:
    runs = [told("u t c1 c2 r:x r:y a", 1.0), told("u t c1 c2 r:x r:y a", 1.0), told("u t b1 b2 r:x r:y a", 0.0)] * 2
    credit = Hindsight()(batch_of(*runs)).credit
    assert credit[1] == credit[2] + credit[3] != 0


@pytest.mark.parametrize("given_", [{"pseudo": 0.0}, {"least": 0}, {"limit": -1.0}])
def test_parameters_out_of_range_are_named(given_: dict[str, Any]) -> None:
    [name] = given_
    with pytest.raises(InputError, match=f"hindsight: {name}="):
        Hindsight(**given_)
    assert configure(Hindsight, {"pseudo": "2", "least": "3", "limit": "4"}) == Hindsight(2.0, 3, 4.0)


def naive(batch: Batch, hindsight: Hindsight) -> list[float]:
    """Every decision against every other one."""
    events, did = events_of(batch), better(batch)
    credit = [NAN] * batch.n_spans
    rows = range(len(events.span))

    def counts(k: int, near: bool) -> list[int]:
        n_a = n = n_az = n_z = 0
        for j in rows:
            if isnan(did[events.owner[j]]):
                continue
            mine, other = events.span[k], events.span[j]
            group, task = batch.group[events.owner[k]], batch.group[events.owner[j]]
            if near:
                here = group == task and batch.state_key[mine] == batch.state_key[other]
                here = here and events.owner[j] != events.owner[k]
                alike = batch.call_key[mine] == batch.call_key[other] and events.act[j] == events.act[k]
            else:
                same_pool = batch.pool[events.owner[k]] == batch.pool[events.owner[j]]
                here = group != task and same_pool and events.last[j] == events.last[k]
                alike = (events.act[j], events.origin[j], events.repeat[j]) == (
                    events.act[k], events.origin[k], events.repeat[k]
                )  # fmt: skip
            well = did[events.owner[j]] == did[events.owner[k]]
            n_a, n, n_az, n_z = (
                n_a + (here and alike),
                n + here,
                n_az + (here and alike and well),
                n_z + (here and well),
            )
        return [n_a, n, n_az, n_z]

    for k in rows:
        t = int(events.owner[k])
        others = [
            float(batch.outcome[u])
            for u in range(batch.n_trajectories)
            if u != t and batch.group[u] == batch.group[t] and not isnan(batch.outcome[u])
        ]
        against = float(batch.outcome[t]) - sum(others) / len(others) if others else 0.0 * float(batch.outcome[t])
        near = counts(k, near=True)
        n_a, n, n_az, n_z = near if near[1] >= hindsight.least else counts(k, near=False)
        factor = 1 - (n_a + hindsight.pseudo) / (n_az * n / n_z + hindsight.pseudo) if n_z else 0.0
        factor = 0.0 if isnan(did[t]) else min(max(factor, -hindsight.limit), 1.0)
        credit[events.span[k]] = factor * against
    for i in np.flatnonzero(batch.action_mask).tolist():
        if i not in events.span:
            t = batch.trajectory_of(i)
            turn = [j for j in rows if events.owner[j] == t and batch.turn[events.span[j]] == batch.turn[i]]
            credit[i] = sum(credit[events.span[j]] for j in turn)
    return credit


@pytest.mark.parametrize("hindsight", [Hindsight(), Hindsight(0.5, 1, 3.0)], ids=str)
@settings(max_examples=40)
@given(runs=meetings())
def test_it_says_what_the_slow_loop_says_and_the_terms_add_up(hindsight: Hindsight, runs: list[Trajectory]) -> None:
    batch = batch_of(*runs)
    credit = hindsight(batch).credit
    np.testing.assert_allclose(credit, naive(batch, hindsight), atol=1e-9)
    for span in range(min(batch.n_spans, 12)):
        terms = hindsight.explain(batch, span)
        assert bool(terms) != isnan(credit[span])
        assert not terms or abs(fsum(term.value for term in terms) - credit[span]) < 1e-9
