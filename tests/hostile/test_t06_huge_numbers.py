"""T06: numbers no field can hold are refused, those of arguments come back digit by digit; none is rounded unsaid."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.api.speaking import Api, chat, lines
from tests.hostile.test_t05_json_depth import row_with, with_value
from trajcredit.model import decode
from trajcredit.store import Store

HUGE = ("9223372036854775808", "18446744073709551616", "-9223372036854775809", "1" + "0" * 399)
TOO_HUGE = ("1" + "0" * 4_999, "1e400", "-1e400")
SMALL = ("-0.0", "5e-324", "2.2250738585072014e-308", "0.1", "1e150")


@pytest.fixture
def api(store: Store) -> Api:
    return Api(store)


def raw(api: Api) -> Any:
    return decode(api.send("GET", "/trajectories/ext:a/raw").content.rstrip())


@pytest.mark.parametrize("number", [*HUGE, *SMALL, "-9223372036854775808", "1e300"])
def test_numbers_of_arguments_come_back_exactly(api: Api, number: str) -> None:
    assert api.upload(with_value(row_with("arguments"), f'{{"n": {number}}}'))["created"] == 1
    found = raw(api).spans[1].arguments["n"]
    assert repr(found) == repr(json.loads(number))
    assert json.loads(api.send("GET", "/trajectories/ext:a/text/1").text) == {"n": json.loads(number)}
    assert api.run("dag")["state"] == "done"


@pytest.mark.parametrize("number", [*HUGE, *TOO_HUGE, *SMALL])
def test_numbers_of_arguments_that_are_text_are_text(api: Api, number: str) -> None:
    row = chat("a")
    row["messages"][1]["tool_calls"][0]["function"]["arguments"] = f'{{"n": {number}}}'
    assert api.upload(lines(row))["created"] == 1
    assert api.send("GET", "/trajectories/ext:a/text/1").text == f'{{"n": {number}}}'


@pytest.mark.parametrize("number", TOO_HUGE)
def test_numbers_that_no_reader_holds_are_refused(api: Api, number: str) -> None:
    answer = api.upload(with_value(row_with("arguments"), f'{{"n": {number}}}'), 422)
    assert "out of range - at `$.messages[1]" in answer["detail"]


@pytest.mark.parametrize(
    ("field", "number"),
    [("step", n) for n in (*HUGE, *TOO_HUGE)] + [("reward", n) for n in (*HUGE, *TOO_HUGE, "9007199254740993", "1e16")],
)
def test_fields_that_cannot_hold_them_refuse_them(api: Api, field: str, number: str) -> None:
    assert field in api.upload(with_value(row_with(field), number), 422)["detail"]


@pytest.mark.parametrize("number", [*SMALL[:-1], "9007199254740991", "-9007199254740991"])
def test_rewards_come_back_exactly(api: Api, number: str) -> None:
    api.upload(with_value(row_with("reward"), number))
    given = {"trajectory": "ext:a", "value": float(number), "source": "human"}
    assert api.ask("POST", "/rewards", content=lines(given))["appended"] == 1
    values = [reward["value"] for reward in api.get("/trajectories/ext:a")["rewards"]]
    assert list(map(repr, values)) == [repr(float(number))] * 2


def test_late_rewards_that_would_lose_digits_are_refused(api: Api) -> None:
    api.upload(lines(chat("a")))
    body = '{"trajectory": "ext:a", "value": 9007199254740993}'
    assert "beyond" in api.ask("POST", "/rewards", 422, content=body)["items"][0]["reason"]


@pytest.mark.parametrize("number", TOO_HUGE)
@pytest.mark.parametrize("field", ["value", "span"])
def test_late_rewards_refuse_them(api: Api, field: str, number: str) -> None:
    api.upload(lines(chat("a")))
    body = json.dumps({"trajectory": "ext:a", "value": 1.0, field: "@@"}).replace('"@@"', number)
    assert f"$.{field}" in api.ask("POST", "/rewards", 422, content=body)["detail"]
    assert len(api.get("/trajectories/ext:a")["rewards"]) == 1


@pytest.mark.parametrize("number", [*HUGE, *TOO_HUGE])
def test_runs_and_filters_refuse_them(api: Api, number: str) -> None:
    api.upload(lines(chat("a")))
    api.ask("POST", "/runs", 422, content=f'{{"attributor": "dag", "parameters": {{"gamma": {number}}}}}')
    for name in ("limit", "step_min", "step_max"):
        assert api.get("/trajectories", 422, **{name: number})["field"] == name
    for path in ("/trajectories/ext:a/graph/{}", "/trajectories/ext:a/text/{}", "/trajectories/ext:a/text?from={}"):
        api.get(path.format(number), 422)
