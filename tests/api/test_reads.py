"""What is looked at: lists, one trajectory, its text, its edges, what runs say of it; each answer fits its model."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from msgspec.structs import replace

from tests.api.speaking import Api, chat, lines
from tests.build import run
from trajcredit.model import decode, encode

GROUP = [chat("a", 1.0), chat("b", 0.0, said="No idea."), chat("c", None), chat("d", 0.25, group="h")]


@pytest.fixture
def filled(api: Api) -> Api:
    assert api.upload(lines(*GROUP), name="runs.jsonl")["created"] == len(GROUP)
    return api


def test_the_list_is_paged_whole(filled: Api) -> None:
    seen: list[str] = []
    cursor: dict[str, Any] = {}
    while True:
        page = filled.get("/trajectories", limit=3, sort="created", **cursor)
        seen += [row["external_id"] for row in page["items"]]
        if page["next"] is None:
            break
        cursor = {"cursor": page["next"]}
    assert seen == ["a", "b", "c", "d"]
    assert page["total"] == 4


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"outcome": "pass"}, "a"),
        ({"outcome": "fail"}, "bd"),
        ({"outcome": "unscored"}, "c"),
        ({"outcome_min": "0.25"}, "ad"),
        ({"outcome_max": "0.1"}, "b"),
        ({"group": "h"}, "d"),
        ({"tool": "search"}, "abcd"),
        ({"tool": "pay"}, ""),
        ({"errors": "true"}, ""),
        ({"text": "zz"}, ""),
        ({"task": "t"}, "abcd"),
        ({"dataset": "runs.jsonl"}, "abcd"),
        ({"policy_version": "v1"}, ""),
        ({"model": "gpt"}, ""),
        ({"step_min": "0"}, ""),
    ],
)
def test_filters(filled: Api, query: dict[str, Any], found: str) -> None:
    assert [row["external_id"] for row in filled.get("/trajectories", sort="created", **query)["items"]] == list(found)


def test_a_run_adds_strips_and_tops_to_the_list(filled: Api) -> None:
    run = filled.run("grpo")
    page = filled.get("/trajectories", run="grpo", sort="created")
    assert page["run"] == run["id"]
    assert page["scale"] > 0
    assert [row["strip"] is None for row in page["items"]] == [False] * 4
    filled.get("/trajectories", 404, run="dag")


def test_tools_and_groups_are_suggested(filled: Api) -> None:
    assert filled.get("/tools")["items"] == ["search"]
    assert filled.get("/tools", text="x")["items"] == []
    assert [row["name"] for row in filled.get("/groups", text="g")["items"]] == ["g"]


def test_one_trajectory_with_all_there_is_to_it(filled: Api) -> None:
    run = filled.run("dag")
    one = filled.get("/trajectories/ext:a")
    assert one["kind"] == ["user", "tool_call", "tool_result", "assistant"]
    texts = filled.get("/trajectories/ext:a/text", **{"from": 2})["items"]
    assert [(text["span"], text["size"]) for text in texts] == [(2, one["size"][2]), (3, one["size"][3])]
    edges = filled.get("/trajectories/ext:a/graph")
    assert (2, 3) in zip(edges["parent"], edges["child"], strict=True)
    assert filled.get("/trajectories/ext:a/graph/3")["fed_by"][-1]["parent"] == 2
    said = filled.get("/trajectories/ext:a/credits", run="dag")
    assert said["run"] == run["id"]
    why = filled.get("/trajectories/ext:a/why", run="dag", span=3)
    assert sum(term["value"] for term in why["terms"]) == pytest.approx(said["credit"][3], abs=1e-6)
    [one] = filled.get("/trajectories/ext:a/credits/3")["items"]
    assert one["credit"] == said["credit"][3]


def test_the_model_that_answered_is_shown_and_filtered_by(filled: Api) -> None:
    named = [replace(run("ua", 1.0, name=f"m{n}"), model=model) for n, model in enumerate(["gpt-5", "gpt-5-mini"])]
    filled.upload(b"".join(encode(one) + b"\n" for one in named))
    page = filled.get("/trajectories", model="gpt-5")
    assert [(row["external_id"], row["model"]) for row in page["items"]] == [("m0", "gpt-5")]
    assert filled.get("/trajectories/ext:m1")["model"] == "gpt-5-mini"
    assert filled.get("/trajectories/ext:a")["model"] is None
    assert {row["model"] for row in filled.get("/trajectories")["items"]} == {None, "gpt-5", "gpt-5-mini"}


def test_what_the_reader_and_the_graph_guessed_is_told(api: Api) -> None:
    orphan = {"role": "tool", "tool_call_id": "gone", "content": "42"}
    broken = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"to": "PA'}}
    row = chat("a")
    row["messages"][1:1] = [orphan]
    row["messages"][2]["tool_calls"] = [broken]
    told = [(note["code"], note["span"]) for note in api.upload(lines(row))["items"][0]["report"]]
    report = api.get("/trajectories/ext:a")["report"]
    assert [(note["code"], note["span"]) for note in report] == told
    assert ("orphan-result", 1) in told
    assert ("broken-arguments", 2) in told
    assert all(note["message"] for note in report)
    assert api.get("/trajectories")["items"][0]["n_notes"] == len(report)


def test_text_and_raw_line_come_as_attachments(filled: Api) -> None:
    text = filled.send("GET", "/trajectories/ext:a/text/3", params={"from": 0, "to": 7})
    assert text.text == "FL-2210"
    assert text.headers["Content-Type"] == "text/plain; charset=utf-8"
    raw = filled.send("GET", "/trajectories/ext:a/raw")
    assert decode(raw.content.rstrip()).id == "a"
    assert {one.headers["Content-Disposition"].split(";")[0] for one in (text, raw)} == {"attachment"}


@pytest.mark.parametrize(
    "name", ["a/b", "a b", "飛行機", "a%2Fb", "../../x", "a?b#c", "ext:a", 'q"uote', "\u2603\n", "x" * 512]
)
def test_any_id_of_a_client_can_be_asked_for(api: Api, name: str) -> None:
    [item] = api.upload(lines(chat(name)))["items"]
    assert item["external_id"] == name
    for path in ("", "/text", "/graph", "/graph/0", "/credits/0"):
        api.get(f"/trajectories/ext:{quote(name, safe='')}{path}")
    assert api.get(f"/trajectories/ext%3A{quote(name, safe='')}")["id"] == item["id"]
    named = api.send("GET", f"/trajectories/ext:{quote(name, safe='')}/raw").headers["Content-Disposition"]
    assert named.isascii()
    assert not set(named) & set("/\\\n")
    assert ".." not in named


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/trajectories/nothing", 404),
        ("/trajectories/ext:nothing/graph", 404),
        ("/trajectories/ext:a/graph/99", 422),
        ("/trajectories/ext:a/graph/-1", 422),
        ("/trajectories/ext:a/graph/99999999999999999999", 422),
        ("/trajectories/ext:a/text/x", 422),
        ("/trajectories/ext:a/text?from=0&to=201", 422),
        ("/trajectories/ext:a/text?most=0", 422),
        ("/trajectories/ext:a/credits", 422),
        ("/trajectories/ext:a/credits?run=dag", 404),
        ("/trajectories/ext:a/why?run=dag", 422),
        ("/trajectories/%FF", 422),
        ("/trajectories/%00", 422),
        ("/trajectories/" + "x" * 600, 422),
        ("/trajectories?limit=0", 422),
        ("/trajectories?limit=201", 422),
        ("/trajectories?sort=name", 422),
        ("/trajectories?cursor=nonsense", 422),
        ("/trajectories?outcome_min=NaN", 422),
        ("/trajectories?outcome_min=1e400", 422),
        ("/trajectories?step_min=1.5", 422),
        ("/trajectories?project=", 422),
        ("/trajectories?project=" + "p" * 101, 422),
        ("/trajectories?text=%00", 422),
        ("/trajectories?outcom=fail", 422),
        ("/trajectories?limit=1&limit=2", 422),
        ("/runs?page=2", 422),
        ("/runs?cursor=x", 422),
        ("/attributors?project=x", 422),
        ("/nothing", 404),
        ("/trajectories/a/b", 404),
    ],
)
def test_what_is_asked_wrongly_is_told(filled: Api, path: str, status: int) -> None:
    answer = filled.get(path, status)
    assert "Traceback" not in answer["detail"]


@pytest.mark.parametrize("path", ["/trajectories?outcom=fail", "/trajectories?limit=0", "/trajectories?project="])
def test_a_wrong_parameter_is_named(filled: Api, path: str) -> None:
    assert filled.get(path, 422)["field"] == path.partition("?")[2].partition("=")[0]


def test_a_method_that_is_not_there_is_405(api: Api) -> None:
    response = api.send("PATCH", "/trajectories")
    assert response.status_code == 405
    assert response.headers["Allow"] == "GET, POST"


def test_what_is_registered(api: Api) -> None:
    dag = next(one for one in api.get("/attributors") if one["name"] == "dag")
    base = next(one for one in dag["parameters"] if one["name"] == "base")
    assert "grpo" in base["choices"]
    assert base["sentence"]
    assert {"openai_chat", "trajcredit"} <= {one["name"] for one in api.get("/formats")}
