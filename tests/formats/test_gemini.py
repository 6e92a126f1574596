"""Gemini generateContent and sessions of the Agent Development Kit."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.logs import calls, codes, kinds, pairs, read_events, read_lines, read_one, refusals, texts
from trajcredit.model import Trajectory, TurnTokens

GO = {"role": "user", "parts": [{"text": "go"}]}


def call(name: str = "f", **args: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": args}}


def back(name: str = "f", response: Any = "ok", **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": {"result": response}, **more}}


def model(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def user(*parts: Any, role: str = "user") -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def answer(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"candidates": [{"content": model(*parts), "finishReason": "STOP"}], "modelVersion": "m", **more}


def test_calls_without_ids_are_paired_by_name_and_order() -> None:
    got = read_one(
        {
            "contents": [
                GO,
                model(call(n=1), call("g"), call(n=2)),
                user(back(response=1), back("g", 3), back(response=2)),
            ]
        }
    )
    assert pairs(got) == [("f", '{"result":1}', None), ("g", '{"result":3}', None), ("f", '{"result":2}', None)]
    assert [span.result_of for span in got.spans[4:]] == [1, 2, 3]
    assert [span.turn for span in got.spans] == [-1, 0, 0, 0, 0, 0, 0]


def test_ids_count_where_there_are_any() -> None:
    one, two = ({"functionCall": {"name": "f", "id": call_id}} for call_id in "ab")
    got = read_one({"contents": [GO, model(one, two), user(back(id="b", response=2), back(id="a", response=1))]})
    assert [span.result_of for span in got.spans[3:]] == [2, 1]
    assert [c.arguments for c in calls(got)] == [{}, {}]


@pytest.mark.parametrize("role", ["user", "function"])
@pytest.mark.parametrize("snake", [True, False])
def test_either_spelling_and_either_role_of_results(role: str, snake: bool) -> None:
    keys = ("function_call", "function_response") if snake else ("functionCall", "functionResponse")
    contents = [
        GO,
        model({keys[0]: {"name": "f", "args": {"n": 1}}}),
        user({keys[1]: {"name": "f", "response": {"error": "no"}}}, role=role),
    ]
    assert pairs(read_one({"contents": contents})) == [("f", '{"error":"no"}', True)]


def test_thoughts_signatures_code_and_pictures() -> None:
    got = read_one(
        {
            "system_instruction": "s",
            "contents": [
                user({"text": "look: "}, {"inlineData": {"mimeType": "image/png", "data": "x"}}),
                model(
                    {"text": "hm", "thought": True},
                    {"text": "", "thoughtSignature": "x"},
                    {"executableCode": {"language": "PYTHON", "code": "2+2"}},
                    {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "no"}},
                    {"text": "Do"},
                    {"text": "ne."},
                ),
            ],
        }
    )
    assert kinds(got) == ["system", "user", "reasoning", "tool_call", "tool_result", "assistant"]
    assert got.spans[1].text == "look: [inlineData]"
    assert pairs(got) == [("code_execution", "no", True)]
    assert (texts(got, "assistant"), got.spans[-1].turn) == (["Done."], 1)


def test_exchanges_are_one_conversation_and_know_their_cost() -> None:
    got = read_one(
        {
            "request": {"contents": [GO]},
            "response": answer(
                call(), usageMetadata={"promptTokenCount": 3, "candidatesTokenCount": 2, "thoughtsTokenCount": 1}
            ),
        },
        {"request": {"contents": [GO, model(call()), user(back())]}, "response": answer({"text": "Done."})},
    )
    assert kinds(got) == ["user", "tool_call", "tool_result", "assistant"]
    assert got.spans[1].usage == {"input_tokens": 3, "output_tokens": 2, "reasoning_tokens": 1}
    assert got.model == "m"


def test_tokens_where_the_log_has_them() -> None:
    response = answer({"text": "ab"})
    chosen = [
        {"token": "a", "tokenId": 5, "logProbability": -0.5},
        {"token": "b", "tokenId": 6, "logProbability": -0.25},
    ]
    response["candidates"][0]["logprobsResult"] = {"chosenCandidates": chosen}
    assert read_one(response).turns == [TurnTokens(0, None, [5, 6], [-0.5, -0.25])]


def test_a_streamed_response_is_joined() -> None:
    first = {"candidates": [{"content": model({"text": "Do"})}], "responseId": "r"}
    last = {
        "candidates": [{"content": model({"text": "ne."}, call()), "finishReason": "STOP"}],
        "responseId": "r",
        "usageMetadata": {"promptTokenCount": 1},
    }
    got = read_events(first, last)
    assert (texts(got, "assistant"), kinds(got)) == (["Done."], ["assistant", "tool_call"])
    assert got.spans[0].usage == {"input_tokens": 1}
    assert "cut-stream" in codes(read_events(first))
    last |= {"candidates": [{"content": model({"text": "x"}), "finishReason": "MAX_TOKENS"}]}
    assert read_events(first, last).truncated is True


def test_contents_alone_and_a_role_that_is_none() -> None:
    assert kinds(read_one([GO, model({"text": "x"})])) == ["user", "assistant"]
    assert kinds(read_one(GO, model({"text": "x"}))) == ["user", "assistant"]
    got = read_one({"contents": [GO, model({"text": "x"}), {"role": "critic", "parts": [{"text": "bad"}]}]})
    assert (kinds(got), codes(got)) == (["user", "assistant", "meta"], ["unknown-role"])


def test_a_broken_record_costs_no_other() -> None:
    found = read_lines(
        {"contents": [GO, model(call())]}, {"contents": [{"role": 5}]}, {"contents": [GO, model({"text": "x"})]}
    )
    assert refusals(found) == [(2, "line 2: Expected `str | null`, got `int` - at `$.contents[0].role`")]
    assert [isinstance(item, Trajectory) for item in found] == [False, True, True]


# ---------------------------------------------------------------- sessions


def event(author: str, *parts: Any, role: str = "model", **more: Any) -> dict[str, Any]:
    return {"author": author, "invocation_id": "i", "content": {"role": role, "parts": list(parts)}, **more}


EVENTS = [
    event("user", {"text": "go"}, role="user", timestamp=1_900_000_000),
    event("boss", {"text": "Let"}, partial=True),
    event(
        "boss",
        {"function_call": {"name": "transfer_to_agent", "args": {"to": "help"}}},
        usage_metadata={"prompt_token_count": 4},
    ),
    event("boss", {"function_response": {"name": "transfer_to_agent", "response": {"status": "ok"}}}, role="user"),
    event("help", {"text": "Done."}, timestamp=1_900_000_000.5),
]


def test_agents_of_a_session_share_one_transcript() -> None:
    got = read_one({"id": "s-1", "app_name": "a", "events": EVENTS})
    assert got.id == "s-1"
    assert [(span.kind, span.agent, span.message_index) for span in got.spans] == [
        ("user", None, 0),
        ("tool_call", "boss", 2),
        ("tool_result", "boss", 3),
        ("assistant", "help", 4),
    ]
    assert pairs(got) == [("transfer_to_agent", '{"status":"ok"}', None)]
    assert got.spans[1].usage == {"input_tokens": 4}
    assert got.spans[3].ended_at == "2030-03-17T17:46:40.500000Z"


def test_events_alone_are_a_session_and_its_errors_stand() -> None:
    got = read_one(*EVENTS, {"author": "help", "invocation_id": "i", "error_code": "X", "error_message": "try later"})
    assert texts(got, "meta") == ["try later"]
    assert "run-error" in codes(got)
