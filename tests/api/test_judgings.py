"""Judges and judgings over HTTP: no request names an address or a file, and no answer a secret."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.api.speaking import Api, chat, lines
from tests.judges.scripted import Served, fair, served
from trajcredit.service.judge_runner import JudgeRunner
from trajcredit.service.judge_work import judge
from trajcredit.store import judgings

SECRET = "sk-live-0123456789abcdef"


def _worked(api: Api, ref: str) -> Any:
    with api.store.write() as conn:
        found = judgings.claim(conn)
    assert found is not None
    assert found.id == ref
    judge(api.store, found, api.app.state.judges.models if api.app.state.judges else {})
    return api.get(f"/judgings/{ref}")


def _asked(api: Api, expected: int = 202, **body: Any) -> Any:
    return api.ask("POST", "/judgings", expected, json=body)


def _with_models(api: Api, server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_KEY", SECRET)
    models = {"mine": server.model(name="mine", attempts=1, concurrency=1, api_key_env="MODEL_KEY")}
    api.app.state.judges = JudgeRunner(api.store, models)  # not started: the tests work on judgings themselves


def test_a_judging_is_asked_for_worked_on_read_and_heard(api: Api) -> None:
    api.upload(lines(chat("a"), chat("b", 0.0)))
    queued = _asked(api, judge="rules")
    assert (queued["state"], queued["label"], queued["scale"]) == ("queued", "rules", "state")
    done = _worked(api, queued["id"])
    assert (done["state"], done["total"], done["judged"], done["missing"]) == ("done", 2, 2, 0)
    assert [one["id"] for one in api.get("/judgings")["items"]] == [queued["id"]]
    [said] = api.get("/trajectories/ext:a/opinions")["items"]
    assert (said["judging"], said["judge"], said["missing"]) == (queued["id"], "rules", None)
    assert all(one["credit"] is not None for one in said["segments"])
    run = api.run("judge", parameters={"judge": queued["id"]})
    assert (run["state"], run["judge"]) == ("done", queued["id"])
    assert len(run["judge_fingerprint"]) == 12
    exported = api.send("GET", f"/judgings/{queued['id']}/export")
    rows = [json.loads(line) for line in exported.text.splitlines()]
    assert [row["trajectory_id"] for row in rows] == ["a", "b"]
    assert int(exported.headers["Content-Length"]) == len(exported.content)
    back = api.ask("POST", "/judgings/upload", content=exported.content)
    assert (back["kept"], back["rejected"], back["judging"]["label"]) == (2, 0, "file:rules")
    report = api.get(f"/judgings/{queued['id']}/reliability", draws=10)
    assert report["judge"] == "rules"


def test_judges_are_listed_and_models_without_address_or_key(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    assert api.get("/judges")["models"] == []
    with served(fair) as server:
        _with_models(api, server, monkeypatch)
        found = api.get("/judges")
    assert found["models"] == [{"name": "mine", "model": "scripted"}]
    by_name = {one["name"]: one for one in found["items"]}
    facts = {name: (one["on_the_spot"], one["asks_model"], one["over_http"]) for name, one in by_name.items()}
    assert facts["rules"] == (True, False, True)
    assert facts["llm"] == (False, True, True)
    assert facts["file"] == (False, False, False)
    assert "action" in found["segments"]


def test_t13_a_failing_model_tells_no_answer_its_key(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    api.upload(lines(chat("a"), chat("b", 0.0)))
    with served(lambda one, number: (500, one.headers["Authorization"].encode())) as server:
        _with_models(api, server, monkeypatch)
        found = _worked(api, _asked(api, judge="llm")["id"])
        assert server.asked[0].headers["Authorization"] == f"Bearer {SECRET}"
    assert (found["state"], found["missing"], found["requests"]) == ("incomplete", 2, 2)
    ref = found["id"]
    told = [json.dumps(found), json.dumps(api.get("/judges")), api.send("GET", f"/judgings/{ref}/export").text]
    told += [json.dumps(api.get("/trajectories/ext:a/opinions")), caplog.text]
    with api.store.read() as conn:
        for table in ("judgings", "opinions", "judge_cache"):
            told += [repr(tuple(row)) for row in conn.exec_driver_sql(f"SELECT * FROM {table}")]
    assert [text for text in told if SECRET in text] == []
    assert api.ask("POST", f"/judgings/{ref}/resume", 202)["state"] == "queued"
    assert api.ask("POST", f"/judgings/{ref}/cancel")["state"] == "cancelled"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"judge": "oracle"}, "no judge named 'oracle'"),
        ({"judge": "llm"}, "this server has none"),
        ({"judge": "llm", "parameters": {"base_url": "http://127.0.0.1"}}, "no parameter 'base_url'"),
        ({"judge": "file", "parameters": {"path": "/etc/passwd"}}, "no request names a file"),
        ({"judge": "rules", "base_url": "http://127.0.0.1"}, "base_url"),
        ({"judge": "rules", "dataset": "none"}, "nothing to judge"),
        ({"judge": "llm", "parameters": {"characters": "many"}}, "characters"),
        ({"judge": "llm", "parameters": {"repeat": [1, 2]}}, "repeat"),
        ({"judge": "llm", "parameters": {"characters": 5000.5}}, "characters"),
        ({}, "judge"),
    ],
)
def test_t11_what_a_request_may_not_name_is_refused(api: Api, body: dict[str, Any], said: str) -> None:
    api.upload(lines(chat("a")))
    assert said in _asked(api, 422, **body)["detail"]
    assert api.get("/judgings")["items"] == []


def test_what_is_not_there_is_said(api: Api) -> None:
    for method, path in (
        ("GET", "/judgings/j_x"),
        ("POST", "/judgings/j_x/cancel"),
        ("POST", "/judgings/j_x/resume"),
        ("GET", "/judgings/j_x/export"),
        ("GET", "/judgings/j_x/reliability"),
        ("GET", "/trajectories/ext:x/opinions"),
    ):
        assert api.ask(method, path, 404)["detail"].startswith("no ")
    api.upload(lines(chat("a")))
    missing = api.ask("POST", "/runs", 404, json={"attributor": "judge", "parameters": {"judge": "j_x"}})
    assert "no judging 'j_x'" in missing["detail"]
    for judge_name, said in (("/etc/passwd", "by its id"), ("llm", "is asked by a judging first")):
        refused = api.ask("POST", "/runs", 422, json={"attributor": "judge", "parameters": {"judge": judge_name}})
        assert said in refused["detail"]
    empty = api.ask("POST", "/judgings/upload", 422, content=b"\n")
    assert "no rows" in empty["detail"]
    broken = api.ask("POST", "/judgings/upload", 422, content=b'{"schema": "x"}\n')
    assert (broken["line"], broken["rejected"]) == (1, 1)
