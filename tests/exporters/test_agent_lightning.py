"""Agent Lightning's transitions: one a call, counted over the rollout, one advantage a sampled token."""

from __future__ import annotations

import io
import json

from tests.exporters.token_rows import token_row, two_turns
from trajcredit.exporters.agent_lightning import AgentLightning, transitions
from trajcredit.registry import exporters


def test_two_turns_by_hand() -> None:
    assert list(transitions([two_turns()])) == [
        {
            "rollout_id": "t",
            "data_id": "g",
            "turn_index": 0,
            "prompt": {"token_ids": [7, 8]},
            "response": {"token_ids": [11, 12], "log_probs": [-0.5, -1.5]},
            "advantages": [0.5, 0.5],
        },
        {
            "rollout_id": "t",
            "data_id": "g",
            "turn_index": 1,
            "prompt": {"token_ids": [7, 8, 11, 12, 21, 22, 23]},
            "response": {"token_ids": [13], "log_probs": [-0.75]},
            "advantages": [-0.25],
        },
    ]


def test_turns_are_counted_over_all_rows_of_a_rollout_and_missing_logprobs_stay_missing() -> None:
    rows = [two_turns(), token_row([9], [1], [1], [2.0], row=1), token_row([9], [5], [1], [3.0], trajectory="u")]
    out = io.BytesIO()
    assert AgentLightning().encode(iter(rows), out) == 4
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [(line["rollout_id"], line["turn_index"]) for line in lines] == [("t", 0), ("t", 1), ("t", 2), ("u", 0)]
    assert lines[2]["response"] == {"token_ids": [1], "log_probs": None}


def test_it_is_an_exporter() -> None:
    assert exporters.items()["agent_lightning"].suffix == ".jsonl"
