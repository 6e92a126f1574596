"""Outcomes that sub-agents share with the trajectory that started them."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest

from tests.build import batch_of, run
from trajcredit.batching.parents import shared_outcomes
from trajcredit.model import Reward, SpawnedBy, Trajectory

VERDICT, OPINION = Reward(1.0), Reward(0.25, "judge")


def child(of: str, spans: str = "ua", outcome: float | None = None, **more: object) -> Trajectory:
    made = run(spans, outcome, name=f"{of}/child")
    return msgspec.structs.replace(made, parent=SpawnedBy(of), role="helper", **more)


def test_a_sub_agent_without_a_reward_shares_that_of_its_parent() -> None:
    batch = batch_of(run("ucra", 1.0, name="a"), child("a"), run("ucra", 0.0, name="b"), child("b"))
    assert batch.outcome.tolist() == [1.0, 1.0, 0.0, 0.0]
    assert batch.rewards[4:6].tolist() == [0.0, 1.0], "on its last action"
    assert batch.group.tolist() == [0, 1, 0, 1], "its role makes it a group of its own"
    said = [(note.trajectory, note.message) for note in batch.notes if note.code == "shared-outcome"]
    assert said == [
        (f"{name}/child", f"no verifier reward of its own: it shares the outcome of {name}") for name in "ab"
    ]
    assert not [note for note in batch.notes if note.code == "unscored"]


def test_its_own_reward_is_its_outcome() -> None:
    batch = batch_of(run("ua", 1.0, name="a"), child("a", outcome=0.0))
    assert batch.outcome.tolist() == [1.0, 0.0]
    assert "shared-outcome" not in [note.code for note in batch.notes]


def test_the_order_does_not_matter_and_a_parent_elsewhere_shares_nothing() -> None:
    batch = batch_of(child("a"), run("ua", 1.0, name="a"), child("z"))
    np.testing.assert_array_equal(batch.outcome, [1.0, 1.0, math.nan])
    assert [note.trajectory for note in batch.notes if note.code == "unscored"] == ["z/child"]


def test_rewards_on_spans_are_shared_as_their_sum() -> None:
    batch = batch_of(run("ucra", rewards={1: 0.25, 3: 0.5}, name="a"), child("a", "uaa"))
    assert batch.outcome.tolist() == [0.75, 0.75]
    assert batch.rewards[4:].tolist() == [0.0, 0.0, 0.75]


@pytest.mark.parametrize(
    ("parents", "rewards", "shared"),
    [
        pytest.param([None, "a", "b"], [[VERDICT], [], []], [VERDICT], id="through a parent that has none"),
        pytest.param(
            [None, "a", "b"], [[VERDICT], [OPINION], []], [OPINION, VERDICT], id="each source from the nearest"
        ),
        pytest.param(["b", "a", "b"], [[], [], []], [], id="parents in a circle have none"),
        pytest.param(["b", "a", "b"], [[VERDICT], [], []], [VERDICT], id="a circle ends where it closes"),
        pytest.param([None, None, "c"], [[VERDICT], [], []], [], id="nobody is a parent of itself"),
    ],
)
def test_what_the_ancestors_of_c_share(
    parents: list[str | None], rewards: list[list[Reward]], shared: list[Reward]
) -> None:
    found, _ = shared_outcomes(("a", "b", "c"), parents, rewards)
    assert found[2] == shared


def test_the_newest_reward_of_a_span_counts_and_one_name_stays() -> None:
    given = [
        Reward(1.0, span=1, name="tests", at="2026-01-02T00:00:00Z"),
        Reward(0.0, span=1, name="tests", at="2026-01-01T00:00:00Z"),
        Reward(0.5, span=2, name="tests", at="2026-01-01T00:00:00Z"),
    ]
    found, _ = shared_outcomes(("a", "b"), (None, "a"), (given, []))
    assert found[1] == [Reward(1.5, name="tests", at="2026-01-02T00:00:00Z")]


def test_ancestors_that_are_not_among_them_are_asked_too() -> None:
    found, notes = shared_outcomes(("c",), ("b",), ([],), {"b": ("a", []), "a": (None, [VERDICT])})
    assert found == [[VERDICT]]
    assert notes[0].message == "no verifier reward of its own: it shares the outcome of a"
