"""Which reward counts, and on which action it lands."""

from __future__ import annotations

import numpy as np
import pytest

from tests.build import batch_of, run
from trajcredit.batching.rewards import _newest
from trajcredit.errors import InputError
from trajcredit.model import Reward, Span, Trajectory

NAN = float("nan")


def codes(batch):
    return [note.code for note in batch.notes]


@pytest.mark.parametrize(
    ("trajectory", "rewards", "outcome"),
    [
        pytest.param(run("ucra", 1.0), [0, 0, 0, 1], 1.0, id="an outcome sits on the last action"),
        pytest.param(run("ucr", 1.0), [0, 1, 0], 1.0, id="also when the log ends in tool output"),
        pytest.param(
            run("ucra", rewards={3: 0.5, 1: 0.25}), [0, 0.25, 0, 0.5], 0.75, id="span rewards stay where they are"
        ),
        pytest.param(run("ucra", rewards={2: 0.5}), [0, 0.5, 0, 0], 0.5, id="a reward on a result belongs to its call"),
        pytest.param(
            run("uccrra", rewards={4: 1.0}), [0, 0, 1, 0, 0, 0], 1.0, id="of two calls, to the one it answers"
        ),
        pytest.param(
            run("uau", rewards={2: 1.0}), [0, 1, 0], 1.0, id="a reward on a user turn, to the action before it"
        ),
        pytest.param(run("ua", 1.0, rewards={1: 1.0}), [0, 1], 1.0, id="both levels are one outcome, not two"),
        pytest.param(run("ua"), [NAN, NAN], NAN, id="no reward is not a reward of 0"),
        pytest.param(run("us", 1.0), [NAN, NAN], NAN, id="without an action nothing can earn it"),
    ],
)
def test_rewards_land_on_actions(trajectory, rewards, outcome):
    batch = batch_of(trajectory)
    np.testing.assert_array_equal(batch.rewards, rewards)
    np.testing.assert_array_equal(batch.outcome, [outcome])


def test_what_is_unscored_is_said():
    assert "unscored" in codes(batch_of(run("ua")))
    assert "no-action" in codes(batch_of(run("us", 1.0)))


def test_a_sum_that_differs_from_the_outcome_is_said_and_the_spans_win():
    batch = batch_of(run("ua", 0.9, rewards={1: 0.5}))
    assert batch.outcome.tolist() == [0.5]
    assert "reward-mismatch" in codes(batch)
    assert "reward-mismatch" not in codes(batch_of(run("ua", 0.50005, rewards={1: 0.5})))


def test_a_reward_before_the_first_action_is_nobodys():
    batch = batch_of(run("ua", rewards={0: 1.0, 1: 0.5}))
    assert batch.rewards.tolist() == [0.0, 0.5]
    assert "reward-before-action" in codes(batch)


def rated(name: str, *rewards: Reward) -> Trajectory:
    return Trajectory(id=name, spans=[Span("assistant", 0)], rewards=list(rewards), terminated=True)


def test_one_source_is_read_and_the_rest_is_left_alone():
    both = rated("a", Reward(1.0, "human"), Reward(0.25, "judge"))
    lone = rated("b", Reward(0.5, "judge"))
    batch = batch_of(both, lone)
    assert batch.reward_source == "human"
    np.testing.assert_array_equal(batch.outcome, [1.0, NAN])
    assert codes(batch) == ["unscored"]
    asked = batch_of(both, lone, reward="judge")
    assert asked.outcome.tolist() == [0.25, 0.5]


def test_rewards_may_be_asked_for_by_name():
    both = [Reward(1.0, "judge", name="helpful"), Reward(0.25, "judge", name="toxic"), Reward(0.5, name="tests")]
    batch = batch_of(rated("a", *both), rated("b", both[0]), reward="toxic")
    np.testing.assert_array_equal(batch.outcome, [0.25, NAN])
    assert batch.reward_source == "judge"
    assert codes(batch) == ["unscored"]
    with pytest.raises(
        InputError, match=r"no reward source .kind.; known: .*; and no reward of that name, but helpful, t"
    ):
        batch_of(rated("a", *both), reward="kind")


@pytest.mark.parametrize(
    ("early", "late"),
    [
        pytest.param("2026-05-02T09:00:00Z", "2026-05-02T09:00:00.500Z", id="fractions of a second"),
        pytest.param("2026-05-02T10:00:00+02:00", "2026-05-02T09:00:00Z", id="another offset"),
        pytest.param("2026-05-02", "2026-05-02T00:00:01", id="a day, and no offset: UTC"),
        pytest.param(None, "1999-01-01", id="no time is before all times"),
    ],
)
def test_times_are_compared_as_times(early, late):
    for given in ([Reward(1.0, at=early), Reward(0.0, at=late)], [Reward(0.0, at=late), Reward(1.0, at=early)]):
        assert _newest(given, "verifier") == ({}, 0.0)


def test_what_is_no_time_is_refused():
    with pytest.raises(InputError, match=r"a reward is of 'yesterday': expected a time as ISO 8601"):
        _newest([Reward(1.0, at="yesterday")], "verifier")


def test_the_newest_of_a_source_counts():
    early, late = Reward(1.0, at="2031-01-01T00:00:00Z"), Reward(0.0, at="2031-02-01T00:00:00Z")
    assert batch_of(rated("a", late, early)).outcome.tolist() == [0.0]
    assert batch_of(rated("a", Reward(0.2), Reward(0.7))).outcome.tolist() == [0.7]


def test_an_unknown_source_names_the_known():
    with pytest.raises(InputError, match="verifier, human"):
        batch_of(run("a", 1.0), reward="oracle")


def test_no_reward_at_all_is_no_source():
    assert batch_of(run("ua")).reward_source is None
