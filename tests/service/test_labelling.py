"""Label rows in and out: what is taken, what is refused with its line, and that rows come back as they went."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from tests.service.uploads import PROJECT, rollout, send
from trajcredit.errors import InputError
from trajcredit.service import grading_labels, labelling
from trajcredit.store import Store, labels


def row(**more: Any) -> dict[str, Any]:
    return {"trajectory_id": "a", "span_index": 1, "verdict": "culprit", "labeller": "ann", **more}


def give(store: Store, *rows: dict[str, Any] | str) -> labelling.Labelled:
    lines = [one if isinstance(one, str) else json.dumps(one) for one in rows]
    return labelling.give(store, PROJECT, "\n".join(lines).encode())


def test_verdicts_are_those_of_label_rows() -> None:
    assert get_args(grading_labels.Verdict) == labels.VERDICTS


def test_rows_go_out_and_come_back_the_same(store: Store) -> None:
    send(store, rollout("a"), rollout("b"))
    first = row(blind=True, seconds=2.5, queue="disagree", note="wrong\nplace", at="2026-04-14T18:40:12Z")
    give(store, first, row(trajectory_id="ext:b", span_index=3, verdict="innocent", labeller="bob"))
    out = b"".join(labelling.rows(store, PROJECT))
    assert json.loads(out.splitlines()[0]) == {
        "schema": "trajcredit.label/1",
        **first,
        "at": "2026-04-14T18:40:12.000000Z",
    }
    assert give(store, *out.decode().splitlines()).given == 0, "they are there already"
    give(store, row(verdict=None), row(trajectory_id="b", span_index=3, verdict=None, labeller="bob"))
    assert b"".join(labelling.rows(store, PROJECT)) == b""


def test_a_span_may_go_by_its_message_and_call(store: Store) -> None:
    send(store, rollout("a"))
    place = {"span_index": None, "message_index": 1, "tool_call_id": "c1"}
    words = {"span_index": None, "message_index": 3, "tool_call_id": None, "verdict": "innocent"}
    found = give(store, row(**place), row(**words), row(**{**place, "tool_call_id": "z"}))
    assert [item.status for item in found.items] == ["created", "created", "rejected"]
    assert found.items[2].reason == "no call 'z' at message 1"
    assert [(one.span, one.verdict) for one in labelling.labels_of(store, PROJECT, "ext:a").items] == [
        (1, "culprit"),
        (3, "innocent"),
    ]


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        pytest.param("{broken", "JSON is malformed", id="torn"),
        pytest.param(row(schema="trajcredit.label/9"), "schema 'trajcredit.label/9': expected", id="a new schema"),
        pytest.param(row(span_index=None), "names no span; expected `span_index`", id="no span"),
        pytest.param(row(value=0.5), "`value` and `family` are of benchmarks", id="a true advantage"),
        pytest.param(row(verdit="culprit"), "unknown field `verdit`", id="a typing error"),
        pytest.param(row(verdict="guilty"), "Invalid enum value 'guilty' - at `$.verdict`", id="a new verdict"),
        pytest.param(row(trajectory_id="nobody"), "no trajectory 'nobody'", id="no trajectory"),
        pytest.param(row(span_index=0), "span 0 is an observation", id="an observation"),
    ],
)
def test_a_bad_row_is_refused_with_its_line_and_the_others_count(store: Store, bad: Any, why: str) -> None:
    send(store, rollout("a"))
    found = give(store, row(), "", bad)
    assert (found.given, found.rejected) == (1, 1)
    assert found.items[1].line == 3
    assert why in (found.items[1].reason or "")


def test_an_upload_that_replaces_spans_says_which_labels_it_cost(store: Store) -> None:
    send(store, rollout("a"), rollout("b"))
    give(store, row(), row(trajectory_id="b"))
    again = send(store, rollout("a", text="otherwise"), rollout("b", 0.25), replace=True)
    assert [(item.status, item.reason) for item in again.items] == [
        ("replaced", "a label of the one before was dropped: its spans differ"),
        ("replaced", None),
    ]
    assert [one.external_id for one in labelling.listed(store, PROJECT).items] == ["b"]


def test_too_many_rows_are_refused_whole(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labelling, "MOST_ROWS", 1)
    with pytest.raises(InputError, match="more than 1 labels in one request"):
        give(store, row(), row())
