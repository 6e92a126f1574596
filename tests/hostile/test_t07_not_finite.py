"""T07: NaN and infinity get in nowhere, and never come out."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from tests.api.speaking import Api, chat, lines
from tests.hostile.test_t05_json_depth import row_with, with_value
from trajcredit.store import Store

WORDS = ("NaN", "Infinity", "-Infinity", "1e400", '"inf"', '"NaN"')
QUIET = ("", "/text", "/graph", "/graph/1", "/credits?run=grpo", "/credits/1", "/why?run=grpo&span=1")


@pytest.fixture
def api(store: Store) -> Api:
    return Api(store)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("field", ["reward", "step", "rewards"])
def test_logs(api: Api, field: str, word: str) -> None:
    value = f"[{word}, 0, 0, 0]" if field == "rewards" else word
    answer = api.upload(with_value(row_with(field), value), 422)
    assert f"$.{field}" in answer["detail"] or "rewards" in answer["detail"]
    assert api.get("/trajectories")["total"] == 0


@pytest.mark.parametrize("word", WORDS[:4])
def test_a_canonical_line(api: Api, word: str) -> None:
    head = '{"schema": "trajcredit.trajectory/1", "id": "a", "spans": '
    api.upload(f'{head}[{{"kind": "assistant", "turn": 0, "value": {word}}}]}}', 422)
    api.upload(f'{head}[], "rewards": [{{"value": {word}}}]}}', 422)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("field", ["value", "span", "at"])
def test_late_rewards(api: Api, field: str, word: str) -> None:
    api.upload(lines(chat("a")))
    body = json.dumps({"trajectory": "ext:a", "value": 1.0, field: "@@"}).replace('"@@"', word)
    api.ask("POST", "/rewards", 422, content=body)
    assert len(api.get("/trajectories/ext:a")["rewards"]) == 1


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("parameter", ["gamma", "off_path", "min_weight"])
def test_runs(api: Api, parameter: str, word: str) -> None:
    api.upload(lines(chat("a")))
    api.ask("POST", "/runs", 422, content=f'{{"attributor": "dag", "parameters": {{"{parameter}": {word}}}}}')


@pytest.mark.parametrize("word", ["NaN", "inf", "-inf", "Infinity", "1e400"])
@pytest.mark.parametrize("name", ["outcome_min", "outcome_max", "step_min", "limit"])
def test_filters(api: Api, name: str, word: str) -> None:
    assert api.get(f"/trajectories?{name}={quote(word)}", 422)["field"] == name


def test_nothing_that_is_not_scored_comes_out_as_one(api: Api) -> None:
    api.upload(lines(chat("a", None), chat("b", 1.0), chat("c", 0.0), chat("alone", 9e15, group="h")))
    for attributor in ("grpo", "rloo", "dag", "rtg"):
        api.run(attributor)
    for name in ("a", "b", "alone"):
        for path in QUIET:
            api.get(f"/trajectories/ext:{name}{path}")  # `ask` refuses NaN and infinity in any answer
    api.get("/trajectories?run=grpo")
    for attributor in ("grpo", "rloo", "dag", "rtg"):
        rows = api.send("GET", f"/runs/{attributor}/export").text.splitlines()
        assert len(rows) == 16
        for row in rows:
            json.loads(row, parse_constant=pytest.fail)
