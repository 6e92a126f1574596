"""Runs: what was asked comes back, states move one way, out of date once a reward or a trajectory changed."""

from __future__ import annotations

import pytest

from tests.build import run
from tests.store.scored import GRPO, scored
from tests.store.shelf import PROJECT, put
from tests.store.test_rewards import give
from trajcredit.errors import InputError, NotFoundError
from trajcredit.model import Note, Reward
from trajcredit.store import Store, run_credits, runs, trajectories
from trajcredit.store.filters import Filters
from trajcredit.store.runs import Asked, Run

EVERYTHING = Asked(
    attributor="dag",
    label="dag:gamma=0.9",
    parameters={"gamma": 0.9, "kinds": ["call", "value"], "on": None, "\0": "é"},
    code_version="0.1.0",
    edge_version="1",
    reward="human",
    group_by="task+step",
    filters=Filters(ids=("a", "b"), outcome_min=-0.5, has_error=False, step_max=3),
    seed=-(1 << 63),
)


def test_what_was_asked_comes_back(store: Store) -> None:
    with store.write() as conn:
        made = runs.create(conn, PROJECT, EVERYTHING)
    with store.read() as conn:
        found = runs.find(conn, PROJECT, made.id)
    assert found == made
    assert found.asked == EVERYTHING
    assert (found.state, found.done, found.total, found.stale, found.started) == ("queued", 0, None, None, None)


def test_a_run_goes_from_queued_to_done(store: Store) -> None:
    with store.write() as conn:
        made = runs.create(conn, PROJECT, GRPO)
        claimed = runs.claim(conn)
        assert claimed is not None
        assert (claimed.id, claimed.state) == (made.id, "running")
        assert claimed.started is not None
        read = runs.read_inputs(conn, made.id, 200, 7, "verifier")
        assert read is not None
        assert (read.total, read.watermark, read.reward_used) == (200, 7, "verifier")
        going = runs.progress(conn, made.id, 120)
        assert going is not None
        assert going.done == 120
        done = runs.finish(conn, made.id, [Note("singleton", "a group of one", group="g")])
        assert done is not None
        assert (done.state, done.notes[0].group, done.stale) == ("done", "g", None)


def test_the_oldest_queued_run_is_claimed_first_and_once(store: Store) -> None:
    with store.write() as conn:
        made = [runs.create(conn, project, GRPO).id for project in ("b", "a", "b")]
        claimed = [runs.claim(conn) for _ in range(4)]
    assert [one.id if one is not None else None for one in claimed] == [*made, None]


@pytest.mark.parametrize("end", ["finish", "fail", "cancel"])
def test_a_run_that_ended_does_not_move_any_more(store: Store, end: str) -> None:
    with store.write() as conn:
        made = runs.start(conn, runs.create(conn, PROJECT, GRPO).id)
        assert made is not None
        ended = {
            "finish": lambda: runs.finish(conn, made.id),
            "fail": lambda: runs.fail(conn, made.id, "out of luck\0"),
            "cancel": lambda: runs.cancel(conn, PROJECT, made.id),
        }[end]()
        assert runs.start(conn, made.id) is None
        assert runs.progress(conn, made.id, 1) is None
        assert runs.read_inputs(conn, made.id, 1, 1, None) is None
        assert runs.finish(conn, made.id) is None
        assert runs.fail(conn, made.id, "again") is None
        assert runs.cancel(conn, PROJECT, made.id) == ended == runs.find(conn, PROJECT, made.id)


def test_a_bare_name_is_its_newest_finished_run(store: Store) -> None:
    def one(conn, asked: Asked, finish: bool) -> Run:
        made = runs.create(conn, PROJECT, asked)
        runs.start(conn, made.id)
        return runs.finish(conn, made.id) or made if finish else made

    with store.write() as conn:
        one(conn, GRPO, True)
        newest = one(conn, GRPO, True)
        one(conn, GRPO, False)
        dag = one(conn, EVERYTHING, True)
        assert runs.find(conn, PROJECT, "grpo").id == newest.id
        assert runs.find(conn, PROJECT, "dag").id == runs.find(conn, PROJECT, "dag:gamma=0.9").id == dag.id
        for project, name in ((PROJECT, "gae"), ("other", "grpo"), ("other", newest.id)):
            with pytest.raises(NotFoundError, match="no run"):
                runs.find(conn, project, name)


def test_runs_are_listed_newest_first_page_by_page(store: Store) -> None:
    with store.write() as conn:
        made = [runs.create(conn, PROJECT, GRPO).id for _ in range(5)]
        runs.create(conn, "other", GRPO)
    seen, cursor = [], None
    with store.read() as conn:
        while True:
            page = runs.page(conn, PROJECT, cursor, 2)
            seen.append([one.id for one in page.runs])
            cursor = page.next
            if cursor is None:
                break
    assert seen == [made[:2:-1], made[2:0:-1], made[:1]]


@pytest.mark.parametrize("cursor", ["", "x", "-1", "²", "9" * 30])
def test_a_cursor_that_is_none_of_ours_is_refused(store: Store, cursor: str) -> None:
    with store.read() as conn, pytest.raises(InputError, match="page begins"):
        runs.page(conn, PROJECT, cursor)


def test_a_reward_makes_the_runs_of_its_trajectory_stale(store: Store) -> None:
    put(store, run("ucra", 0.0, name="a"), run("ucra", 1.0, name="b"), run("ucra", 1.0, name="c"))
    of_a, of_b = scored(store, "ext:a"), scored(store, "ext:b", "ext:c")
    give(store, ("ext:a", Reward(1.0, "human")))
    with store.read() as conn:
        assert runs.find(conn, PROJECT, of_a).stale == "a reward came later"
        assert runs.find(conn, PROJECT, of_b).stale is None


def test_a_reward_that_is_there_already_makes_nothing_stale(store: Store) -> None:
    put(store, run("ucra", name="a"))
    give(store, ("ext:a", Reward(1.0)))
    made = scored(store, "ext:a")
    give(store, ("ext:a", Reward(1.0)))
    with store.read() as conn:
        assert runs.find(conn, PROJECT, made).stale is None


def test_a_reward_that_comes_while_a_run_is_read_and_saved_makes_it_stale(store: Store) -> None:
    put(store, run("ucra", 0.0, name="a"))
    made = scored(store, "ext:a", meanwhile=lambda: give(store, ("ext:a", Reward(1.0, "human"))))
    with store.read() as conn:
        assert runs.find(conn, PROJECT, made).stale == "a reward came later"


def test_a_replaced_or_deleted_trajectory_makes_its_runs_stale(store: Store) -> None:
    put(store, run("ucra", 0.0, name="a"), run("ucra", 1.0, name="b"))
    of_a, of_b = scored(store, "ext:a"), scored(store, "ext:b")
    put(store, run("ua", 1.0, name="a"), replace=True)
    with store.write() as conn:
        trajectories.delete(conn, PROJECT, "ext:b")
        assert runs.find(conn, PROJECT, of_a).stale == "a trajectory was replaced"
        assert runs.find(conn, PROJECT, of_b).stale == "a trajectory was deleted"


def test_a_trajectory_replaced_while_a_run_worked_on_it_gets_no_credit_from_it(store: Store) -> None:
    put(store, run("ucra", 0.0, name="a"), run("ucra", 1.0, name="b"))
    made = scored(store, "ext:a", "ext:b", meanwhile=lambda: put(store, run("ua", 1.0, name="a"), replace=True))
    with store.read() as conn:
        assert runs.find(conn, PROJECT, made).stale == "a trajectory was replaced or deleted"
        assert [one.external_id for one in run_credits.each(conn, PROJECT, made)] == ["b"]
