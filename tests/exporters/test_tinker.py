"""Tinker's Datum: everything shifted left by one."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.exporters.token_rows import token_row, two_turns
from trajcredit.errors import InputError
from trajcredit.exporters.tinker import Tinker, datum
from trajcredit.registry import exporters


def test_two_turns_by_hand() -> None:
    assert datum(two_turns()) == {
        "uid": "g",
        "trajectory_id": "t",
        "row": 0,
        "model_input": [7, 8, 11, 12, 21, 22, 23],
        "loss_fn_inputs": {
            "target_tokens": [8, 11, 12, 21, 22, 23, 13],
            "logprobs": [0.0, -0.5, -1.5, 0.0, 0.0, 0.0, -0.75],
            "advantages": [0.0, 0.5, 0.5, 0.0, 0.0, 0.0, -0.25],
            "mask": [0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        },
    }


@given(st.lists(st.tuples(st.booleans(), st.floats(-9, 9, width=32)), min_size=1, max_size=12), st.integers(1, 4))
def test_an_advantage_stands_beside_the_token_that_it_trains(tokens, prompt) -> None:
    mask = [1, *(int(sampled) for sampled, _ in tokens)]
    advantages = [1.0, *(value if sampled else 0.0 for sampled, value in tokens)]
    response = list(range(100, 100 + len(mask)))
    row = token_row(range(prompt), response, mask, advantages, logprobs=[-float(m) for m in mask])
    inputs = datum(row)["loss_fn_inputs"]
    found = dict(zip(inputs["target_tokens"], zip(inputs["advantages"], inputs["mask"], strict=True), strict=True))
    assert len(datum(row)["model_input"]) == prompt + len(mask) - 1
    for token, advantage, trained in zip(response, advantages, mask, strict=True):
        assert found[token] == (advantage, trained)
    assert sum(inputs["mask"]) == sum(mask)


@pytest.mark.parametrize(
    ("row", "what"),
    [
        pytest.param(
            token_row([], [1], [1], [1.0], logprobs=[-1.0]), "has no prompt", id="nothing predicts a first token"
        ),
        pytest.param(token_row([7], [1], [1], [1.0]), "no log-probs", id="no log-probs of sampling"),
    ],
)
def test_what_tinker_could_not_train_is_refused(row, what) -> None:
    with pytest.raises(InputError, match=what):
        datum(row)


def test_a_file_has_a_line_for_each_row_and_numbers_that_float32_holds() -> None:
    out = io.BytesIO()
    row = token_row([7], [1, 2], [1, 1], [0.1, 0.2], logprobs=[-0.3, -0.4])
    assert Tinker().encode(iter([row, two_turns()]), out) == 2
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [line["trajectory_id"] for line in lines] == ["t", "t"]
    advantages = lines[0]["loss_fn_inputs"]["advantages"]
    assert advantages == np.array([0.1, 0.2], dtype=np.float32).tolist()


def test_it_is_an_exporter() -> None:
    assert exporters.items()["tinker"].suffix == ".jsonl"
