"""Claude Code sessions: a tree of lines, one content block a line, sub-agents beside."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.formats.outline import codes, errors, found, jsonl, outline, read_one
from trajcredit.errors import ParseError
from trajcredit.formats import read, read_bytes
from trajcredit.model import SpawnedBy, Trajectory


def line(kind: str, uuid: str, parent: str | None, content: Any = None, **more: Any) -> dict[str, Any]:
    """A line of the conversation, or one without a message."""
    row = {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "isSidechain": False, **more}
    message = more.pop("message", {})
    if content is not None:
        row["message"] = {"role": kind, "content": content, **message}
    return row


def said(uuid: str, parent: str | None, *blocks: dict[str, Any], ref: str | None = None, **more: Any) -> dict[str, Any]:
    return line("assistant", uuid, parent, list(blocks), message={"id": ref or uuid, "model": "m"}, **more)


def call(ref: str, name: str = "Bash", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": ref, "name": name, "input": given}


def result(uuid: str, parent: str | None, ref: str, text: Any = "ok", **more: Any) -> dict[str, Any]:
    flags = {"is_error": more.pop("is_error")} if "is_error" in more else {}
    return line("user", uuid, parent, [{"type": "tool_result", "tool_use_id": ref, "content": text, **flags}], **more)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


ASK = line("user", "a", None, "Go on.")


def test_parallel_calls_stand_before_their_results_however_the_lines_chain() -> None:
    rows = [
        ASK,
        said("b", "a", call("t1"), ref="m1"),
        result("c", "b", "t1", "first"),
        said("d", "b", call("t2"), ref="m1"),
        result("e", "d", "t2", "second", is_error=True),
        said("f", "c", text("Done."), ref="m2"),
    ]
    trajectory = read_one(jsonl(rows))
    assert outline(trajectory) == [
        "-1 user Go on.",
        "0 tool_call Bash",
        "0 tool_call Bash",
        "0 tool_result Bash of 1 first",
        "0 tool_result Bash of 2 ! second",
        "1 assistant Done.",
    ]
    assert [span.message_index for span in trajectory.spans] == [0, 1, 3, 2, 4, 5]
    assert codes(trajectory) == []


def test_lines_of_one_answer_that_dropped_its_id_are_one_turn_until_something_comes_back() -> None:
    rows = [
        {"_type": "header", "sessionId": "s"},
        ASK,
        line("assistant", "b", "a", [call("t1")]),
        line("assistant", "c", "b", [call("t2")]),
        result("d", "c", "t1"),
        result("e", "d", "t2"),
        line("assistant", "f", "e", "Done."),
    ]
    assert [span.turn for span in read_one(jsonl(rows)).spans] == [-1, 0, 0, 0, 0, 1]


def test_a_question_that_was_taken_back_is_left_out_with_what_followed() -> None:
    rows = [
        ASK,
        said("b", "a", text("Old."), call("t1")),
        line("user", "c", None, "Better."),
        said("d", "c", text("New.")),
    ]
    trajectory = read_one(jsonl(rows))
    assert outline(trajectory) == ["-1 user Better.", "0 assistant New."]
    assert [note.message for note in trajectory.report] == ["left out what is on abandoned branches: lines 2, calls 1"]


def test_after_a_compaction_without_a_parent_the_lines_before_it_stay() -> None:
    boundary = line("system", "c", None, subtype="compact_boundary", content="Conversation compacted")
    rows = [ASK, said("b", "a", text("One.")), boundary]
    rows += [
        line("user", "d", "c", "Sum.", isCompactSummary=True),
        result("e", "d", "gone"),
        said("f", "e", text("Two.")),
    ]
    trajectory = read_one(jsonl(rows))
    assert outline(trajectory)[2:5] == [
        "0 meta Conversation compacted",
        "0 meta Sum.",
        "0 tool_result ok",
    ]
    assert codes(trajectory) == ["orphan-result"]


def test_a_parent_that_is_not_in_the_file_is_replaced_by_the_line_before() -> None:
    trajectory = read_one(jsonl([ASK, said("b", "elsewhere", text("One."))]))
    assert outline(trajectory) == ["-1 user Go on.", "0 assistant One."]
    assert codes(trajectory) == ["broken-chain"]


def test_a_circle_of_parents_ends() -> None:
    rows = [line("user", "a", "b", "Go."), said("b", "a", text("One."))]
    assert outline(read_one(jsonl(rows))) == ["-1 user Go.", "0 assistant One."]


def test_an_error_of_the_program_is_no_answer_and_reminders_are_no_words_of_the_user() -> None:
    broken = line("assistant", "c", "b", [text("API Error")], message={"model": "<synthetic>", "id": "x"})
    rows = [ASK, line("user", "b", "a", "<system-reminder>", isMeta=True), broken]
    trajectory = read_one(jsonl(rows))
    assert outline(trajectory) == ["-1 user Go on.", "-1 system <system-reminder>", "-1 meta API Error"]
    assert codes(trajectory) == ["no-action"]


def test_usage_counts_once_a_message_and_the_last_line_has_it_in_full() -> None:
    def with_usage(uuid: str, parent: str, block: dict[str, Any], out: int) -> dict[str, Any]:
        usage = {"input_tokens": 7, "output_tokens": out, "cache_read_input_tokens": 5, "service_tier": "standard"}
        return line("assistant", uuid, parent, [block], message={"id": "m1", "usage": usage})

    rows = [ASK, with_usage("b", "a", text("One."), 1), with_usage("c", "b", call("t"), 30)]
    usage = [span.usage for span in read_one(jsonl(rows)).spans]
    assert usage == [None, {"input_tokens": 7, "output_tokens": 30, "cached_tokens": 5}, None]


def test_where_several_models_answered_none_is_the_policy() -> None:
    other = line("assistant", "c", "b", [text("Two.")], message={"id": "m2", "model": "n"})
    trajectory = read_one(jsonl([ASK, said("b", "a", text("One.")), other]))
    assert (trajectory.model, codes(trajectory)) == (None, ["several-models"])


def test_a_torn_line_is_an_error_row_and_the_rest_goes_on() -> None:
    data = jsonl([ASK, '{"type": "assist', said("b", "a", text("One."))])
    assert errors(data) == ["log.json: line 2: not JSON: Input data was truncated"]
    [_, trajectory] = read_lines(data)
    assert outline(trajectory) == ["-1 user Go on.", "0 assistant One."]
    assert codes(trajectory) == ["lost-message"]


def read_lines(data: bytes) -> list[Any]:
    return sorted(read_bytes(data, "log.json"), key=lambda item: isinstance(item, Trajectory))


def test_two_sessions_in_one_file_are_two_trajectories_unless_one_goes_on_from_the_other() -> None:
    other = [{**row, "sessionId": "t"} for row in (line("user", "x", None, "Hi."), said("y", "x", text("Hello.")))]
    both = [ASK, said("b", "a", text("One.")), *other]
    assert [t.id for t in found(jsonl(both))] == ["s", "t"]
    resumed = [{**row, "parentUuid": "b"} if row["uuid"] == "x" else row for row in both]
    assert [len(t.spans) for t in found(jsonl(resumed))] == [4]


# ---------------------------------------------------------------- sub-agents


SIDE = [
    line("user", "x", None, "Count.", isSidechain=True),
    {**said("y", "x", text("Two.")), "isSidechain": True},
]
TASK = [
    ASK,
    said("b", "a", call("t1", "Task", prompt="Count.", subagent_type="counter")),
    result("c", "b", "t1", "Two."),
]


def test_a_sidechain_without_an_id_belongs_to_the_call_with_its_prompt() -> None:
    main, agent = found(jsonl([*TASK[:2], *SIDE, TASK[2]]))
    assert (agent.id, agent.role, agent.parent) == ("s/agent-x", "counter", SpawnedBy("s", 1))
    assert len(main.spans) == 3


def files(folder: Path, main: str = "s.jsonl", agent: str = "s/subagents/agent-g1.jsonl") -> Path:
    """A session and its sub-agent in files of their own."""
    rows = [*TASK[:2], {**TASK[2], "toolUseResult": {"agentId": "g1"}}]
    for name, lines in ((main, rows), (agent, [{**row, "agentId": "g1"} for row in SIDE])):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(jsonl(lines)) if name.endswith(".gz") else jsonl(lines))
    return folder


@pytest.mark.parametrize(
    ("main", "agent"),
    [
        pytest.param("s.jsonl", "s/subagents/agent-g1.jsonl", id="in a folder below"),
        pytest.param("s.jsonl", "agent-g1.jsonl", id="beside it"),
        pytest.param("s.jsonl.gz", "agent-g1.jsonl", id="beside a compressed one"),
        pytest.param("renamed.jsonl", "subagents/agent-g1.jsonl", id="below one of another name"),
    ],
)
def test_an_agent_in_a_file_of_its_own_names_the_call_that_started_it(tmp_path: Path, main: str, agent: str) -> None:
    read_ones = [t for t in read(files(tmp_path, main, agent)) if isinstance(t, Trajectory)]
    assert {t.id: t.parent for t in read_ones} == {"s": None, "s/agent-g1": SpawnedBy("s", 1)}
    assert {t.id: t.role for t in read_ones} == {"s": None, "s/agent-g1": "counter"}


def test_the_session_is_not_looked_for_outside_of_the_folder_that_was_given(tmp_path: Path) -> None:
    files(tmp_path)
    [agent] = read(tmp_path / "s" / "subagents")
    assert not isinstance(agent, ParseError)
    assert (agent.parent, agent.role) == (SpawnedBy("s"), "sub-agent")


def test_an_agent_that_was_uploaded_alone_knows_its_session_and_no_more() -> None:
    agent = read_one(jsonl([{**row, "agentId": "g1"} for row in SIDE]))
    assert agent.parent == SpawnedBy("s")


def test_a_chat_row_with_an_odd_session_id_is_no_session() -> None:
    row = {"messages": [{"role": "user", "content": "Hi"}], "sessionId": "s", "uuid": "u"}
    origin = read_one(json.dumps(row).encode()).source
    assert origin is not None
    assert origin.format == "openai_chat"
