"""Logs of requests that go on in several ways: what is shared was sampled once, and is trained once."""

from __future__ import annotations

import io
import json
from collections import Counter
from typing import Any

import pytest
from msgspec.structs import replace

import trajcredit as tc
from tests.formats.logs import read_lines, texts
from tests.tokens.tokenizers import byte_level
from trajcredit.exporters.branches import CONTEXT, UNKNOWN
from trajcredit.formats import history
from trajcredit.model import Note, Reward, Trajectory
from trajcredit.service.plugins import exporter_of


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def asked(
    history: list[dict[str, Any]], *answers: str, prompt: list[int] | None = None, ids: Any = (), **labels: Any
) -> dict[str, Any]:
    """A request of Chat Completions with its answers."""
    given = [*ids, *[None] * len(answers)]
    choices = [
        {"index": i, "finish_reason": "stop", "message": said(text)}
        | ({} if given[i] is None else {"token_ids": given[i]})
        for i, text in enumerate(answers)
    ]
    response = {"object": "chat.completion", "model": "m", "choices": choices, "prompt_token_ids": prompt}
    return {"request": {"model": "m", "messages": history}, "response": response, **labels}


A = [user("u"), said("a")]
CHOICES = [
    asked(A[:1], "a", prompt=[1], ids=[[2, 3]]),
    asked([*A, user("v")], "b", "c", prompt=[1, 2, 3, 4], ids=[[5], [6, 7]]),
]
FORK = [
    asked(A[:1], "a", prompt=[1], ids=[[2, 3]]),
    asked([*A, user("v")], "b", prompt=[1, 2, 3, 4], ids=[[5]]),
    asked([*A, user("w")], "c", prompt=[1, 2, 3, 8], ids=[[6, 7]]),
]


def runs(rows: list[Any], *rewards: float) -> list[Trajectory]:
    found = [one for one in read_lines(*rows) if isinstance(one, Trajectory)]
    values = rewards or tuple(float(i) for i in range(len(found)))
    return [replace(one, group="g", rewards=[Reward(v)]) for one, v in zip(found, values, strict=True)]


def rows_of(found: list[Trajectory], **more: Any) -> tuple[list[tuple[str, list[int]]], Counter[str]]:
    """The ids that each row trains, and what is noted."""
    out = io.BytesIO()
    done = exporter_of("tokens", **more)([tc.attribute(tc.batch(found), "rtg")], out)
    made = [json.loads(line) for line in out.getvalue().splitlines()]
    assert done.counted is not None
    return [
        (r["trajectory_id"], [i for i, own in zip(r["response_ids"], r["response_mask"], strict=True) if own])
        for r in made
    ], Counter(done.counted.notes)


def links(found: list[Trajectory]) -> list[tuple[str | None, int | None]]:
    return [(note.trajectory, note.span) for one in found for note in one.report if note.code == "branched"]


def unlinked(found: list[Trajectory]) -> list[Trajectory]:
    return [replace(one, report=[note for note in one.report if note.code != "branched"]) for one in found]


@pytest.mark.parametrize("log", [CHOICES, FORK], ids=["choices", "requests"])
def test_what_was_sampled_before_they_part_is_trained_once(log: list[Any]) -> None:
    first, second = found = runs(log)
    assert rows_of(found) == ([(first.id, [2, 3, 5]), (second.id, [6, 7])], Counter({CONTEXT: 1}))
    trained = [ids for _, ids in rows_of(unlinked(found))[0]]
    assert trained == [[2, 3, 5], [2, 3, 6, 7]], "without the link they are trained twice"


def test_a_fork_whose_beginning_is_left_out_trains_all_of_it_and_says_so() -> None:
    second = runs(FORK)[1]
    other = runs([asked(A[:1], "z", prompt=[1], ids=[[9]])], 5.0)[0]
    assert rows_of([second, other]) == ([(second.id, [2, 3, 6, 7]), (other.id, [9])], Counter({UNKNOWN: 1}))


def test_a_fork_that_does_not_say_where_it_parts_is_noted() -> None:
    first, second = runs(FORK)
    silent = replace(second, report=[Note("branched", "somewhere")])
    assert rows_of([first, silent])[1] == {UNKNOWN: 1}


def test_other_conversations_may_stand_between_a_fork_and_what_it_leaves() -> None:
    log = [*FORK[:2], asked([user("x")], "y", prompt=[30], ids=[[31]]), FORK[2]]
    found = runs(log)
    assert [ids for _, ids in rows_of(found)[0]] == [[2, 3, 5], [31], [6, 7]]


def test_from_text_too(tmp_path: Any) -> None:
    folder = str(byte_level(tmp_path / "tokenizer"))
    bare = [asked(A[:1], "a"), asked([*A, user("v")], "b"), asked([*A, user("w")], "c"), asked([*A, user("x")], "d")]
    found = runs(bare)
    linked, notes = rows_of(found, tokenizer=folder)
    alone, _ = rows_of(unlinked(found), tokenizer=folder)
    assert notes[CONTEXT] == 2
    assert linked[0] == alone[0]
    assert all(
        own == whole[-len(own) :] and len(own) < len(whole)
        for (_, own), (_, whole) in zip(linked[1:], alone[1:], strict=True)
    )


@pytest.mark.parametrize("log", [CHOICES, FORK], ids=["choices", "requests"])
def test_a_fork_inherits_no_reward_and_no_group(log: list[Any]) -> None:
    """Neither where it has none of its own; it is nobody's sub-agent."""
    first, second = [one for one in read_lines(*log) if isinstance(one, Trajectory)]
    first = replace(first, rewards=[Reward(1.0)])
    assert (first.parent, second.parent, second.role) == (None, None, None)
    linked, alone = tc.batch([first, second]), tc.batch(unlinked([first, second]))
    assert linked.outcome.tolist()[0] == 1.0
    assert str(linked.outcome.tolist()) == str(alone.outcome.tolist()) == "[1.0, nan]"
    assert (linked.group_ids, linked.group.tolist()) == (alone.group_ids, alone.group.tolist())


@pytest.mark.parametrize("name", ["x", None], ids=["one id", "no id"])
def test_forks_of_forks_are_found_by_the_ids_they_get(name: str | None) -> None:
    """The third leaves the second, after what is the second's own."""
    labels = {} if name is None else {"trajectory_id": name}
    deep = [*A, user("w"), said("c")]
    log = [
        *FORK,
        asked([*deep, user("p")], "d", prompt=[1, 2, 3, 8, 6, 7, 10], ids=[[11]]),
        asked([*deep, user("q")], "e", prompt=[1, 2, 3, 8, 6, 7, 12], ids=[[13]]),
    ]
    found = runs([row | labels for row in log])
    assert links(found) == [(found[0].id, 1), (found[1].id, 3)]
    assert [ids for _, ids in rows_of(found)[0]] == [[2, 3, 5], [6, 7, 11], [13]]


def test_the_shared_turns_are_as_they_were_sampled_and_paid_once() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    log = json.loads(json.dumps(FORK))
    log[0]["response"]["usage"] = usage
    log[0]["response"]["choices"][0]["message"]["reasoning_content"] = "hm"
    first, second = runs(log)
    assert texts(second, "reasoning") == ["hm"], "the later requests left it out"
    assert [span.usage is not None for span in first.spans if span.turn == 0].count(True) == 1
    assert all(span.usage is None for span in second.spans)
    assert [(turn.turn, turn.sampled_ids) for turn in second.turns] == [(0, [2, 3]), (1, [6, 7])]


def respond(text: str, name: str, answer: str, previous: str | None) -> dict[str, Any]:
    output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": answer}]}]
    return {
        "request": {"model": "m", "input": [{"type": "message"} | user(text)], "previous_response_id": previous},
        "response": {"id": name, "object": "response", "model": "m", "status": "completed", "output": output},
    }  # fmt: skip


def test_two_requests_may_go_on_from_one_answer_that_they_name(monkeypatch: pytest.MonkeyPatch) -> None:
    log = [respond("u", "r1", "a", None), respond("v", "r2", "b", "r1"), respond("w", "r3", "c", "r1")]
    found = runs(log)
    assert [texts(one, "assistant") for one in found] == [["a", "b"], ["a", "c"]]
    assert links(found) == [(found[0].id, 1)]
    monkeypatch.setattr(history, "MOST_COPIED", 1)
    _, second = runs(log)
    assert texts(second, "assistant") == ["c"]
    assert [note.code for note in second.report] == ["unknown-history"]


def anthropic(history: list[Any], text: str) -> dict[str, Any]:
    body = [{"type": "text", "text": text}]
    answer = {"type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn", "content": body}
    return {"request": {"model": "m", "max_tokens": 9, "messages": history}, "response": answer}


def gemini(history: list[Any], text: str) -> dict[str, Any]:
    roles = {"user": "user", "assistant": "model"}
    contents = [{"role": roles[one["role"]], "parts": [{"text": one["content"]}]} for one in history]
    answer = {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}
    return {"request": {"contents": contents}, "response": {"candidates": [answer]}}


@pytest.mark.parametrize("form", [anthropic, gemini, lambda history, text: asked(history, text)])
def test_every_form_says_which_it_leaves_and_the_last_span_they_share(form: Any) -> None:
    found = runs([form(A[:1], "a"), form([*A, user("v")], "b"), form([*A, user("w")], "c"), form([*A, user("x")], "d")])
    assert links(found) == [(found[0].id, 1)] * 2
