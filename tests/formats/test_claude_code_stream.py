"""The event stream that `claude -p --output-format stream-json` prints."""

from __future__ import annotations

from typing import Any

from tests.formats.outline import codes, found, jsonl, outline, read_one
from trajcredit.formats import read_bytes
from trajcredit.model import SpawnedBy, Tool, Trajectory

INIT = {"type": "system", "subtype": "init", "session_id": "s", "tools": ["Bash"], "model": "m"}


def said(ref: str, *blocks: dict[str, Any], parent: str | None = None, kind: str = "assistant") -> dict[str, Any]:
    message = {"id": ref, "role": kind, "content": list(blocks)}
    return {"type": kind, "message": message, "parent_tool_use_id": parent, "session_id": "s", "uuid": "u"}


def call(ref: str, name: str = "Bash", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": ref, "name": name, "input": given}


def back(ref: str, content: Any) -> dict[str, Any]:
    return said("", {"type": "tool_result", "tool_use_id": ref, "content": content}, kind="user")


def end(**fields: Any) -> dict[str, Any]:
    return {"type": "result", "subtype": "success", "is_error": False, "session_id": "s", **fields}


def test_a_call_that_is_printed_again_before_its_result_counts_as_it_is_the_last_time() -> None:
    rows = [INIT, said("m1", call("t1")), said("m2", call("t1", command="ls")), back("t1", "a.txt"), end()]
    trajectory = read_one(jsonl(rows))
    assert [span.arguments for span in trajectory.spans] == [{"command": "ls"}, None]
    assert [span.turn for span in trajectory.spans] == [0, 0]
    assert codes(trajectory) == ["repeated-call", "no-prompt"]
    assert (trajectory.id, trajectory.model, trajectory.tools) == ("s", "m", [Tool("Bash")])


def test_an_id_that_comes_again_after_its_result_is_another_call() -> None:
    rows = [said("m1", call("t1")), back("t1", "one"), said("m2", call("t1")), back("t1", "two")]
    assert [span.result_of for span in read_one(jsonl(rows)).spans] == [None, 0, None, 2]


def test_what_an_agent_did_for_a_call_is_a_trajectory_of_its_own() -> None:
    task = call("t1", "Task", prompt="Count.", subagent_type="counter")
    rows = [INIT, said("m1", task), said("x", {"type": "text", "text": "Two."}, parent="t1"), back("t1", "Two."), end()]
    main, agent = found(jsonl(rows))
    assert outline(agent) == ["0 assistant Two."]
    assert (agent.id, agent.role, agent.parent) == ("s/t1", "counter", SpawnedBy("s", 0))
    assert [span.kind for span in main.spans] == ["tool_call", "tool_result"]


def test_how_it_ended() -> None:
    rows = [INIT, said("m1", {"type": "text", "text": "Hm."})]
    assert (read_one(jsonl(rows)).terminated, read_one(jsonl(rows)).truncated) == (None, None)
    fine = read_one(jsonl([*rows, end()]))
    assert (fine.terminated, fine.truncated, fine.rewards) == (True, False, [])
    cut = read_one(jsonl([*rows, end(subtype="error_max_turns", is_error=True, errors=["too many"])]))
    assert (cut.terminated, cut.truncated) == (False, True)
    assert cut.report[0].message == "the run ended as error_max_turns: ['too many']"


def test_words_of_the_program_between_the_lines_are_named_and_passed_over() -> None:
    items = jsonl([INIT, "npm notice", said("m1", {"type": "text", "text": "Hm."})])
    error, trajectory = read_bytes(items, "out.txt")
    assert str(error) == "out.txt: line 2: not JSON: JSON is malformed: invalid character (byte 4)"
    assert isinstance(trajectory, Trajectory)
    assert codes(trajectory)[:1] == ["lost-message"]
