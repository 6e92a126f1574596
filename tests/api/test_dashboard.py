"""The dashboard over HTTP: every panel fits its model, full and empty, and takes the one filter."""

from __future__ import annotations

import pytest

from tests.api.speaking import Api, chat, lines
from trajcredit.store import open_store

PANELS = ("rewards", "variance", "passk", "length", "tools", "agreement", "offpath")
FILTERS = (
    {"group": "h"},
    {"step_min": 2},
    {"step_max": 0},
    {"dataset": "other"},
    {"policy_version": "v1"},
)
ROWS = [
    {**chat("a", 1.0), "step": 1},
    {**chat("b", 0.0, said="No idea."), "step": 1},
    {**chat("c", None), "step": 1},
    {**chat("d", 0.25, group="h"), "step": 7},
    {**chat("e", 0.25, group="h", said="At nine, or ten."), "step": 7},
]


@pytest.fixture
def filled(api: Api) -> Api:
    assert api.upload(lines(*ROWS), name="runs.jsonl")["created"] == len(ROWS)
    for attributor in ("grpo", "dag"):
        api.run(attributor)
    return api


@pytest.mark.parametrize("panel", PANELS)
def test_an_empty_project_is_an_answer_that_says_what_it_needs(sqlite_url: str, panel: str) -> None:
    with open_store(sqlite_url) as store:
        assert Api(store).get(f"/dashboard/{panel}")["needs"]


def test_every_panel_fits_its_model_and_takes_the_filter(filled: Api) -> None:
    for panel in PANELS:
        whole = filled.get(f"/dashboard/{panel}")
        assert whole["needs"] is None
        for query in FILTERS:
            assert filled.get(f"/dashboard/{panel}", **query) != whole, (panel, query)


def test_numbers_of_the_panels(filled: Api) -> None:
    found = filled.get("/dashboard/rewards", limit=1)
    assert (found["groups"], found["scored"], found["next"]) == (2, 4, 1)
    assert [row["group"] for row in filled.get("/dashboard/rewards", **{"from": 1})["items"]] == ["g"]
    assert [row["mean"] for row in filled.get("/dashboard/rewards", sort="-mean")["items"]] == [0.5, 0.25]
    assert filled.get("/dashboard/variance")["share"]["value"] == 0.5
    assert [point["value"] for point in filled.get("/dashboard/passk")["points"]] == [0.25, 0.5]
    assert filled.get("/dashboard/length")["unit"] == "characters"
    assert [row["tool"] for row in filled.get("/dashboard/tools", run="grpo")["items"]] == ["search"]
    assert [one["label"] for one in filled.get("/dashboard/agreement", run="grpo,dag")["runs"]] == ["grpo", "dag"]
    assert [row["run"]["label"] for row in filled.get("/dashboard/offpath")["items"]] == ["dag", "grpo"]


def test_what_cannot_be_shown_is_refused(filled: Api) -> None:
    for panel in PANELS[3:]:
        assert "no run 'shapley'" in filled.get(f"/dashboard/{panel}", 404, run="grpo,shapley")["detail"]
    assert filled.get("/dashboard/rewards", 422, limit=201)["field"] == "limit"
    assert filled.get("/dashboard/rewards", 422, sort="sd")["field"] == "sort"
    assert filled.get("/dashboard/variance", 422, run="dag")["field"] == "run"
