"""Traces of several agents and rewritten contexts -> who acted in which trajectory."""

from __future__ import annotations

import json
from pathlib import Path

from tests.formats.spans import agent, answer, call, chat, codes, kinds, only, read_all, result, said, span, tool
from trajcredit.formats import read
from trajcredit.model import SpawnedBy, Trajectory

TASK = said("user", "Plan the visit.")
PROMPT = said("system", "You plan.")
LOOK = call(("c-1", "look", {"day": "Tue"}))
TWO_TURNS = [
    agent("a", None, 0, "planner"),
    chat("s1", "a", 1, [PROMPT, TASK], LOOK),
    tool("x1", "a", 2, "look", "c-1", result="10:30 free"),
    chat("s2", "a", 3, [PROMPT, TASK, LOOK, result("c-1", "10:30 free")], answer("Tue 10:30.")),
]
WHOLE = [
    ("system", "You plan."),
    ("user", "Plan the visit."),
    ("tool_call", "look"),
    ("tool_result", "10:30 free"),
    ("assistant", "Tue 10:30."),
]


def test_compaction_keeps_one_trajectory_and_adds_what_is_new() -> None:
    summary = said("user", "Summary: Tue is free.")
    spans = [
        *TWO_TURNS,
        chat("s3", "a", 5, [PROMPT, summary, answer("Tue 10:30."), said("user", "Book it.")], answer("Booked.")),
    ]
    trajectory = only(spans)
    assert kinds(trajectory) == [
        *WHOLE,
        ("user", "Summary: Tue is free."),
        ("user", "Book it."),
        ("assistant", "Booked."),
    ]
    assert codes(trajectory) == ["context-rewritten"]


def test_an_answer_copied_into_a_new_context_gets_no_credit() -> None:
    shown = [said("user", "Example?"), answer("An example."), said("user", "Book it.")]
    trajectory = only([*TWO_TURNS, chat("s3", "a", 5, [PROMPT, *shown], answer("Booked."))])
    assert kinds(trajectory)[5:] == [
        ("user", "Example?"),
        ("meta", "An example."),
        ("user", "Book it."),
        ("assistant", "Booked."),
    ]
    assert codes(trajectory) == ["context-rewritten", "copied-answer"]


def test_a_sub_agent_is_a_trajectory_that_names_the_call_it_came_from() -> None:
    ask = call(("c-9", "ask", {"q": "Which day?"}))
    found = read_all(
        [
            agent("a", None, 0, "planner"),
            chat("s1", "a", 1, [PROMPT, TASK], ask),
            tool("x", "a", 2, "ask", "c-9", result="Tuesday"),
            agent("b", "x", 3, "helper"),
            chat("s2", "b", 4, [said("user", "Which day?")], answer("Tuesday")),
            chat("s3", "a", 6, [PROMPT, TASK, ask, result("c-9", "Tuesday")], answer("Tuesday it is.")),
        ]
    )
    main, helper = found
    assert [text for _, text in kinds(main)] == ["You plan.", "Plan the visit.", "ask", "Tuesday", "Tuesday it is."]
    assert kinds(helper) == [("user", "Which day?"), ("assistant", "Tuesday")]
    assert (helper.id, helper.role, helper.parent) == ("t1/b", "helper", SpawnedBy("t1", 2))
    assert main.parent is None


def test_a_sub_agent_beside_the_tool_is_told_by_its_task() -> None:
    ask = call(("c-9", "ask", {"q": "Which day?"}))
    main, helper = read_all(
        [
            agent("a", "w", 1, "planner"),
            chat("s1", "a", 2, [PROMPT, TASK], ask),
            agent("b", "w", 3, "helper"),
            chat("s2", "b", 4, [said("system", "You know days."), said("user", "Which day?")], answer("Tuesday")),
            span("w", None, "workflow", 0, {}),
        ]
    )
    assert main.role == "planner"
    assert helper.parent == SpawnedBy("t1", 2)
    assert codes(helper) == ["spawner-guessed"]


def test_agents_that_share_a_conversation_stay_one_trajectory() -> None:
    hand = call(("h-1", "transfer_to_booker", {}))
    known = [TASK, hand, result("h-1", "ok")]
    trajectory = only(
        [
            agent("a", None, 0, "planner"),
            chat("s1", "a", 1, [PROMPT, TASK], hand),
            agent("b", None, 2, "booker"),
            chat("s2", "b", 3, [said("system", "You book."), *known], answer("Booked.")),
        ]
    )
    assert [(s.kind, s.agent) for s in trajectory.spans] == [
        ("system", None),
        ("user", None),
        ("tool_call", "planner"),
        ("system", None),
        ("tool_result", "booker"),
        ("assistant", "booker"),
    ]
    assert trajectory.spans[4].result_of == 2


def test_parallel_sub_agents_with_one_prompt_are_kept_apart() -> None:
    both = call(("c-1", "ask", {"q": "A?"}), ("c-2", "ask", {"q": "B?"}))
    spans = [chat("s", None, 1, [TASK], both)]
    for n, letter in enumerate("AB", 1):
        spans += [
            tool(f"x{n}", None, 2, "ask", f"c-{n}", result=f"{letter}!"),
            agent(f"b{n}", f"x{n}", 3, "helper"),
            chat(f"s{n}", f"b{n}", 4, [said("system", "Help."), said("user", f"{letter}?")], answer(f"{letter}!")),
        ]
    main, first, second = read_all(spans)
    assert [kinds(t)[-1] for t in (first, second)] == [("assistant", "A!"), ("assistant", "B!")]
    assert [first.parent, second.parent] == [SpawnedBy("t1", 1), SpawnedBy("t1", 2)]
    assert len(main.spans) == 5


def test_nested_instrumentations_of_one_request_count_once() -> None:
    outer = chat("s0", None, 1, [TASK], answer("Hi."))
    inner = chat("s1", "s0", 1, [TASK], answer("Hi."), attributes={"gen_ai.usage.output_tokens": 2})
    trajectory = only([outer, inner])
    assert kinds(trajectory) == [("user", "Plan the visit."), ("assistant", "Hi.")]
    assert trajectory.spans[1].usage == {"output_tokens": 2}


def test_several_traces_lie_in_the_data_set_of_their_file() -> None:
    spans = [chat("s1", None, 1, [TASK], answer("Hi.")), chat("s1", None, 1, [TASK], answer("Ho."))]
    spans[1]["trace_id"] = "t2"
    http = span("h", None, "GET /", 0, {"http.request.method": "GET"}) | {"trace_id": "t3"}
    found = read_all([*spans, http])
    assert [(t.id, t.dataset) for t in found] == [("t1", "runs/log.json"), ("t2", "runs/log.json")]
    assert codes(found[0]) == ["other-traces"]


def test_sub_agents_of_a_trace_that_comes_twice_stay_below_their_own(tmp_path: Path) -> None:
    spans = [chat("s1", None, 1, [TASK], LOOK), tool("x", None, 2, "look", "c-1")]
    spans += [chat("s2", "x", 3, [said("user", "Which?")], answer("This."))]
    for n in (1, 2):  # in one folder they would be one trace that was exported twice
        (tmp_path / str(n)).mkdir()
        log = json.dumps([*spans, span("w", None, "wrapper", n, {})])
        (tmp_path / str(n) / "log.json").write_text(log, encoding="utf-8")
    found = [item for item in read(tmp_path) if isinstance(item, Trajectory)]
    assert [(t.id, t.parent and t.parent.trajectory) for t in found] == [
        ("t1", None),
        ("t1/x", "t1"),
        ("t1#2", None),
        ("t1/x#2", "t1#2"),
    ]


def test_a_tool_of_the_agent_that_took_over_stands_in_the_shared_trajectory() -> None:
    hand = call(("h-1", "transfer_to_booker", {}))
    known = [TASK, hand, result("h-1", "ok")]
    trajectory = only(
        [
            agent("a", None, 0, "planner"),
            chat("s1", "a", 1, [PROMPT, TASK], hand),
            agent("b", None, 2, "booker"),
            chat("s2", "b", 3, [said("system", "You book."), *known], answer("I look.")),
            tool("x", "b", 4, "look", result="free"),
        ]
    )
    assert [(s.kind, s.agent) for s in trajectory.spans[-2:]] == [("tool_call", "booker"), ("tool_result", "booker")]
    assert codes(trajectory) == ["context-rewritten", "unlogged-request"]
