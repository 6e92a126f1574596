"""Adding: one answer an item, nothing twice, nothing half; replacing and deleting take all of the old one away."""

from __future__ import annotations

import dataclasses

import pytest
from msgspec.structs import replace
from sqlalchemy import func, select

from tests.build import run
from tests.store.shelf import PROJECT, put
from trajcredit.errors import InputError, NotFoundError
from trajcredit.graph import build_graphs
from trajcredit.model import Note, Origin, Reward, SpawnedBy, Trajectory
from trajcredit.store import Store, documents, keeping, logs, rewards, tables, trajectories
from trajcredit.store.checking import check
from trajcredit.store.rewards import Given

A, B = run("ucra", 1.0, name="a"), run("uccrra", 0.0, name="b")
COMMON = Note("common-values", "3 uses of values that most observations hold: too common to prove anything")
OTHER_A = run("ua", 0.5, name="a")


def counts(store: Store) -> dict[str, int]:
    with store.read() as conn:
        return {
            name: conn.scalar(select(func.count()).select_from(table)) or 0
            for name, table in tables.metadata.tables.items()
        }


def test_every_item_is_answered_in_order(store: Store) -> None:
    first = put(store, A, B)
    again = put(store, B, OTHER_A, A, run("a", name="c"))
    assert [one.status for one in first] == ["created", "created"]
    assert [(one.status, one.external_id) for one in again] == [
        ("duplicate", "b"),
        ("conflict", "a"),
        ("duplicate", "a"),
        ("created", "c"),
    ]
    assert again[0].id == first[1].id
    assert again[1].id == again[2].id == first[0].id
    assert "content differs" in (again[1].reason or "")


def test_ids_sort_in_the_order_of_arrival(store: Store) -> None:
    ids = [one.id or "" for n in range(3) for one in put(store, *(run("a", name=f"{n}-{k}") for k in range(20)))]
    assert ids == sorted(ids)


def test_the_same_content_from_another_file_is_a_duplicate(store: Store) -> None:
    here = replace(A, source=Origin("x", "here.json", 1, "0"), report=[Note("guess", "a repair")])
    put(store, here)
    [again] = put(store, replace(A, source=Origin("y", "there.json", 9, "1")))
    assert again.status == "duplicate"
    with store.read() as conn:
        assert documents.document(conn, PROJECT, "ext:a") == here


def test_the_same_content_in_another_data_set_is_a_duplicate_that_only_replace_moves(store: Store) -> None:
    quoted = 'morning "dataset":null'  # what the hash leaves out is found by its key
    put(store, replace(A, dataset=quoted))
    assert [one.status for one in put(store, replace(A, dataset="evening"), A)] == ["duplicate", "duplicate"]
    with store.read() as conn:
        assert documents.document(conn, PROJECT, "ext:a").dataset == quoted
        assert check(conn).problems == ()
    assert [one.status for one in put(store, replace(A, dataset="evening"), replace=True)] == ["replaced"]
    with store.read() as conn:
        assert documents.document(conn, PROJECT, "ext:a").dataset == "evening"
        assert check(conn).problems == ()


def test_rewards_that_came_later_stay_when_their_trajectory_is_replaced(store: Store) -> None:
    put(store, A, B)
    with store.write() as conn:
        rewards.append(conn, PROJECT, [Given("ext:a", Reward(0.25, "human"))])
    assert [one.status for one in put(store, OTHER_A, replace=True)] == ["replaced"]
    with store.read() as conn:
        assert check(conn).problems == ()
        key = conn.scalar(select(tables.trajectories.c.key).where(tables.trajectories.c.external_id == "a")) or 0
        assert [(r.value, r.source) for r in rewards.rewards_of_keys(conn, [key])[key]] == [
            (0.5, "verifier"),
            (0.25, "human"),
        ]


def test_what_the_graph_noted_is_kept_beside_what_the_reader_noted(store: Store) -> None:
    noted = dataclasses.replace(build_graphs([replace(A, report=[Note("guess", "a repair")])])[0], notes=(COMMON,))
    with store.write() as conn:
        trajectories.add(conn, PROJECT, keeping.keep(PROJECT, [noted]))
    with store.read() as conn:
        assert documents.head(conn, PROJECT, "ext:a").report == (Note("guess", "a repair"), COMMON)


def test_one_upload_cannot_name_two_trajectories_alike(store: Store) -> None:
    added = put(store, A, A, OTHER_A, replace=True)
    assert [one.status for one in added] == ["created", "duplicate", "conflict"]
    assert "this upload" in (added[2].reason or "")


def test_the_same_id_in_another_project_is_another_trajectory(store: Store) -> None:
    put(store, A)
    [added] = put(store, replace(OTHER_A, project="p"), project="p")
    assert added.status == "created"


def test_replacing_takes_the_old_one_away_whole(store: Store) -> None:
    [old] = put(store, A, raw=b"first log")
    [new] = put(store, OTHER_A, raw=b"second log", replace=True)
    assert new.status == "replaced"
    assert new.id != old.id
    with store.read() as conn:
        assert documents.document(conn, PROJECT, "ext:a") == OTHER_A
        with pytest.raises(NotFoundError):
            documents.document(conn, PROJECT, old.id or "")
        with pytest.raises(NotFoundError):
            logs.raw(conn, PROJECT, logs.packed(b"first log").sha256)
        assert check(conn).problems == ()
    found = counts(store)
    assert (found["trajectories"], found["documents"], found["packed"], found["rewards"]) == (1, 1, 1, 1)
    assert found["spans"] == 2


def test_a_better_reading_of_the_same_log_keeps_the_log(store: Store) -> None:
    put(store, A, raw=b"one log")
    [added] = put(store, OTHER_A, raw=b"one log", replace=True)
    assert added.status == "replaced"
    with store.read() as conn:
        assert logs.raw(conn, PROJECT, logs.packed(b"one log").sha256) == b"one log"


def test_deleting_leaves_nothing_but_what_others_need(store: Store) -> None:
    a, b = put(store, A, B, raw=b"both are in here")
    with store.write() as conn:
        trajectories.delete(conn, PROJECT, a.id or "")
    assert counts(store)["logs"] == 1
    with store.write() as conn:
        trajectories.delete(conn, PROJECT, "ext:b")
    assert not any(number for name, number in counts(store).items())
    with store.write() as conn, pytest.raises(NotFoundError):
        trajectories.delete(conn, PROJECT, b.id or "")


def test_raw_logs_are_kept_once_and_come_back_as_they_came(store: Store) -> None:
    data = bytes(range(256)) * 1000
    log = logs.packed(data, "../../etc/passwd\0", "nonsense")
    with store.write() as conn:
        assert logs.keep_raw(conn, PROJECT, log) == logs.keep_raw(conn, PROJECT, log) == log.sha256
        assert logs.keep_raw(conn, "other", log) == log.sha256
        assert logs.keep_raw(conn, PROJECT, logs.packed(b"")) == logs.packed(b"").sha256
    with store.read() as conn:
        assert logs.raw(conn, PROJECT, log.sha256) == data
        assert logs.raw(conn, PROJECT, logs.packed(b"").sha256) == b""
    assert counts(store)["logs"] == 3


def test_an_error_undoes_all_of_an_upload(store: Store) -> None:
    kept = keeping.keep(PROJECT, build_graphs([A, B]))
    with pytest.raises(InputError), store.write() as conn:  # noqa: PT012  # what is written before it counts
        trajectories.add(conn, PROJECT, kept)
        raise InputError("the rest of it is broken")
    assert not any(counts(store).values())
    with store.write() as conn:
        assert [one.status for one in trajectories.add(conn, PROJECT, kept)] == ["created", "created"]


LONG = "x" * 513


@pytest.mark.parametrize(
    ("item", "why"),
    [
        pytest.param(run("a", name=LONG), "513 characters", id="an id that no index holds"),
        pytest.param(replace(A, project="other"), "names project 'other'", id="of another project"),
        pytest.param(replace(A, parent=SpawnedBy("x", 1 << 63)), "64 bits", id="an integer beyond 64 bits"),
    ],
)
def test_what_cannot_be_stored_is_rejected_and_the_rest_goes_on(store: Store, item: Trajectory, why: str) -> None:
    bad, good = put(store, item, B)
    assert (bad.status, bad.id, good.status) == ("rejected", None, "created")
    assert why in (bad.reason or "")


@pytest.mark.parametrize("project", ["p" * 101, "a\0b"])
def test_a_project_that_no_index_holds_is_refused(store: Store, project: str) -> None:
    with pytest.raises(InputError, match="project"):
        put(store, replace(A, project=project), project=project)


@pytest.mark.parametrize(
    ("rewards", "outcome", "source"),
    [
        pytest.param([], None, None, id="nobody said anything"),
        pytest.param([Reward(1.0)], 1.0, "verifier", id="one verdict"),
        pytest.param([Reward(1.0, "judge"), Reward(0.0, "human")], 0.0, "human", id="a person before a judge"),
        pytest.param([Reward(0.25, span=1), Reward(0.5, span=3)], 0.75, "verifier", id="span rewards add up"),
        pytest.param(
            [Reward(0.0, at="2026-02-01"), Reward(1.0, at="2026-01-01")], 0.0, "verifier", id="the newest counts"
        ),
    ],
)
def test_the_outcome_of_a_list_is_that_of_a_batch(store: Store, rewards, outcome, source) -> None:
    put(store, replace(run("ucra", name="a"), rewards=rewards))
    with store.read() as conn:
        listed = documents.head(conn, PROJECT, "ext:a").listed
    assert (listed.outcome, listed.outcome_source) == (outcome, source)


def test_a_trajectory_without_actions_has_no_outcome(store: Store) -> None:
    put(store, run("u", 1.0, name="a"))
    with store.read() as conn:
        assert documents.head(conn, PROJECT, "ext:a").listed.outcome is None
