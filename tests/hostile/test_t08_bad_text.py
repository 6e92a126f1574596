"""T08: text no database holds is stored the same way in both, and said to be; bytes that are no text are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.api.speaking import Api, chat, lines
from trajcredit.store import Store, logs

CASES = [
    pytest.param("\\ud800", "\ufffd", id="first half of a pair"),
    pytest.param("\\udc00", "\ufffd", id="second half of a pair"),
    pytest.param("\\udc00\\ud800", "\ufffd\ufffd", id="halves in the wrong order"),
    pytest.param("\\ud83d\\ude00", "\U0001f600", id="a whole pair"),
    pytest.param("\\u0000", "\u2400", id="NUL"),
    pytest.param("\\\\u0000", "\\u0000", id="text that looks like an escape"),
    pytest.param("\\uffff\\ufeff", "\uffff\ufeff", id="no character and a mark"),
    pytest.param("\\u001b[31m", "\x1b[31m", id="a terminal escape"),
    pytest.param("\\u202e", "\u202e", id="right to left"),
]
PLACES = ("said", "result", "name", "argument", "id", "group", "task", "policy_version")
BAD = (b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82")
MARK = "@@"


@pytest.fixture
def api(store: Store) -> Api:
    return Api(store)


def row_with(place: str) -> dict[str, Any]:
    """A rollout with MARK in one place."""
    row = chat("a")
    call = row["messages"][1]["tool_calls"][0]["function"]
    match place:
        case "said":
            row["messages"][3]["content"] = MARK
        case "result":
            row["messages"][2]["content"] = MARK
        case "name":
            call["name"] = MARK
        case "argument":
            call["arguments"] = {"to": MARK}
        case "id":
            row["trajectory_id"] = MARK
        case "group":
            row["group_id"] = MARK
        case "task":
            row["task_id"] = MARK
        case _:
            row[place] = MARK
    return row


def shown(api: Api, place: str, trajectory: str) -> Any:
    """The text of that place, as the API gives it."""
    one = api.get(f"/trajectories/{trajectory}")
    texts = [text["head"] for text in api.get(f"/trajectories/{trajectory}/text")["items"]]
    return {
        "said": texts[3],
        "result": texts[2],
        "name": one["name"][1],
        "argument": json.loads(texts[1])["to"] if place == "argument" else None,
        "id": one["external_id"],
    }.get(place, one.get(place))


@pytest.mark.parametrize(("sent", "stored"), CASES)
@pytest.mark.parametrize("place", PLACES)
def test_text_is_stored_the_same_everywhere(api: Api, place: str, sent: str, stored: str) -> None:
    body = json.dumps(row_with(place)).replace(MARK, sent).encode()
    [item] = api.upload(body)["items"]
    assert shown(api, place, item["id"]) == stored
    changed = stored[0] in "\ufffd\u2400"
    assert ("sanitised" in {note["code"] for note in item["report"]}) is changed
    assert api.upload(body)["duplicate"] == 1
    for path in ("/graph", "/graph/1", "/raw"):
        assert api.send("GET", f"/trajectories/{item['id']}{path}").status_code == 200
    assert api.run("dag")["state"] == "done"
    assert api.send("GET", "/runs/dag/export").status_code == 200
    assert kept(api.store) == body


def kept(store: Store) -> bytes:
    """The one log, as it came."""
    from sqlalchemy import text

    with store.read() as conn:
        sha = conn.scalar(text("SELECT sha256 FROM logs"))
        return logs.raw(conn, "default", str(sha))


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.hex())
@pytest.mark.parametrize("place", ["said", "argument", "id"])
def test_bytes_that_are_no_text_are_refused(api: Api, place: str, bad: bytes) -> None:
    body = json.dumps(row_with(place)).encode().replace(MARK.encode(), bad)
    answer = api.upload(body, 422)
    assert f"not UTF-8 at byte {body.index(bad)}" in answer["detail"]
    answer = api.upload(lines(chat("b")) + body)
    assert [item["status"] for item in answer["items"]] == ["created", "rejected"]


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.hex())
def test_rewards_that_are_no_text_are_refused(api: Api, bad: bytes) -> None:
    api.upload(lines(chat("a")))
    body = b'{"trajectory": "ext:a", "value": 1.0, "name": "' + bad + b'"}'
    assert "UTF-8" in api.ask("POST", "/rewards", 422, content=body)["detail"]


@pytest.mark.parametrize(("sent", "stored"), CASES)
def test_names_of_rewards(api: Api, sent: str, stored: str) -> None:
    api.upload(lines(chat("a")))
    body = f'{{"trajectory": "ext:a", "value": 0.5, "source": "human", "name": "{sent}"}}'
    response = api.send("POST", "/rewards", content=body)
    assert response.status_code in (200, 422)
    if response.status_code == 200:
        assert api.get("/trajectories/ext:a")["rewards"][1]["name"] == stored


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b", "\x1b[31m", "../x", "x" * 2000])
def test_names_of_files_are_labels(api: Api, name: str) -> None:
    head = b'--x\r\nContent-Disposition: form-data; name="f"; filename="%b"\r\n\r\n'
    body = head % name.encode("utf-8", "surrogatepass") + lines(chat("a")) + b"\r\n--x--\r\n"
    response = api.send(
        "POST", "/trajectories", content=body, headers={"Content-Type": "multipart/form-data; boundary=x"}
    )
    assert response.status_code in (200, 422)
    if response.status_code == 200:
        [item] = response.json()["items"]
        assert "/" not in item["file"]
        assert len(item["file"]) <= 200
        api.get(f"/trajectories/{item['id']}")


@pytest.mark.parametrize("path", ["/trajectories", "/runs", "/tools", "/groups"])
@pytest.mark.parametrize("project", ["a%00b", "%ff", "%ed%a0%80", "a%0d%0ab"])
def test_project_names(api: Api, path: str, project: str) -> None:
    assert api.send("GET", f"{path}?project={project}").status_code in (200, 422)
    assert api.send("POST", f"/trajectories?project={project}", content=lines(chat("a"))).status_code in (200, 422)
