"""Content parts, reasoning in the text, arguments and tool declarations, one by one."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from trajcredit.errors import InputError
from trajcredit.formats.parts import arguments_of, text_of, thought_and_text, time_of, tools_of, usage_of
from trajcredit.model import Tool


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("content", "text", "opaque"),
    [
        pytest.param("plain", "plain", [], id="text is itself"),
        pytest.param(None, "", [], id="null is no text"),
        pytest.param([], "", [], id="no parts are no text"),
        pytest.param(
            [
                {"type": "text", "text": "a"},
                {"type": "input_text", "text": ""},
                {"type": "output_text", "text": "b"},
                "c",
            ],
            "a\nb\nc",
            [],
            id="text parts stand on lines of their own",
        ),
        pytest.param([{"type": "refusal", "refusal": "no"}], "no", [], id="a refusal is text"),
        pytest.param([{"text": "x"}], "x", [], id="a part that forgot its type"),
        pytest.param(
            [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "u"}}],
            "see\n[image_url]",
            ["image_url"],
            id="any other part leaves a marker",
        ),
        pytest.param({"rows": [1]}, '{"rows":[1]}', ["JSON"], id="an object is kept as JSON"),
        pytest.param([{"rows": 1}, 5], '{"rows":1}\n5', ["JSON", "JSON"], id="so are parts that are none"),
        pytest.param([{"type": "text", "text": {"a": 1}}], '{"a":1}', ["JSON"], id="and text that is none"),
        pytest.param(
            [{"type": "text", "value": "a"}], '{"type":"text","value":"a"}', ["JSON"], id="and text under another key"
        ),
        pytest.param([{"type": "text", "text": None}], "", [], id="a text of null is none"),
        pytest.param(7, "7", ["JSON"], id="and a number"),
    ],
)
def test_the_text_of_a_message(content: Any, text: str, opaque: list[str]) -> None:
    assert text_of(content) == (text, opaque)


@pytest.mark.parametrize(
    ("text", "thought", "rest"),
    [
        pytest.param("<think>\na\n</think>\n\nb", "a", "b", id="a block in front is reasoning"),
        pytest.param("\n <think>a</think>", "a", "", id="white space before it does not matter"),
        pytest.param("<think>cut off", "cut off", "", id="without an end all of it is reasoning"),
        pytest.param("b <think>a</think>", "", "b <think>a</think>", id="a block further on is text"),
        pytest.param("<think></think>b", "", "b", id="an empty block is nothing"),
        pytest.param("", "", "", id="nothing is nothing"),
    ],
)
def test_reasoning_in_the_text(text: str, thought: str, rest: str) -> None:
    assert thought_and_text(text) == (thought, rest)


@pytest.mark.parametrize(
    ("logged", "value", "raw", "code"),
    [
        pytest.param({"a": 1}, {"a": 1}, None, None, id="an object"),
        pytest.param('{"a": 1}', {"a": 1}, '{"a": 1}', None, id="JSON text"),
        pytest.param('"{\\"a\\": 1}"', {"a": 1}, '"{\\"a\\": 1}"', None, id="JSON text in JSON text"),
        pytest.param('"Orrin"', "Orrin", '"Orrin"', None, id="a text that holds no JSON is that text"),
        pytest.param('"5"', "5", '"5"', None, id="a text that holds a number stays text"),
        pytest.param("[1]", [1], "[1]", None, id="an array"),
        pytest.param(None, {}, None, None, id="absent arguments are none"),
        pytest.param(" ", {}, " ", None, id="so are blank ones"),
        pytest.param('{"a": ', None, '{"a": ', "broken-arguments", id="cut off"),
        pytest.param("{'a': 1}", None, "{'a': 1}", "broken-arguments", id="Python, not JSON"),
        pytest.param('{"a": NaN}', None, '{"a": NaN}', "broken-arguments", id="NaN"),
        pytest.param(f'{{"a": {2**70}}}', {"a": 2**70}, f'{{"a": {2**70}}}', None, id="an int beyond 64 bits is exact"),
        pytest.param(r'{"a": "\ud83d"}', {"a": "\ufffd"}, r'{"a": "\ud83d"}', "sanitised", id="half a pair"),
        pytest.param(r'{"a": "\u0000"}', {"a": "\u2400"}, r'{"a": "\u0000"}', "sanitised", id="NUL"),
        pytest.param(
            r'"{\"a\": \"\\u0000\"}"', {"a": "\u2400"}, r'"{\"a\": \"\\u0000\"}"', "sanitised", id="NUL, twice encoded"
        ),
        pytest.param("[" * 100 + "]" * 100, nested(100), "[" * 100 + "]" * 100, None, id="a hundred levels"),
        pytest.param("[" * 101 + "]" * 101, None, "[" * 101 + "]" * 101, "deep-arguments", id="a hundred and one"),
        pytest.param("[" * 5000 + "]" * 5000, None, "[" * 5000 + "]" * 5000, "deep-arguments", id="five thousand"),
    ],
)
def test_the_arguments_of_a_call(logged: Any, value: Any, raw: str | None, code: str | None) -> None:
    found = arguments_of(logged)
    assert (found.value, found.raw, found.problem and found.problem[0]) == (value, raw, code)


def test_an_object_of_a_hundred_levels_is_kept_and_a_deeper_one_refused() -> None:
    assert arguments_of(nested(100)).value == nested(100)
    with pytest.raises(InputError, match="nested deeper than 100 levels"):
        arguments_of(nested(101))


def declared(value: Any) -> list[Tool]:
    return list(tools_of(msgspec.json.encode(value)))


PARAMETERS = {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        pytest.param(
            [{"type": "function", "function": {"name": "look", "description": "d", "parameters": PARAMETERS}}],
            [Tool("look", "d", PARAMETERS)],
            id="the wrapper of OpenAI",
        ),
        pytest.param([{"name": "look", "input_schema": PARAMETERS}], [Tool("look", None, PARAMETERS)], id="bare"),
        pytest.param([{"name": "look", "inputSchema": PARAMETERS}], [Tool("look", None, PARAMETERS)], id="as MCP says"),
        pytest.param('[{"name": "look"}]', [Tool("look")], id="a list as JSON text"),
        pytest.param(["look"], [Tool("look")], id="names alone"),
        pytest.param([{"type": "web_search"}], [Tool("web_search")], id="a hosted tool has only a type"),
        pytest.param(None, [], id="null"),
        pytest.param("", [], id="an empty text"),
    ],
)
def test_the_tools_a_log_declares(tools: Any, expected: list[Tool]) -> None:
    assert declared(tools) == expected


@pytest.mark.parametrize(
    ("annotations", "writes"),
    [
        pytest.param({"readOnlyHint": True}, False, id="read-only"),
        pytest.param({"readOnlyHint": False}, True, id="not read-only"),
        pytest.param({"destructiveHint": True}, True, id="destructive"),
        pytest.param({"readOnlyHint": True, "destructiveHint": True}, False, id="read-only outweighs destructive"),
        pytest.param({"destructiveHint": False}, None, id="not destructive may still write"),
        pytest.param({"title": "Look"}, None, id="it does not say"),
        pytest.param(None, None, id="no annotations"),
    ],
)
@pytest.mark.parametrize("where", ["tool", "function", "bare"])
def test_whether_a_tool_writes_is_what_its_annotations_say(annotations: Any, writes: bool | None, where: str) -> None:
    hints = {"annotations": annotations}
    tool = {
        "tool": {"type": "function", "function": {"name": "x"}} | hints,
        "function": {"type": "function", "function": {"name": "x"} | hints},
        "bare": {"name": "x"} | hints,
    }[where]
    assert [t.writes for t in declared([tool])] == [writes]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        pytest.param(b'{"look": {}}', "tools must be a list, not dict", id="an object"),
        pytest.param(b"[{}]", r"tools\[0\] has no name", id="a tool without a name"),
        pytest.param(b"[5]", r"tools\[0\] must be an object, not int", id="a number"),
        pytest.param(b'"[{"', "tools cannot be decoded", id="a JSON text that is cut off"),
        pytest.param(b'["\xff"]', "tools cannot be decoded: Invalid UTF-8", id="bytes that are no UTF-8"),
        pytest.param(b"[" * 101 + b"]" * 101, "tools nested deeper than 100 levels", id="a hundred and one levels"),
        pytest.param(b"[" * 2000 + b"]" * 2000, "tools cannot be decoded", id="two thousand levels"),
    ],
)
def test_tools_that_cannot_be_read_are_refused_with_a_reason(raw: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        tools_of(raw)


@pytest.mark.parametrize(
    ("logged", "wanted"),
    [
        pytest.param(
            {"prompt_tokens": 3, "completion_tokens": 2}, {"input_tokens": 3, "output_tokens": 2}, id="OpenAI"
        ),
        pytest.param(
            {"input_tokens": 3, "cache_read_input_tokens": 1, "cache_creation_input_tokens": 4},
            {"input_tokens": 3, "cached_tokens": 1, "cache_creation_tokens": 4},
            id="Anthropic",
        ),
        pytest.param(
            {"output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 4}, "input_tokens_details": None},
            {"output_tokens": 5, "reasoning_tokens": 4},
            id="details",
        ),
        pytest.param(
            {"promptTokenCount": 3.0, "thoughtsTokenCount": 1}, {"input_tokens": 3, "reasoning_tokens": 1}, id="Gemini"
        ),
        pytest.param({"prompt_tokens": True, "completion_tokens": -1, "x": 2}, None, id="no counts"),
        pytest.param({"prompt_tokens": 2**60}, None, id="more than anybody has"),
        pytest.param([3], None, id="no object"),
        pytest.param(None, None, id="nothing"),
    ],
)
def test_usage_goes_by_one_name_each(logged: Any, wanted: Any) -> None:
    assert usage_of(logged) == wanted


def test_what_a_call_cost_stands_beside_its_tokens() -> None:
    assert usage_of({"prompt_tokens": 3}, 0.25) == {"input_tokens": 3, "cost": 0.25}
    assert usage_of(None, 0) == {"cost": 0}
    assert usage_of(None, True) is None


NO_TIMES: tuple[Any, ...] = (None, "", True, -5, 0, 1e300, float("nan"), [], "9" * 40)


@pytest.mark.parametrize(
    ("logged", "wanted"),
    [
        pytest.param(1_900_000_000, "2030-03-17T17:46:40Z", id="seconds"),
        pytest.param(1_900_000_000.5, "2030-03-17T17:46:40.500000Z", id="half a second"),
        pytest.param(1_900_000_000_000, "2030-03-17T17:46:40Z", id="milliseconds"),
        pytest.param("1900000000000000000", "2030-03-17T17:46:40Z", id="nanoseconds as text"),
        pytest.param("2030-03-17T17:46:40+01:00", "2030-03-17T17:46:40+01:00", id="text as it stands"),
        *(pytest.param(bad, None, id=repr(bad)) for bad in NO_TIMES),
    ],
)
def test_times_are_iso_or_none(logged: Any, wanted: str | None) -> None:
    assert time_of(logged) == wanted


def test_tools_of_gemini_are_declared_in_bundles_and_by_key() -> None:
    declared = [
        {"functionDeclarations": [{"name": "f", "parametersJsonSchema": {"type": "object"}}]},
        {"googleSearch": {}},
    ]
    assert tools_of(json.dumps(declared).encode()) == (Tool("f", None, {"type": "object"}), Tool("googleSearch"))
