"""The graph as it is drawn, and the reason of every edge at one span."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

import trajcredit as tc
from tests.service.scenes import PROJECT
from tests.store.shelf import put
from trajcredit.errors import InputError, NotFoundError
from trajcredit.graph import EDGE_KINDS, Match, build_graphs
from trajcredit.model import Edge, Reward, Span, Tool, Trajectory, body
from trajcredit.service.evidence import EdgeEvidence, EdgeMatch, edge_columns, edges_of
from trajcredit.service.sources import Sources
from trajcredit.store import Store

BOOKING = Trajectory(
    id="t",
    tools=[Tool("search", writes=False), Tool("note", writes=False), Tool("pay", writes=True)],
    rewards=[Reward(1.0)],
    spans=[
        Span("user", -1, "Pay for flight FL-2210 please"),
        Span("tool_call", 0, name="search", call_id="a", arguments={"code": "FL-2210"}),
        Span("tool_result", 0, "fl-2210 is open, hold H-91X7", name="search", call_id="a", result_of=1),
        Span("tool_call", 1, name="note", call_id="b", arguments={"text": "remember H-91X7"}),
        Span("tool_result", 1, "noted H-91X7", name="note", call_id="b", result_of=3),
        Span("tool_call", 2, name="pay", call_id="c", arguments={"hold": "H-91X7"}),
        Span("tool_result", 2, "paid", name="pay", call_id="c", result_of=5),
        Span("assistant", 3, "Done."),
    ],
)


@pytest.fixture
def filled(store: Store) -> Store:
    put(store, BOOKING)
    return store


def test_columns_are_the_edges_of_the_graph(filled: Store) -> None:
    [graph] = build_graphs([BOOKING])
    found = edge_columns(filled, PROJECT, "ext:t")
    assert list(zip(found.parent, found.child, strict=True)) == [(p, c) for _, p, c in graph.edges()]
    assert found.kind == tuple(EDGE_KINDS[code] for code in graph.kind.tolist())
    assert found.weight == tuple(graph.weight.tolist())
    assert found.rule == tuple(graph.evidence(edge).rule for edge in range(len(graph)))
    assert sorted(zip(found.child, found.parent, strict=True)) == list(zip(found.child, found.parent, strict=True))
    assert ("value", 0, 1) in zip(found.kind, found.parent, found.child, strict=True)


def test_a_value_written_differently_is_normalised(filled: Store) -> None:
    found = edge_columns(filled, PROJECT, "ext:t")
    written = {
        (parent, child): normalised
        for parent, child, normalised in zip(found.parent, found.child, found.normalised, strict=True)
    }
    assert written[0, 1] is False
    assert written[2, 5] is False
    dates = replace(
        BOOKING,
        spans=[
            Span("user", -1, "On 3 May 2025 please"),
            Span("tool_call", 0, name="search", call_id="a", arguments={"date": "2025-05-03"}),
        ],
        id="dates",
    )
    put(filled, dates)
    found = edge_columns(filled, PROJECT, "ext:dates")
    assert (found.parent, found.child, found.normalised) == ((0,), (1,), (True,))


def test_a_span_is_fed_and_feeds_with_reasons_that_point_into_the_texts(filled: Store) -> None:
    found = edges_of(filled, PROJECT, "ext:t", 2)
    texts = [body(span) for span in BOOKING.spans]
    assert [(edge.parent, edge.child, edge.kind, edge.why) for edge in found.fed_by] == [
        (1, 2, "call", "the result of this call")
    ]
    assert found.fed_by[0].sources == 1, "it rests on no value"
    used = {edge.child: edge for edge in found.feeds}
    assert set(used) >= {3, 5}
    pay = used[5]
    assert (pay.parent, pay.kind, pay.rule, pay.why) == (2, "value", "value", "uses 'H-91X7', shown here")
    at, there = texts[5].index("H-91X7"), texts[2].index("H-91X7")
    assert pay.matches == (EdgeMatch("H-91X7", at, at + 6, "H-91X7", there, there + 6),)


def test_sources_are_the_observations_before_that_hold_the_value(filled: Store) -> None:
    """Results 2 and 4 hold it; call 3 repeats it, and what comes after the child cannot be where it is from."""
    used = {edge.child: edge for edge in edges_of(filled, PROJECT, "ext:t", 2).feeds}
    assert (used[3].sources, used[5].sources) == (1, 2)
    [asked] = [edge for edge in edges_of(filled, PROJECT, "ext:t", 1).fed_by if edge.parent == 0]
    assert asked.sources == 1


def test_a_part_of_a_word_is_no_source(store: Store) -> None:
    spans = list(BOOKING.spans)
    spans[4] = replace(spans[4], text="noted H-91X77 and XH-91X7")
    put(store, replace(BOOKING, spans=spans))
    used = {edge.child: edge for edge in edges_of(store, PROJECT, "ext:t", 2).feeds}
    assert used[5].sources == 1


def test_a_long_value_is_looked_for_as_it_is() -> None:
    long = "x" * 5000
    sources = Sources(replace(BOOKING, spans=[Span("user", -1, text) for text in (long, f"{long}y", "x", long)]))
    assert sources.of(0, 3, [Match(long, (0, 5000), long, (0, 5000))]) == 2


def test_what_the_log_states_is_said_in_its_words(store: Store) -> None:
    put(store, replace(BOOKING, edges=[Edge(0, 7, "explicit", 0.5, "the user asked")]))
    [stated] = [edge for edge in edges_of(store, PROJECT, "ext:t", 7).fed_by if edge.kind == "explicit"]
    assert stated == EdgeEvidence(0, 7, "explicit", 0.5, "explicit", "the log says so: the user asked", (), 1)


def test_both_sides_of_every_edge_say_the_same(store: Store) -> None:
    reading = tc.read("trajcredit/data/wrong_flight.jsonl")
    put(store, *reading)
    for trajectory in reading:
        ref, n = f"ext:{trajectory.id}", len(trajectory.spans)
        found = [edges_of(store, PROJECT, ref, span) for span in range(n)]
        columns = edge_columns(store, PROJECT, ref)
        into = [edge for one in found for edge in one.fed_by]
        assert [(edge.parent, edge.child) for edge in into] == list(zip(columns.parent, columns.child, strict=True))
        out = sorted((edge for one in found for edge in one.feeds), key=lambda edge: (edge.child, edge.parent))
        assert out == into
        texts = [body(span) for span in trajectory.spans]
        for edge, normalised in zip(into, columns.normalised, strict=True):
            assert 1 <= edge.sources <= n
            assert normalised is any(m.child_text != m.parent_text for m in edge.matches)
            for m in edge.matches:
                assert texts[edge.child][m.child_start : m.child_end] == m.child_text
                assert texts[edge.parent][m.parent_start : m.parent_end] == m.parent_text


def test_a_span_that_is_not_there_is_refused(filled: Store) -> None:
    for span in (-1, 8):
        with pytest.raises(InputError, match=f"span {span}: trajectory 'ext:t' has spans 0 to 7"):
            edges_of(filled, PROJECT, "ext:t", span)
    put(filled, Trajectory(id="none", spans=[]))
    with pytest.raises(InputError, match="has no spans"):
        edges_of(filled, PROJECT, "ext:none", 0)
    with pytest.raises(NotFoundError, match="no trajectory 'ext:x'"):
        edge_columns(filled, PROJECT, "ext:x")
