"""Broadcast, reward-to-go and the moving average."""

from __future__ import annotations

import numpy as np

from tests.build import batch_of, group_of, run
from trajcredit.attributors import Broadcast, Grpo, MovingAverage, Rloo, Rtg, Term

NAN = np.nan


def test_broadcast_puts_the_outcome_on_every_action_and_on_nothing_else() -> None:
    got = Broadcast()(batch_of(run("ucra", 0.5), run("ua", None), run("u", 1.0)))
    np.testing.assert_array_equal(got.credit, [NAN, 0.5, NAN, 0.5, NAN, NAN, NAN])
    np.testing.assert_array_equal(got.advantage, got.credit)


def test_reward_to_go_of_the_worked_answer_is_one_at_every_step_the_useless_fourth_included() -> None:
    assert Rtg()(batch_of(run("aaaaa", 1.0))).credit.tolist() == [1.0] * 5
    assert Rtg()(batch_of(run("aaaaa", 0.0))).credit.tolist() == [0.0] * 5


def test_reward_to_go_looks_forward_only() -> None:
    # the reward on the result (span 2) belongs to its call (span 1)
    got = Rtg(gamma=0.5)(batch_of(run("ucraca", rewards={2: 1.0, 3: -2.0, 5: 4.0})))
    np.testing.assert_array_equal(got.credit, [NAN, 1 - 1 + 0 + 0.5, NAN, -2 + 0 + 1, 2, 4])


def test_reward_to_go_is_explained_reward_by_reward() -> None:
    batch = batch_of(run("ucra", rewards={1: 1.0, 3: 2.0}))
    assert Rtg(gamma=0.5).explain(batch, 1) == (
        Term("reward of this action", 1.0, (1,)),
        Term("reward 1 action later", 1.0, (3,)),
    )
    assert Rtg().explain(batch, 2) == ()


def test_of_thousands_of_rewards_the_largest_are_explained_one_by_one_and_the_rest_as_a_sum() -> None:
    rewards = {i: (-1) ** i * (i * 7919 % 1000) / 1000 for i in range(3000)}
    batch = batch_of(run("a" * 3000, rewards=rewards))
    terms = Rtg(gamma=0.999).explain(batch, 0)
    assert len(terms) == 64
    assert terms[-1].name == f"{sum(r != 0 for r in rewards.values()) - 63} more rewards"
    assert terms[-1].spans == ()
    assert abs(sum(term.value for term in terms) - Rtg(gamma=0.999)(batch).credit[0]) < 1e-6
    smallest = min(abs(term.value) for term in terms[:-1])
    shown = {term.spans[0] for term in terms[:-1]}
    assert all(0.999**i * abs(reward) <= smallest for i, reward in rewards.items() if i not in shown)
    assert [term.spans[0] for term in terms[:-1]] == sorted(shown)


def test_what_is_few_enough_is_explained_in_full() -> None:
    batch = batch_of(run("a" * 64, rewards=dict.fromkeys(range(64), 0.5)))
    assert [len(Rtg().explain(batch, span)) for span in (0, 1)] == [64, 63]
    assert not any("more" in term.name for term in Rtg().explain(batch, 0))


def test_the_outcome_of_thousands_of_rewards_is_said_to_come_from_the_largest() -> None:
    rewards = {i: float(i % 100 == 0) + 0.001 for i in range(3000)}
    batch = batch_of(run("a" * 3000, rewards=rewards), run("a" * 3000, rewards=rewards))
    for attributor in (Broadcast(), Grpo(), Rloo()):
        for term in attributor.explain(batch, 5):
            assert len(term.spans) <= 64
            assert {0, 100, 2900} <= {span % 3000 for span in term.spans}


def test_a_zero_is_explained_as_no_reward_not_as_unscored() -> None:
    batch = batch_of(run("a", 0.0), run("a", None))
    assert [term.value for term in Rtg().explain(batch, 0)] == [0.0]
    assert Rtg().explain(batch, 1) == ()


def test_the_moving_average_follows_upload_order_and_skips_the_unscored() -> None:
    batch = batch_of(*group_of(1.0, None, 0.0, 1.0))
    got = MovingAverage(beta=0.5)(batch).credit
    np.testing.assert_allclose(got, [1.0, NAN, -1.0, 1 - 1 / 3], atol=1e-12)


def test_the_moving_average_crosses_groups() -> None:
    batch = batch_of(*group_of(1.0, group="x"), *group_of(1.0, group="y"))
    assert MovingAverage()(batch).credit.tolist() == [1.0, 0.0]
    assert MovingAverage().scope == "batch"
