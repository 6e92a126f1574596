"""What is sent of a trajectory: within its budget, in letters as they are, without what cannot be seen."""

from __future__ import annotations

import json

import pytest

from tests.judges.logs import call, log, result, said, user
from trajcredit.graph import build_graphs
from trajcredit.judges import SEGMENTS, Case, segmented
from trajcredit.judges.llm_prompt import Question, questions
from trajcredit.model import Tool, Trajectory

ASK = user("Which seat is free?")


def _asked(run: Trajectory, kind: str = "action", characters: int = 4000) -> list[Question]:
    [graph] = build_graphs([run])
    case = Case(graph, segmented(graph, kind))
    found = list(questions(case, "credit", characters))
    assert [k for one in found for k in one.segments] == list(range(len(case.segments)))
    return found


RUNS = {
    "many short": log(ASK, *[one for n in range(100) for one in (said(f"step {n}"), user("Go on."))]),
    "long results between": log(ASK, *[one for n in range(30) for one in (call("look", n=n), result("x" * 9000))]),
    "long everywhere": log(user("u" * 9000), *[one for n in range(9) for one in (said("a" * 9000), user("b" * 9000))]),
    "full of escapes": log(ASK, *[one for n in range(9) for one in (call("look", n=n), result('"\n\t\u202e' * 900))]),
    "calls in one turn": log(ASK, *(call("look", seat="s" * 500, n=n) for n in range(12)), result("r" * 9000)),
    "a hundred tools": log(ASK, said("None."), tools=tuple(Tool(name=f"tool-{n:03}" * 9) for n in range(100))),
}


@pytest.mark.parametrize("kind", sorted(SEGMENTS))
@pytest.mark.parametrize("run", list(RUNS.values()), ids=list(RUNS))
def test_no_question_is_larger_than_its_budget(run: Trajectory, kind: str) -> None:
    assert max(len(one.data) for one in _asked(run, kind)) <= 4000


def test_context_fills_what_is_left_and_is_cut_where_it_is_not_enough() -> None:
    first = json.loads(_asked(RUNS["long results between"], characters=20_000)[0].data)
    assert len(first["context"]) > 3
    assert all("characters left out" in row["text"] for row in first["context"] if row["kind"] == "tool_result")
    short = json.loads(_asked(log(ASK, call("look"), result("none"), said("No."), user("Thanks")))[0].data)
    assert [row["span"] for row in short["context"]] == [0, 2, 4]
    assert not any("left out" in row["text"] for row in short["context"])


def test_what_is_cut_keeps_beginning_and_end() -> None:
    [question] = _asked(log(ASK, said("begin " + "x" * 9000 + " end")))
    [row] = json.loads(question.data)["segments"][0]["spans"]
    assert row["text"].startswith("begin xxx")
    assert row["text"].endswith("xxx end")
    assert "left out" in row["text"]


@pytest.mark.parametrize("text", ["座席は空いていますか", "يوجد مقعد", "Ist der Sitz frei? Äöü", "місце"])
def test_letters_of_any_script_are_sent_as_they_are(text: str) -> None:
    [question] = _asked(log(user(text), said(text)))
    assert question.data.count(text) == 2


@pytest.mark.parametrize(
    "hidden",
    [
        *("\u202e", "\u2066", "\u200b", "\ufeff", "\x00", "\x1b", "\x7f", "\x85", "\u2028", "\u00ad", "\U000e0041"),
        *("\ufe0f", "\U000e0101", "\u3164", "\u2800", "\u034f", "\ue000"),
    ],
)
def test_what_is_not_seen_is_written_out_and_reads_back_the_same(hidden: str) -> None:
    text = f"a{hidden}b\\{hidden}"
    [question] = _asked(log(ASK, said(text)))
    assert question.data.isprintable()
    assert hidden not in question.data
    assert json.loads(question.data)["segments"][0]["spans"][0]["text"] == text
