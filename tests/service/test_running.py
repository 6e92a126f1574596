"""Runs: what was asked for is kept whole, one that is done never changes, and notes are counted, not repeated."""

from __future__ import annotations

import pytest

from tests.service.uploads import PROJECT, rollout, scored, send
from trajcredit.errors import InputError, NotFoundError
from trajcredit.model import Note
from trajcredit.service.asking import of_spec
from trajcredit.service.rewarding import late
from trajcredit.service.running import Wanted, ask, ask_for, cancel, condensed, counted, find, listed
from trajcredit.service.versions import code_version, edge_version
from trajcredit.store import Store


def test_a_run_keeps_all_that_it_takes_to_repeat_it(store: Store) -> None:
    send(store, rollout("a", task_id="k"), rollout("b", 0.0, task_id="k"))
    asked = ask(store, PROJECT, "dag", {"gamma": 0.5}, Wanted("verifier", "task", "log.jsonl"))
    assert (asked.state, asked.number, asked.done, asked.total, asked.stale) == ("queued", 1, 0, 0, False)
    run = find(store, PROJECT, asked.id)
    assert run == asked
    assert (run.attributor, run.label, run.parameters["gamma"]) == ("dag", "dag:gamma=0.5", 0.5)
    assert (run.reward_source, run.group_by, run.dataset) == ("verifier", "task", "log.jsonl")
    assert (run.code_version, run.edge_version) == (code_version(), edge_version())


def test_a_finished_run_says_what_it_read(store: Store) -> None:
    send(store, rollout("a", reward_source="human"), rollout("b", None))
    run = scored(store)
    assert (run.state, run.done, run.total, run.reward_source, run.watermark) == ("done", 2, 2, "human", 1)
    assert run.started is not None
    assert run.finished is not None
    assert run.created <= run.started <= run.finished
    assert {note.code for note in run.notes} >= {"unscored", "unknown-end"}


def test_runs_are_counted_in_their_project_and_listed_newest_first(store: Store) -> None:
    send(store, rollout("a"))
    for n in range(5):
        ask_for(store, PROJECT, of_spec("dag" if n % 2 else "grpo"), Wanted())
    first = listed(store, PROJECT, limit=2)
    assert [(run.number, run.attributor) for run in first.items] == [(5, "grpo"), (4, "dag")]
    rest = listed(store, PROJECT, cursor=first.next)
    assert ([run.number for run in rest.items], rest.next) == ([3, 2, 1], None)
    assert [run.number for run in listed(store, PROJECT, "dag").items] == [4, 2]
    assert listed(store, "other").items == ()


@pytest.mark.parametrize(
    ("asking", "complaint"),
    [
        pytest.param(Wanted(dataset="gone"), "no trajectories of data set 'gone': nothing to score", id="data set"),
        pytest.param(Wanted(group_by="colour"), "cannot group by colour; known: project, ", id="group"),
    ],
)
def test_what_cannot_be_run_is_not_queued(store: Store, asking: Wanted, complaint: str) -> None:
    send(store, rollout("a"))
    with pytest.raises(InputError, match=complaint):
        ask_for(store, PROJECT, of_spec("grpo"), asking)
    with pytest.raises(InputError, match="project 'empty' has no trajectories: nothing to score"):
        ask_for(store, "empty", of_spec("grpo"), Wanted())
    assert listed(store, PROJECT).items == ()


def test_a_reward_is_a_source_or_the_name_of_one_that_is_there(store: Store) -> None:
    send(store, rollout("a", task_id="k"), rollout("b", task_id="k"))
    with pytest.raises(InputError, match=r"^no reward source 'mum'; known: verifier, human, reward_model, judge$"):
        ask_for(store, PROJECT, of_spec("grpo"), Wanted("mum"))
    late(
        store,
        PROJECT,
        b'{"trajectory": "a", "value": 1, "name": "tone"}\n{"trajectory": "b", "value": 0, "name": "aim"}',
    )
    with pytest.raises(
        InputError, match=r"no reward source 'mum'; known: .*; and no reward of that name, but aim, tone$"
    ):
        ask_for(store, PROJECT, of_spec("grpo"), Wanted("mum"))
    with pytest.raises(InputError, match="no trajectories of data set 'other'"):
        ask_for(store, PROJECT, of_spec("grpo"), Wanted("tone", dataset="other"))
    waiting = ask_for(store, PROJECT, of_spec("grpo"), Wanted("tone"))
    assert (waiting.reward_source, waiting.reward_name) == (None, "tone")
    ended = scored(store, "grpo", Wanted("tone"))
    assert (ended.reward_source, ended.reward_name) == ("verifier", "tone")
    assert find(store, PROJECT, ended.id) == ended
    assert (lambda run: (run.reward_source, run.reward_name))(scored(store)) == ("verifier", None)


def test_a_queued_run_can_be_cancelled_and_one_that_ended_stays_as_it_is(store: Store) -> None:
    send(store, rollout("a"))
    queued = ask_for(store, PROJECT, of_spec("grpo"), Wanted())
    assert cancel(store, PROJECT, queued.id).state == "cancelled"
    done = scored(store)
    assert cancel(store, PROJECT, done.id) == done
    with pytest.raises(NotFoundError):
        cancel(store, PROJECT, "gone")


def test_another_project_sees_none_of_them(store: Store) -> None:
    send(store, rollout("a"))
    run = scored(store)
    with pytest.raises(NotFoundError, match=f"no run '{run.id}' in project 'other'"):
        find(store, "other", run.id)


def test_notes_of_one_kind_are_counted_in_full_however_often_they_were_condensed() -> None:
    notes = [Note("end", f"t{n}", trajectory=f"t{n}") for n in range(2000)] + [Note("odd", "once")]
    kept = condensed(notes, 100)
    shown = condensed(kept, 3)
    assert [note.message for note in shown] == ["t0", "t1", "t2", "and 1,997 more like these", "once"]
    assert [str(count) for count in counted(shown)] == [
        "run: 2,000 trajectories: t0 (end), e.g. t0",
        "run: 1 trajectory: once (odd), e.g. the whole batch",
    ]
