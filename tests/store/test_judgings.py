"""Judgings: states move one way, what was judged stays, opinions go with their trajectory, paid answers are safe."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.build import run
from tests.store.scored import scored
from tests.store.shelf import PROJECT, named, put
from trajcredit.errors import InputError, NotFoundError
from trajcredit.store import Store, ids, judgings, open_store, opinions, runs, trajectories
from trajcredit.store.filters import Filters
from trajcredit.store.judgings import Asked, Judging, Outlay, State
from trajcredit.store.opinions import Kept, StoredAnswers, save

RULES = Asked(judge="rules", label="rules", parameters={}, scale="state", segments="action", code_version="0.1.0")


def made(store: Store, project: str = PROJECT, asked: Asked = RULES) -> Judging:
    with store.write() as conn:
        return judgings.create(conn, project, asked)


def claimed(store: Store) -> Judging:
    """The only judging, running."""
    made(store)
    with store.write() as conn:
        found = judgings.claim(conn)
    assert found is not None
    return found


def keep(store: Store, judging: Judging, **said: str | None) -> None:
    """Client's id -> why it could not be judged, null where it was; its line holds the same."""
    with store.write() as conn:
        keys = [ids.find(conn, PROJECT, f"ext:{name}").key for name in said]
        save(conn, judging, [Kept(key, why, repr(why).encode()) for key, why in zip(keys, said.values(), strict=True)])


def told(store: Store, judging: Judging) -> list[bytes]:
    with store.read() as conn:
        return list(opinions.lines(conn, judging))


def test_what_was_asked_comes_back(store: Store) -> None:
    parameters = {"criteria": ["a", "é"], "repeat": 2, "model": None, "\0": 0.1}
    asked = replace(RULES, parameters=parameters, filters=Filters(ids=("a", "b"), outcome_min=-0.5, has_error=False))
    one = made(store, asked=asked)
    with store.read() as conn:
        found = judgings.find(conn, PROJECT, one.id)
        with pytest.raises(NotFoundError, match="no judging"):
            judgings.find(conn, "other", one.id)
    assert found == one
    assert found.asked == asked
    assert (found.state, found.total, found.judged, found.missing, found.outlay) == ("queued", None, 0, 0, Outlay())


def test_the_oldest_queued_judging_is_claimed_first_and_once(store: Store) -> None:
    three = [made(store, project).id for project in ("b", "a", "b")]
    with store.write() as conn:
        found = [judgings.claim(conn) for _ in range(4)]
    assert [None if one is None else one.id for one in found] == [*three, None]


@pytest.mark.parametrize("state", ["incomplete", "failed", "cancelled", "done"])
def test_what_ended_is_queued_again_where_something_is_left(store: Store, state: State) -> None:
    one = claimed(store)
    with store.write() as conn:
        assert judgings.end(conn, one, state, "why") is not None
        assert judgings.end(conn, one, "done") is None
        assert judgings.cancel(conn, PROJECT, one.id).state == state
    if state == "done":
        with store.write() as conn, pytest.raises(InputError, match="is done"):
            judgings.resume(conn, PROJECT, one.id)
        return
    with store.write() as conn:
        again = judgings.resume(conn, PROJECT, one.id)
        assert (again.state, again.error, again.finished) == ("queued", None, None)
        with pytest.raises(InputError, match="is queued"):
            judgings.resume(conn, PROJECT, one.id)


def test_what_a_dead_process_left_behind_is_queued_with_all_it_had(store: Store) -> None:
    put(store, *named([run("ua", 1.0)]))
    one = claimed(store)
    with store.write() as conn:
        assert judgings.begin(conn, one, 1, "f", "model", "2") is not None
    keep(store, one, t0=None)
    with store.write() as conn:
        assert judgings.progress(conn, one, Outlay(requests=3, cost=0.5)) is not None
        assert judgings.requeue(conn) == 1
        assert judgings.requeue(conn) == 0
        found = judgings.claim(conn)
    assert found is not None
    assert (found.id, found.judged, found.total, found.fingerprint, found.model) == (one.id, 1, 1, "f", "model")
    assert found.outlay == Outlay(requests=3, cost=0.5)
    assert told(store, one) == [b"None"]


def test_what_was_spent_adds_up_and_counts_though_somebody_cancelled(store: Store) -> None:
    put(store, *named([run("ua", 1.0), run("ua", 0.0)]))
    one = claimed(store)
    keep(store, one, t0=None, t1="away")
    with store.write() as conn:
        going = judgings.progress(conn, one, Outlay(2, 1, 0, 0, 100, 10, 0.25))
        assert going is not None
        assert (going.judged, going.missing) == (1, 1)
        judgings.cancel(conn, PROJECT, one.id)
        assert judgings.progress(conn, one, Outlay(1, 0, 4, 1, 10, 1, 0.5)) is None
        found = judgings.find(conn, PROJECT, one.id)
    assert found.outlay == Outlay(3, 1, 4, 1, 110, 11, 0.75)


def test_what_is_left_is_what_was_not_judged_of_what_was_asked_about(store: Store) -> None:
    put(store, *named([run("ua", float(n)) for n in range(4)]))
    with store.write() as conn:
        one = judgings.create(conn, PROJECT, replace(RULES, filters=Filters(outcome_max=2.0)))
    keep(store, one, t0=None, t1="away", t3=None)
    with store.read() as conn:
        total, left = opinions.todo(conn, one)
        names = [ids.find(conn, PROJECT, name).external_id for _, name in left]
    assert (total, names) == (3, ["t1", "t2"])


def test_one_opinion_a_trajectory_and_none_of_one_that_is_gone(store: Store) -> None:
    put(store, *named([run("ua", 1.0), run("ua", 0.0)]))
    one, other = made(store), made(store)
    keep(store, one, t0="away", t1=None)
    keep(store, one, t0=None)
    keep(store, other, t0="away")
    assert (told(store, one), told(store, other)) == ([b"None", b"None"], [b"'away'"])
    with store.read() as conn:
        gone = ids.find(conn, PROJECT, "ext:t0").key
        assert [ref for ref, _, _ in opinions.of_trajectory(conn, PROJECT, "ext:t0")] == [other.id, one.id]
    with store.write() as conn:
        trajectories.delete(conn, PROJECT, "ext:t0")
        save(conn, other, [Kept(gone, None, b"late")])
    assert (told(store, one), told(store, other)) == ([b"None"], [])


def test_a_trajectory_that_takes_the_place_of_another_has_no_opinion(store: Store) -> None:
    put(store, *named([run("ua", 1.0)]))
    one = made(store)
    keep(store, one, t0=None)
    put(store, *named([run("uca", 1.0)]), replace=True)
    assert told(store, one) == []


def test_runs_that_heard_a_judging_are_out_of_date_and_no_others(store: Store) -> None:
    put(store, *named([run("ua", 1.0), run("ua", 0.0)]))
    one, other = made(store), made(store)
    heard = {}
    for spec in (one.id, f"rules+{one.id}", other.id, f"{one.id}x", "rules"):
        heard[spec] = scored(store)
        with store.write() as conn:
            conn.exec_driver_sql(f"UPDATE runs SET state = 'running' WHERE id = '{heard[spec]}'")
            assert runs.judge_heard(conn, heard[spec], spec, "f") is not None
    with store.write() as conn:
        assert judgings.hearing(conn, one, "it said more") == 2
        assert judgings.hearing(conn, one, "and more") == 0
        stale = {spec: runs.find(conn, PROJECT, ref).stale for spec, ref in heard.items()}
    assert stale == {
        one.id: "it said more",
        f"rules+{one.id}": "it said more",
        other.id: None,
        f"{one.id}x": None,
        "rules": None,
    }


def test_pages_go_from_the_newest_to_the_oldest_of_one_project(store: Store) -> None:
    five = [made(store).id for _ in range(5)]
    made(store, "other")
    found, cursor = list[str](), None
    for expected in (2, 2, 1):
        with store.read() as conn:
            page = judgings.page(conn, PROJECT, cursor, limit=2)
        assert len(page.judgings) == expected
        found += [one.id for one in page.judgings]
        cursor = page.next
    assert (found, cursor) == (five[::-1], None)
    for wrong in ("x", "", "-1", "²", "9" * 19):
        with store.read() as conn, pytest.raises(InputError, match="use the cursor"):
            judgings.page(conn, PROJECT, wrong)


def test_an_answer_is_committed_once_it_is_put(store: Store, url: str) -> None:
    answers = StoredAnswers(store)
    assert answers.get("0" * 64) is None
    answers.put("0" * 64, b"\x00\xff answer")
    with open_store(url) as other:
        assert StoredAnswers(other).get("0" * 64) == b"\x00\xff answer"
        StoredAnswers(other).put("0" * 64, b"one that fits")
    assert answers.get("0" * 64) == b"one that fits"
    assert answers.get("1" * 64) is None
