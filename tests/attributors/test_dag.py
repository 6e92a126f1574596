"""Credit along dependencies: sinks, hops, damping, gates."""

from __future__ import annotations

from dataclasses import replace
from math import copysign
from typing import Any

import numpy as np
import pytest

from tests.build import batch_of, run
from trajcredit.attributors import Attributor, Broadcast, Dag, Gae, Grpo, MovingAverage, Rloo, Rtg
from trajcredit.batching import Batch

NAN = np.nan
STABLE = ("call", "explicit")
"""Edge kinds that no rule of the graph builder adds to these trajectories."""
FOUR_CALLS = [(3, 6), (7, 8), (1, 4)]
"""Of "crcrcrcra": result 2 -> call 4, result 4 -> answer, result 1 -> call 3, which leads nowhere."""


def _dag(**parameters: Any) -> Dag:
    return Dag(**{"kinds": STABLE, **parameters})


def _four_calls() -> Batch:
    """Outcome 1 against a leave-one-out mean of .25: what the mask leaves is .75."""
    return batch_of(run("crcrcrcra", 1.0, edges=FOUR_CALLS), run("a", 0.5), run("a", 0.0))


def test_four_calls_and_the_answer_rests_on_the_second_and_the_fourth() -> None:
    batch = _four_calls()
    flat = Rloo()(batch).credit[:9:2].tolist()
    masked = _dag(base="rloo")(batch).credit[:9:2].tolist()
    assert flat == [0.75, 0.75, 0.75, 0.75, 0.75]
    assert masked == [0.0, 0.75, 0.0, 0.75, 0.75]


def test_credit_and_advantage_are_discounted_alike() -> None:
    batch = _four_calls()
    got, base = _dag(gamma=0.5)(batch), Grpo()(batch)
    factor = [0, NAN, 0.25, NAN, 0, NAN, 0.5, NAN, 1, 1, 1]
    np.testing.assert_allclose(got.credit, base.credit * factor, atol=1e-12)
    np.testing.assert_allclose(got.advantage, base.advantage * factor, atol=1e-12)


def test_what_the_base_notes_the_mask_notes_too() -> None:
    batch = batch_of(run("ca", 1.0), run("a", 1.0))
    assert [note.code for note in _dag()(batch).notes] == ["zero-variance"]


def test_a_span_off_every_path_gets_zero_and_no_minus_zero() -> None:
    batch = batch_of(run("ca", 0.0), run("a", 1.0))
    off = _dag()(batch).credit[0]
    assert off == 0.0
    assert copysign(1, off) == 1


def test_damping_leaves_a_share_of_the_credit_off_the_path() -> None:
    got = _dag(base="rloo", off_path=0.3)(_four_calls()).credit[:9:2]
    np.testing.assert_allclose(got, [0.225, 0.75, 0.225, 0.75, 0.75], atol=1e-12)


@pytest.mark.parametrize(
    ("spans", "outcome", "rewards", "sinks", "kept"),
    [
        pytest.param("cca", 1.0, None, ("reward",), [0, 0, 1], id="the outcome sits on the last action"),
        pytest.param("cca", 0.0, None, ("reward",), [0, 0, 1], id="so does an outcome of zero"),
        pytest.param("cca", None, {0: 1.0}, ("reward",), [1, 0, 0], id="a reward on a span is where credit starts"),
        pytest.param("cca", None, {0: 1.0}, ("answer",), [0, 0, 1], id="the answer is the last action"),
        pytest.param("ccc", None, {0: 1.0}, ("answer",), [0, 0, 1], id="also where the run ends in a call"),
        pytest.param("cca", None, {0: 1.0}, ("reward", "answer"), [1, 0, 1], id="both"),
    ],
)
def test_sinks_by_hand(
    spans: str, outcome: float | None, rewards: dict[int, float] | None, sinks: tuple[str, ...], kept: list[int]
) -> None:
    batch = batch_of(run(spans, outcome, rewards=rewards), run("a", 0.5))
    factor = _dag(base="broadcast", sinks=sinks, off_path=0.0)(replace(batch, outcome=np.ones(2))).credit[:3]
    assert factor.tolist() == kept


def test_a_write_that_worked_is_a_sink_and_one_that_failed_is_not() -> None:
    batch = batch_of(run("ccca", 1.0))
    batch = replace(
        batch, is_write=np.array([True, True, False, False]), is_error=np.array([False, True, False, False])
    )
    assert _dag(base="broadcast", sinks=("effects",))(batch).credit.tolist() == [1, 0, 0, 0]
    assert _dag(base="broadcast")(batch).credit.tolist() == [1, 0, 0, 1]


def test_an_edge_below_the_weight_is_a_candidate_and_one_at_it_is_a_claim() -> None:
    batch = batch_of(run("cca", 1.0, edges=[(0, 2, 0.24), (1, 2, 0.25)]))
    assert _dag(base="broadcast")(batch).credit.tolist() == [0, 1, 1]


def test_kinds_not_named_are_not_followed() -> None:
    batch = batch_of(run("cra", 1.0, edges=[(1, 2)]))
    got = [Dag("broadcast", kinds=kinds)(batch).credit[0] for kinds in (("call",), ("explicit",), STABLE)]
    assert got == [0.0, 0.0, 1.0]


def test_soft_multiplies_by_the_weights_along_the_best_path() -> None:
    batch = batch_of(run("caca", 1.0, edges=[(0, 3, 0.3), (0, 1, 0.5), (1, 3, 0.8)]))
    assert _dag(base="broadcast")(batch).credit.tolist() == [1, 1, 0, 1]
    np.testing.assert_allclose(_dag(base="broadcast", soft=True)(batch).credit, [0.4, 0.8, 0, 1], atol=1e-12)


def test_unscored_stays_unscored_on_the_path_and_off_it() -> None:
    batch = batch_of(run("uca", None), run("a", 1.0))
    assert np.isnan(_dag(off_path=0.3)(batch).credit[:3]).all()


@pytest.mark.parametrize(
    "base", [Broadcast(), Rtg(), MovingAverage(), Grpo(), Rloo(), Gae()], ids=lambda b: type(b).__name__
)
def test_on_a_chain_the_mask_changes_nothing(base: Attributor) -> None:
    names = {
        Broadcast: "broadcast",
        Rtg: "rtg",
        MovingAverage: "moving_average",
        Grpo: "grpo",
        Rloo: "rloo",
        Gae: "gae",
    }
    chain = [(0, 1), (1, 2), (2, 3), (3, 4)]
    batch = batch_of(
        *(run("ucrca", reward, edges=chain, values=[0.1, 0.2, 0.3, 0.4, 0.5]) for reward in (0.0, 1.0, 1.0))
    )
    masked, plain = _dag(base=names[type(base)])(batch), base(batch)
    np.testing.assert_array_equal(masked.credit, plain.credit)
    np.testing.assert_array_equal(masked.advantage, plain.advantage)


def test_what_the_base_needs_and_how_far_it_looks_the_mask_does_too() -> None:
    assert (Dag("gae").needs, Dag("grpo").needs) == (("values",), ())
    assert (Dag("moving_average").scope, Dag("rloo").scope) == ("batch", "group")


def test_the_explanation_says_how_far_the_sink_is() -> None:
    batch = batch_of(run("cca", 1.0, edges=[(1, 2)]), run("a", 0.0))
    assert [[(t.name, t.value) for t in _dag(gamma=0.5, off_path=0.1).explain(batch, span)] for span in range(3)] == [
        [("off path, x 0.1: outcome", 0.1), ("off path, x 0.1: group mean", -0.05)],
        [("1 hop from the sink s2, x 0.5: outcome", 0.5), ("1 hop from the sink s2, x 0.5: group mean", -0.25)],
        [("the sink s2: outcome", 1.0), ("the sink s2: group mean", -0.5)],
    ]


def test_the_sink_that_is_named_is_the_one_reached_wherever_the_reward_is() -> None:
    """The third rollout is looked at, whose second call changed state; its reward is on the answer, s3."""
    batch = batch_of(run("a", 0.0), run("a", 0.0), run("ccca", 1.0, edges=[(0, 1), (2, 3)]))
    batch = replace(batch, is_write=np.array([False, False, False, True, False, False]))
    said = [_dag(gamma=0.5).explain(batch, span)[0] for span in range(2, 6)]
    assert [term.name for term in said] == [
        "1 hop from the sink s1, x 0.5: outcome",
        "the sink s1: outcome",
        "1 hop from the sink s3, x 0.5: outcome",
        "the sink s3: outcome",
    ]
    assert [term.spans for term in said] == [(5,)] * 4, "where the reward is"
    assert [_dag(gamma=0.5).path(batch, span)[-1] for span in range(2, 6)] == [3, 3, 5, 5]
