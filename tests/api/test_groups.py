"""Groups over HTTP: each answer fits its model, and what is asked wrongly is told by name."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from tests.api.speaking import Api, chat, lines


@pytest.fixture
def filled(api: Api) -> Api:
    rows = [chat("a", 1.0), chat("b", 0.0, said="No idea."), chat("c", None), chat("d", 0.25, group="h/é")]
    assert api.upload(lines(*rows), name="runs.jsonl")["created"] == len(rows)
    return api


def test_the_list_is_paged_whole(filled: Api) -> None:
    first = filled.get("/groups", limit=1, sort="-size")
    assert [(row["name"], row["size"], row["scored"]) for row in first["items"]] == [("g", 3, 2)]
    assert (first["total"], first["total_exact"]) == (2, True)
    second = filled.get("/groups", limit=1, sort="-size", cursor=first["next"])
    assert ([row["name"] for row in second["items"]], second["next"]) == (["h/é"], None)


def test_a_trajectory_names_its_group(filled: Api) -> None:
    row = filled.get("/trajectories", sort="created")["items"][0]
    assert filled.get(f"/trajectories/{row['id']}")["group_id"] == row["group_id"]
    group = filled.get(f"/groups/{row['group_id']}")
    assert (group["name"], [one["external_id"] for one in group["members"]]) == ("g", ["a", "b", "c"])
    assert filled.get(f"/groups/{quote('ext:h/é', safe='')}")["size"] == 1


def test_two_of_a_group_with_the_credit_of_a_run(filled: Api) -> None:
    run = filled.run("grpo")
    found = filled.get("/groups/ext:g/alignment", a="ext:a", b="ext:b", run="grpo")
    assert (found["run"], found["first"], [row["state"] for row in found["rows"]]) == (
        run["id"],
        None,
        ["same", "same", "differs"],
    )
    assert filled.get("/groups/ext:g", run=run["id"])["tree"][0]["calls"][0]["credit"] == 0


@pytest.mark.parametrize(
    ("path", "query", "status", "said"),
    [
        ("/groups", {"sort": "name"}, 422, "sort"),
        ("/groups", {"cursor": "x"}, 422, "no page begins"),
        ("/groups", {"limit": 201}, 422, "limit"),
        ("/groups/nothing", {}, 404, "no group 'nothing'"),
        ("/groups/ext:g", {"run": "dag"}, 404, "dag"),
        ("/groups/ext:g/alignment", {"a": "ext:a"}, 422, "b"),
        ("/groups/ext:g/alignment", {"a": "ext:a", "b": "ext:d"}, 422, "b: trajectory 'ext:d' is not in group 'g'"),
        ("/groups/ext:g/alignment", {"a": "ext:zz", "b": "ext:a"}, 404, "ext:zz"),
    ],
)
def test_what_is_asked_wrongly_is_told(filled: Api, path: str, query: dict[str, Any], status: int, said: str) -> None:
    answer = filled.get(path, status, **query)
    assert said in f"{answer['detail']} {answer.get('field')}"
