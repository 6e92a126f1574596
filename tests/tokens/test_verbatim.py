"""Whether what stands behind the name of a call is its arguments, in whatever way a template writes them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trajcredit.model import Span, Trajectory
from trajcredit.tokens.finding import NotFoundInTextError, wanted_of_message
from trajcredit.tokens.messages import chat_messages
from trajcredit.tokens.territories import Piece
from trajcredit.tokens.verbatim import check_words

CITY = {"city": "Oslo", "days": 3}


def holds(text: str, arguments: Any, raw: str | None = None) -> bool:
    call = Span("tool_call", 0, name="get", arguments=arguments, arguments_raw=raw)
    [wanted] = wanted_of_message(chat_messages(Trajectory(id="t", spans=[call]))[0])
    at = text.index("get")
    try:
        check_words(text, [(wanted, Piece(0, at, at + 3))])
    except NotFoundInTextError:
        return False
    return True


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        pytest.param('{"name": "get", "arguments": {"days": 3, "city": "Oslo"}}', CITY, id="other order"),
        pytest.param('{"name":"get","arguments":{"city":"\\u004fslo","days":3.0}}', CITY, id="other escapes"),
        pytest.param('{"arguments": {"city": "Oslo", "days": 3}, "name": "get"}', CITY, id="before the name"),
        pytest.param(f'{{"name": "get", "arguments": {json.dumps(json.dumps(CITY))}}}', CITY, id="JSON in JSON"),
        pytest.param('get\n```json\n{\n  "days": 3,\n  "city": "Oslo"\n}\n```', CITY, id="a fence"),
        pytest.param(
            "<function=get>\n<parameter=city>\nOslo\n</parameter>\n<parameter=days>\n3\n</parameter>", CITY, id="tags"
        ),
        pytest.param(
            '<invoke name="get"><parameter name="days" string="false">3</parameter>'
            '<parameter name="city" string="true">Oslo</parameter>',
            CITY,
            id="tags with attributes",
        ),
        pytest.param(
            "get\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n<arg_key>days</arg_key><arg_value>3</arg_value>",
            CITY,
            id="tags for keys",
        ),
        pytest.param("[get(city='Oslo', days=3)]", CITY, id="Python"),
        pytest.param("{'name': 'get', 'arguments': {'city': 'Oslo', 'days': 3}}", CITY, id="a Python dict"),
        pytest.param('call:get{city:<|"|>Oslo<|"|>,days:3}', CITY, id="signs for quotes"),
        pytest.param("get Oslo 3", CITY, id="values in order"),
        pytest.param('<function=get><parameter=code>{"x": 1}</parameter>', {"code": '{"x": 1}'}, id="JSON as text"),
        pytest.param('<function=get><parameter=code>{"x":1}</parameter>', {"code": {"x": 1}}, id="JSON as value"),
        pytest.param(
            "get(on=True, off=false, no=None, of='')", {"on": True, "off": False, "no": None, "of": ""}, id="constants"
        ),
        pytest.param('{"name": "get", "arguments": {}}', {}, id="none"),
        pytest.param("get()", {}, id="none in Python"),
    ],
)
def test_the_same_arguments(text, arguments):
    assert holds(text, arguments)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        pytest.param('{"name": "get", "arguments": {"city": "Oslo"}}', CITY, id="one is missing"),
        pytest.param('{"name": "get", "arguments": {"city": "Oslo", "days": 3, "why": 3}}', CITY, id="one too many"),
        pytest.param('{"name": "get", "arguments": {"city": "Oslo", "days": 30}}', CITY, id="a longer number"),
        pytest.param('{"name": "get", "arguments": {"city": "oslo", "days": 3}}', CITY, id="another case"),
        pytest.param('{"name": "get", "arguments": {"on": 1}}', {"on": True}, id="1 is not true"),
        pytest.param('{"name": "get", "arguments": {"why": 1}}', {}, id="some for none"),
        pytest.param("get(city=3, days='Oslo')", CITY, id="swapped"),
        pytest.param("<parameter=city>3</parameter><parameter=days>Oslo</parameter>get", CITY, id="swapped in tags"),
        pytest.param("get(city='Oslo', days=33)", CITY, id="a longer number in Python"),
        pytest.param("get(city='Oslo', days=3.5)", CITY, id="a fraction"),
        pytest.param("get(days=3)", CITY, id="a key is missing"),
        pytest.param("get 3", CITY, id="a value is missing"),
        pytest.param("get", CITY, id="nothing"),
    ],
)
def test_other_arguments(text, arguments):
    assert not holds(text, arguments)


def test_arguments_that_are_no_object_stand_as_they_are_or_as_a_text_in_json():
    patch = "*** Begin\n+1"
    assert holds(f"get\n{patch}", None, patch)
    assert holds(json.dumps({"name": "get", "arguments": patch}), None, patch)
    assert not holds("get\n*** Begin +1", None, patch)
