"""Text found in a trajectory, and trajectories found by how their groups did, over HTTP."""

from __future__ import annotations

import pytest

from tests.api.speaking import Api, chat, lines


@pytest.fixture
def filled(api: Api) -> Api:
    api.upload(lines(chat("a", 1.0), chat("b", 1.0), chat("c", 0.0, group="h"), chat("d", 0.5, group="i")))
    api.upload(lines(chat("e", 0.0, group="i")))
    return api


def test_text_is_found_with_its_places(filled: Api) -> None:
    found = filled.get("/trajectories/ext:a/find", q="fl-2210")
    assert list(zip(found["span"], found["start"], strict=True)) == [(2, 12), (3, 0)]
    assert (found["spans"], found["counts"], found["total"], found["next"]) == ([2, 3], [1, 1], 2, None)
    assert filled.get("/trajectories/ext:a/find", q="fl-2210", **{"from": 3})["span"] == [3]
    assert filled.get("/trajectories/ext:a/find", q="search")["start"][0] is None


@pytest.mark.parametrize(
    ("query", "status"),
    [
        pytest.param({}, 422, id="nothing to look for"),
        pytest.param({"q": ""}, 422, id="an empty text"),
        pytest.param({"q": "x" * 201}, 422, id="too long a text"),
        pytest.param({"q": "a\0"}, 422, id="NUL"),
        pytest.param({"q": "a", "from": 4}, 422, id="a span beyond the last"),
        pytest.param({"q": "a", "to": 4}, 422, id="what is no parameter"),
    ],
)
def test_a_search_that_is_asked_wrongly_is_refused(filled: Api, query: dict[str, object], status: int) -> None:
    filled.get("/trajectories/ext:a/find", status, **query)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({"no_group": True}, ["c"]),
        ({"no_group": False}, ["a", "b", "d", "e"]),
        ({"zero_variance": True}, ["a", "b"]),
        ({"zero_variance": False}, ["c", "d", "e"]),
    ],
)
def test_the_list_is_narrowed_by_how_groups_did(filled: Api, query: dict[str, bool], names: list[str]) -> None:
    page = filled.get("/trajectories", sort="created", **query)
    assert [row["external_id"] for row in page["items"]] == names
    assert page["total"] == len(names)


def test_a_row_says_how_its_group_did_and_where_it_stands(filled: Api) -> None:
    rows = {row["external_id"]: row for row in filled.get("/trajectories")["items"]}
    assert [(rows[name]["group_passed"], rows[name]["group_size"]) for name in "ace"] == [(2, 2), (0, 1), (1, 2)]
    assert [rows[name]["group_difference"] for name in "ade"] == [0.0, 0.25, -0.25]
