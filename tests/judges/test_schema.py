"""What a declared schema forbids, in words; what is not read forbids nothing."""

from __future__ import annotations

from typing import Any

import pytest

from trajcredit.judges.schema import fault_of

SEATS: dict[str, Any] = {
    "type": "object",
    "required": ["seat"],
    "properties": {
        "seat": {"type": "string"},
        "bags": {"type": ["integer", "null"]},
        "price": {"type": "number"},
        "cabin": {"enum": ["front", "back"]},
        "names": {"type": "array", "items": {"type": "string"}},
        "window": {"type": "boolean"},
    },
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"seat": "a", "bags": 2, "price": 2, "cabin": "back", "names": ["x"], "window": True}, None),
        ({"seat": "a", "bags": None, "price": 1.5}, None),
        ({"seat": "a", "bags": 2.0}, None),
        ({}, "arguments lack 'seat', which is required"),
        ({"seat": 1}, "arguments.seat is 1, not of type string"),
        ({"seat": "a", "bags": 2.5}, "arguments.bags is 2.5, not of type integer or null"),
        ({"seat": "a", "bags": True}, "arguments.bags is True, not of type integer or null"),
        ({"seat": "a", "cabin": "top"}, "arguments.cabin is 'top', not one of 'front', 'back'"),
        ({"seat": "a", "names": ["x", 7]}, "arguments.names[1] is 7, not of type string"),
        ({"seat": "a", "row": 1}, "arguments have 'row', which is not declared"),
        (["seat"], "arguments is ['seat'], not of type object"),
    ],
)
def test_faults_by_hand(given: Any, fault: str | None) -> None:
    assert fault_of(given, SEATS) == fault


@pytest.mark.parametrize(
    "schema", [None, True, {}, {"type": "date"}, {"type": 3}, {"enum": 1}, {"required": 1, "properties": []}]
)
def test_a_schema_that_says_nothing_readable_forbids_nothing(schema: Any) -> None:
    assert fault_of({"a": 1}, schema) is None


def test_a_schema_of_any_depth_is_left_at_some_depth() -> None:
    value: Any = 1
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(100):
        value, schema = [value], {"items": schema}
    assert fault_of(value, schema) is None
