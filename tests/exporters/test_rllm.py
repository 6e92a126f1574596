"""rLLM's episodes: a step for each call, a list of advantages aligned with its response."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from tests.exporters.token_rows import token_row, two_turns
from trajcredit.errors import InputError
from trajcredit.exporters.rllm import Rllm, episode
from trajcredit.exporters.tinker import datum
from trajcredit.registry import exporters

STEP: dict[str, Any] = {
    "routing_matrices": None,
    "chat_completions": [],
    "observation": None,
    "thought": "",
    "action": None,
    "model_response": "",
    "model_output": None,
    "reward": 0.0,
    "mc_return": 0.0,
    "weight_version": 4,
}


def test_two_turns_by_hand() -> None:
    first = {"prompt_ids": [7, 8], "response_ids": [11, 12], "logprobs": [-0.5, -1.5], "advantage": [0.5, 0.5]}
    second = {
        "prompt_ids": [7, 8, 11, 12, 21, 22, 23],
        "response_ids": [13],
        "logprobs": [-0.75],
        "advantage": [-0.25],
    }
    assert episode([two_turns()], 3) == {
        "id": "g:3",
        "task": {"id": "g"},
        "termination_reason": "unknown",
        "is_correct": True,
        "session_id": None,
        "trajectories": [
            {
                "uid": "t",
                "name": "default_traj_name",
                "task": {"id": "g"},
                "steps": [
                    STEP | first | {"done": False, "info": {"turn": 0, "row": 0}},
                    STEP | second | {"done": True, "info": {"turn": 1, "row": 0}},
                ],
                "reward": 1.0,
                "info": {},
            }
        ],
        "metrics": {},
        "info": {},
    }


def merged(steps):
    """What rLLM makes of steps (trainer/tinker/transform.py:81-127): one Datum while prompts extend what is there."""
    data: list[tuple[Any, ...]] = []
    ids: list[int] = []
    columns: dict[str, list[float]] = {}

    def close():
        if ids:
            data.append((ids[:-1], ids[1:], *(column[1:] for column in columns.values())))

    for step in steps:
        if ids != step["prompt_ids"][: len(ids)]:
            close()
            ids, columns = [], {}
        seen = len(step["prompt_ids"]) - len(ids)
        ids = [*step["prompt_ids"], *step["response_ids"]]
        for name in ("logprobs", "advantage"):
            columns[name] = [*columns.get(name, []), *[0.0] * seen, *step[name]]
        columns["mask"] = [*columns.get("mask", []), *[0.0] * seen, *[1.0] * len(step["response_ids"])]
    close()
    return data


def test_rllm_merges_the_steps_to_the_rows_they_came_from() -> None:
    rows = [two_turns(), token_row([7, 9], [31, 41, 32], [1, 0, 1], [2.0, 0, -3.0], logprobs=[-1, 0, -2], row=1)]
    expected = []
    for row in rows:
        record = datum(row)
        inputs = record["loss_fn_inputs"]
        columns = (inputs[name] for name in ("target_tokens", "logprobs", "advantages", "mask"))
        expected.append((record["model_input"], *columns))
    assert merged(episode(rows, 0)["trajectories"][0]["steps"]) == expected


def test_rollouts_of_a_group_are_counted_and_colons_do_not_cut_its_name() -> None:
    rows = [
        token_row([7], [1], [1], [1.0], logprobs=[-1.0], uid=uid, trajectory=name, row=row)
        for uid, name, row in [("a:1", "x", 0), ("a:1", "x", 1), ("a:2", "y", 0), ("a:1", "z", 0)]
    ]
    out = io.BytesIO()
    assert Rllm().encode(iter(rows), out) == 3
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [line["id"] for line in lines] == ["a%3A1:0", "a%3A2:0", "a%3A1:1"]
    assert [len(line["trajectories"][0]["steps"]) for line in lines] == [2, 1, 1]
    assert {line["id"].split(":")[0] for line in lines} == {"a%3A1", "a%3A2"}


@pytest.mark.parametrize(("outcome", "correct"), [(None, False), (0.0, False), (-1.0, False), (0.5, True)])
def test_an_outcome_above_0_is_correct(outcome, correct) -> None:
    found = episode([token_row([7], [1], [1], [1.0], logprobs=[-1.0], outcome=outcome)], 0)
    assert (found["is_correct"], found["trajectories"][0]["reward"]) == (correct, outcome)


def test_without_logprobs_rllm_would_drop_the_trajectory_so_it_is_refused() -> None:
    with pytest.raises(InputError, match="no log-probs of the sampled tokens, and rLLM"):
        episode([token_row([7], [1], [1], [1.0])], 0)


def test_it_is_an_exporter() -> None:
    assert exporters.items()["rllm"].suffix == ".jsonl"
