"""A message that is none: its row is refused by its field, and its neighbours are read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trajcredit.formats import read_bytes
from trajcredit.model import Trajectory

GO, DONE = {"role": "user", "content": "Go."}, {"role": "assistant", "content": "Done."}


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        pytest.param(None, "Expected `object`, got `null` - at `$.messages[1]`", id="null"),
        pytest.param({"content": "x"}, "Object missing required field `role` - at `$.messages[1]`", id="no role"),
        pytest.param({"role": 5}, "Expected `str`, got `int` - at `$.messages[1].role`", id="a role that is a number"),
        pytest.param(
            {"role": "assistant", "tool_calls": [None]},
            "Expected `object`, got `null` - at `$.messages[1].tool_calls[0]`",
            id="a call that is none",
        ),
    ],
)
def test_a_row_with_a_message_that_is_none_is_refused_by_its_field_and_its_neighbours_are_read(
    bad: Any, field: str
) -> None:
    """Without one of its messages it would be another run, whose credit nobody asked for."""
    rows = [{"id": "a", "messages": [GO, DONE]}, {"id": "b", "messages": [GO, bad, DONE]}]
    data = "\n".join(json.dumps(row) for row in [*rows, {"id": "c", "messages": [GO, DONE]}]).encode()
    first, error, last = read_bytes(data, "a.jsonl")
    assert isinstance(first, Trajectory)
    assert isinstance(last, Trajectory)
    assert (first.id, str(error), last.id) == ("a", f"a.jsonl: line 2: {field}", "c")
