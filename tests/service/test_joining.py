"""A trajectory that joins a group later makes the runs that scored the group stale, with the reason, and no others."""

from __future__ import annotations

from typing import Any

import pytest

from tests.service.uploads import PROJECT, rollout, scored, send
from trajcredit.service import attributing, executing
from trajcredit.service.asking import of_spec
from trajcredit.service.ingesting import ingest_paths
from trajcredit.service.runner import see_through
from trajcredit.service.running import RunView, Wanted, ask_for, find
from trajcredit.store import Store

JOINED = "a trajectory joined a group it scored"
ADDED = "a trajectory was added, and it compares across groups"
GROUP = [
    rollout("a", 1.0, group="g", task_id="k", step=1),
    rollout("b", 0.0, group="g", task_id="k", step=1),
    rollout("z", 0.5, group="h", task_id="l", step=1),
]


def reason(store: Store, run: RunView) -> str | None:
    found = find(store, PROJECT, run.id)
    assert found.stale == (found.stale_reason is not None)
    return found.stale_reason


@pytest.mark.parametrize(
    ("newcomer", "spec", "wanted", "why"),
    [
        pytest.param({"group": "g"}, "grpo", Wanted(), JOINED, id="a sibling by the log's group"),
        pytest.param({"group": "g"}, "dag", Wanted(), JOINED, id="of a path too"),
        pytest.param({"group": "g", "reward": None}, "grpo", Wanted(), JOINED, id="without a reward as yet"),
        pytest.param({"group": "g", "step": 2}, "grpo", Wanted(), None, id="of another step"),
        pytest.param({"group": "new"}, "grpo", Wanted(), None, id="a group of its own"),
        pytest.param({}, "grpo", Wanted(), None, id="without a group or a task"),
        pytest.param({"group": "new"}, "moving_average", Wanted(), ADDED, id="any, where groups are compared"),
        pytest.param({"group": "new"}, "dag:base=moving_average", Wanted(), ADDED, id="any, for such a base"),
        pytest.param({"group": "new", "task_id": "k"}, "grpo", Wanted(group_by="task"), JOINED, id="by task, as asked"),
        pytest.param(
            {"group": "g", "task_id": "new"}, "grpo", Wanted(group_by="task"), None, id="not by the log's group"
        ),
        pytest.param({"group": "g"}, "grpo", Wanted(group_by="task"), None, id="alone, for it has no task"),
        pytest.param(
            {"task_id": "k", "step": 2}, "grpo", Wanted(group_by="task+step"), None, id="one of two fields is another"
        ),
        pytest.param(
            {"group": "n", "task_id": "k", "step": 1}, "grpo", Wanted(group_by="task+step"), JOINED, id="both"
        ),
        pytest.param({"group": "g"}, "grpo", Wanted(group_by="group"), JOINED, id="the log's group alone, as asked"),
        pytest.param(
            {"group": "g", "dataset": "other"},
            "grpo",
            Wanted(dataset="log.jsonl"),
            None,
            id="of a data set not asked for",
        ),
        pytest.param(
            {"group": "g", "dataset": "other"}, "grpo", Wanted(), JOINED, id="of another data set, all asked for"
        ),
        pytest.param(
            {"dataset": "other"},
            "moving_average",
            Wanted(dataset="log.jsonl"),
            None,
            id="across groups of one data set",
        ),
    ],
)
def test_a_run_is_stale_once_its_group_gained_a_member(
    store: Store, newcomer: dict[str, Any], spec: str, wanted: Wanted, why: str | None
) -> None:
    send(store, *GROUP)
    run = scored(store, spec, wanted)
    assert reason(store, run) is None
    step = {"step": newcomer.get("step", 1)} if "group" in newcomer else {}
    send(store, rollout("new", **{**step, **newcomer}))
    assert reason(store, run) == why
    again = scored(store, spec, wanted)
    assert again.total == run.total + (why is not None or wanted.dataset is None)
    assert reason(store, again) is None


def test_what_changes_nothing_makes_nothing_stale(store: Store) -> None:
    send(store, *GROUP)
    run = scored(store)
    again = send(store, *GROUP, "{broken")
    other = send(store, rollout("a", text="otherwise", group="g", step=1, task_id="k"))
    assert (again.duplicate, again.rejected, other.conflict) == (3, 1, 1)
    assert reason(store, run) is None


def test_files_count_as_uploads_do_and_another_project_does_not(store: Store, tmp_path: Any) -> None:
    send(store, *GROUP)
    run = scored(store)
    file = tmp_path / "more.jsonl"
    file.write_text(
        '{"id": "c", "reward": 1, "group": "g", "step": 1, "messages": [{"role": "assistant", "content": "x"}]}'
    )
    assert [item.status for item in ingest_paths(store, "elsewhere", [str(file)])] == ["created"]
    assert reason(store, run) is None
    assert [item.status for item in ingest_paths(store, PROJECT, [str(file)])] == ["created"]
    assert reason(store, run) == JOINED


def test_the_first_reason_stays(store: Store) -> None:
    send(store, *GROUP)
    run = scored(store)
    send(store, rollout("a", text="otherwise", group="g", step=1, task_id="k"), replace=True)
    assert reason(store, run) == "a trajectory was replaced"
    send(store, rollout("c", group="g", step=1))
    assert reason(store, run) == "a trajectory was replaced"


@pytest.mark.parametrize(
    ("group", "why"), [pytest.param("g", JOINED, id="a sibling"), pytest.param("new", None, id="no sibling")]
)
def test_so_is_a_run_at_work_when_it_came_after_the_inputs_were_read(
    store: Store, monkeypatch: pytest.MonkeyPatch, group: str, why: str | None
) -> None:
    send(store, *GROUP)
    run = ask_for(store, PROJECT, of_spec("grpo"), Wanted())

    def meanwhile(*given: Any) -> Any:
        send(store, rollout("late", group=group, step=1))
        return attributing.scored(*given)

    monkeypatch.setattr(executing, "scored", meanwhile)
    ended = see_through(store, PROJECT, run.id, lambda done, total: None)
    assert (ended.state, ended.done, ended.stale_reason) == ("done", 3, why)


def test_each_of_many_runs_is_told_by_what_it_asked_for(store: Store) -> None:
    send(store, *GROUP)
    runs = [
        scored(store, "grpo", wanted) for wanted in (Wanted(), Wanted(group_by="task"), Wanted(group_by="group+task"))
    ]
    send(store, rollout("new", group="new", task_id="l", step=1))
    assert [reason(store, run) for run in runs] == [None, JOINED, None]
