"""ATIF trajectories and the results of Harbor trials beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.formats.outline import codes, errors, found, outline, read_one
from trajcredit.errors import ParseError, SkippedFile
from trajcredit.formats import read
from trajcredit.model import Edge, Reward, SpawnedBy, Trajectory, TurnTokens


def log(*steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
    agent = {"name": "a", "version": "1", "model_name": "m"}
    return {"schema_version": "ATIF-v1.6", "session_id": "se", "agent": agent, "steps": list(steps), **fields}


def acts(message: str = "", *calls: dict[str, Any], **fields: Any) -> dict[str, Any]:
    step = {"source": "agent", "message": message, **fields}
    return step | {"tool_calls": list(calls)} if calls else step


def call(ref: str, name: str = "f", **given: Any) -> dict[str, Any]:
    return {"tool_call_id": ref, "function_name": name, "arguments": given}


def seen(*results: dict[str, Any]) -> dict[str, Any]:
    return {"results": list(results)}


TASK = {"source": "user", "message": "Go."}


def test_steps_that_a_converter_cut_out_of_one_answer_are_one_turn() -> None:
    thought = {"reasoning_content": "Hm.", "timestamp": "2026-03-01T08:00:00Z"}
    rest = [
        acts(f"Executed f {ref}", call(ref), observation=seen({"source_call_id": ref, "content": ref}), **thought)
        for ref in ("c1", "c2")
    ]
    trajectory = read_one(log(TASK, acts("Text.", metrics={"completion_tokens": 4}, **thought), *rest, acts("Done.")))
    assert outline(trajectory) == [
        "-1 user Go.",
        "0 reasoning Hm.",
        "0 assistant Text.",
        "0 tool_call f",
        "0 tool_result f of 3 c1",
        "0 tool_call f",
        "0 tool_result f of 5 c2",
        "1 assistant Done.",
    ]
    assert codes(trajectory) == ["joined-steps", "companion-missing"]


def test_a_step_that_says_nothing_has_no_rest() -> None:
    trajectory = read_one(log(TASK, acts(""), acts("", call("c1"))))
    assert outline(trajectory) == ["-1 user Go.", "0 tool_call f"]


def test_what_a_converter_wrote_in_place_of_text_is_never_text() -> None:
    step = acts("Executed f c1", call("c1"), metrics={"completion_tokens": 4})
    assert [span.kind for span in read_one(log(step)).spans] == ["tool_call"]


def test_raw_arguments_and_error_flags_of_the_converter_count() -> None:
    extra = {"raw_arguments": '{"a": 1}', "tool_result_metadata": {"is_error": True}}
    step = acts("", call("c1"), observation=seen({"source_call_id": "c1", "content": "no"}), extra=extra)
    [asked, result] = read_one(log(step)).spans
    assert (asked.arguments, asked.arguments_raw, result.error) == ({"a": 1}, '{"a": 1}', True)


def test_what_comes_back_to_a_step_without_calls_hangs_on_its_text() -> None:
    trajectory = read_one(log(TASK, acts("ls", observation=seen({"content": "a.txt"}))))
    assert outline(trajectory) == ["-1 user Go.", "0 assistant ls", "0 tool_result a.txt"]
    assert trajectory.edges == [Edge(1, 2, "explicit", evidence="the observation of that step")]
    assert codes(trajectory) == ["companion-missing"]


def test_one_observation_of_several_calls_answers_the_last_and_depends_on_each() -> None:
    step = acts("Look.", call("c1"), call("c2"), call("c3"), observation=seen({"content": "a.txt"}))
    trajectory = read_one(log(TASK, step, acts("Done.")))
    assert outline(trajectory)[2:] == [
        "0 tool_call f",
        "0 tool_call f",
        "0 tool_call f",
        "0 tool_result f of 4 a.txt",
        "1 assistant Done.",
    ]
    evidence = "the observation of that step"
    assert trajectory.edges == [Edge(2, 5, "explicit", evidence=evidence), Edge(3, 5, "explicit", evidence=evidence)]
    assert codes(trajectory) == ["shared-result", "companion-missing"]


def test_what_a_step_types_is_a_call_and_the_observation_its_result() -> None:
    text = json.dumps({"analysis": "Hm.", "commands": [{"keystrokes": "ls\n", "duration": 0.1}]})
    trajectory = read_one(log(TASK, acts(text, observation=seen({"content": "a.txt"}))))
    assert outline(trajectory)[1:] == [
        '0 assistant {"analysis":"Hm."}',
        "0 tool_call bash_command",
        "0 tool_result bash_command of 2 a.txt",
    ]
    assert (trajectory.spans[2].arguments, trajectory.edges) == ({"command": "ls\n"}, [])


def test_a_call_written_as_text_is_a_call_and_the_observation_its_result() -> None:
    text = "I list.\n<function=bash>\n<parameter=command>ls</parameter>\n</function>"
    trajectory = read_one(log(acts(text, observation=seen({"content": "a.txt"}))))
    assert outline(trajectory) == ["0 assistant I list.", "0 tool_call bash", "0 tool_result bash of 1 a.txt"]
    assert (trajectory.spans[1].inferred, trajectory.spans[1].arguments) == (True, {"command": "ls"})
    assert (codes(trajectory), trajectory.edges) == (["written-call", "companion-missing"], [])


def test_copied_steps_get_no_credit_and_compactions_are_no_words_of_the_system() -> None:
    compaction = {"source": "system", "message": "Summed.", "extra": {"context_management": {}}}
    copied = acts("Old.", is_copied_context=True)
    assert outline(read_one(log(copied, compaction, acts("New.")))) == [
        "-1 meta Old.",
        "-1 meta Summed.",
        "0 assistant New.",
    ]


def test_tokens_of_a_turn() -> None:
    metrics = {"prompt_token_ids": [1], "completion_token_ids": [2, 3], "logprobs": [-0.5, -1], "cost_usd": 0.25}
    trajectory = read_one(log(acts("One.", metrics=metrics)))
    assert trajectory.turns == [TurnTokens(0, [1], [2, 3], [-0.5, -1.0])]
    assert trajectory.spans[0].usage == {"cost": 0.25}


def test_an_agent_inside_the_file_belongs_to_the_call_that_names_it() -> None:
    inner = log(TASK, acts("Two."), trajectory_id="t2")
    step = acts(
        "", call("c1"), observation=seen({"source_call_id": "c1", "subagent_trajectory_ref": [{"trajectory_id": "t2"}]})
    )
    main, agent = found(log(step, trajectory_id="t1", subagent_trajectories=[inner]))
    assert (agent.id, agent.parent) == ("t1/t2", SpawnedBy("t1", 0))
    assert codes(main)[0] == "sub-agent"


def test_agents_of_one_name_in_one_file_are_told_apart() -> None:
    agents = [log(TASK, acts(text)) for text in ("One.", "Two.")]
    main, *others = found(log(acts("Go."), trajectory_id="t1", subagent_trajectories=agents))
    assert [t.id for t in others] == ["t1/a", "t1/a-2"]
    assert {t.parent for t in others} == {SpawnedBy(main.id)}


def test_a_step_that_is_none_is_an_error_that_names_the_field() -> None:
    data = json.dumps(log(TASK, {"message": "x"})).encode()
    assert errors(data) == ["log.json: Object missing required field `source` - at `$.steps[1]`"]


# ---------------------------------------------------------------- Harbor


def trial(**fields: Any) -> dict[str, Any]:
    return {
        "trial_name": "maze__1",
        "task_name": "maze",
        "config": {"trials_dir": "/srv/secret/jobs/job-7", "job_id": "j"},
        "verifier_result": {"rewards": {"other": 9, "reward": 1.0}},
        "finished_at": "2026-03-01T09:00:00Z",
        **fields,
    }


def harbor(folder: Path, result: Any, name: str = "maze__1", steps: int = 2) -> Path:
    (folder / name / "agent").mkdir(parents=True)
    text = log(TASK, *(acts(f"Step {k}.") for k in range(steps)))
    (folder / name / "agent" / "trajectory.json").write_text(json.dumps(text))
    (folder / name / "result.json").write_text(result if isinstance(result, str) else json.dumps(result))
    return folder


def test_the_result_of_the_trial_gives_task_and_reward(tmp_path: Path) -> None:
    *skipped, trajectory = sorted(read(harbor(tmp_path, trial())), key=lambda item: isinstance(item, Trajectory))
    assert isinstance(trajectory, Trajectory)
    assert (trajectory.id, trajectory.task, trajectory.trial, trajectory.dataset) == (
        "maze__1",
        "maze",
        "maze__1",
        "job-7",
    )
    assert trajectory.rewards == [Reward(1.0, at="2026-03-01T09:00:00Z")]
    assert (trajectory.terminated, trajectory.truncated) == (True, False)
    assert [type(item) for item in skipped] == [SkippedFile]
    assert "secret" not in json.dumps([trajectory.id, trajectory.dataset])


def test_without_the_folder_the_result_above_is_out_of_reach_and_a_note_says_so(tmp_path: Path) -> None:
    [trajectory] = read(harbor(tmp_path, trial()) / "maze__1" / "agent" / "trajectory.json")
    assert isinstance(trajectory, Trajectory)
    assert (trajectory.task, trajectory.rewards, codes(trajectory)) == (None, [], ["companion-missing"])
    uploaded = read_one(log(acts("One.")))
    assert uploaded.report[-1].message.endswith("(a log sent by itself has none beside it)")


@pytest.mark.parametrize(
    ("fields", "rewards", "ended", "noted"),
    [
        pytest.param({"verifier_result": None}, [], (True, False), [], id="not verified"),
        pytest.param(
            {"verifier_result": {"rewards": {"a": 1, "b": None}}}, [("a", 1.0)], (True, False), [], id="named"
        ),
        pytest.param(
            {"exception_info": {"exception_type": "AgentTimeoutError", "exception_message": "600 s"}},
            [(None, 1.0)],
            (False, True),
            ["run-error"],
            id="out of time",
        ),
        pytest.param(
            {"agent_result": {"rollout_details": [{"completion_token_ids": [[1]]}]}},
            [(None, 1.0)],
            (True, False),
            ["token-mismatch"],
            id="tokens of another number of turns",
        ),
    ],
)
def test_how_a_trial_ended(
    tmp_path: Path, fields: dict[str, Any], rewards: list[Any], ended: tuple[bool, bool], noted: list[str]
) -> None:
    [trajectory] = [t for t in read(harbor(tmp_path, trial(**fields))) if isinstance(t, Trajectory)]
    assert [(reward.name, reward.value) for reward in trajectory.rewards] == rewards
    assert (trajectory.terminated, trajectory.truncated) == ended
    assert codes(trajectory) == noted


def test_tokens_of_every_turn_from_the_result(tmp_path: Path) -> None:
    details = {"prompt_token_ids": [[1], [1, 2]], "completion_token_ids": [[2], [3]], "logprobs": [[-1], [-2.5]]}
    result = trial(agent_result={"rollout_details": [details]})
    [trajectory] = [t for t in read(harbor(tmp_path, result)) if isinstance(t, Trajectory)]
    assert trajectory.turns == [TurnTokens(0, [1], [2], [-1.0]), TurnTokens(1, [1, 2], [3], [-2.5])]


def test_a_result_that_is_broken_is_an_error_of_its_trajectory(tmp_path: Path) -> None:
    failed = [item for item in read(harbor(tmp_path, '{"trial_name": 5}')) if isinstance(item, ParseError)]
    assert any("Expected `str | null`, got `int` - at `$.trial_name`" in str(item) for item in failed)


def test_a_run_that_goes_on_in_another_file_is_one_trajectory(tmp_path: Path) -> None:
    first = log(TASK, acts("One."), continued_trajectory_ref="trajectory.cont-1.json")
    handed_over = {"source": "user", "message": "So far: one.", "is_copied_context": True}
    second = log({**TASK, "is_copied_context": True}, handed_over, acts("Two."))
    (tmp_path / "trajectory.json").write_text(json.dumps(first))
    (tmp_path / "trajectory.cont-1.json").write_text(json.dumps(second))
    skipped, trajectory = read(tmp_path)
    assert isinstance(skipped, SkippedFile)
    assert isinstance(trajectory, Trajectory)
    assert outline(trajectory) == ["-1 user Go.", "0 assistant One.", "0 user So far: one.", "1 assistant Two."]
    assert codes(trajectory) == ["continued", "copied-context", "companion-missing"]
