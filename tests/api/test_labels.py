"""Labels over HTTP: given, listed, handed out, queued, and the grades that rest on them."""

from __future__ import annotations

import json
from typing import Any

from tests.api.speaking import Api, chat, lines


def given(api: Api, *rows: dict[str, Any], expected: int = 200) -> Any:
    return api.ask("POST", "/labels", expected, content=lines(*rows))


def row(**more: Any) -> dict[str, Any]:
    return {"trajectory_id": "ext:a", "span_index": 1, "verdict": "culprit", "labeller": "ann", **more}


def upload(api: Api) -> dict[str, str]:
    items = api.upload(lines(chat("a", 0.0), chat("b", 1.0)))["items"]
    return {item["external_id"]: item["id"] for item in items}


def test_labels_are_given_listed_and_withdrawn(api: Api) -> None:
    ids = upload(api)
    found = given(api, row(blind=True, seconds=3.5, queue="high", note="no date"), row(span_index=2))
    assert (found["given"], found["rejected"]) == (1, 1)
    [bad] = [item for item in found["items"] if item["status"] == "rejected"]
    assert (bad["line"], bad["reason"]) == (2, "span 2 is an observation: only what the policy wrote is labelled")
    [label] = api.get("/labels", trajectory=ids["a"])["items"]
    assert (label["trajectory"], label["external_id"], label["span"], label["verdict"]) == (ids["a"], "a", 1, "culprit")
    assert (label["blind"], label["seconds"], label["queue"], label["note"]) == (True, 3.5, "high", "no date")
    given(api, row(trajectory_id=ids["b"], labeller="bob"))
    page = api.get("/labels", limit=1)
    assert page["items"][0]["external_id"] == "b"
    assert [one["external_id"] for one in api.get("/labels", cursor=page["next"])["items"]] == ["a"]
    given(api, row(verdict=None))
    assert api.get("/labels", trajectory="ext:a")["items"] == []


def test_the_list_counts_labels_and_is_narrowed_by_them(api: Api) -> None:
    upload(api)
    given(api, row(), row(span_index=3, verdict="innocent"))
    numbers = {one["external_id"]: one["n_labels"] for one in api.get("/trajectories")["items"]}
    assert numbers == {"a": 2, "b": 0}
    for labelled, names in (("true", ["a"]), ("false", ["b"])):
        items = api.get("/trajectories", labelled=labelled)["items"]
        assert [one["external_id"] for one in items] == names


def test_what_cannot_be_taken_is_a_problem_with_a_line(api: Api) -> None:
    upload(api)
    problem = given(api, row(verdict="guilty"), expected=422)
    assert (problem["line"], problem["rejected"]) == (1, 1)
    assert "Invalid enum value 'guilty'" in problem["detail"]
    assert "no rows" in api.ask("POST", "/labels", 422, content=b"\n")["detail"]
    api.get("/labels", 404, trajectory="nobody")
    api.get("/labels/grades", 404, trajectory="nobody")
    api.get("/labels", 422, cursor="x")
    api.get("/labels/queue", 422)
    api.get("/labels/queue", 422, labeller="ann", queue="best")


def test_the_queue_hands_out_the_failed_one_until_it_is_labelled(api: Api) -> None:
    ids = upload(api)
    turns = [api.get("/labels/queue", labeller="ann", queue=queue) for queue in ("disagree", "high", "random")]
    offered = [turn for turn in turns if turn["trajectory"] is not None]
    assert {turn["trajectory"] for turn in offered} == {ids["a"]}
    queue = offered[0]["queue"]
    given(api, row(queue=queue))
    turn = api.get("/labels/queue", labeller="ann", queue=queue)
    assert (turn["trajectory"], turn["left"], turn["done"]) == (None, 0, 1)
    won = [api.get("/labels/queue", labeller="ann", queue=one, outcome="pass") for one in ("high", "random")]
    assert {turn["trajectory"] for turn in won} == {None, ids["b"]}


def test_rows_are_an_attachment_that_can_be_given_again(api: Api) -> None:
    upload(api)
    given(api, row(), row(trajectory_id="b", labeller="bob", verdict="unsure"))
    response = api.send("GET", "/labels/export")
    assert response.headers["Content-Type"] == "application/x-ndjson"
    assert response.headers["Content-Disposition"] == 'attachment; filename="labels.jsonl"'
    rows = [json.loads(line) for line in response.content.splitlines()]
    assert [(one["schema"], one["trajectory_id"]) for one in rows] == [
        ("trajcredit.label/1", "a"),
        ("trajcredit.label/1", "b"),
    ]
    again = given(api, *rows)
    assert {item["status"] for item in again["items"]} == {"duplicate"}


def test_grades_have_the_shape_that_the_dashboard_reads(api: Api) -> None:
    upload(api)
    run = api.run("dag")
    assert api.get("/labels/grades")["runs"][0]["hit_at_1"] == {"value": None, "low": None, "high": None}
    given(api, row(blind=True), row(labeller="bob", verdict="contributed"), row(span_index=3, verdict="innocent"))
    given(api, row(labeller="ann", verdict="culprit", note="sure", blind=True))
    found = api.get("/labels/grades")
    assert found.keys() >= {"labelled", "blind", "runs", "kappa"}
    assert (found["labelled"], found["labels"], found["blind"]) == (1, 3, 1)
    [own] = found["runs"]
    figures = {"hit_at_1", "hit_at_3", "mrr"}
    assert own.keys() == {"run", "number", "label", "graded", *figures, "stale", "stale_reason"}
    assert (own["run"], own["number"], own["label"], own["graded"]) == (run["id"], 1, "dag", 1)
    assert all(own[name].keys() == {"value", "low", "high"} for name in ("hit_at_1", "hit_at_3", "mrr"))
    assert found["kappa"] == {"value": 0.0, "n": 1, "labellers": ["ann", "bob"]}
    assert api.get("/labels/grades", part="random")["labelled"] == 0
    assert api.get("/labels/grades", trajectory="ext:b")["labelled"] == 0
