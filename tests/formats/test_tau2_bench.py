"""tau2-bench results: talk of an agent with a simulated user, who may call tools too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.formats.outline import codes, errors, found, outline, read_one
from trajcredit.errors import SkippedFile
from trajcredit.formats import read
from trajcredit.model import Edge, Reward, Trajectory, encode

TALK = [{"role": "user", "content": "Help."}, {"role": "assistant", "content": "Yes."}]


def run(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "id": "r1",
        "task_id": "7",
        "trial": 0,
        "termination_reason": "user_stop",
        "messages": list(messages),
        **fields,
    }


def results(*runs: dict[str, Any]) -> dict[str, Any]:
    return {"info": {"agent_info": {"llm": "m"}}, "tasks": [], "simulations": list(runs)}


def test_trials_of_a_task_are_one_group_and_the_reference_stays_out() -> None:
    info = {"reward": 1.0, "action_checks": [{"action": {"name": "SECRET"}}], "reward_breakdown": {"DB": 0.5}}
    runs = [run(*TALK, id=f"r{trial}", trial=trial, reward_info=info) for trial in range(2)]
    both = found(results(*runs))
    assert [(t.id, t.task, t.trial, t.dataset, t.model) for t in both] == [
        ("r0", "7", "0", "log.json", "m"),
        ("r1", "7", "1", "log.json", "m"),
    ]
    assert [t.rewards for t in both] == [[Reward(1.0)]] * 2
    assert b"SECRET" not in b"".join(map(encode, both))
    assert [t.source and t.source.line for t in both] == [1, 2]


def test_what_the_user_does_with_tools_is_no_action() -> None:
    call = {"id": "c", "name": "toggle", "arguments": {"on": True}, "requestor": "user"}
    done = {"role": "tool", "id": "c", "content": "on", "requestor": "user", "error": False}
    trajectory = read_one(results(run(*TALK, {"role": "user", "tool_calls": [call]}, done)))
    assert outline(trajectory)[2:] == ['0 user toggle {"on":true}', "0 tool_result on"]
    assert {span.agent for span in trajectory.spans[2:]} == {"user"}
    assert trajectory.edges == [Edge(2, 3, "explicit", evidence="the result of this call")]
    assert codes(trajectory) == ["user-call"]


def test_parallel_results_come_in_one_message_and_are_known_by_the_id_of_the_call() -> None:
    calls: list[dict[str, Any]] = [{"id": ref, "name": ref, "arguments": {}} for ref in ("a", "b")]
    back = [{"role": "tool", "id": ref, "content": ref, "error": ref == "b"} for ref in ("b", "a")]
    trajectory = read_one(
        results(run({"role": "assistant", "tool_calls": calls}, {"role": "tool", "tool_messages": back}))
    )
    assert outline(trajectory)[2:] == ["0 tool_result b of 1 ! b", "0 tool_result a of 0 a"]


@pytest.mark.parametrize(
    ("reason", "terminated", "truncated", "noted"),
    [
        ("agent_stop", True, False, []),
        ("max_steps", False, True, []),
        ("infrastructure_error", True, False, ["run-error"]),
        (None, None, None, []),
    ],
)
def test_how_it_ended(reason: str | None, terminated: bool | None, truncated: bool | None, noted: list[str]) -> None:
    trajectory = read_one(results(run(*TALK, termination_reason=reason)))
    assert (trajectory.terminated, trajectory.truncated, codes(trajectory)) == (terminated, truncated, noted)


def test_chunks_of_speech_become_one_span_for_each_time_a_speaker_has_the_floor() -> None:
    def tick(agent: str | None = None, user: str | None = None, **more: Any) -> dict[str, Any]:
        chunks = {
            "agent_chunk": {"role": "assistant", "content": agent},
            "user_chunk": {"role": "user", "content": user},
        }
        return {"tick_id": 0, **chunks, **more}

    ticks = [tick(agent="Good "), tick(agent="day."), tick(), tick(user="Hello."), tick(agent="Yes?")]
    ticks.append(tick(agent_tool_calls=[{"id": "c", "name": "f", "arguments": {}}]))
    ticks.append(tick(agent_tool_results=[{"role": "tool", "id": "c", "content": "x"}]))
    one = run(ticks=ticks)
    del one["messages"]
    trajectory = read_one(one, "runs/simulations/r1.json")
    assert outline(trajectory) == [
        "0 assistant Good day.",
        "0 user Hello.",
        "1 assistant Yes?",
        "2 tool_call f",
        "2 tool_result f of 3 x",
    ]
    assert [span.message_index for span in trajectory.spans] == [0, 3, 4, 5, 6]
    assert (codes(trajectory), trajectory.dataset) == (["merged-chunks"], "runs/simulations")


def test_speech_without_words_is_said() -> None:
    chunk = {"content": None, "contains_speech": True}
    ticks = [{"agent_chunk": {"role": "assistant", **chunk}, "user_chunk": {"role": "user", **chunk}}] * 2
    ticks += [{"agent_chunk": {"role": "assistant", "content": None, "contains_speech": False}}]
    trajectory = read_one(run(ticks=ticks, messages=None))
    assert codes(trajectory) == ["content-off", "no-action"]
    assert trajectory.report[0].message == "chunks of speech of which the log keeps no words: 4"


def test_a_simulation_that_is_broken_costs_no_other() -> None:
    data = json.dumps(results(run(*TALK), run(*TALK, id="r2", reward_info={"reward": "1"}))).encode()
    assert errors(data) == ["log.json: record 2: Expected `float | null`, got `str` - at `$.reward_info.reward`"]


def test_a_run_with_a_file_for_each_simulation(tmp_path: Path) -> None:
    (tmp_path / "simulations").mkdir()
    (tmp_path / "results.json").write_text(json.dumps({"timestamp": "t", "info": {}, "tasks": []}))
    for trial in range(2):
        text = json.dumps(run(*TALK, id=f"r{trial}", trial=trial))
        (tmp_path / "simulations" / f"{trial}.json").write_text(text)
    skipped, *both = read(tmp_path)
    assert isinstance(skipped, SkippedFile)
    assert {t.dataset for t in both if isinstance(t, Trajectory)} == {"simulations"}
