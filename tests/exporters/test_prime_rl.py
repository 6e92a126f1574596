"""prime-rl's TrainingSample: five lists, one entry a token."""

from __future__ import annotations

import io
import json

import pytest

from tests.exporters.token_rows import token_row, two_turns
from trajcredit.errors import InputError
from trajcredit.exporters.prime_rl import PrimeRl, sample
from trajcredit.registry import exporters


def test_two_turns_by_hand() -> None:
    assert sample(two_turns(), 0.5, "booking") == {
        "uid": "g",
        "trajectory_id": "t",
        "row": 0,
        "token_ids": [7, 8, 11, 12, 21, 22, 23, 13],
        "mask": [False, False, True, True, False, False, False, True],
        "logprobs": [0.0, 0.0, -0.5, -1.5, 0.0, 0.0, 0.0, -0.75],
        "temperatures": [0.5] * 8,
        "env_name": "booking",
        "advantages": [0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0, -0.25],
    }


def test_a_file_has_a_line_for_each_row() -> None:
    out = io.BytesIO()
    assert PrimeRl(temperature=0.7).encode(iter([two_turns(), two_turns()]), out) == 2
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [line["temperatures"] for line in lines] == [[0.7] * 8] * 2
    for line in lines:
        columns = ("token_ids", "mask", "logprobs", "temperatures", "advantages")
        assert {len(line[name]) for name in columns} == {8}


def test_missing_logprobs_are_refused() -> None:
    with pytest.raises(InputError, match="no log-probs of the sampled tokens, and prime-rl"):
        sample(token_row([7], [1], [1], [1.0]), 1.0, "")


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("inf"), float("nan")])
def test_a_temperature_that_logits_cannot_be_divided_by_is_refused(temperature) -> None:
    with pytest.raises(InputError, match="parameter temperature="):
        PrimeRl(temperature=temperature)


def test_it_is_an_exporter() -> None:
    assert exporters.items()["prime_rl"].suffix == ".jsonl"
