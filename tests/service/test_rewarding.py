"""Late rewards: each row answered, appended once, never changed; what they make out of date says so."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.service.uploads import PROJECT, rollout, scored, send
from trajcredit.errors import InputError, NotFoundError
from trajcredit.service import rewarding
from trajcredit.service.rewarding import Late, late, late_one
from trajcredit.service.running import find
from trajcredit.store import Store, batches, pages
from trajcredit.store.checking import check


def give(store: Store, *rows: dict[str, Any] | str) -> Late:
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    return late(store, PROJECT, "\n".join(lines).encode())


def outcomes(store: Store) -> dict[str, float | None]:
    with store.read() as conn:
        assert check(conn).problems == ()
        return {one.external_id: one.outcome for one in pages.page(conn, PROJECT).trajectories}


def test_each_row_is_answered_in_its_place(store: Store) -> None:
    [a] = send(store, rollout("a", None)).items
    send(store, rollout("b", 0.0))
    answer = give(
        store,
        {"trajectory": a.id, "value": 1},
        "",
        {"trajectory": "ext:b", "value": 0.5, "source": "human", "span": 1, "name": "style"},
        {"trajectory": "ext:gone", "value": 1},
        {"trajectory": "ext:a", "value": 1, "span": 4},
    )
    assert [(item.status, item.line, item.id, item.external_id, item.reason) for item in answer.items] == [
        ("created", 1, a.id, None, None),
        ("created", 3, None, "b", None),
        ("rejected", 4, None, "gone", "no trajectory 'ext:gone'"),
        ("rejected", 5, None, "a", "it names span 4; the trajectory has 4"),
    ]
    assert (answer.appended, answer.rejected) == (2, 2)
    assert outcomes(store) == {"a": 1.0, "b": 0.0}


def test_the_id_of_the_log_alone_will_do(store: Store) -> None:
    send(store, rollout("a", None), rollout("ext:a", None))
    answer = give(store, {"trajectory": "a", "value": 1}, {"trajectory": "ext:a", "value": 1})
    assert [(item.status, item.id, item.external_id) for item in answer.items] == [
        ("created", None, "a"),
        ("duplicate", None, "a"),
    ], "behind the prefix it is always the log's"
    assert give(store, {"trajectory": "ext:ext:a", "value": 0.5}).appended == 1
    assert outcomes(store) == {"a": 1.0, "ext:a": 0.5}


def test_an_id_that_means_two_is_refused_with_both_ways_out(store: Store) -> None:
    [first] = send(store, rollout("a", None)).items
    assert first.id is not None
    send(store, rollout(first.id, None))
    answer = give(store, {"trajectory": first.id, "value": 1}, {"trajectory": "a", "value": 0})
    assert [item.status for item in answer.items] == ["rejected", "created"]
    assert answer.items[0].reason == (
        f"'{first.id}' is the id here of one trajectory and the log's own id of another: "
        f"write 'ext:{first.id}' for the latter, 'ext:a' for the former"
    )
    with pytest.raises(InputError, match="is the id here of one trajectory and the log's own id of another"):
        late_one(store, PROJECT, first.id, "1", {})
    assert give(store, {"trajectory": f"ext:{first.id}", "value": 0.25}).appended == 1
    assert outcomes(store) == {"a": 0.0, first.id: 0.25}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        pytest.param('{"trajectory": "ext:a", "value": NaN}', "malformed", id="NaN"),
        pytest.param('{"trajectory": "ext:a", "value": Infinity}', "malformed", id="infinity"),
        pytest.param('{"trajectory": "ext:a", "value": -Infinity}', "malformed", id="less than any"),
        pytest.param('{"trajectory": "ext:a", "value": 1e400}', "out of range", id="a number beyond floats"),
        pytest.param('{"trajectory": "ext:a", "value": 1e300}', "beyond", id="a number whose square is none"),
        pytest.param('{"trajectory": "ext:a", "value": "inf"}', "Expected `float`, got `str`", id="text"),
        pytest.param('{"trajectory": "ext:a", "value": true}', "Expected `float`, got `bool`", id="a flag"),
        pytest.param('{"trajectory": "ext:a", "value": null}', "Expected `float`, got `null`", id="null"),
        pytest.param('{"trajectory": "ext:a"}', "missing required field `value`", id="no value"),
        pytest.param('{"value": 1}', "missing required field `trajectory`", id="no trajectory"),
        pytest.param('{"trajectory": "ext:a", "value": 1, "score": 2}', "unknown field `score`", id="an unknown key"),
        pytest.param('{"trajectory": "ext:a", "value": 1, "source": "mum"}', "Invalid enum value 'mum'", id="a source"),
        pytest.param('{"trajectory": "ext:a", "value": 1, "span": -1}', "names span -1", id="a span below 0"),
        pytest.param('{"trajectory": "ext:a", "value": 1, "span": 1.5}', "Expected `int", id="half a span"),
        pytest.param('{"trajectory": "ext:a", "value": 1, "span": 9223372036854775808}', "span", id="a huge span"),
        pytest.param('{"trajectory": "ext:a", "value": 1, "at": "soon"}', "expected a time as ISO 8601", id="no time"),
        pytest.param('{"trajectory": "z", "value": 1}', "no trajectory 'z'", id="nobody's id"),
        pytest.param("[1, 2]", "Expected `object`", id="a list"),
        pytest.param('{"trajectory": ' + "[" * 5000, "", id="deep"),
    ],
)
def test_a_row_that_is_wrong_is_rejected_and_the_others_count(store: Store, line: str, why: str) -> None:
    send(store, rollout("a", None), rollout("b", None))
    answer = give(store, line, {"trajectory": "ext:b", "value": 1})
    assert [item.status for item in answer.items] == ["rejected", "created"]
    assert why in (answer.items[0].reason or "")
    assert outcomes(store) == {"a": None, "b": 1.0}


def test_bytes_that_are_no_text_are_named(store: Store) -> None:
    send(store, rollout("a"))
    [item] = late(store, PROJECT, b'{"trajectory": "ext:\xff", "value": 1}').items
    assert (item.status, item.reason) == ("rejected", "not UTF-8 at byte 20")


def test_the_same_rewards_again_change_nothing(store: Store) -> None:
    send(store, rollout("a", None))
    row = {"trajectory": "ext:a", "value": 1, "at": "2026-04-14T20:40:12+02:00"}
    assert give(store, row).appended == 1
    scored(store)
    again = give(store, row)
    assert [item.status for item in again.items] == ["duplicate"]
    assert (again.appended, again.stale_runs) == (0, 0)
    with store.read() as conn:
        [given] = batches.load(conn, PROJECT, ["ext:a"]).rewards
    assert [(reward.value, reward.at) for reward in given] == [(1.0, "2026-04-14T18:40:12Z")]


def test_a_time_without_a_zone_is_utc_and_the_latest_counts(store: Store) -> None:
    send(store, rollout("a", None))
    give(store, {"trajectory": "ext:a", "value": 0, "at": "2026-04-14T18:40:12"})
    give(store, {"trajectory": "ext:a", "value": 1, "at": "2026-04-14T18:40:12-01:00"})
    give(store, {"trajectory": "ext:a", "value": 0.5, "at": "2026-04-14T18:40:12+01:00"})
    assert outcomes(store) == {"a": 1.0}


def test_runs_that_saw_others_are_stale_and_counted_once(store: Store) -> None:
    send(store, rollout("a", 1.0), rollout("b", 0.0))
    first, second = scored(store), scored(store, "dag")
    assert give(store, {"trajectory": "ext:a", "value": 0}, {"trajectory": "ext:b", "value": 1}).stale_runs == 2
    for run in (first, second):
        found = find(store, PROJECT, run.id)
        assert (found.stale, found.stale_reason) == (True, "a reward came later")
    assert give(store, {"trajectory": "ext:a", "value": 0.25}).stale_runs == 0, "they were already"
    assert not scored(store).stale


def test_one_request_has_so_many_rows_and_no_more(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewarding, "MOST_ROWS", 3)
    send(store, rollout("a", None))
    with pytest.raises(InputError, match="more than 3 rewards in one request"):
        give(store, *({"trajectory": "ext:a", "value": n} for n in range(4)))
    assert outcomes(store) == {"a": None}


def test_nothing_sent_is_nothing_done(store: Store) -> None:
    assert late(store, PROJECT, b"\n \n") == Late(0, 0, (), 0)


def test_a_person_gives_one_by_any_name_of_the_trajectory(store: Store) -> None:
    [a] = send(store, rollout("a", None)).items
    assert a.id is not None
    for n, name in enumerate(("a", "ext:a", a.id)):
        assert late_one(store, PROJECT, name, str(n), {}).appended == 1
    assert late_one(store, PROJECT, "a", "9", {"source": "judge", "span": None}).appended == 1
    assert outcomes(store) == {"a": 2.0}, "that of a human counts more than that of a judge"
    [rejected] = late_one(store, PROJECT, "a", "1", {"source": "mum"}).items
    assert "mum" in (rejected.reason or "")


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e999", "good", ""])
def test_what_is_no_finite_number_is_no_reward(store: Store, value: str) -> None:
    send(store, rollout("a", None))
    with pytest.raises(InputError, match=r"expected a (finite )?number as reward"):
        late_one(store, PROJECT, "a", value, {})


def test_a_trajectory_that_is_not_there_is_named(store: Store) -> None:
    with pytest.raises(NotFoundError, match="no trajectory 'a' in project 'default'"):
        late_one(store, PROJECT, "a", "1", {})
