"""Runs over HTTP, and rewards that come later."""

from __future__ import annotations

import io
import json
from typing import Any

import pyarrow.parquet
import pytest

from tests.api.speaking import Api, chat, lines
from tests.service.pools import pool

GROUP = [chat("a", 1.0), chat("b", 0.0, said="No idea.")]


@pytest.fixture
def filled(api: Api) -> Api:
    api.upload(lines(*GROUP), name="runs.jsonl")
    return api


def test_a_run_is_queued_and_seen_through(filled: Api) -> None:
    response = filled.send("POST", "/runs", json={"attributor": "dag", "parameters": {"gamma": 0.9}})
    assert response.status_code == 202
    run = response.json()
    assert (run["state"], run["label"], run["number"]) == ("queued", "dag:gamma=0.9", 1)
    assert response.headers["Location"] == f"/api/v1/runs/{run['id']}"
    assert filled.run("grpo")["state"] == "done"
    assert [one["number"] for one in filled.get("/runs")["items"]] == [2, 1]
    assert [one["number"] for one in filled.get("/runs", attributor="dag")["items"]] == [1]
    assert filled.get("/runs", limit=1)["next"] is not None


def test_a_run_says_which_critic_it_asked_and_explains_itself_by_what_that_said(api: Api) -> None:
    api.upload(lines(*pool()), name="runs.jsonl")
    run = api.run("doubly_robust", parameters={"w": 0.5})
    assert (run["critic"], len(run["critic_fingerprint"])) == ("compatible", 12)
    assert "critic" in {note["code"] for note in run["notes"]}
    why = api.get("/trajectories/ext:g0r0/why", run=run["id"], span=4)
    assert why["terms"][0]["name"] == "forecast of this choice"
    assert sum(term["value"] for term in why["terms"]) == pytest.approx(why["credit"], abs=1e-6)
    other = api.run("gae", parameters={"critic": "compatible"})
    assert (other["label"], other["critic_fingerprint"]) == ("gae:critic=compatible", run["critic_fingerprint"])
    assert (lambda one: (one["critic"], one["critic_fingerprint"]))(api.run("grpo")) == (None, None)


def test_a_queued_run_is_cancelled(filled: Api) -> None:
    run = filled.ask("POST", "/runs", 202, json={"attributor": "dag"})
    assert filled.ask("POST", f"/runs/{run['id']}/cancel")["state"] == "cancelled"
    assert "cancelled" in filled.get(f"/runs/{run['id']}/export", 422)["detail"]
    filled.ask("POST", "/runs/nothing/cancel", 404)


def test_a_run_is_asked_for_again_as_it_was(filled: Api) -> None:
    asked: dict[str, Any] = {
        "parameters": {"gamma": 0.5},
        "reward": "verifier",
        "group_by": "task",
        "dataset": "runs.jsonl",
    }
    run = filled.run("dag", **asked)
    filled.upload(lines(chat("c", 1.0)), name="runs.jsonl")
    response = filled.send("POST", f"/runs/{run['id']}/again")
    assert response.status_code == 202
    again = response.json()
    assert response.headers["Location"] == f"/api/v1/runs/{again['id']}"
    same = ("attributor", "label", "parameters", "reward_source", "reward_name", "group_by", "dataset")
    assert {name: again[name] for name in same} == {name: run[name] for name in same}
    assert (again["number"], again["state"]) == (2, "queued")
    filled.ask("POST", "/runs/nothing/again", 404)


def test_a_reward_by_name_is_asked_for_again_by_its_name(api: Api) -> None:
    row = chat("a") | {"reward": None}
    api.upload(lines(row, chat("b")), name="runs.jsonl")
    api.ask("POST", "/rewards", content=b'{"trajectory": "a", "value": 1, "name": "tests"}')
    run = api.run("grpo", reward="tests")
    assert (run["reward_source"], run["reward_name"]) == ("verifier", "tests")
    again = api.ask("POST", f"/runs/{run['id']}/again", 202)
    assert (again["reward_source"], again["reward_name"]) == (None, "tests")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        pytest.param(b"", "body", id="empty"),
        pytest.param(b"{", "body", id="no JSON"),
        pytest.param(b"[]", "body", id="no object"),
        pytest.param(b"{}", "attributor", id="no attributor"),
        pytest.param(b'{"attributor": 1}', "attributor", id="a number for a name"),
        pytest.param(b'{"attributor": "dag", "gamma": 1}', "gamma", id="a parameter in the wrong place"),
        pytest.param(b'{"attributor": "dag", "parameters": {"gamma": NaN}}', "body", id="NaN"),
        pytest.param(b'{"attributor": "dag", "parameters": {"gamma": 1e400}}', "body", id="too large a number"),
        pytest.param(b'{"attributor": "dag", "dataset": "\\u0000"}', "dataset", id="NUL"),
        pytest.param(b'{"attributor": "dag", "dataset": "\\ud800"}', "body", id="half a surrogate pair"),
        pytest.param(b'{"attributor": "dag", "reward": "mother"}', None, id="neither a source nor a name"),
        pytest.param(b'{"attributor": "dag", "reward": 1}', "reward", id="a number for a reward"),
        pytest.param(b'{"attributor": "nothing"}', None, id="an unknown attributor"),
        pytest.param(b'{"attributor": "dag:gamma=1"}', None, id="parameters in the name"),
        pytest.param(b'{"attributor": "dag", "parameters": {"gama": 1}}', None, id="an unknown parameter"),
        pytest.param(b'{"attributor": "dag", "parameters": {"gamma": "much"}}', None, id="no number"),
        pytest.param(b'{"attributor": "gae", "parameters": {"critic": "me"}}', None, id="an unknown critic"),
        pytest.param(b'{"attributor": "dag", "group_by": "weather"}', None, id="an unknown group"),
        pytest.param(b'{"attributor": "dag", "dataset": "other"}', None, id="nothing to score"),
    ],
)
def test_a_run_that_is_asked_wrongly_is_refused(filled: Api, body: bytes, field: str | None) -> None:
    answer = filled.ask("POST", "/runs", 422, content=body)
    assert (answer["field"] or "").split(".")[0] == (field or "")
    assert filled.get("/runs")["items"] == []


def test_a_long_body_of_a_run_is_refused(filled: Api) -> None:
    filled.ask("POST", "/runs", 413, content=b" " * (2 << 20))


def test_rows_are_exported_as_attachments(filled: Api) -> None:
    run = filled.run("grpo")
    rows = filled.send("GET", f"/runs/{run['id']}/export")
    assert rows.headers["Content-Disposition"] == 'attachment; filename="grpo-1.jsonl"'
    assert [json.loads(row)["trajectory_id"] for row in rows.text.splitlines()] == ["a"] * 4 + ["b"] * 4
    assert int(rows.headers["Content-Length"]) == len(rows.content)
    table = pyarrow.parquet.read_table(
        io.BytesIO(filled.send("GET", "/runs/grpo/export", params={"to": "parquet"}).content)
    )
    assert table.num_rows == 8
    assert filled.get("/runs/grpo/export", 422, to="xml")["field"] == "to"


def test_rewards_that_come_later_are_appended_and_make_runs_stale(filled: Api) -> None:
    filled.run("grpo")
    rows = lines(
        {"trajectory": "ext:a", "value": 0.0, "source": "verifier", "at": "2999-04-14T18:40:12Z"},
        {"trajectory": "ext:nobody", "value": 1.0},
        {"trajectory": "ext:a", "value": 1.0, "sourc": "human"},
    )
    answer = filled.ask("POST", "/rewards", content=rows)
    assert [item["status"] for item in answer["items"]] == ["created", "rejected", "rejected"]
    assert [item["line"] for item in answer["items"]] == [1, 2, 3]
    assert (answer["appended"], answer["stale_runs"]) == (1, 1)
    assert filled.get("/runs/grpo")["stale"] is True
    assert filled.get("/trajectories/ext:a")["outcome"] == 0.0


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param(b"", "no rows", id="empty"),
        pytest.param(b"[1]", "object", id="no object"),
        pytest.param(b'{"trajectory": "ext:a", "value": 1.0}\xff', "UTF-8", id="no UTF-8"),
        pytest.param(b'{"trajectory": "ext:a", "value": 1.0, "span": 99}', "span", id="no such span"),
        pytest.param(b'{"trajectory": "ext:a", "value": 1.0, "at": "soon"}', "at", id="no time"),
        pytest.param(b'{"trajectory": "\\u0000", "value": 1.0}', "", id="NUL in an id"),
    ],
)
def test_rewards_none_of_which_counts_are_a_problem(filled: Api, body: bytes, says: str) -> None:
    answer = filled.ask("POST", "/rewards", 422, content=body)
    assert says in answer["detail"]
