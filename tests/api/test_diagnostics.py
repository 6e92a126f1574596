"""GET /diagnostics: every answer fits its model; filters, sides of a comparison, what cannot be asked."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.api.speaking import Api
from tests.diagnostics.worlds import world
from trajcredit.model import encode

SICK = [replace(t, policy_version=str(n % 2), step=n % 2) for n, t in enumerate(world("memory_mismatch", True, 5))]


@pytest.fixture
def filled(api: Api) -> Api:
    assert api.upload(b"\n".join(map(encode, SICK)), name="sick.jsonl")["created"] == len(SICK)
    return api


def test_ten_modes_with_evidence_that_leads_to_stored_trajectories(filled: Api) -> None:
    found = filled.get("/diagnostics")
    assert len(found["modes"]) == 10
    assert found["over"]["trajectories"] == len(SICK)
    assert found["over"]["left_out"] == 0
    [memory] = [one for one in found["modes"] if one["mode"] == "memory_mismatch"]
    assert memory["status"] == "found"
    assert memory["low"] > memory["threshold"]
    first = memory["evidence"][0]
    stored = filled.get(f"/trajectories/{first['trajectory']}")
    assert stored["external_id"] == first["external_id"]
    assert [point["label"] for point in found["trend"]["points"]] == ["0", "1"]
    assert found["comparison"] is None


def test_filters_and_a_comparison(filled: Api) -> None:
    one = filled.get("/diagnostics", policy_version="1")
    assert one["over"]["trajectories"] == len(SICK) // 2
    assert filled.get("/diagnostics", step_min=1)["over"] == one["over"]
    assert filled.get("/diagnostics", dataset="other")["over"]["trajectories"] == 0
    two = filled.get("/diagnostics", compare_a="0", compare_b="1", pass_at=0.9, group_by="task")
    assert two["comparison"]["field"] == "policy version"
    assert (two["over"]["pass_at"], two["over"]["split"]) == (0.9, None)
    beyond = filled.get("/diagnostics", pass_at=-1)["over"]
    assert (beyond["passed"], beyond["split"]) == (len(SICK), "every outcome passes at -1: outcomes go from 0 to 1")


@pytest.mark.parametrize(
    ("query", "field", "detail"),
    [
        ({"compare_a": "0"}, "compare_b", "go together"),
        ({"pass_at": "nan"}, "pass_at", "finite"),
        ({"colour": "red"}, "colour", "no query parameter"),
    ],
)
def test_what_cannot_be_asked(api: Api, query: dict[str, Any], field: str, detail: str) -> None:
    found = api.get("/diagnostics", 422, **query)
    assert found["field"] == field
    assert detail in found["detail"]


def test_a_reward_or_a_side_that_is_not_there(filled: Api) -> None:
    assert "no reward source 'taste'" in filled.get("/diagnostics", 422, reward="taste")["detail"]
    sides = filled.get("/diagnostics", 422, compare_a="0", compare_b="7")
    assert "not two names of one kind" in sides["detail"]


def test_an_empty_project(api: Api) -> None:
    found = api.get("/diagnostics", project="nothing-here")
    assert {one["status"] for one in found["modes"]} == {"needs"}
