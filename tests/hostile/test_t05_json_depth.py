"""T05: JSON that nests too deep is refused with words, or kept as text; it never takes the server down."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.api.speaking import Api, chat, lines
from trajcredit.store import Store

DEEP = (101, 1_000, 100_000)
LEVELS = (99, *DEEP)
HERE = "@@"


@pytest.fixture
def api(store: Store) -> Api:
    return Api(store)


def nested(levels: int, brackets: str = "[]") -> str:
    opening = brackets[0] if brackets == "[]" else '{"a":'
    return opening * levels + ("" if brackets == "[]" else "1") + brackets[1] * levels


def with_value(row: dict[str, Any], value: str) -> bytes:
    """The row as JSON, its one HERE replaced by JSON that no encoder would write."""
    text = json.dumps(row)
    assert text.count(f'"{HERE}"') == 1
    return text.replace(f'"{HERE}"', value).encode()


def row_with(place: str) -> dict[str, Any]:
    row = chat("a")
    if place == "arguments":
        row["messages"][1]["tool_calls"][0]["function"]["arguments"] = HERE
    elif place == "content":
        row["messages"][3]["content"] = HERE
    elif place == "tools":
        row["tools"] = [{"type": "function", "function": {"name": "search", "parameters": HERE}}]
    else:
        row[place] = HERE
    return row


@pytest.mark.parametrize("brackets", ["[]", "{}"])
@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("place", ["arguments", "content", "tools", "reward", "unknown key"])
def test_a_value_that_nests(api: Api, place: str, levels: int, brackets: str) -> None:
    response = api.send("POST", "/trajectories", content=with_value(row_with(place), nested(levels, brackets)))
    answer = response.json()
    assert response.status_code in ((200, 422) if levels < 1_000 else (422,))
    if response.status_code == 200:
        for path in ("", "/text", "/graph", "/raw"):
            assert api.send("GET", f"/trajectories/ext:a{path}").status_code == 200
    elif place != "reward":
        assert "nested deeper than 100 levels" in answer["detail"]


def test_arguments_of_99_levels_are_kept_and_of_101_are_not(api: Api) -> None:
    arguments = row_with("arguments")
    assert api.upload(with_value(arguments, nested(99, "{}")))["created"] == 1
    assert "arguments nested deeper" in api.upload(with_value(arguments, nested(101, "{}")), 422)["detail"]


@pytest.mark.parametrize("levels", LEVELS)
def test_arguments_as_text_are_kept_as_text(api: Api, levels: int) -> None:
    row = chat("a")
    row["messages"][1]["tool_calls"][0]["function"]["arguments"] = nested(levels, "{}")
    assert api.upload(lines(row))["created"] == 1
    assert api.send("GET", "/trajectories/ext:a/text/1").text == nested(levels, "{}")
    assert api.send("GET", "/trajectories/ext:a/raw").status_code == 200
    assert api.run("dag")["state"] == "done"


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize(
    "body", ["{}", '{{"trajectory_id": "a", "messages": {}}}', "[{}]"], ids=["alone", "in it", "in []"]
)
def test_whole_bodies_that_nest(api: Api, body: str, levels: int) -> None:
    assert api.upload(body.format(nested(levels)), 422)["created"] == 0
    assert api.upload(body.format('{"trajectory":' * levels), 422)["created"] == 0


@pytest.mark.parametrize("levels", LEVELS)
def test_rewards_and_runs_that_nest(api: Api, levels: int) -> None:
    api.upload(lines(chat("a")))
    api.ask("POST", "/rewards", 422, content=f'{{"trajectory": "ext:a", "value": {nested(levels)}}}')
    api.ask("POST", "/rewards", 422, content=f'{{"trajectory": "ext:a", "value": 1, "x": {nested(levels)}}}')
    api.ask("POST", "/runs", 422, content=f'{{"attributor": "dag", "parameters": {{"gamma": {nested(levels)}}}}}')
    api.ask("POST", "/runs", 422, content=f'{{"attributor": "dag", "parameters": {nested(levels)}}}')


@pytest.mark.parametrize("levels", DEEP)
def test_one_deep_line_costs_no_other(api: Api, levels: int) -> None:
    deep = with_value(row_with("arguments"), nested(levels, "{}"))
    answer = api.upload(lines(chat("b")) + deep + b"\n" + lines(chat("c")))
    assert [item["status"] for item in answer["items"]] == ["created", "rejected", "created"]
