"""What a run saw comes back as it was, whatever came in since; runs among their own."""

from __future__ import annotations

import numpy as np

from tests.build import run
from tests.store.scored import GRPO, scored
from tests.store.shelf import PROJECT, put
from trajcredit.batching import assemble
from trajcredit.model import Reward
from trajcredit.store import (
    Store,
    batches,
    rewards,
    run_credits,
    run_inputs,
    run_numbers,
    runs,
    span_credits,
    trajectories,
)
from trajcredit.store.rewards import Given


def fill(store: Store) -> list[str]:
    """Two groups of two; their ids."""
    items = [run("uca", n % 2, name=f"t{n}", group=f"g{n // 2}") for n in range(4)]
    return [one.id or "" for one in put(store, *items)]


def give(store: Store, ref: str, value: float) -> None:
    with store.write() as conn:
        rewards.append(conn, PROJECT, [Given(ref, Reward(value, "human"))])


def test_members_are_those_of_the_run_by_group_in_the_order_they_were_stored(store: Store) -> None:
    ids = fill(store)
    name = scored(store)
    put(store, run("ua", 1.0, name="later", group="g0"))
    with store.read() as conn:
        found = runs.find(conn, PROJECT, name)
        assert [one.id for one in run_inputs.members(conn, found)] == ids
        assert [one.id for one in run_inputs.members(conn, found, "g1")] == ids[2:]
        assert {one.n_spans for one in run_inputs.members(conn, found)} == {3}


def test_rewards_that_came_later_are_not_seen(store: Store) -> None:
    ids = fill(store)
    name = scored(store)
    give(store, ids[0], 1.0)
    with store.read() as conn:
        found = runs.find(conn, PROJECT, name)
        loaded = run_inputs.seen(conn, found, ids)
    assert loaded.ids == tuple(ids)
    assert [[one.value for one in given] for given in loaded.rewards] == [[0.0], [1.0], [0.0], [1.0]]


def test_credits_come_back_by_id(store: Store) -> None:
    ids = fill(store)
    name = scored(store)
    with store.read() as conn:
        found = run_inputs.credits_among(conn, runs.find(conn, PROJECT, name), [*ids[:2], "nobody"])
        each = {one.id: one for one in run_credits.each(conn, PROJECT, name)}
    assert list(found) == ids[:2]
    for one, numbers in found.items():
        np.testing.assert_array_equal(numbers.credit, each[one].credit)
        np.testing.assert_array_equal(numbers.advantage, each[one].advantage)


def test_one_span_in_the_newest_finished_run_of_a_label(store: Store) -> None:
    ids = fill(store)
    _, second = scored(store), scored(store)
    with store.write() as conn:
        runs.create(conn, PROJECT, GRPO)
        found = span_credits.of_span(conn, PROJECT, ids[0], 1)
        observation = span_credits.of_span(conn, PROJECT, ids[0], 0)
        assert span_credits.of_span(conn, PROJECT, ids[0], 3) == []
    assert [(one.run, one.credit, one.stale) for one in found] == [(second, -0.5, None)]
    assert {one.credit for one in observation} == {None}
    give(store, ids[0], 1.0)
    with store.read() as conn:
        assert {one.stale for one in span_credits.of_span(conn, PROJECT, ids[0], 1)} == {"a reward came later"}


def test_runs_are_numbered_within_their_project(store: Store) -> None:
    fill(store)
    names = [scored(store), scored(store)]
    with store.write() as conn:
        elsewhere = runs.create(conn, "other", GRPO).id
        names.append(runs.create(conn, PROJECT, GRPO).id)
        assert run_numbers.numbers(conn, PROJECT, names) == dict(zip(names, (1, 2, 3), strict=True))
        assert run_numbers.numbers(conn, "other", [elsewhere, names[0]]) == {elsewhere: 1}
        assert run_numbers.fresh(conn, PROJECT) == 2


def test_a_run_that_was_left_behind_is_queued_again_and_begins_anew(store: Store) -> None:
    ids = fill(store)
    with store.write() as conn:
        left = runs.create(conn, PROJECT, GRPO).id
        runs.start(conn, left)
    with store.read() as conn:
        loaded = batches.load(conn, PROJECT, ids[:2])
    batch = assemble(loaded.heads, loaded.columns, loaded.rewards)
    column = np.where(batch.action_mask, 1.0, np.nan)
    with store.write() as conn:
        runs.read_inputs(conn, left, 4, loaded.watermark, "verifier")
        run_credits.save(conn, left, loaded.ids, batch, column, column)
        runs.progress(conn, left, 2)
    with store.write() as conn:
        assert run_numbers.requeue(conn) == 1
        found = runs.find(conn, PROJECT, left)
        assert (found.state, found.done, found.total, found.watermark) == ("queued", 0, None, None)
        assert run_inputs.members(conn, found) == []
        assert run_credits.by_tool(conn, PROJECT, left) == {}
        assert run_numbers.requeue(conn) == 0


def test_a_trajectory_that_was_replaced_is_no_member_any_more(store: Store) -> None:
    ids = fill(store)
    name = scored(store)
    with store.write() as conn:
        trajectories.delete(conn, PROJECT, ids[1])
    with store.read() as conn:
        found = runs.find(conn, PROJECT, name)
        assert [one.id for one in run_inputs.members(conn, found, "g0")] == [ids[0]]
        assert found.stale == "a trajectory was deleted"
