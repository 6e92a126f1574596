"""Segments: every action in one, no span in two, and each kind cut by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trajcredit as tc
from tests.build import run
from tests.judges.logs import call, log, result, said, user
from trajcredit.errors import UnknownNameError
from trajcredit.graph import SpanGraph, build_graphs
from trajcredit.judges import segmented
from trajcredit.judges.segments import KINDS
from trajcredit.model import ACTION_KINDS, Span, Trajectory
from trajcredit.service.demo import bundled


def _cut(kind: str, trajectory: Trajectory) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    [graph] = build_graphs([trajectory])
    return [(one.actions, one.spans) for one in segmented(graph, kind)]


def _holds(graph: SpanGraph, kind: str) -> None:
    found = segmented(graph, kind)
    spans = graph.trajectory.spans
    acts = [i for one in found for i in one.actions]
    assert sorted(acts) == [i for i, span in enumerate(spans) if span.kind in ACTION_KINDS]
    every = [i for one in found for i in one.spans]
    assert len(every) == len(set(every))
    assert [one.actions[-1] for one in found] == sorted(one.actions[-1] for one in found)
    for one in found:
        assert list(one.actions) == sorted(one.actions)
        assert list(one.spans) == sorted(one.spans)
        assert {*one.actions} <= {*one.spans}


@settings(max_examples=80, deadline=None)
@given(st.text("suatcrm", max_size=14), st.data())
def test_every_action_is_in_one_segment_and_no_span_in_two(letters: str, data: st.DataObject) -> None:
    pairs = [(i, j) for j in range(len(letters)) for i in range(j)]
    edges = data.draw(st.lists(st.sampled_from(pairs), max_size=6, unique=True)) if pairs else []
    [graph] = build_graphs([run(letters, name="x", edges=edges)])
    for kind in KINDS:
        _holds(graph, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_it_holds_on_real_logs(kind: str) -> None:
    reading = tc.read([str(path) for path in sorted(Path(str(bundled("wrong_flight.jsonl"))).parent.glob("*.jsonl"))])
    for graph in build_graphs(list(reading)):
        _holds(graph, kind)


SPANS: list[Span] = [
    user("Book the window seat."),  # 0
    said("Looking."),  # 1
    call("look", cabin="upper"),  # 2
    result("no cabin of that name", error=True),  # 3
    call("look", cabin="main"),  # 4
    result("seat 14-C is free", error=False),  # 5
    call("book", seat="14-C"),  # 6
    result("booked as RX-7731", error=False),  # 7
    said("It is RX-7731."),  # 8
]
RUN = log(*SPANS, name="x")


def test_actions_are_alone() -> None:
    assert _cut("action", RUN) == [((i,), (i,)) for i in (1, 2, 4, 6, 8)]


def test_calls_come_with_their_results() -> None:
    assert _cut("call", RUN) == [((1,), (1,)), ((2,), (2, 3)), ((4,), (4, 5)), ((6,), (6, 7)), ((8,), (8,))]


def test_a_turn_is_what_was_written_at_once() -> None:
    assert _cut("turn", RUN) == [((1, 2), (1, 2, 3)), ((4,), (4, 5)), ((6,), (6, 7)), ((8,), (8,))]


def test_a_retry_chain_goes_on_until_it_succeeds() -> None:
    assert _cut("retry", RUN) == [((1,), (1,)), ((2, 4), (2, 3, 4, 5)), ((6,), (6, 7)), ((8,), (8,))]


def test_a_chain_of_equal_calls_is_one_and_the_user_ends_it() -> None:
    same = [call("look", cabin="main"), result("none", error=False)]
    assert _cut("retry", log(user("Go."), *same, *same, name="x")) == [((1, 3), (1, 2, 3, 4))]
    assert _cut("retry", log(user("Go."), *same, user("Again."), *same, name="x")) == [((1,), (1, 2)), ((4,), (4, 5))]
    other = [call("look", cabin="upper"), result("none", error=False)]
    assert _cut("retry", log(user("Go."), *same, *other, name="x")) == [((1,), (1, 2)), ((3,), (3, 4))]


def test_a_goal_is_an_effect_with_what_it_rests_on() -> None:
    # booking 14-C rests on the look that found it; what failed led to nothing
    assert _cut("goal", RUN) == [((1,), (1,)), ((2,), (2, 3)), ((4, 6), (4, 5, 6, 7)), ((8,), (8,))]


def test_parallel_calls_keep_their_own_results() -> None:
    both = run("uccrra", name="x")  # results answer the first call still open
    assert _cut("call", both) == [((1,), (1, 3)), ((2,), (2, 4)), ((5,), (5,))]
    assert _cut("turn", both) == [((1, 2), (1, 2, 3, 4)), ((5,), (5,))]


def test_an_unknown_kind_is_named() -> None:
    [graph] = build_graphs([RUN])
    with pytest.raises(UnknownNameError, match="chapter"):
        segmented(graph, "chapter")
