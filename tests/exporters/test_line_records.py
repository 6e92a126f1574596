"""Rows in the names and shapes of TRL, SkyRL, slime, OpenRLHF and NeMo-RL (section 3 of the trainers' contracts)."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from tests.exporters.token_rows import token_row, two_turns
from trajcredit.errors import InputError
from trajcredit.exporters.nemo_rl import NemoRl
from trajcredit.exporters.openrlhf import OpenRlhf
from trajcredit.exporters.skyrl import SkyRL
from trajcredit.exporters.slime import Slime
from trajcredit.exporters.tokens import TokenExporter
from trajcredit.exporters.trl import Trl
from trajcredit.tokens import TokenRow

KEYS = {"uid": "g", "trajectory_id": "t", "row": 0}

every = pytest.mark.parametrize(
    "exporter", [Trl(), SkyRL(), Slime(), OpenRlhf(), NemoRl()], ids=lambda e: type(e).__name__
)


def exported(exporter: TokenExporter, *rows: TokenRow) -> list[dict[str, Any]]:
    out = io.BytesIO()
    assert exporter.encode(iter(rows), out) == len(rows)
    return [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.mark.parametrize(
    ("exporter", "expected"),
    [
        pytest.param(
            Trl(),
            {
                "prompt_ids": [7, 8],
                "completion_ids": [11, 12, 21, 22, 23, 13],
                "env_mask": [1, 1, 0, 0, 0, 1],
                "logprobs": [-0.5, -1.5, 0.0, 0.0, 0.0, -0.75],
                "advantages": [0.5, 0.5, 0.0, 0.0, 0.0, -0.25],
                "outcome": 1.0,
            },
            id="trl: completion_ids hold the observations, env_mask masks them",
        ),
        pytest.param(
            SkyRL(),
            {
                "prompt_token_ids": [7, 8],
                "response_ids": [11, 12, 21, 22, 23, 13],
                "loss_masks": [1, 1, 0, 0, 0, 1],
                "rewards": [0.5, 0.5, 0.0, 0.0, 0.0, -0.25],
                "rollout_logprobs": [-0.5, -1.5, 0.0, 0.0, 0.0, -0.75],
            },
            id="skyrl: a reward a response token",
        ),
        pytest.param(
            Slime(),
            {
                "tokens": [7, 8, 11, 12, 21, 22, 23, 13],
                "response_length": 6,
                "loss_mask": [1, 1, 0, 0, 0, 1],
                "rollout_log_probs": [-0.5, -1.5, 0.0, 0.0, 0.0, -0.75],
                "advantages": [0.5, 0.5, 0.0, 0.0, 0.0, -0.25],
                "reward": 1.0,
            },
            id="slime: tokens hold the prompt, lists do not",
        ),
        pytest.param(
            OpenRlhf(),
            {
                "sequences": [7, 8, 11, 12, 21, 22, 23, 13],
                "action_mask": [0, 1, 1, 0, 0, 0, 1],
                "rollout_log_probs": [0.0, -0.5, -1.5, 0.0, 0.0, 0.0, -0.75],
                "advantages": [0.0, 0.5, 0.5, 0.0, 0.0, 0.0, -0.25],
                "reward": 1.0,
            },
            id="openrlhf: T-1 places, place j is token j+1",
        ),
        pytest.param(
            NemoRl(),
            {
                "input_ids": [7, 8, 11, 12, 21, 22, 23, 13],
                "token_mask": [0, 0, 1, 1, 0, 0, 0, 1],
                "generation_logprobs": [0.0, 0.0, -0.5, -1.5, 0.0, 0.0, 0.0, -0.75],
                "advantages": [0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0, -0.25],
                "reward": 1.0,
            },
            id="nemo_rl: prompt included, nothing shifted",
        ),
    ],
)
def test_a_row_in_the_trainers_names(exporter: TokenExporter, expected: dict[str, Any]) -> None:
    assert exported(exporter, two_turns()) == [KEYS | expected]


@every
def test_the_shortest_row_is_one_prompt_token_and_one_sampled(exporter: TokenExporter) -> None:
    [record] = exported(exporter, token_row([7], [11], [1], [0.5]))
    advantages = record["rewards"] if isinstance(exporter, SkyRL) else record["advantages"]
    assert [number for number in advantages if number] == [0.5]
    assert advantages[-1] == 0.5


@every
def test_log_probs_the_log_lacks_are_null(exporter: TokenExporter) -> None:
    [record] = exported(exporter, token_row([7], [11], [1], [0.5]))
    assert [value for name, value in record.items() if "logprob" in name or "log_prob" in name] == [None]


@every
def test_a_row_without_prompt_is_refused(exporter: TokenExporter) -> None:
    with pytest.raises(InputError, match="row 0 of t has no prompt token"):
        exported(exporter, token_row([], [11], [1], [0.5]))


@every
def test_several_rows_of_a_trajectory_keep_their_numbers(exporter: TokenExporter) -> None:
    rows = exported(exporter, token_row([7], [11], [1], [0.5]), token_row([9], [12], [1], [0.5], row=1))
    assert [(row["trajectory_id"], row["row"]) for row in rows] == [("t", 0), ("t", 1)]
