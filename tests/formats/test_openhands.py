"""OpenHands: events of both generations, rows that hold them, files of one event each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.formats.outline import codes, found, jsonl, outline, read_one
from trajcredit.errors import SkippedFile
from trajcredit.formats import read, read_bytes
from trajcredit.formats.siblings import Siblings
from trajcredit.model import Reward, Trajectory, TurnTokens

# ---------------------------------------------------------------- V0


def act(ref: int | None, action: str, call: str | None = None, response: str = "r", **args: Any) -> dict[str, Any]:
    event: dict[str, Any] = {"source": "agent", "action": action, "args": args}
    if ref is not None:
        event["id"] = ref
    if call is not None:
        answer = {"tool_calls": [{"id": call, "function": {"name": "bash", "arguments": '{"command": "ls -a"}'}}]}
        about = {"id": response, "model": "m", "choices": [{"message": answer}], "usage": {"prompt_tokens": 9}}
        event["tool_call_metadata"] = {"function_name": "bash", "tool_call_id": call, "model_response": about}
    return event


def saw(kind: str, content: str, cause: int | None = None, **more: Any) -> dict[str, Any]:
    return {"source": "agent", "observation": kind, "content": content, "cause": cause, "extras": {}, **more}


ASK = {"id": 0, "source": "user", "action": "message", "args": {"content": "Go."}}


def test_observations_answer_the_action_that_caused_them_and_one_answer_is_one_turn() -> None:
    events = [
        ASK,
        act(2, "run", "c1", command="ls", thought="I look."),
        act(3, "run", "c2", command="pwd", thought="I look."),
        saw("run", "/w", 3, extras={"metadata": {"exit_code": 0}}),
        saw("run", "no", 2, extras={"metadata": {"exit_code": 1}}),
        act(6, "think", thought="Hm."),
        {"id": 7, "source": "environment", "observation": "agent_state_changed", "content": "", "extras": {}},
        act(8, "message", content="Done."),
    ]
    trajectory = read_one(events)
    assert outline(trajectory) == [
        "-1 user Go.",
        "0 assistant I look.",
        "0 tool_call bash",
        "0 tool_call bash",
        "0 tool_result bash of 3 /w",
        "0 tool_result bash of 2 ! no",
        "1 tool_call think",
        "2 assistant Done.",
    ]
    assert [span.arguments for span in trajectory.spans if span.kind == "tool_call"] == [
        {"command": "ls -a"},
        {"command": "ls -a"},
        {"thought": "Hm."},
    ]
    assert [span.usage for span in trajectory.spans[1:3]] == [{"input_tokens": 9}, None]
    assert codes(trajectory) == ["unanswered-call"]


def test_events_without_ids_are_paired_by_what_was_done() -> None:
    row = {
        "issue": {"owner": "o", "repo": "r", "number": 5},
        "instruction": "Go.",
        "success": True,
        "history": [
            {"content": "Go.", "action": "message"},
            {"command": "ls", "thought": "I look.", "action": "run"},
            {"content": "a.py", "exit_code": 0, "observation": "run"},
        ],
    }
    trajectory = read_one(row)
    assert outline(trajectory) == [
        "-1 user Go.",
        "0 assistant I look.",
        "0 tool_call run",
        "0 tool_result run of 2 a.py",
    ]
    assert (trajectory.id, trajectory.task) == ("o/r#5", "o/r#5")
    assert trajectory.rewards == [Reward(1.0, "judge", name="success")]
    assert trajectory.spans[2].arguments == {"command": "ls"}


def test_pairs_in_a_history_and_the_verdict_of_an_evaluation() -> None:
    pair = [act(1, "run", "c1", command="ls"), saw("error", "no such command", 1)]
    row = {"instance_id": "i", "history": [pair], "test_result": {"report": {"resolved": False}}, "instruction": "Go."}
    trajectory = read_one(row)
    assert outline(trajectory) == ["-1 user Go.", "0 tool_call bash", "0 tool_result bash of 1 ! no such command"]
    assert trajectory.rewards == [Reward(0.0, name="resolved")]


def test_what_the_user_ran_is_no_action() -> None:
    trajectory = read_one([ASK, {"id": 1, "source": "user", "action": "run", "args": {"command": "ls"}}])
    assert outline(trajectory)[1] == '-1 user run {"command":"ls"}'
    assert codes(trajectory) == ["user-call", "no-action"]


# ---------------------------------------------------------------- V1


def v1(kind: str, ref: str, **fields: Any) -> dict[str, Any]:
    return {"kind": kind, "id": ref, "source": "agent", "timestamp": "2026-03-01T08:00:00", **fields}


def action(ref: str, call: str, response: str, **fields: Any) -> dict[str, Any]:
    made = {"id": call, "name": "terminal", "arguments": '{"command": "ls"}'}
    return v1(
        "ActionEvent", ref, tool_name="terminal", tool_call_id=call, tool_call=made, llm_response_id=response, **fields
    )


def observed(ref: str, of: str, call: str, text: str, **fields: Any) -> dict[str, Any]:
    seen = {"content": [{"type": "text", "text": text}], **fields}
    return v1("ObservationEvent", ref, action_id=of, tool_call_id=call, tool_name="terminal", observation=seen)


V1 = [
    v1("SystemPromptEvent", "e0", system_prompt={"type": "text", "text": "You fix."}, tools=[{"title": "terminal"}]),
    v1("MessageEvent", "e1", source="user", llm_message={"role": "user", "content": [{"type": "text", "text": "Go."}]}),
    action("e2", "c1", "r1", thought=[{"type": "text", "text": "<think>Hm.</think>I look."}]),
    action("e3", "c2", "r1"),
    v1("TokenEvent", "e4", prompt_token_ids=[1], response_token_ids=[2]),
    observed("e5", "e3", "c2", "two", is_error=False, exit_code=1),
    observed("e6", "e2", "c1", "one", is_error=True),
    observed("e7", "gone", "c9", "lost"),
    v1("ConversationStateUpdateEvent", "e8", key="stats", value={"usage_to_metrics": {"default": {"model_name": "m"}}}),
    v1("MessageEvent", "e9", llm_message={"role": "assistant", "content": "Done.", "reasoning_content": "All."}),
]
V1_OUTLINE = [
    "-1 system You fix.",
    "-1 user Go.",
    "0 reasoning Hm.",
    "0 assistant I look.",
    "0 tool_call terminal",
    "0 tool_call terminal",
    "0 tool_result terminal of 5 two",
    "0 tool_result terminal of 4 ! one",
    "0 tool_result terminal lost",
    "1 reasoning All.",
    "1 assistant Done.",
]


def test_events_of_the_agent_sdk() -> None:
    trajectory = read_one(jsonl(V1))
    assert outline(trajectory) == V1_OUTLINE
    assert codes(trajectory) == ["orphan-result"]
    assert [span.error for span in trajectory.spans if span.kind == "tool_result"] == [None, True, None]
    assert trajectory.turns == [TurnTokens(0, [1], [2])]
    assert (trajectory.model, [tool.name for tool in trajectory.tools]) == ("m", ["terminal"])


def test_what_a_condenser_forgot_and_what_is_new_to_us() -> None:
    events = [*V1[:2], v1("Condensation", "e3", summary=None, forgotten_event_ids=["e1"]), v1("DreamEvent", "e4")]
    trajectory = read_one(jsonl(events))
    assert outline(trajectory)[2:] == [
        "-1 meta 1 events were forgotten",
        '-1 meta {"kind":"DreamEvent","id":"e4","source":"agent","timestamp":"2026-03-01T08:00:00"}',
    ]
    assert codes(trajectory) == ["unknown-event", "no-action"]


def test_a_file_for_each_event_is_one_conversation(tmp_path: Path) -> None:
    (tmp_path / "events").mkdir()
    for number, event in enumerate(V1):
        (tmp_path / "events" / f"event-{number:05}-{event['id']}.json").write_text(json.dumps(event))
    state = {"id": "conv", "agent": {"llm": {"model": "other"}}, "execution_status": "idle", "persistence_dir": "x"}
    (tmp_path / "base_state.json").write_text(json.dumps(state))
    items = list(read(tmp_path))
    [trajectory] = [item for item in items if isinstance(item, Trajectory)]
    assert outline(trajectory) == V1_OUTLINE
    assert (trajectory.id, trajectory.model) == ("conv", "m")
    assert [type(item) for item in items if item is not trajectory] == [SkippedFile] * len(V1)


def test_a_folder_of_events_is_listed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(40):
        event = v1("MessageEvent", f"e{number}", source="user", llm_message={"role": "user", "content": "More."})
        (tmp_path / f"event-{number:05}-{number:08x}.json").write_text(json.dumps(event))
    listed: list[str] = []
    names = Siblings.names

    def counted(self: Siblings, folder: str = ".") -> list[str]:
        listed.append(folder)
        return names(self, folder)

    monkeypatch.setattr(Siblings, "names", counted)
    [trajectory] = [item for item in read(tmp_path) if isinstance(item, Trajectory)]
    assert len(trajectory.spans) == 40
    assert listed == ["."]


def test_an_event_that_is_no_object_costs_no_other() -> None:
    last = v1("MessageEvent", "x", source="user", llm_message={"role": "user", "content": "More."})
    [trajectory] = found({"instance_id": "i", "history": [*V1[:3], 5, last]})
    assert outline(trajectory)[:4] == V1_OUTLINE[:4]
    assert ("lost-message", "event 3: no object: left out") in [(n.code, n.message) for n in trajectory.report]
    assert trajectory.spans[-1].message_index == 4


def test_a_broken_line_keeps_its_place() -> None:
    rows = [ASK, act(2, "run", command="ls")]
    items = list(read_bytes(jsonl([ASK, '{"torn"', *rows[1:]]), "a.jsonl"))
    [trajectory] = [item for item in items if isinstance(item, Trajectory)]
    assert [span.message_index for span in trajectory.spans] == [0, 2]


@pytest.mark.parametrize("generation", [0, 1])
def test_an_action_whose_arguments_cannot_be_read_leaves_its_observation_without_a_call(generation: int) -> None:
    deep: list[Any] = []
    for _ in range(101):
        deep = [deep]
    if generation:
        asks = [action("e1", "c1", "r1"), {**action("e2", "c2", "r1"), "tool_call": {"name": "f", "arguments": deep}}]
        rows = [*asks, observed("e3", "e1", "c1", "a"), observed("e4", "e2", "c2", "b")]
    else:
        rows = [act(1, "run", command="ls"), saw("run", "a", 1), act(2, "run", command=deep), saw("run", "b", 2)]
    items = list(read_bytes(jsonl(rows), "a.jsonl"))
    [trajectory] = [item for item in items if isinstance(item, Trajectory)]
    assert [(span.kind, span.result_of) for span in trajectory.spans] == [
        ("tool_call", None),
        ("tool_result", 0),
        ("tool_result", None),
    ]
    assert codes(trajectory) == ["lost-message", "orphan-result"]
