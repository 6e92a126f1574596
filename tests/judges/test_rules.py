"""Each rule finds what it is named after, quotes it, and leaves its neighbours alone."""

from __future__ import annotations

import re
from math import exp
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.judges.logs import TOOLS, call, found, log, names, result, said, user
from trajcredit.graph import build_graphs
from trajcredit.judges import RULES, findings
from trajcredit.model import Span, Tool

ASK = user("Which seat is free on flight HAT017?")
SEEN = "seat 14C is free"
LOOK = call("look", flight="HAT017")


def _is_clean(*spans: Span, tools: tuple[Tool, ...] = TOOLS) -> None:
    assert names(*spans, tools=tools) == []


def test_a_run_without_faults_has_no_findings() -> None:
    _is_clean(ASK, LOOK, result(SEEN), said("The seat 14C is free."))


def test_every_rule_has_a_name_a_sentence_and_a_severity() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert 0 < rule.severity < 1
        assert rule.says


def test_the_page_of_judges_lists_every_rule_as_it_is() -> None:
    page = (Path(__file__).parents[2] / "docs" / "judges.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `([\w-]+)` \| (.+) \| (0\.\d+) \|$", page, re.MULTILINE)
    assert listed == [(rule.name, rule.says, f"{rule.severity:g}") for rule in RULES]


def test_a_failed_result_is_the_fault_of_its_call() -> None:
    [one] = found(ASK, LOOK, result("no seats were read", error=True), said("It did not work, I cannot tell."))
    assert (one.span, one.rule, one.severity) == (1, "failed-call", 0.6)
    assert one.reason == 'its result is a failure: "no seats were read"'


def test_code_in_a_text_that_failed_is_the_fault_of_that_text_and_the_last_line_is_quoted() -> None:
    failure = "Traceback (most recent call last):\n  File x\nKeyError: 'name'"
    [one] = found(ASK, said("```\nrows['name']\n```"), result(failure, error=None, answers=False), tools=())
    assert (one.span, one.rule) == (1, "failed-call")
    assert one.reason == "its result is a failure: \"KeyError: 'name'\""


def test_a_failure_before_any_action_is_nobodys_fault() -> None:
    _is_clean(result("Error: gone", error=True, answers=False), user("Go on"), said("I will."))


def test_the_same_call_again_is_repeated_unless_something_changed_or_the_first_one_failed() -> None:
    seat = call("book", seat="14C")
    twice = (ASK, LOOK, result(SEEN), LOOK, result(SEEN))
    assert (3, "repeated-call") in names(*twice, said("14C"))
    between = (ASK, LOOK, result(SEEN), seat, result("14C booked"), LOOK, result("14C is taken"))
    assert "repeated-call" not in {rule for _, rule in names(*between, said("14C"))}
    failed = (ASK, LOOK, result("busy", error=True), LOOK, result(SEEN))
    assert names(*failed, said("14C")) == [(1, "failed-call")]


def test_a_result_that_nothing_uses_is_told_of_only_where_actions_follow_it() -> None:
    other = call("look", flight="HAT017", cabin="upper")
    faults = names(ASK, other, result("rows of lavender cushions"), LOOK, result(SEEN), said("The seat 14C is free."))
    assert faults == [(1, "unused-result")]
    _is_clean(ASK, LOOK, result("rows of lavender cushions"))
    _is_clean(ASK, other, result('""'), LOOK, result(SEEN), said("The seat 14C is free."))


def test_a_code_in_arguments_that_nothing_said_before_is_invented() -> None:
    [one] = found(ASK, call("book", passenger="mia_4411"), result("ok"), said("Done."))
    assert (one.span, one.rule, one.severity) == (1, "invented-argument", 0.4)
    assert one.reason == 'nothing before says "mia_4411"'


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param({"flight": "hat017"}, id="a code in other letters"),
        pytest.param({"bags": 42}, id="a small number, which can be worked out"),
        pytest.param({"date": "2024-05-20"}, id="a date, which can be written in another way"),
        pytest.param({"note": "window"}, id="a word"),
    ],
)
def test_what_is_no_new_code_is_not_invented(arguments: dict[str, Any]) -> None:
    _is_clean(ASK, call("book", **arguments), result("ok"), said("Done."))


def test_what_a_tool_declares_is_not_invented() -> None:
    seats = Tool(name="book", parameters={"properties": {"cabin": {"enum": ["upper_deck2"]}}}, writes=True)
    _is_clean(ASK, call("book", cabin="upper_deck2"), result("ok"), said("Done."), tools=(seats,))


def test_an_argument_unlike_the_field_of_that_name_contradicts_the_result() -> None:
    shown = result('{"cards": [{"card_id": "gift_5634230"}]}')
    faults = found(ASK, LOOK, shown, call("book", card_id="credit_5634230"), result("ok"), said("Done."))
    assert [one.rule for one in faults if one.span == 3] == ["invented-argument", "contradicts-result"]
    assert faults[-1].reason == 'card_id is "credit_5634230", and results said "gift_5634230"'
    _is_clean(ASK, LOOK, shown, call("book", card_id="gift_5634230"), result("ok"), said("Done."))


def test_arguments_that_the_schema_forbids() -> None:
    tool = Tool(name="book", parameters={"type": "object", "required": ["seat"]}, writes=True)
    [one] = found(ASK, call("book", row="b"), result("ok"), said("Done."), tools=(tool,))
    assert (one.span, one.rule) == (1, "bad-arguments")
    assert one.reason == "book: arguments lack 'seat', which is required"


def test_arguments_that_are_no_json() -> None:
    [one] = found(ASK, call("book", raw='{"seat": '), result("ok"), said("Done."))
    assert (one.span, one.rule) == (1, "unreadable-call")
    assert one.reason == 'its arguments are not JSON: "{"seat":"'


def test_going_on_after_a_failure_as_if_there_were_none() -> None:
    bad = result("busy", error=True)
    assert names(ASK, LOOK, bad, said("All seats are green.")) == [(1, "failed-call"), (3, "ignored-failure")]
    assert names(ASK, LOOK, bad, said("That failed, sorry.")) == [(1, "failed-call")]
    assert names(ASK, LOOK, bad, said("Once more."), LOOK, result(SEEN)) == [(1, "failed-call")]


def test_a_turn_that_says_and_calls_nothing_is_empty() -> None:
    assert names(ASK, said(" ... "), user("Well?"), said("Yes.")) == [(1, "empty-turn")]
    _is_clean(ASK, said(""), LOOK, result(SEEN), said("The seat 14C is free."))


@pytest.mark.parametrize(
    "words",
    [
        '<tool_call>{"name": "look"}</tool_call>',
        'Now {"name": "look", "arguments": {"cabin": "main"}}',
        "<function=look><parameter=cabin>main</parameter></function>",
        '[TOOL_CALLS] [{"name": "look"}]',
    ],
)
def test_a_call_in_words_where_others_are_made_is_a_drift(words: str) -> None:
    two = [call("look", cabin="main"), result("14-C"), call("look", cabin="rear"), result("20-A")]
    found = [span for span, rule in names(ASK, *two, said(words)) if rule == "format-drift"]
    assert found == [5]
    assert not [rule for _, rule in names(ASK, *two[:2], said(words)) if rule == "format-drift"]
    assert not [rule for _, rule in names(ASK, said(words), said(words)) if rule == "format-drift"]


def test_a_call_taken_out_of_a_text_after_calls_is_a_drift_and_the_other_way_round() -> None:
    def form(cabin: str, inferred: bool) -> Span:
        return msgspec.structs.replace(call("look", cabin=cabin), inferred=inferred)

    for odd in (True, False):
        spans = [form("a", not odd), result("x"), form("b", not odd), result("y"), form("c", odd), result("z")]
        made = msgspec.structs.replace(log(ASK, *spans))
        kept = [
            msgspec.structs.replace(span, inferred=own.inferred)
            for span, own in zip(made.spans, [ASK, *spans], strict=True)
        ]
        [graph] = build_graphs([msgspec.structs.replace(made, spans=kept)])
        assert [one.span for one in findings(graph) if one.rule == "format-drift"] == [5]
        alike = [msgspec.structs.replace(span, inferred=odd and span.kind == "tool_call") for span in made.spans]
        [graph] = build_graphs([msgspec.structs.replace(made, spans=alike)])
        assert not [one for one in findings(graph) if one.rule == "format-drift"]


def test_figures_that_appear_nowhere_before_count_by_how_many_there_are() -> None:
    [one] = found(ASK, said("Of 310 seats 27 are free, at $1,450 each, on flight HAT017."))
    assert (one.span, one.rule) == (1, "invented-value")
    assert one.severity == pytest.approx(0.2 * (1 - exp(-1)))
    assert one.reason == 'nothing before says "310", "27", "1,450"'
    [more] = found(ASK, said("10 11 12 13 14"))
    assert more.reason == 'nothing before says "10", "11", "12" and 2 more'


def test_figures_that_were_said_before_are_not_invented_however_they_are_written() -> None:
    _is_clean(user("There are 1,450 seats."), said("So 1450 it is; one 3 of them."))


def test_a_first_span_that_states_the_task_is_no_action_to_judge() -> None:
    task = said("You are given 310 seats to sell in 27 days.")
    _is_clean(task, said("Let us sell 310 seats."), tools=())
    assert names(said("```\nprint(310)\n```"), result("310", answers=False), said("310"), tools=()) == [
        (0, "invented-value")
    ]


def test_a_change_is_reported_that_no_call_made() -> None:
    done = said("I have booked the seat 14C.")
    [one] = found(ASK, LOOK, result(SEEN), done)
    assert (one.span, one.rule) == (3, "claim-without-effect")
    assert one.reason == 'it says "I have booked", and no call so far changed anything'
    _is_clean(ASK, LOOK, result(SEEN), call("book", seat="14C"), result("14C booked"), done)
    failed = (ASK, LOOK, result(SEEN), call("book", seat="14C"), result("full", error=True), done)
    assert (5, "claim-without-effect") in names(*failed)
    _is_clean(ASK, said("I have booked the seat."), tools=())


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 5000 + "]" * 5000, id="nested beyond reason"),
        pytest.param('{"seat": ', id="cut off"),
        pytest.param("\x00" * 100, id="no text"),
    ],
)
def test_results_that_are_no_sound_json_break_no_rule(text: str) -> None:
    assert names(ASK, LOOK, result(text), call("book", seat="window"), result("ok"), said("Well.")) in (
        [],
        [(1, "unused-result")],
    )
