"""SWE-agent and mini-swe-agent trajectories."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.outline import codes, errors, outline, read_one


def said(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "agent": "main", **more}


def acted(thought: str, action: str, **more: Any) -> dict[str, Any]:
    return said("assistant", f"{thought}\n```\n{action}\n```", thought=thought, action=action, **more)


ASK = said("user", "Fix it.")


def test_a_command_in_the_text_is_a_call_and_the_next_message_its_output() -> None:
    history = [
        said("system", "You fix."),
        ASK,
        acted("Hm.", "ls"),
        said("user", "a.py"),
        acted("", "edit 1:1\nx\nend_of_edit"),
    ]
    trajectory = read_one(
        {"history": history, "trajectory": [], "info": {"exit_status": "submitted"}}, "run/repo-1.traj"
    )
    assert outline(trajectory) == [
        "-1 system You fix.",
        "-1 user Fix it.",
        "0 assistant Hm.",
        "0 tool_call bash",
        "0 tool_result bash of 3 a.py",
        "1 tool_call edit",
    ]
    assert trajectory.spans[3].arguments == {"command": "ls"}
    assert {span.inferred for span in trajectory.spans if span.kind == "tool_call"} == {True}
    assert (trajectory.id, trajectory.task, trajectory.dataset) == ("run/repo-1.traj", "repo-1", None)
    assert codes(trajectory) == ["unanswered-call"]


def test_function_calls_are_known_by_the_list_of_ids() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "open", "arguments": '{"path": "a.py"}'}}
    history = [
        ASK,
        said("assistant", "Look.", action="open a.py", tool_calls=[call]),
        said("tool", "x", tool_call_ids=["c1"]),
    ]
    assert outline(read_one({"history": history}))[1:] == [
        "0 assistant Look.",
        "0 tool_call open",
        "0 tool_result open of 2 x",
    ]


def test_demonstrations_get_no_credit_whoever_speaks_in_them() -> None:
    demo = [said("user", "Demo.", is_demo=True), said("assistant", "Like so.", is_demo=True, action="ls")]
    trajectory = read_one({"history": [*demo, ASK, acted("Hm.", "")], "trajectory": []})
    assert outline(trajectory) == [
        "-1 system Demo.",
        "-1 system Like so.",
        "-1 user Fix it.",
        "0 assistant Hm.\n```\n\n```",
    ]
    assert codes(trajectory) == ["demonstration"]


def test_outputs_cut_out_of_the_history_and_the_last_one_come_from_the_steps() -> None:
    steps = [{"action": "ls", "observation": "a.py\nb.py"}, {"action": "submit", "observation": "diff"}]
    cut = said("user", "Old environment output: (2 lines omitted)")
    trajectory = read_one({"history": [ASK, acted("", "ls"), cut, acted("", "submit")], "trajectory": steps})
    assert outline(trajectory)[1:] == [
        "0 tool_call bash",
        "0 tool_result bash of 1 a.py\nb.py",
        "1 tool_call submit",
        "1 tool_result submit of 3 diff",
    ]
    assert codes(trajectory) == ["restored-output"]


@pytest.mark.parametrize(
    ("status", "terminated", "truncated", "noted"),
    [
        ("submitted", True, False, []),
        ("submitted (exit_cost)", False, True, []),
        ("exit_error", True, False, ["run-error"]),
        (None, None, None, []),
    ],
)
def test_how_a_run_ended(status: str | None, terminated: bool | None, truncated: bool | None, noted: list[str]) -> None:
    config = '{"agent": {"model": {"name": "m"}}}'
    run = {"history": [ASK, said("assistant", "Hm.")], "trajectory": [], "info": {"exit_status": status}}
    trajectory = read_one(run | {"replay_config": config})
    assert (trajectory.terminated, trajectory.truncated) == (terminated, truncated)
    assert (codes(trajectory), trajectory.model) == (noted, "m")


def test_a_history_of_something_else_is_not_taken() -> None:
    assert "no known format" in errors(b'{"history": [{"when": 1}], "trajectory": []}')[0]


# ---------------------------------------------------------------- mini-swe-agent

FENCED = "THOUGHT: look.\n\n```mswea_bash_command\nls -a\n```"


def mini(*messages: dict[str, Any], **info: Any) -> dict[str, Any]:
    return {"trajectory_format": "mini-swe-agent-1.1", "info": info, "messages": list(messages)}


def test_a_fenced_command_is_a_call_and_the_return_code_says_whether_it_failed() -> None:
    answer, output = (
        {"role": "assistant", "content": FENCED},
        {"role": "user", "content": "<returncode>2</returncode>no"},
    )
    for form in (
        mini({"role": "user", "content": "Go."}, answer, output),
        [{"role": "user", "content": "Go."}, answer, output],
    ):
        trajectory = read_one(form, "repo-1.traj.json")
        assert outline(trajectory) == [
            "-1 user Go.",
            "0 assistant THOUGHT: look.",
            "0 tool_call bash",
            "0 tool_result bash of 2 ! <returncode>2</returncode>no",
        ]
        assert trajectory.spans[2].arguments == {"command": "ls -a"}
        assert trajectory.task == "repo-1"


def test_an_answer_with_two_commands_runs_none() -> None:
    messages = [{"role": "assistant", "content": FENCED * 2}, {"role": "user", "content": "One command, please."}]
    assert [span.kind for span in read_one(mini(*messages)).spans] == ["assistant", "user"]


def test_a_whole_response_as_a_message() -> None:
    items = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"type": "function_call", "call_id": "c", "name": "bash", "arguments": "{}"},
    ]
    messages = [{"object": "response", "output": items, "usage": {"output_tokens": 3}}]
    messages.append({"type": "function_call_output", "call_id": "c", "output": "ok"})
    trajectory = read_one(mini(*messages))
    assert outline(trajectory) == ["0 reasoning Hm.", "0 tool_call bash", "0 tool_result bash of 1 ok"]
    assert [span.message_index for span in trajectory.spans] == [0, 0, 1]
    assert trajectory.spans[0].usage == {"output_tokens": 3}


def test_how_mini_ends() -> None:
    answer = {"role": "assistant", "content": "Hm.", "extra": {"cost": 0.5, "timestamp": 1796025999}}
    last = {"role": "exit", "content": "LimitsExceeded", "extra": {"exit_status": "LimitsExceeded"}}
    trajectory = read_one(mini(answer, last, config={"model": {"model_name": "m"}}))
    assert (trajectory.terminated, trajectory.truncated, trajectory.model) == (False, True, "m")
    assert (trajectory.spans[0].usage, trajectory.spans[0].started_at) == ({"cost": 0.5}, "2026-11-30T08:06:39Z")
    assert outline(trajectory)[1] == "0 meta LimitsExceeded"
