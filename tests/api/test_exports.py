"""Exports over HTTP: any exporter by name, tokenizers by name only, and what a trainer will see."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.api.speaking import Api, lines
from tests.tokens.tokenizers import byte_level
from trajcredit.store import Store


def row(name: str, reward: float) -> dict[str, object]:
    """A question and its answer, without token ids."""
    messages = [{"role": "user", "content": "where?"}, {"role": "assistant", "content": f"there, {name}"}]
    return {"id": name, "reward": reward, "group": "g", "messages": messages}


@pytest.fixture
def api(store: Store, tmp_path: Path) -> Api:
    """Two rollouts, a finished run, and one tokenizer to name."""
    byte_level(tmp_path / "tokenizers" / "bytes")
    api = Api(store)
    api.app.state.tokenizers = tmp_path / "tokenizers"
    api.upload(lines(row("a", 1.0), row("b", 0.0)))
    api.run("rloo")
    return api


def test_exporters_and_tokenizers_are_listed(api: Api) -> None:
    found = {one["name"]: one for one in api.get("/exporters")}
    assert {"jsonl", "parquet", "verl", "trl", "tokens"} <= set(found)
    assert found["verl"]["suffix"] == ".parquet"
    whiten = next(one for one in found["verl"]["parameters"] if one["name"] == "whiten")
    assert "verl" in whiten["choices"]
    assert whiten["sentence"]
    assert api.get("/tokenizers") == {"items": ["bytes"]}


def test_a_trainers_file_is_an_attachment(api: Api) -> None:
    answer = api.send("GET", "/runs/rloo/export", params={"to": "tokens:share=divide", "tokenizer": "bytes"})
    assert answer.headers["Content-Disposition"] == 'attachment; filename="rloo-1.jsonl"'
    rows = [json.loads(line) for line in answer.text.splitlines()]
    assert [one["trajectory_id"] for one in rows] == ["a", "b"]
    assert [sum(one["advantages"]) for one in rows] == pytest.approx([1.0, -1.0])


def test_the_preview_counts_and_shows(api: Api) -> None:
    found = api.get("/exports/preview", run="rloo", to="verl", tokenizer="bytes", trajectory="ext:b")
    assert (found["of"], found["looked_at"], found["totals"]["rows"]) == (2, 2, 2)
    [shown] = found["rows"]
    assert shown["trajectory"] == "b"
    assert "there, b" in "".join(shown["texts"])
    assert {number for number, mask in zip(shown["advantages"], shown["mask"], strict=True) if mask} == {-1.0}


def test_without_a_tokenizer_the_preview_says_what_fails(api: Api) -> None:
    found = api.get("/exports/preview", run="rloo")
    assert (found["rows"], found["totals"]["failed"]) == ([], 2)
    assert "tokenizer" in found["totals"]["failures"][0]["reason"]
    assert "tokenizer" in api.get("/runs/rloo/export", 422, to="verl")["detail"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        pytest.param({"to": "csv"}, "to", id="an unknown exporter"),
        pytest.param({"to": "verl:whiten=much"}, "to", id="a parameter out of range"),
        pytest.param({"to": "verl:tokenizer=/etc"}, "to", id="a path of this machine"),
        pytest.param({"to": "verl:tokenizer=bytes,chat_template=/etc/passwd"}, "to", id="a template of this machine"),
        pytest.param({"to": "verl", "tokenizer": "../tokenizers/bytes"}, "tokenizer", id="a way out of the folder"),
        pytest.param({"to": "verl", "tokenizer": "words"}, "tokenizer", id="an unknown tokenizer"),
        pytest.param({"to": "jsonl", "tokenizer": "bytes"}, "to", id="a tokenizer for spans"),
    ],
)
def test_what_a_client_may_not_name_is_refused(api: Api, query: dict[str, str], field: str) -> None:
    assert api.get("/runs/rloo/export", 422, **query)["field"] == field
    assert api.get("/exports/preview", 422, run="rloo", **query)["field"] == field
