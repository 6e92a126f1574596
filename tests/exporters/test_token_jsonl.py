"""The token record as it is: every field, float32 numbers, a line a row."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

from tests.exporters.token_rows import token_row, two_turns
from trajcredit.errors import InputError
from trajcredit.exporters.lines import prompted
from trajcredit.exporters.token_jsonl import Tokens, record


def test_a_record_has_every_field() -> None:
    assert record(two_turns()) == {
        "schema": "trajcredit.tokens/1",
        "uid": "g",
        "trajectory_id": "t",
        "row": 0,
        "prompt_ids": [7, 8],
        "response_ids": [11, 12, 21, 22, 23, 13],
        "response_mask": [1, 1, 0, 0, 0, 1],
        "logprobs": [-0.5, -1.5, 0.0, 0.0, 0.0, -0.75],
        "advantages": [0.5, 0.5, 0.0, 0.0, 0.0, -0.25],
        "spans": [
            {"span_id": 1, "turn": 0, "start": 0, "end": 2, "advantage": 0.5},
            {"span_id": 3, "turn": 1, "start": 5, "end": 6, "advantage": -0.25},
        ],
        "ids_source": "engine",
        "policy_version": "4",
        "outcome": 1.0,
    }


def test_numbers_on_last_tokens_are_token_rewards_too() -> None:
    row = token_row([7], [11, 12, 13], [1, 1, 1], [0.0, 0.0, 0.75])
    assert record(row, "last")["token_rewards"] == [0.0, 0.0, 0.75]
    assert "token_rewards" not in record(row, "divide")


def test_numbers_are_those_that_float32_holds() -> None:
    [number, _] = record(token_row([7], [11, 12], [1, 0], [0.1, 0.0]))["advantages"]
    assert number == float(np.float32(0.1)) != 0.1


def test_every_row_is_a_line_in_order() -> None:
    out = io.BytesIO()
    rows = [token_row([7], [11], [1], [0.5], row=0), token_row([7, 9], [12], [1], [0.5], row=1)]
    assert Tokens(share="last").encode(iter(rows), out) == 2
    lines = [json.loads(line) for line in out.getvalue().decode().splitlines()]
    assert [line["row"] for line in lines] == [0, 1]
    assert [line["logprobs"] for line in lines] == [None, None]
    assert [line["token_rewards"] for line in lines] == [[0.5], [0.5]]


def test_a_first_token_without_any_before_it_is_refused_by_trainers() -> None:
    with pytest.raises(InputError, match="row 2 of lone has no prompt token"):
        prompted(token_row([], [11], [1], [0.5], trajectory="lone", row=2))
