"""Edges edited over HTTP: said, shown, taken back, previewed."""

from __future__ import annotations

import pytest

from tests.api.speaking import Api, chat, lines

T = "/trajectories/ext:a"
EDIT = {"parent": 2, "child": 3, "action": "remove", "reason": "guessed", "person": "Ann"}


@pytest.fixture
def filled(api: Api) -> Api:
    api.upload(lines(chat("a", 1.0), chat("b", 0.0, said="No idea.")), name="runs.jsonl")
    return api


def edges(api: Api) -> dict[tuple[int, int], str]:
    found = api.get(f"{T}/graph")
    return dict(zip(zip(found["parent"], found["child"], strict=True), found["kind"], strict=True))


def test_an_edge_is_removed_shown_and_put_back(filled: Api) -> None:
    run = filled.run("dag")
    derived = edges(filled)
    assert derived[2, 3] == "value"
    said = filled.ask("POST", f"{T}/edges", json=EDIT)
    assert said == filled.get(f"{T}/edges")
    (one,) = said["in_force"]
    assert (one["saying"]["reason"], one["saying"]["person"], one["derived"]["kind"]) == ("guessed", "Ann", "value")
    assert one["derived"]["matches"][0]["child_text"] == "FL-2210"
    assert (2, 3) not in edges(filled)
    assert 2 not in [edge["parent"] for edge in filled.get(f"{T}/graph/3")["fed_by"]]
    stale = filled.get(f"/runs/{run['id']}")
    assert (stale["stale"], stale["stale_reason"]) == (True, "the edge s2 -> s3 of a was removed")
    assert [row["external_id"] for row in filled.get("/trajectories", has="override")["items"]] == ["a"]
    assert [row["n_overrides"] for row in filled.get("/trajectories", sort="created")["items"]] == [1, 0]
    where = {"parent": 2, "child": 3, "reason": "it was right", "person": "Ben"}
    back = filled.ask("DELETE", f"{T}/edges", params=where)
    assert back["in_force"] == []
    assert [(one["action"], one["person"]) for one in back["history"]] == [("remove", "Ann"), ("withdraw", "Ben")]
    assert edges(filled) == derived
    assert filled.get("/trajectories", has="override")["items"] == []


def test_a_preview_stores_nothing_and_says_what_the_next_run_says(filled: Api) -> None:
    run = filled.run("dag")
    asked = {"run": "dag", "changes": [{"parent": 2, "child": 3, "action": "remove"}]}
    found = filled.ask("POST", f"{T}/edges/preview", json=asked)
    assert filled.get(f"{T}/edges") == {"in_force": [], "history": []}
    assert not filled.get(f"/runs/{run['id']}")["stale"]
    now = filled.get(f"{T}/credits", run=run["id"])
    assert (found["run"], found["before"]["credit"]) == (run["id"], now["credit"])
    assert (found["changed"], found["after"]["credit"][1]) == (1, 0.0)
    filled.ask("POST", f"{T}/edges", json=EDIT)
    after = filled.get(f"{T}/credits", run=filled.run("dag")["id"])
    assert found["after"] == {"credit": after["credit"], "advantage": after["advantage"]}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        pytest.param({**EDIT, "reason": ""}, "reason", id="no reason"),
        pytest.param({**EDIT, "person": " "}, "person: say who", id="a blank name"),
        pytest.param({**EDIT, "reason": "\0"}, "reason", id="NUL"),
        pytest.param({**EDIT, "action": "cut"}, "action", id="an unknown action"),
        pytest.param({**EDIT, "parent": 3}, "the parent must be an earlier span", id="backwards"),
        pytest.param({**EDIT, "child": 9}, "no child s9", id="no such span"),
        pytest.param({**EDIT, "weight": 1}, "weight", id="an unknown field"),
        pytest.param({**EDIT, "parent": -1}, "parent", id="a negative span"),
        pytest.param({**EDIT, "action": "withdraw"}, "nothing to withdraw", id="nothing to withdraw"),
        pytest.param({"parent": 1, "child": 2, "action": "add"}, "reason", id="neither reason nor name"),
    ],
)
def test_an_edit_that_cannot_be_is_refused(filled: Api, body: dict[str, object], said: str) -> None:
    answer = filled.ask("POST", f"{T}/edges", 422, json=body)
    assert said in answer["detail"] or said == answer["field"]
    assert filled.get(f"{T}/edges")["history"] == []


def test_what_is_not_there_is_not_found(filled: Api) -> None:
    filled.get("/trajectories/ext:nobody/edges", 404)
    filled.ask("POST", "/trajectories/ext:nobody/edges", 404, json=EDIT)
    filled.ask("POST", f"{T}/edges/preview", 404, json={"run": "dag", "changes": []})
    filled.ask("DELETE", f"{T}/edges", 422, params={"parent": 2, "child": 3})
    filled.ask("POST", f"{T}/edges", 422, content=b"{")
