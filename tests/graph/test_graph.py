"""Laws of every graph, its public faces, and logs made to hurt."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import msgspec
import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graph.talk import Line, call, failure, graph_of, result, say, talk, think, user
from trajcredit.errors import GraphError, InputError
from trajcredit.graph import EDGE_KINDS, build_graphs
from trajcredit.graph.render import edge_rows, to_dot, to_graphml, to_mermaid, to_networkx
from trajcredit.model import Edge, Reward, Span, Trajectory, body

KINDS = st.sampled_from(["system", "user", "assistant", "reasoning", "tool_call", "tool_result", "meta"])
SAMPLES = ["GH-61220", "GH-61220 and 4417", '{"id": "GH-61220"}', "March 9, 2031", "Error: boom", "2 failed", "ok"]
TEXTS = st.one_of(
    st.text(max_size=40),
    st.text(st.sampled_from("AB71 .,-_/é{}[]\"':\\\n"), max_size=60),
    st.sampled_from([*SAMPLES, "{", '["', "cd x && "]),
)
NAMES = st.sampled_from([None, "set_x", "get", "run_tests", "update_row", "commit"])
FAILS = st.sampled_from([None, None, True, False])


@st.composite
def transcripts(draw) -> Trajectory:
    """Spans in any order that the model allows: orphans, empty texts, broken arguments, several calls a turn."""
    spans: list[Span] = []
    turn = -1
    still_open: list[int] = []
    for kind in draw(st.lists(KINDS, max_size=14)):
        if kind in ("assistant", "reasoning", "tool_call") and (turn < 0 or draw(st.booleans())):
            turn += 1
        answered = None
        if kind == "tool_result" and still_open and draw(st.booleans()):
            answered = still_open.pop(draw(st.integers(0, len(still_open) - 1)))
        if kind == "tool_call":
            still_open.append(len(spans))
        raw = draw(TEXTS) if kind == "tool_call" else None
        spans.append(
            Span(
                kind,
                turn,
                "" if raw is not None else draw(TEXTS),
                name=draw(NAMES),
                arguments_raw=raw,
                result_of=answered,
                error=draw(FAILS) if kind == "tool_result" else None,
                message_index=len(spans),
            )
        )
    return Trajectory(id="t", spans=spans)


@given(transcripts())
def test_a_graph_only_points_back(trajectory):
    (graph,) = build_graphs([trajectory])
    n = len(trajectory.spans)
    children = np.repeat(np.arange(n), np.diff(graph.parent_offsets))
    assert (graph.parents < children).all()
    assert (graph.parents >= 0).all()
    assert ((graph.weight > 0) & (graph.weight <= 1)).all()
    pairs = list(zip(children.tolist(), graph.parents.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    assert networkx.is_directed_acyclic_graph(to_networkx(graph))


@given(transcripts())
def test_within_a_turn_only_reasoning_and_results_depend(trajectory):
    (graph,) = build_graphs([trajectory])
    spans = trajectory.spans
    for e, parent, child in graph.edges():
        same = spans[parent].turn == spans[child].turn >= 0
        if same and spans[child].kind in ("assistant", "tool_call", "reasoning"):
            came_in = spans[parent].kind in ("user", "meta")  # what a person said, or a summary, whatever its turn
            assert EDGE_KINDS[graph.kind[e]] in ("turn", "context", "control") or came_in


@given(transcripts())
def test_evidence_lies_inside_the_bodies_and_can_be_read(trajectory):
    (graph,) = build_graphs([trajectory])
    for e, parent, child in graph.edges():
        found = graph.evidence(e)
        assert found.why
        for match in found.matches:
            assert 0 <= match.child[0] < match.child[1] <= len(body(trajectory.spans[child]))
            assert 0 <= match.parent[0] < match.parent[1] <= len(body(trajectory.spans[parent]))


@given(transcripts())
def test_every_face_of_a_graph_is_well_formed(trajectory):
    (graph,) = build_graphs([trajectory])
    rows = list(edge_rows(graph))
    assert len(rows) == len(graph)
    json.loads(json.dumps(rows, allow_nan=False))
    ET.fromstring(to_graphml(graph))
    dot = to_dot(graph)
    assert dot.count("->") >= len(graph)
    assert all(ord(c) >= 32 or c == "\n" for c in dot)
    assert to_mermaid(graph).startswith("flowchart TD\n")


def test_an_edge_row_says_it_all():
    graph = graph_of(user("go"), call("fetch"), result("ref CS-66120"), call("look", id="CS-66120"), result("fine"))
    row = next(r for r in edge_rows(graph) if r["kind"] == "value")
    assert row == {
        "trajectory_id": "t",
        "child": {"span_index": 3, "message_index": 3, "tool_call_id": None},
        "parent": {"span_index": 2, "message_index": 2, "tool_call_id": None},
        "kind": "value",
        "weight": 0.92,
        "evidence": {
            "rule": "value",
            "why": "uses 'CS-66120', shown here",
            "matches": [
                {
                    "child": {"text": "CS-66120", "start": 8, "end": 16},
                    "parent": {"text": "CS-66120", "start": 4, "end": 12},
                }
            ],
        },
    }


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        pytest.param(Edge(1, 1, "explicit"), "earlier span", id="an edge to itself"),
        pytest.param(Edge(0, 5, "explicit"), "has 2 spans", id="an edge to nowhere"),
        pytest.param(Edge(0, 1, "explicit", 1.5), "weight", id="a weight above one"),
    ],
)
def test_a_wrong_edge_is_refused(wrong, words):
    with pytest.raises(GraphError, match=words):
        build_graphs([Trajectory(id="t", spans=[Span("user", -1), Span("user", -1)], edges=[wrong])])


def test_a_wrong_span_is_refused():
    with pytest.raises(InputError, match="no earlier call"):
        build_graphs([Trajectory(id="t", spans=[Span("user", -1), Span("tool_result", -1, result_of=0)])])
    with pytest.raises(InputError, match="trajectory has 1"):
        build_graphs([Trajectory(id="t", spans=[Span("user", -1)], rewards=[Reward(1.0, span=4)])])


def test_nothing_has_a_graph_too():
    assert build_graphs([]) == []
    (graph,) = build_graphs([Trajectory(id="t", spans=[])])
    assert len(graph) == 0
    assert list(graph.edges()) == []


@pytest.mark.timeout(60)
def test_t19_the_same_ten_values_everywhere_make_few_edges():
    """libraries.md T19: at most eight sources a value and span, whatever a log repeats."""
    values = " ".join(f"VALUE-{k}{k}42" for k in range(10))
    lines = [line for n in range(2500) for line in (call("step", v=values, n=n), result(values))]
    (graph,) = build_graphs([talk(user("go"), *lines)])
    value = graph.kind == EDGE_KINDS.index("value")
    per_child = np.bincount(np.repeat(np.arange(5001), np.diff(graph.parent_offsets))[value], minlength=1)
    assert per_child.max() <= 8


def publishing(n: int) -> list[Line]:
    """Many writes, then as many commits that all fail."""
    writes = [line for k in range(n) for line in (call("edit_file", path=f"src/file_{k}_x.py"), result("fine"))]
    return [*writes, *(line for k in range(n) for line in (call("commit", m=k), failure()))]


def pondering(n: int) -> list[Line]:
    """Many thoughts and many calls in one turn."""
    return [*(think(f"thought {k}") for k in range(n)), *(call("look", k=k) for k in range(n))]


def looking(n: int) -> list[Line]:
    """Many looks at what the user named, then as many effects in one turn."""
    looks = [line for k in range(n) for line in (call("get_row", id=f"ROW-{k:04d}X"), result("none"))]
    return [*looks, *(call("update_row", k=k) for k in range(n))]


def reporting(n: int) -> list[Line]:
    """Many effects, then as many messages."""
    effects = [line for k in range(n) for line in (call("send_mail", n=k), result("fine"))]
    return [*effects, *(line for k in range(n) for line in (say(f"message {k}"), user("go on")))]


@pytest.mark.parametrize("log", [publishing, pondering, looking, reporting])
def test_edges_grow_with_the_log_and_not_with_its_square(log):
    said = user(" ".join(f"ROW-{k:04d}X" for k in range(400)))
    small, large = (len(graph_of(said, *log(n))) for n in (100, 400))
    assert large <= 4.4 * small


def test_a_failure_that_is_told_after_the_next_call_is_nobodys_reason():
    graph = graph_of(user("go"), call("run_tests", n=1), say("on"), call("run_tests", n=1))
    spans = graph.trajectory.spans
    late = [
        *(msgspec.structs.replace(s, turn=k) for k, s in enumerate((spans[1], spans[3]))),
        Span("tool_result", 1, "Error: timeout", result_of=0),
        Span("tool_call", 2, name="update_row", arguments={}),
    ]
    (built,) = build_graphs([Trajectory(id="t", spans=late)])
    children = np.repeat(np.arange(4), np.diff(built.parent_offsets))
    assert (built.parents < children).all()


def test_values_that_are_too_common_are_reported():
    rounds = [line for n in range(8) for line in (call("fetch", n=n), result(f"zone ZQ-7741 part {n}"))]
    (note,) = graph_of(user("go"), *rounds, call("look", zone="ZQ-7741"), result("fine")).notes
    assert note.code == "common-values"
    assert note.message.startswith("1 use of")


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("shown", "used"),
    [
        pytest.param("AB12CD9 " * 700_000, "AB12CD9", id="one value 700,000 times"),
        pytest.param(" ".join("abcdefghij"[i % 10] for i in range(100_000)), "a b c", id="100,000 one-letter values"),
        pytest.param(" ".join(f"X{i:06d}Q" for i in range(50_000)), "X000007Q", id="50,000 ids with one prefix"),
        pytest.param("A1" * 500_000, "A1" * 500_000, id="one token of a million characters"),
        pytest.param("{" * 200_000, "x", id="brackets only"),
        pytest.param("é" * 200_000, "é", id="nothing but accents"),
    ],
)
def test_a_log_made_to_hurt_is_read_in_linear_time(shown, used):
    graph = graph_of(user("go"), call("fetch"), result(shown), call("look", v=used), result("fine"), say(used))
    assert len(graph) < 20
