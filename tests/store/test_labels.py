"""Labels: appended, the newest of one person on one span counts, and what becomes of them when a trajectory goes."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from sqlalchemy import select, update

from tests.build import run
from tests.store.shelf import PROJECT, put
from trajcredit.model import Reward
from trajcredit.store import Store, checking, labels, pages, trajectories
from trajcredit.store.filters import Filters
from trajcredit.store.labels import Given, Label
from trajcredit.store.tables import labels as rows


def give(store: Store, *given: Given, project: str = PROJECT) -> list[str]:
    with store.write() as conn:
        return [one.status for one in labels.append(conn, project, given)]


def on(span: int, verdict: labels.Verdict | None, labeller: str = "ann", ref: str = "ext:a", **more: object) -> Given:
    return Given(trajectory=ref, span=span, verdict=verdict, labeller=labeller, **more)  # type: ignore[arg-type]


def said(store: Store, ref: str = "ext:a") -> list[tuple[int, str, str]]:
    with store.read() as conn:
        return [(one.span, one.labeller, one.verdict) for one in labels.of_trajectory(conn, PROJECT, ref)]


def test_of_one_person_on_one_span_the_newest_counts_and_nothing_is_overwritten(store: Store) -> None:
    put(store, run("ucra", name="a"))
    assert give(store, on(1, "innocent"), on(1, "culprit", "bob"), on(3, "unsure")) == ["created"] * 3
    assert give(store, on(1, "culprit", note=" wrong date ", blind=True, seconds=4)) == ["created"]
    assert said(store) == [(1, "ann", "culprit"), (1, "bob", "culprit"), (3, "ann", "unsure")]
    with store.read() as conn:
        newest = labels.of_trajectory(conn, PROJECT, "ext:a")[0]
        assert (newest.note, newest.blind, newest.seconds, newest.queue) == ("wrong date", True, 4.0, None)
        assert len(conn.execute(select(rows.c.id)).all()) == 4


def test_a_label_is_withdrawn_and_given_again(store: Store) -> None:
    put(store, run("ucra", name="a"))
    assert give(store, on(1, None)) == ["duplicate"], "there is nothing to withdraw"
    assert give(store, on(1, "culprit"), on(1, None)) == ["created", "created"]
    assert said(store) == []
    assert give(store, on(1, "culprit")) == ["created"]
    assert said(store) == [(1, "ann", "culprit")]


def test_sent_again_it_changes_nothing(store: Store) -> None:
    put(store, run("ucra", name="a"))
    timed, untimed = on(1, "culprit", at="2026-01-01T00:00:00+02:00"), on(3, "innocent", note="fine")
    assert give(store, timed, untimed, timed) == ["created", "created", "duplicate"]
    assert give(store, untimed, timed) == ["duplicate", "duplicate"]
    with store.read() as conn:
        assert labels.of_trajectory(conn, PROJECT, "ext:a")[0].at == "2025-12-31T22:00:00.000000Z"


def test_an_older_label_that_comes_later_does_not_count_and_one_of_the_future_can_be_revised(store: Store) -> None:
    put(store, run("ucra", name="a"))
    give(store, on(1, "culprit", at="2199-01-01T00:00:00Z"))
    assert give(store, on(1, "unsure", at="2020-01-01T00:00:00Z")) == ["created"]
    assert said(store) == [(1, "ann", "culprit")]
    assert give(store, on(1, "innocent")) == ["created"]
    assert said(store) == [(1, "ann", "innocent")]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        pytest.param(on(1, "culprit", ref="ext:nobody"), "no trajectory 'ext:nobody'", id="an unknown trajectory"),
        pytest.param(on(4, "culprit"), "span 4; the trajectory has 4", id="a span beyond the last"),
        pytest.param(on(-1, "culprit"), "span -1", id="a span before the first"),
        pytest.param(on(2, "culprit"), "span 2 is an observation", id="a tool result"),
        pytest.param(on(1, "guilty"), "no verdict 'guilty'; known: culprit", id="a new verdict"),  # type: ignore[arg-type]
        pytest.param(on(1, "culprit", "  "), "`labeller` is '  '", id="a nameless person"),
        pytest.param(on(1, "culprit", "a\0b"), "without NUL", id="a name nobody can write"),
        pytest.param(on(1, "culprit", note="x" * 10_001), "`note` has 10,001 characters", id="a novel"),
        pytest.param(on(1, "culprit", seconds=float("nan")), "`seconds` is nan", id="no time at all"),
        pytest.param(on(1, "culprit", queue="best"), "no queue 'best'", id="a new queue"),
        pytest.param(on(1, "culprit", at="noon"), "`at` is 'noon'", id="no date"),
        pytest.param(on(1, "culprit", at="0001-01-01T00:00+14:00"), "a time of 1970 to 8999", id="before all years"),
        pytest.param(on(1, "culprit", at="9999-12-31T23:59:59.999999"), "a time of 1970 to 8999", id="the last moment"),
    ],
)
def test_a_label_that_cannot_be_is_rejected_and_the_rest_goes_on(store: Store, given: Given, why: str) -> None:
    put(store, run("ucra", name="a"))
    with store.write() as conn:
        bad, good = labels.append(conn, PROJECT, [given, on(1, "culprit")])
    assert (bad.status, good.status) == ("rejected", "created")
    assert why in (bad.reason or "")
    assert give(store, on(1, "culprit"), project="other") == ["rejected"]


def test_pages_come_newest_first_and_drop_nothing(store: Store) -> None:
    put(store, run("ucra", name="a"), run("ucra", name="b"))
    give(store, on(1, "culprit"), on(3, "innocent"), on(1, "unsure", ref="ext:b"), on(3, None), on(1, "innocent"))
    found: list[Label] = []
    with store.read() as conn:
        cursor: str | None = None
        while not found or cursor is not None:
            page = labels.page(conn, PROJECT, cursor, 1)
            found += page.labels
            cursor = page.next
        assert [(one.external_id, one.span, one.verdict) for one in found] == [("a", 1, "innocent"), ("b", 1, "unsure")]
        assert [one.external_id for one in labels.each(conn, PROJECT)] == ["b", "a"]
        assert list(labels.counts(conn, [one.trajectory for one in found]).values()) == [1, 1]
        assert labels.labelled_by(conn, PROJECT, "ann") == 2


def test_the_list_is_narrowed_to_what_nobody_labelled(store: Store) -> None:
    put(store, run("ucra", name="a"), run("ucra", name="b"), run("ucra", name="c"))
    give(store, on(1, "culprit"), on(1, "culprit", ref="ext:b"), on(1, None, ref="ext:b"))
    with store.read() as conn:
        for labelled, names in ((True, ["a"]), (False, ["b", "c"])):
            page = pages.page(conn, PROJECT, Filters(labelled=labelled), "created")
            assert [one.external_id for one in page.trajectories] == names


def test_deleting_a_trajectory_deletes_its_labels(store: Store) -> None:
    put(store, run("ucra", name="a"), run("ucra", name="b"))
    give(store, on(1, "culprit"), on(1, "innocent", ref="ext:b"))
    with store.write() as conn:
        trajectories.delete(conn, PROJECT, "ext:a")
    with store.read() as conn:
        assert [one.external_id for one in labels.each(conn, PROJECT)] == ["b"]


def test_labels_stay_where_only_the_reward_of_a_replaced_trajectory_differs(store: Store) -> None:
    put(store, run("ucra", 0.0, name="a"))
    give(store, on(1, "unsure", at="2026-01-01T00:00:00Z"), on(1, "culprit", note="it"), on(3, "innocent", "bob"))
    [answer] = put(store, replace(run("ucra", name="a"), rewards=[Reward(0.5)]), replace=True)
    assert (answer.status, answer.reason) == ("replaced", None)
    assert said(store) == [(1, "ann", "culprit"), (3, "bob", "innocent")]
    assert give(store, on(1, "culprit", note="it")) == ["duplicate"]


def test_labels_of_a_trajectory_whose_spans_are_replaced_are_dropped_and_that_is_said(store: Store) -> None:
    put(store, run("ucra", 0.0, name="a"), run("ucra", 0.0, name="b"))
    give(store, on(1, "culprit"), on(3, "innocent"))
    [a, b] = put(store, run("ucrcra", 0.0, name="a"), run("ucrcra", 0.0, name="b"), replace=True)
    assert (a.status, a.reason) == ("replaced", "2 labels of the one before were dropped: its spans differ")
    assert (b.status, b.reason) == ("replaced", None)
    assert said(store) == []


def test_a_check_names_a_label_of_no_action(store: Store) -> None:
    put(store, run("ucra", 0.0, name="a"))
    give(store, on(1, "culprit"))
    with store.read() as conn:
        assert checking.check(conn).problems == ()
    with store.write() as conn:
        conn.execute(update(rows).values(span=2))
    with store.read() as conn:
        [problem] = checking.check(conn).problems
    assert problem.endswith("a label of span 2, which is no action of it")
