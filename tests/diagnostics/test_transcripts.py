"""What is read of a transcript: repeated calls, doubled effects, outdated values, form, tokens."""

from __future__ import annotations

from math import exp, log, log1p
from random import Random

import msgspec
import pytest

from tests.diagnostics.desk import TOOLS, Desk, Episode, episode, trajectory
from trajcredit.batching.keys import call_keys
from trajcredit.diagnostics import seen_of
from trajcredit.diagnostics.form import FEATURES, form_of
from trajcredit.diagnostics.sampled import sampled_of
from trajcredit.graph import build_graphs
from trajcredit.model import Span, SpanTokens, Trajectory, TurnTokens

LOOK, PAY = ("get_status", {"hold": "H-1"}), ("charge_card", {"hold": "H-1", "price": 10})

SET_A, SET_B = (("set_workspace", {"workspace": name}, "done") for name in ("north", "south"))
RUN = ("run_python", {"code": "clean('orders.csv').to_parquet('out.parquet')"}, "ok rows=1485 saved")


def file(name, text):
    return "write_file", {"path": name, "text": str(text)}, "written"


def seen(*calls):
    """Calls as (name, arguments, result, error?)."""
    desk = Desk(Random(0))
    desk.user("Book it.")
    for name, arguments, result, *error in calls:
        desk.call(name, arguments, result, bool(error and error[0]))
    [graph] = build_graphs([trajectory("t", "task", desk.spans, [])])
    return seen_of(graph, call_keys(graph.trajectory))


@pytest.mark.parametrize(
    ("calls", "repeats"),
    [
        pytest.param([(*LOOK, "pending"), (*LOOK, "pending")], [(3, 1)], id="same call, same answer"),
        pytest.param([(*LOOK, "pending"), (*LOOK, "done")], [], id="a poll learns something"),
        pytest.param([(*LOOK, "no"), (*PAY, "paid"), (*LOOK, "no")], [], id="something changed in between"),
        pytest.param([(*PAY, "no such card", True), (*PAY, "no such card", True)], [(3, 1)], id="the same mistake"),
        pytest.param([(*PAY, "paid"), (*PAY, "paid")], [], id="an effect is no look"),
        pytest.param([(*LOOK, " "), (*LOOK, " ")], [], id="an answer that says nothing"),
        pytest.param(
            [(*LOOK, "no"), ("get_status", {"hold": "H-2"}, "no"), (*LOOK, "no"), (*LOOK, "no")],
            [(5, 1), (7, 5)],
            id="each counts against the one before",
        ),
    ],
)
def test_repeated_calls(calls, repeats):
    assert [(again.span, again.first) for again in seen(*calls).repeats] == repeats


def test_parallel_calls_that_are_alike_repeat_nothing():
    calls = [Span("tool_call", 0, name="get_status", arguments={"hold": "H"}, call_id=str(i)) for i in range(2)]
    results = [Span("tool_result", 0, "pending", name="get_status", call_id=str(i), result_of=i + 1) for i in range(2)]
    [graph] = build_graphs([trajectory("t", "task", [Span("user", -1, "Go."), *calls, *results], [])])
    assert seen_of(graph, call_keys(graph.trajectory)).repeats == ()


@pytest.mark.parametrize(
    ("calls", "doubles"),
    [
        pytest.param([(*PAY, "paid"), (*PAY, "paid")], [(3, 1)], id="charged twice"),
        pytest.param([(*PAY, "declined", True), (*PAY, "paid")], [], id="the first had failed"),
        pytest.param([(*PAY, "paid"), ("charge_card", {"hold": "H-1", "price": 12}, "paid")], [], id="another amount"),
        pytest.param(
            [(*PAY, "paid"), ("cancel_hold", {"hold": "H-1"}, "cancelled"), (*PAY, "paid")], [], id="undone in between"
        ),
        pytest.param(
            [
                ("hold_seat", {"flight": "A1"}, {"hold": "H-77"}),
                ("hold_seat", {"flight": "B2"}, {"hold": "H-88"}),
                ("cancel_hold", {"hold": "H-88"}, "cancelled"),
                ("hold_seat", {"flight": "A1"}, {"hold": "H-99"}),
            ],
            [(7, 1)],
            id="something else was undone in between",
        ),
        pytest.param(
            [("hold_seat", {}, "held"), ("hold_seat", {}, "held")], [], id="no arguments: of what, is unknown"
        ),
        pytest.param([(*LOOK, "pending"), (*LOOK, "pending")], [], id="a look changes nothing"),
        pytest.param([SET_A, SET_B, SET_A], [], id="a state that is put back"),
        pytest.param([file("a", 1), file("a", 2), file("a", 1)], [], id="a text that is put back"),
        pytest.param([file("a", 1), file("b", 2), file("a", 1)], [(5, 1)], id="the text of something else"),
        pytest.param([SET_A, SET_A], [(3, 1)], id="a state that is there already"),
        pytest.param([SET_A, (*PAY, "paid"), SET_B, (*PAY, "paid")], [(7, 3)], id="a state ends no payment"),
        pytest.param([RUN, RUN], [], id="code that is run again"),
    ],
)
def test_doubled_effects(calls, doubles):
    assert [(again.span, again.first) for again in seen(*calls).doubles] == doubles


def test_a_value_that_a_later_answer_replaced_is_outdated_where_it_is_used():
    flight = ("get_flight", {"flight": "A1"})
    found = seen(
        (*flight, {"price": 410, "seats": 9}),
        (*flight, {"price": 455, "seats": 9}),
        ("charge_card", {"price": 410}, "paid"),
        ("charge_card", {"price": 455}, "paid"),
    ).outdated
    assert [(one.span, one.key, one.old, one.new) for one in found] == [(5, "price", "410", "455")]


def test_a_value_that_came_back_is_not_outdated():
    flight = ("get_flight", {"flight": "A1"})
    prices = [(*flight, {"price": price}) for price in (410, 455, 410)]
    assert seen(*prices, ("charge_card", {"price": 410}, "paid")).outdated == ()


def test_a_sound_episode_shows_nothing():
    spans = episode(Random(3), Episode(repeats=0, polls=2, looks=3, retried=True, rebooked=True))
    [graph] = build_graphs([trajectory("t", "task", spans, [])])
    found = seen_of(graph, call_keys(graph.trajectory))
    assert (found.repeats, found.doubles, found.outdated) == ((), (), ())
    assert found.effects == 4
    assert found.instructed
    assert found.declared


def test_calls_that_are_no_json_are_counted_and_whether_they_were_told_so():
    spans = [
        Span("tool_call", 0, name="hold_seat", arguments_raw="{", call_id="a"),
        Span("tool_result", 0, "error: bad arguments", call_id="a", result_of=0, error=True),
        Span("tool_call", 1, name="hold_seat", arguments_raw="{{", call_id="b"),
        Span("tool_result", 1, "held", call_id="b", result_of=2, error=False),
    ]
    [graph] = build_graphs([trajectory("t", "task", spans, [])])
    found = seen_of(graph, call_keys(graph.trajectory))
    assert (found.broken, found.told_broken) == (2, 1)


def test_form_is_counted():
    text = "# Head\n- one\n- two\n**bold** Great question! I am certain. " + "word " * 40
    found = dict(zip(FEATURES, form_of([Span("assistant", 0, text), Span("user", 0, "!!!")]), strict=True))
    words = 49
    assert found["headings"] == found["flattery"] == found["exclamation marks"] == pytest.approx(log1p(1))
    assert found["list items"] == pytest.approx(log1p(2))
    assert found["words"] == pytest.approx(log1p(words))
    assert found["repeated phrases"] > 0.7


def actions(*tokens):
    spans = [Span("assistant", i, "word", tokens=own) for i, own in enumerate(tokens)]
    return Trajectory(id="t", spans=spans, tools=TOOLS)


def test_divergence_is_k3_over_sampled_tokens():
    ratios = [log(0.5), log(2.0)]
    tokens = SpanTokens([1, 2], [-1.0, -1.0], ref_logprobs=[-1 + ratios[0], -1 + ratios[1]])
    found = sampled_of(actions(tokens))
    assert found.kl == pytest.approx((0.5 - 1 - log(0.5)) + (2 - 1 - log(2)))
    assert found.kl_tokens == 2


def test_masked_tokens_and_lists_of_unlike_length_are_left_out():
    tokens = SpanTokens([1, 2], [-1.0, -1.0], [1, 0], ref_logprobs=[-1.0, -9.0])
    found = sampled_of(actions(tokens, SpanTokens(logprobs=[-1.0], ref_logprobs=[-1.0, -2.0])))
    assert (found.kl, found.kl_tokens, found.kl_odd) == (0.0, 1, 1)
    assert found.tokens == 2


def test_one_broken_log_prob_does_not_swamp_the_rest():
    found = sampled_of(actions(SpanTokens([1], [-700.0], ref_logprobs=[0.0])))
    assert found.kl == pytest.approx(exp(20) - 21)


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        pytest.param([SpanTokens([1, 2]), SpanTokens(n=5)], 7, id="ids and counts"),
        pytest.param([SpanTokens([1, 2]), None], None, id="not of every action"),
        pytest.param([None], None, id="of none"),
    ],
)
def test_trained_tokens(tokens, expected):
    assert sampled_of(actions(*tokens)).tokens == expected


def test_the_ids_of_turns_count_where_spans_have_none():
    t = msgspec.structs.replace(actions(None, None), turns=[TurnTokens(0, None, [1, 2]), TurnTokens(1, None, [3])])
    assert sampled_of(t).tokens == 3
    assert sampled_of(t).characters == 8


def test_observations_that_a_mask_trains_are_counted():
    spans = [Span("user", -1, "Hi", tokens=SpanTokens([1], mask=[1])), Span("assistant", 0, "Ho")]
    assert sampled_of(Trajectory(id="t", spans=spans)).masked == 1


def test_reference_log_probs_survive_the_canonical_line():
    from trajcredit.model import decode, encode

    t = actions(SpanTokens([1], [-1.0], ref_logprobs=[-1.5]))
    assert decode(encode(t)) == t


def test_pictographs_are_counted_and_letters_of_other_scripts_are_not():
    found = dict(zip(FEATURES, form_of([Span("assistant", 0, "Готово \u2708\U0001f600 — 完成")]), strict=True))
    assert found["pictographs"] == pytest.approx(log1p(2))
