"""A bonus for what few rollouts changed, apart from reward, and off unless asked for."""

from __future__ import annotations

from math import nan, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from tests.attributors.meetings import meetings, steps_by_hand, told
from tests.build import batch_of
from trajcredit.attributors import Grpo, Novelty, Term, Tree, configure
from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.model import Trajectory

NAN = np.nan


def _booked() -> Batch:
    """Nobody succeeded: two booked 1, one booked 2 after a look, one looked only."""
    return batch_of(
        told("u b1 r:ok a", 0.0),
        told("u b1 r:ok a", 0.0),
        told("u c1 r:x b2 r:ok a", 0.0),
        told("u c1 r:x a", 0.0),
    )


def test_by_default_it_is_the_base_and_nothing_else() -> None:
    batch = batch_of(told("u b1 r:ok a", 1.0), told("u a", 0.0))
    got, base = Novelty()(batch), Grpo()(batch)
    np.testing.assert_array_equal(got.credit, base.credit)
    np.testing.assert_array_equal(got.advantage, base.advantage)
    assert got.notes == base.notes
    assert Novelty().explain(batch, 1) == Grpo().explain(batch, 1)


def test_a_change_that_fewer_made_is_worth_more() -> None:
    got = Novelty(bonus=0.5)(_booked())
    pair, alone = 0.5 / sqrt(2), 0.5
    wanted = [NAN, pair, NAN, 0, NAN, pair, NAN, 0, NAN, 0, NAN, alone, NAN, 0, NAN, 0, NAN, 0]
    np.testing.assert_allclose(got.credit, wanted, atol=1e-15)
    np.testing.assert_array_equal(got.credit, got.advantage)
    assert [note.code for note in got.notes] == ["zero-variance"]


def test_facts_count_where_asked_and_what_tells_nothing_new_never() -> None:
    batch = batch_of(told("u c1 r:x c1 r:x a", 0.0), told("u b1 r:ok a", 0.0))
    got = Novelty(bonus=1.0, changes="facts")(batch).credit
    np.testing.assert_array_equal(got, [NAN, 1, NAN, 0, NAN, 0, NAN, 1, NAN, 0])
    assert np.nansum(Novelty(bonus=1.0)(batch).credit) == 1


def test_a_change_that_failed_is_none() -> None:
    batch = batch_of(told("u b1 r:Error:gone a", 0.0))
    assert batch.is_error[1]
    assert Novelty(bonus=1.0)(batch).credit[1] == 0


def test_the_bonus_enters_no_baseline_and_no_spread() -> None:
    batch = batch_of(told("u b1 r:ok a", 1.0), told("u a", 0.0))
    got, base = Novelty(bonus=0.25)(batch), Grpo()(batch)
    np.testing.assert_allclose(got.credit - base.credit, [NAN, 0.25, NAN, 0, NAN, 0], atol=1e-15)
    np.testing.assert_allclose(got.advantage - base.advantage, [NAN, 0.25, NAN, 0, NAN, 0], atol=1e-15)


def test_unscored_rollouts_are_visitors_and_get_nothing() -> None:
    batch = batch_of(told("u b1 r:ok a", 0.0), told("u b1 r:ok a", None))
    np.testing.assert_allclose(Novelty(bonus=1.0)(batch).credit[[1, 5]], [1 / sqrt(2), NAN])


def test_a_change_that_ends_the_rollout_gets_no_bonus_and_is_counted() -> None:
    batch = batch_of(told("u b1 r:ok", 0.0), told("u a", 0.0), told("u b1 r:ok", None))
    got = Novelty(bonus=1.0)(batch)
    assert got.credit[1] == 0
    said = "changes in the last turn of a rollout, which led to no other: 1 calls without a bonus"
    assert (got.notes[-1].code, got.notes[-1].message) == ("last-change", said)
    assert Novelty(bonus=1.0).explain(batch, 1)[-1] == Term("no bonus: the rollout ended with this change", 0.0)


def test_visits_are_counted_in_the_group_or_in_all_there_is() -> None:
    batch = batch_of(told("u b1 r:ok a", 0.0, group="x"), told("u b1 r:ok a", 0.0, group="y"))
    assert Novelty(bonus=1.0)(batch).credit[1] == 1
    np.testing.assert_allclose(Novelty(bonus=1.0, count="batch")(batch).credit[1], 1 / sqrt(2))
    scopes = [Novelty().scope, Novelty(count="batch").scope, Novelty(base="moving_average").scope]
    assert scopes == ["group", "batch", "batch"]


def test_what_the_base_needs_it_needs_too() -> None:
    assert (Novelty(base="gae").needs, Novelty().needs) == (("values",), ())


def test_the_explanation_names_the_visits() -> None:
    batch = _booked()
    *base, bonus = Novelty(bonus=0.5).explain(batch, 1)
    assert tuple(base) == Grpo().explain(batch, 1)
    assert bonus == Term("bonus 0.5 / sqrt(2): rollouts that came to the state it led to", 0.5 / sqrt(2), (3, 7))
    assert Novelty(bonus=0.5).explain(batch, 3)[-1] == Term("no bonus: no change of state", 0.0)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"bonus": -1}, "novelty: bonus=-1 is not a number in"),
        ({"base": "novelty"}, "novelty: base='novelty' is not one of broadcast"),
        ({"changes": "all"}, "novelty: changes='all' is not one of effects, facts"),
        ({"count": "task"}, "novelty: count='task' is not one of group, batch"),
    ],
)
def test_what_is_out_of_range_is_refused_by_name(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError) as refusal:
        Novelty(**given)
    assert says in str(refusal.value)


def test_parameters_are_read_from_text() -> None:
    assert configure(Novelty, {"bonus": "0.5", "base": "tree"}) == Novelty(0.5, "tree")


def _naive(batch: Batch, novelty: Novelty) -> list[float]:
    """The bonus of every action, from lists of states."""
    states = {t: [state for state, _, _ in steps_by_hand(batch, t)] for t in range(batch.n_trajectories)}
    out = [nan if not acts else 0.0 for acts in batch.action_mask]
    for t, mine in states.items():
        for k, (state, spans, _) in enumerate(steps_by_hand(batch, t)):
            if k + 1 == len(mine) or mine[k + 1] == state:
                continue
            among = [s for o, s in states.items() if novelty.count == "batch" or batch.group[o] == batch.group[t]]
            n = sum(mine[k + 1] in some for some in among)
            for i in spans:
                effect = batch.is_write[i] and not batch.is_error[i]
                if batch.call_key[i] and (effect or novelty.changes == "facts"):
                    out[i] = novelty.bonus / sqrt(n)
    return out


@pytest.mark.parametrize(
    "novelty", [Novelty(0.5), Novelty(2.0, "tree", "facts"), Novelty(1.0, "rloo", "facts", "batch")], ids=str
)
@given(runs=meetings())
def test_it_says_what_the_slow_loop_says(novelty: Novelty, runs: list[Trajectory]) -> None:
    batch = batch_of(*runs)
    got, base = novelty(batch), novelty._base()(batch)
    bonus = np.where(np.isnan(base.credit), NAN, _naive(batch, novelty))
    np.testing.assert_allclose(got.credit, base.credit + bonus, atol=1e-12)
    np.testing.assert_allclose(got.advantage, base.advantage + bonus, atol=1e-12)


def test_a_base_of_states_keeps_its_notes() -> None:
    batch = _booked()
    assert Novelty(bonus=1.0, base="tree")(batch).notes == Tree()(batch).notes
