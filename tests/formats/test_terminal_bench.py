"""terminal-bench results, and what lies beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.formats.outline import codes, found, outline
from trajcredit.errors import ParseError, SkippedFile
from trajcredit.formats import read
from trajcredit.model import Edge, Reward, Trajectory

TRIAL = {
    "task_id": "maze",
    "trial_name": "maze.2-of-5.run-1",
    "instruction": "Leave.",
    "is_resolved": True,
    "failure_mode": "unset",
    "recording_path": "run-1/maze/maze.2-of-5.run-1/sessions/agent.cast",
}


def trial_folder(folder: Path, **files: str) -> Path:
    place = folder / "maze" / "maze.2-of-5.run-1"
    for name, text in {"results.json": json.dumps(TRIAL), **files}.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def read_ones(folder: Path) -> list[Trajectory]:
    items = list(read(folder))
    assert not [item for item in items if isinstance(item, ParseError) and not isinstance(item, SkippedFile)], items
    return [item for item in items if isinstance(item, Trajectory)]


def test_a_list_of_trials_gives_verdicts_and_groups() -> None:
    other = TRIAL | {"trial_name": "maze.3-of-5.run-1", "is_resolved": False, "failure_mode": "agent_timeout"}
    first, second = found({"results": [TRIAL, other]})
    assert (first.task, first.trial, first.dataset) == ("maze", "2", "run-1")
    assert [t.rewards for t in (first, second)] == [[Reward(1.0)], [Reward(0.0)]]
    assert (second.terminated, second.truncated) == (False, True)
    assert codes(second) == ["run-error", "no-action"]


def cast(*shown: str) -> str:
    """A recording of a terminal 30 columns wide."""
    rows: list[Any] = [{"version": 2, "width": 30, "height": 10}]
    for text in shown:
        wrapped = "\r\n".join(text[at : at + 30] for at in range(0, len(text), 30))
        rows.append([0.5, "o", f"\x1b[1m{wrapped}\x1b[0m\r\n"])
    return "\n".join(json.dumps(row) for row in [*rows, [1.0, "i", "exit\r"]])


def test_what_the_agent_printed_on_the_terminal_is_its_transcript(tmp_path: Path) -> None:
    def event(kind: str, *blocks: dict[str, Any]) -> str:
        message = {"id": "m", "role": kind, "content": list(blocks)}
        return json.dumps(
            {"type": kind, "message": message, "parent_tool_use_id": None, "session_id": "s"}, separators=(",", ":")
        )

    call = event("assistant", {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "echo '}{'"}})
    back = event("user", {"type": "tool_result", "tool_use_id": "t", "content": "}{ north"})
    shown = cast("$ claude -p 'Leave.'", call, "a warning {", back, "bye")
    [trajectory] = read_ones(trial_folder(tmp_path, **{"sessions/agent.cast": shown}))
    assert outline(trajectory) == ["-1 user Leave.", "0 tool_call Bash", "0 tool_result Bash of 1 }{ north"]
    assert (trajectory.id, trajectory.rewards, trajectory.task) == ("maze.2-of-5.run-1", [Reward(1.0)], "maze")
    assert trajectory.spans[1].arguments == {"command": "echo '}{'"}


def test_episodes_of_terminus(tmp_path: Path) -> None:
    files = {
        "agent-logs/episode-0/prompt.txt": "Leave the maze.",
        "agent-logs/episode-0/response.txt": "go north",
        "agent-logs/episode-1/prompt.txt": "a wall",
        "agent-logs/episode-1/response.json": '{"commands": ["go south"], "task_complete": true}',
    }
    [trajectory] = read_ones(trial_folder(tmp_path, **files))
    assert outline(trajectory) == [
        "-1 user Leave the maze.",
        "0 assistant go north",
        "0 tool_result a wall",
        '1 assistant {"commands":["go south"],"task_complete":true}',
    ]
    assert trajectory.edges == [Edge(1, 2, "explicit", evidence="what it gave")]


def test_what_terminus_types_is_a_call_that_the_next_prompt_answers(tmp_path: Path) -> None:
    typed = [{"keystrokes": "cd maze\n", "is_blocking": True, "timeout_sec": 1.0}, {"keystrokes": "ls\n"}]
    files = {
        "agent-logs/episode-0/prompt.txt": "Leave the maze.",
        "agent-logs/episode-0/response.json": json.dumps(
            {"explanation": "Look.", "commands": typed, "is_task_complete": False}
        ),
        "agent-logs/episode-1/prompt.txt": "$ ls\na wall",
        "agent-logs/episode-1/response.txt": json.dumps({"commands": [], "is_task_complete": True}),
        "agent-logs/episode-2/prompt.txt": "Are you sure?",
    }
    [trajectory] = read_ones(trial_folder(tmp_path, **files))
    assert outline(trajectory) == [
        "-1 user Leave the maze.",
        '0 assistant {"explanation":"Look.","is_task_complete":false}',
        "0 tool_call bash_command",
        "0 tool_result bash_command of 2 $ ls\na wall",
        '1 assistant {"commands":[],"is_task_complete":true}',
        "1 tool_result Are you sure?",
    ]
    call = trajectory.spans[2]
    assert (call.arguments, call.inferred) == ({"command": "cd maze\nls\n"}, True)
    assert json.loads(call.arguments_raw or "") == typed
    assert codes(trajectory) == ["written-call"]
    assert trajectory.edges == [Edge(4, 5, "explicit", evidence="what it gave")]


def test_trials_with_results_of_their_own_are_not_read_twice(tmp_path: Path) -> None:
    trial_folder(tmp_path)
    (tmp_path / "results.json").write_text(json.dumps({"results": [TRIAL, TRIAL | {"trial_name": "gone"}]}))
    assert sorted(t.id for t in read_ones(tmp_path)) == ["gone", "maze.2-of-5.run-1"]


def test_without_a_transcript_only_the_verdict_is_known(tmp_path: Path) -> None:
    [trajectory] = read_ones(trial_folder(tmp_path))
    assert outline(trajectory) == ["-1 user Leave."]
    assert codes(trajectory) == ["no-transcript", "no-action"]
