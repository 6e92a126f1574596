"""OpenAI chat: rows, bare lists and lines of messages, as servers and trainers write them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trajcredit.errors import ParseError
from trajcredit.formats import read_bytes
from trajcredit.model import REWARD_SOURCES, Reward, RewardSource, Span, Trajectory

GO = {"role": "user", "content": "go"}
DONE = {"role": "assistant", "content": "done"}


def read_all(value: Any, name: str = "a.json") -> list[Trajectory | ParseError]:
    return list(read_bytes(value if isinstance(value, bytes) else json.dumps(value).encode(), name))


def read_one(value: Any) -> Trajectory:
    [found] = read_all(value)
    assert isinstance(found, Trajectory), found
    return found


def refused(value: Any) -> str:
    [found] = read_all(value)
    assert isinstance(found, ParseError), found
    return found.reason


def call(call_id: str | None, name: str, arguments: Any) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def kinds(trajectory: Trajectory) -> list[str]:
    return [span.kind for span in trajectory.spans]


def codes(trajectory: Trajectory) -> list[str]:
    return [note.code for note in trajectory.report]


@pytest.mark.parametrize(
    ("data", "ids"),
    [
        pytest.param({"messages": [GO, DONE]}, ["a.json"], id="one row"),
        pytest.param([{"messages": [GO]}, {"messages": [DONE]}], ["a.json#1", "a.json#2"], id="an array of rows"),
        pytest.param([GO, DONE], ["a.json"], id="a bare list of messages"),
        pytest.param([[GO, DONE], [GO, DONE]], ["a.json#1", "a.json#2"], id="an array of lists"),
        pytest.param(
            b'[{"role": "user", "content": "a"}]\n[{"role": "user", "content": "b"}]',
            ["a.json#1", "a.json#2"],
            id="lines of lists",
        ),
        pytest.param(GO, ["a.json"], id="a single message"),
        pytest.param(json.dumps(GO).encode() + b"\n" + json.dumps(DONE).encode(), ["a.json"], id="lines of messages"),
        pytest.param(
            b"\n\n" + json.dumps({"messages": [GO]}).encode() + b"\n\n" + b'{"messages": []}',
            ["a.json#3", "a.json#5"],
            id="lines of rows carry their line number",
        ),
    ],
)
def test_where_messages_are_found(data: Any, ids: list[str]) -> None:
    found = read_all(data)
    assert [t.id for t in found if isinstance(t, Trajectory)] == ids
    assert len(found) == len(ids)


def test_what_a_row_says_beside_its_messages() -> None:
    trajectory = read_one(
        {
            "messages": [GO, DONE],
            "id": 7,
            "trajectory_id": "t",
            "group_id": 3,
            "group": "g",
            "task_id": 0,
            "task": "x",
            "reward": 0.5,
            "policy_version": 12,
            "trial": 2,
            "step": 9,
            "terminated": False,
            "truncated": True,
            "answer": {"total": 4},
            "unknown": [1],
        }
    )
    assert trajectory.id == "t"
    assert (trajectory.group, trajectory.task, trajectory.trial, trajectory.step) == ("3", "0", "2", 9)
    assert (trajectory.policy_version, trajectory.answer) == ("12", '{"total":4}')
    assert (trajectory.terminated, trajectory.truncated) == (False, True)
    assert trajectory.rewards == [Reward(0.5)]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param({"role": "system", "content": "x"}, [("system", "x")], id="system"),
        pytest.param({"role": "developer", "content": "x"}, [("system", "x")], id="developer is system"),
        pytest.param({"role": "user", "content": ""}, [("user", "")], id="a user who says nothing still had a turn"),
        pytest.param({"role": "assistant", "content": "x"}, [("assistant", "x")], id="an answer"),
        pytest.param({"role": "assistant", "content": None}, [], id="an answer of null makes no span"),
        pytest.param({"role": "assistant", "content": " \n"}, [], id="nor one of white space"),
        pytest.param({"role": "assistant", "tool_calls": []}, [], id="nor one without content"),
        pytest.param({"role": "assistant", "content": None, "refusal": "no"}, [("assistant", "no")], id="a refusal"),
        pytest.param(
            {"role": "assistant", "content": "x", "reasoning_content": "r", "tool_calls": [call("1", "f", "{}")]},
            [("reasoning", "r"), ("assistant", "x"), ("tool_call", "")],
            id="reasoning, text, calls, in that order",
        ),
        pytest.param(
            {"role": "assistant", "content": "x", "reasoning": "r"},
            [("reasoning", "r"), ("assistant", "x")],
            id="the key of OpenRouter",
        ),
        pytest.param(
            {"role": "assistant", "content": "x", "reasoning": {"effort": "low"}, "thinking": "r"},
            [("reasoning", "r"), ("assistant", "x")],
            id="the key of Harmony; an object is no reasoning",
        ),
        pytest.param(
            {"role": "assistant", "content": "<think>r</think>x"},
            [("reasoning", "r"), ("assistant", "x")],
            id="reasoning in the text",
        ),
        pytest.param({"role": "function", "name": "f", "content": "x"}, [("tool_result", "x")], id="a legacy result"),
        pytest.param({"role": "tool", "content": {"rows": []}}, [("tool_result", '{"rows":[]}')], id="a JSON result"),
    ],
)
def test_the_spans_of_a_message(message: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    trajectory = read_one({"messages": [message]})
    assert [(span.kind, span.text) for span in trajectory.spans] == expected
    assert all(span.message_index == 0 for span in trajectory.spans)


def test_every_answer_is_a_turn_also_an_empty_one() -> None:
    empty = {"role": "assistant", "content": ""}
    trajectory = read_one([GO, DONE, GO, empty, GO, DONE])
    assert [(span.kind, span.turn, span.message_index) for span in trajectory.spans] == [
        ("user", -1, 0),
        ("assistant", 0, 1),
        ("user", 0, 2),
        ("user", 1, 4),
        ("assistant", 2, 5),
    ]


@pytest.mark.parametrize(
    ("logged", "span"),
    [
        pytest.param(
            call("a", "f", '{"x": 1}'),
            Span("tool_call", 0, "", 0, None, "a", "f", {"x": 1}, '{"x": 1}'),
            id="a function with JSON text",
        ),
        pytest.param(call(None, "f", {"x": 1}), Span("tool_call", 0, "", 0, None, None, "f", {"x": 1}), id="an object"),
        pytest.param(
            {"id": "a", "type": "custom", "custom": {"name": "f", "input": "print(1)"}},
            Span("tool_call", 0, "", 0, None, "a", "f", None, "print(1)"),
            id="a custom tool takes plain text: nothing is broken",
        ),
        pytest.param(
            {"id": 5, "name": "f", "arguments": "{}"},
            Span("tool_call", 0, "", 0, None, "5", "f", {}, "{}"),
            id="without the wrapper, with a number for an id",
        ),
        pytest.param(call("", "f", None), Span("tool_call", 0, "", 0, None, None, "f", {}), id="an empty id is none"),
    ],
)
def test_the_shapes_of_a_call(logged: dict[str, Any], span: Span) -> None:
    trajectory = read_one({"messages": [{"role": "assistant", "content": None, "tool_calls": [logged]}]})
    assert trajectory.spans == [span]
    assert codes(trajectory) == ["unanswered-call"]


def test_broken_arguments_are_kept_and_the_note_names_the_call() -> None:
    trajectory = read_one({"messages": [{"role": "assistant", "tool_calls": [call("a", "book", '{"seat":')]}]})
    assert (trajectory.spans[0].arguments, trajectory.spans[0].arguments_raw) == (None, '{"seat":')
    assert trajectory.report[0].code == "broken-arguments"
    assert trajectory.report[0].message.startswith("call book (a): arguments are not JSON")


def test_a_legacy_call_is_answered_by_the_function_of_its_name() -> None:
    asks = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    trajectory = read_one([GO, asks, {"role": "function", "name": "f", "content": "4"}])
    assert kinds(trajectory) == ["user", "tool_call", "tool_result"]
    assert trajectory.spans[2].result_of == 1
    assert codes(trajectory) == ["paired-by-name"]


@pytest.mark.parametrize(
    ("flags", "error"),
    [
        pytest.param({}, None, id="it does not say"),
        pytest.param({"is_error": True}, True, id="is_error"),
        pytest.param({"is_error": False}, False, id="is_error, denied"),
        pytest.param({"error": True}, True, id="error"),
        pytest.param({"error": None}, None, id="a null error"),
        pytest.param({"error": ""}, None, id="an empty error"),
        pytest.param({"error": {"type": "timeout"}}, True, id="an error object"),
    ],
)
def test_whether_a_result_failed_is_what_the_log_says(flags: dict[str, Any], error: bool | None) -> None:
    result = {"role": "tool", "tool_call_id": "a", "content": "no town of that name"}
    trajectory = read_one([{"role": "assistant", "tool_calls": [call("a", "f", "{}")]}, result | flags])
    assert (trajectory.spans[1].error, trajectory.spans[1].name) == (error, "f")


def test_who_speaks_is_the_agent() -> None:
    trajectory = read_one([GO | {"name": "lea"}, DONE | {"name": "clerk", "tool_calls": [call("a", "f", "{}")]}])
    assert [span.agent for span in trajectory.spans] == ["lea", "clerk", "clerk"]


ASKS = {"role": "assistant", "content": "I look.", "tool_calls": [call("a", "f", "{}")]}
ANSWERS = {"role": "tool", "tool_call_id": "a", "content": "4"}
EMPTY = {"role": "assistant", "content": None}


@pytest.mark.parametrize(
    ("messages", "rewards", "placed"),
    [
        pytest.param(
            [GO, ASKS, ANSWERS, DONE],
            [0, 0.5, 0, 1],
            {0: 0, 2: 0.5, 3: 0, 4: 1},
            id="each on the last span of its message, zeros too",
        ),
        pytest.param([GO, ASKS, ANSWERS, DONE], [None, None, None, True], {4: 1.0}, id="null is none, true is one"),
        pytest.param(
            [GO, ASKS, ANSWERS, EMPTY],
            [0, 0, 0.25, 1],
            {0: 0, 2: 0, 3: 1.25},
            id="a message without a span gives it to the span before",
        ),
        pytest.param([GO, DONE, EMPTY], [None, None, 0], {}, id="unless it is nothing"),
        pytest.param([GO, ANSWERS, ASKS], [0, 2, 1], {0: 0, 2: 1, 3: 2}, id="a moved result takes its reward along"),
        pytest.param([EMPTY, GO, DONE], [1, None, None], {0: 1}, id="before the first span it falls to the first"),
    ],
)
def test_one_reward_a_message(messages: list[Any], rewards: list[Any], placed: dict[int, float]) -> None:
    trajectory = read_one({"messages": messages, "rewards": rewards})
    assert {reward.span: reward.value for reward in trajectory.rewards} == placed
    assert all(reward.source == "verifier" for reward in trajectory.rewards)
    moved = any(m is EMPTY and r for m, r in zip(messages, rewards, strict=True))
    assert ("reward-moved" in codes(trajectory)) == moved


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        pytest.param({"rewards": [1]}, "rewards holds 1 numbers for 2 messages", id="too few rewards"),
        pytest.param(
            {"rewards": [1, "2"]},
            "Expected `bool | float | null`, got `str` - at `$.rewards[1]`",
            id="a reward that is text",
        ),
        pytest.param(
            {"reward": "1"}, "Expected `bool | float | null`, got `str` - at `$.reward`", id="a text for a verdict"
        ),
        pytest.param(
            {"reward": 1.75e308},
            "reward 1.75e+308 is not a number from -9007199254740991 to 9007199254740991",
            id="a verdict beyond the canon",
        ),
        pytest.param({"step": "x"}, "Expected `int | null`, got `str` - at `$.step`", id="a step that is text"),
        pytest.param(
            {"step": 2**53 + 1}, "Expected `int` <= 9007199254740992 - at `$.step`", id="a step beyond what floats hold"
        ),
        pytest.param({"step": -(2**70)}, "Expected `int` >= -9007199254740992 - at `$.step`", id="or below"),
        pytest.param(
            {"reward": 1, "reward_source": "vibes"},
            "Invalid enum value 'vibes' - at `$.reward_source`",
            id="a source of rewards that is none",
        ),
        pytest.param(
            {"reward": 1, "reward_at": 1751362200},
            "Expected `str | null`, got `int` - at `$.reward_at`",
            id="a time that is no text",
        ),
        pytest.param(
            {"terminated": 1}, "Expected `bool | null`, got `int` - at `$.terminated`", id="a number for a flag"
        ),
        pytest.param({"messages": None}, "Expected `array`, got `null` - at `$.messages`", id="no messages"),
        pytest.param(
            {"messages": [{"content": "x"}]},
            "Object missing required field `role` - at `$.messages[0]`",
            id="a message without a role",
        ),
        pytest.param({"tools": {}}, "tools must be a list, not dict", id="tools that are no list"),
        pytest.param({"messages": [], "rewards": []}, None, id="nothing at all is an empty trajectory"),
        pytest.param(
            {"messages": [EMPTY], "rewards": [1]},
            "rewards: no message gives a span that could carry one",
            id="a reward without a span",
        ),
    ],
)
def test_a_row_that_cannot_be_meant_is_refused_by_the_name_of_its_field(
    row: dict[str, Any], reason: str | None
) -> None:
    row = {"messages": [GO, DONE], **row}
    if reason is None:
        assert codes(read_one(row)) == ["no-action"]
    else:
        assert reason in refused(row)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400"])
@pytest.mark.parametrize(("field", "value"), [("reward", "%s"), ("rewards", "[%s, 0]")])
def test_a_number_that_is_none_is_refused_by_the_name_of_its_field(number: str, field: str, value: str) -> None:
    row = json.dumps({"messages": [GO, DONE]})[:-1] + f', "{field}": {value % number}}}'
    assert f"`$.{field}" in refused(row.encode())


@pytest.mark.parametrize(
    ("said", "source", "at"),
    [
        pytest.param({}, "verifier", None, id="a verifier's, where nothing is said"),
        pytest.param({"reward_source": None, "reward_at": None}, "verifier", None, id="or null"),
        *(pytest.param({"reward_source": source}, source, None, id=source) for source in REWARD_SOURCES),
        pytest.param(
            {"reward_source": "human", "reward_at": "2025-07-01T09:30:00Z"},
            "human",
            "2025-07-01T09:30:00Z",
            id="a late thumbs-down",
        ),
    ],
)
def test_who_gave_the_rewards_and_when(said: dict[str, Any], source: RewardSource, at: str | None) -> None:
    trajectory = read_one({"messages": [GO, DONE], "reward": 0, "rewards": [None, 0.5]} | said)
    assert trajectory.rewards == [Reward(0.0, source, at=at), Reward(0.5, source, 1, at=at)]


def test_one_sanitised_message_is_a_trajectory() -> None:
    assert codes(read_one(rb'{"role": "assistant", "content": "half \ud83d"}')) == ["sanitised"]


def test_a_row_nested_too_deep_is_refused_and_its_neighbours_are_read() -> None:
    deep = b'{"messages": [{"role": "user", "content": ' + b"[" * 5000 + b"]" * 5000 + b"}]}"
    whole = json.dumps({"messages": [GO, DONE]}).encode()
    found = read_all(b"[" + whole + b", " + deep + b", " + whole + b"]")
    assert [isinstance(t, Trajectory) for t in found] == [True, False, True]
    assert str(found[1]).startswith("a.json: record 2: nested deeper than 100 levels; it starts at byte")


def test_one_broken_line_of_messages_is_reported_and_the_others_are_kept() -> None:
    lines = [GO, DONE, GO, DONE]
    data = b"\n".join(json.dumps(line).encode()[: -12 if i == 1 else None] for i, line in enumerate(lines))
    error, trajectory = read_all(data)
    assert str(error) == "a.json: line 2: not JSON: Input data was truncated"
    assert isinstance(trajectory, Trajectory)
    assert [(span.kind, span.message_index) for span in trajectory.spans] == [
        ("user", 0),
        ("user", 2),
        ("assistant", 3),
    ]
    assert [note.message for note in trajectory.report] == ["line 2: not JSON: Input data was truncated: left out"]


def test_strictness_raises_the_first_error_instead() -> None:
    data = json.dumps(GO).encode() + b'\n{"role": "assi\n' + json.dumps(DONE).encode()
    with pytest.raises(ParseError, match=r"a\.jsonl: line 2: not JSON") as caught:
        list(read_bytes(data, "a.jsonl", strict=True))
    assert (caught.value.file, caught.value.line) == ("a.jsonl", 2)


def test_lines_without_one_whole_message_are_no_trajectory() -> None:
    found = list(read_bytes(b'{"role": 5}\n{"role": 6}\n', "a.jsonl", format="openai_chat"))
    assert [type(item) for item in found] == [ParseError, ParseError]


def test_a_message_of_a_role_that_no_chat_has_stands_without_credit() -> None:
    odd = {"role": "exit", "content": "submitted"}
    for log in ([GO, DONE, odd], {"messages": [GO, DONE, odd]}):
        trajectory = read_one(log)
        assert [span.kind for span in trajectory.spans] == ["user", "assistant", "meta"]
        assert [(note.code, note.span) for note in trajectory.report] == [("unknown-role", 2)]


def test_a_role_that_no_chat_has_refuses_the_lines_where_nobody_answers() -> None:
    data = json.dumps(GO).encode() + b'\n{"role": "exit", "content": ""}\n'
    [error] = read_bytes(data, "a.jsonl", format="openai_chat")
    assert isinstance(error, ParseError)
    assert error.reason.startswith("a group chat: messages[1]: no chat has a role 'exit'")
