"""What people say of edges, put into derived graphs: against a naive twin, and its laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.build import run
from tests.graph.talk import call, claims, edge, result, say, talk, user
from trajcredit.batching import columns_of, columns_with_overrides
from trajcredit.errors import GraphError, InputError
from trajcredit.graph import EDGE_KINDS, Match, Override, SpanGraph, build_graphs, with_overrides
from trajcredit.model import Edge, Trajectory, decode, encode

TALK = talk(
    user("Book the cheapest flight to Lisbon"),
    call("search", to="LIS"), result("offer FX-2291 at 120, offer FX-7755 at 90"),
    call("book", offer="FX-2291"), result("booked as BK-4410"),
    say("Booked: BK-4410, offer FX-2291."),
)  # fmt: skip
N = len(TALK.spans)
PAIRS = [(parent, child) for child in range(N) for parent in range(child)]

overrides = st.lists(
    st.builds(
        lambda pair, weight, reason: Override(pair[0], pair[1], weight, reason),
        st.sampled_from(PAIRS),
        st.sampled_from([0.0, 0.1, 1.0]),
        st.sampled_from(["", "seen"]),
    ),
    max_size=6,
)


def plain() -> SpanGraph:
    return build_graphs([TALK])[0]


def rows(graph: SpanGraph) -> dict[tuple[int, int], tuple[str, float, str, tuple[Match, ...]]]:
    """Everything about every edge, by its ends."""
    found = {}
    for e, parent, child in graph.edges():
        why = graph.evidence(e)
        found[parent, child] = (EDGE_KINDS[graph.kind[e]], float(graph.weight[e]), why.why, why.matches)
    assert len(found) == len(graph)
    return found


def naive(graph: SpanGraph, said: list[Override]) -> dict[tuple[int, int], tuple[str, float, str, tuple[Match, ...]]]:
    """A dictionary of edges, one override after the other."""
    edges = rows(graph)
    for one in said:
        edges.pop((one.parent, one.child), None)
        if one.weight > 0:
            why = f"a person says so: {one.reason}" if one.reason else "a person says so"
            edges[one.parent, one.child] = ("override", one.weight, why, ())
    return edges


@settings(max_examples=60, deadline=None)
@given(overrides)
def test_it_is_what_a_dictionary_of_edges_would_be(said: list[Override]) -> None:
    graph = with_overrides(plain(), said)
    assert rows(graph) == naive(plain(), said)
    assert [child for _, _, child in graph.edges()] == sorted(child for _, _, child in graph.edges())
    for span in range(N):
        assert (np.diff(graph.parents_of(span)) > 0).all()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), overrides), max_size=3))
def test_columns_with_overrides_are_the_columns_of_graphs_with_overrides(
    some: list[tuple[int, list[Override]]],
) -> None:
    said = dict(some)
    graphs = build_graphs([TALK] * 3)
    found = columns_with_overrides(columns_of(graphs), said)
    wanted = columns_of([with_overrides(graph, said.get(t, [])) for t, graph in enumerate(graphs)])
    for name in ("parent_offsets", "parents", "parent_weight", "parent_kind"):
        column, expected = getattr(found, name), getattr(wanted, name)
        np.testing.assert_array_equal(column, expected)
        assert column.dtype == expected.dtype


@settings(max_examples=40, deadline=None)
@given(overrides)
def test_a_canonical_line_with_overrides_is_read_as_the_same_graph(said: list[Override]) -> None:
    stated = [Edge(one.parent, one.child, "override", one.weight, one.reason) for one in said]
    read = decode(encode(Trajectory(id="t", spans=TALK.spans, edges=stated)))
    assert rows(build_graphs([read])[0]) == rows(with_overrides(plain(), said))


def test_nothing_said_is_the_same_graph_and_the_derived_one_is_left_alone() -> None:
    graph = plain()
    before = rows(graph)
    assert with_overrides(graph, []) is graph
    with_overrides(graph, [Override(2, 3, 0.0), Override(0, 3)])
    assert rows(graph) == before
    assert (2, 3) in claims(graph)


def test_a_removed_edge_is_one_that_was_never_built() -> None:
    bare, linked = (build_graphs([run("ucra", edges=edges)])[0] for edges in ([], [(2, 3)]))
    assert rows(linked)[2, 3][0] == "explicit"
    without = with_overrides(linked, [Override(2, 3, 0.0, "no")])
    assert rows(without) == {pair: row for pair, row in rows(bare).items() if pair != (2, 3)}


def test_an_added_edge_says_who_wanted_it_and_why() -> None:
    graph = with_overrides(plain(), [Override(0, 3, 1.0, "the user had named it (Ann)")])
    assert edge(graph, 0, 3) == ("override", 1.0, "a person says so: the user had named it (Ann)")


@pytest.mark.parametrize(
    ("parent", "child", "said"),
    [
        (3, 3, "the parent must be an earlier span than its child"),
        (4, 2, "edge s4 -> s2: the parent must be an earlier span"),
        (-1, 2, "no parent s-1"),
        (0, N, f"no child s{N}; the trajectory has spans s0 to s{N - 1}"),
    ],
)
def test_an_override_points_forward_at_spans_that_exist(parent: int, child: int, said: str) -> None:
    with pytest.raises(GraphError, match=said):
        with_overrides(plain(), [Override(parent, child)])
    with pytest.raises(GraphError, match=said):
        columns_with_overrides(columns_of([plain()]), {0: [Override(parent, child)]})


def test_weight_0_is_for_overrides_alone() -> None:
    for kind, weight in (("explicit", 0.0), ("override", -0.1), ("override", float("nan"))):
        with pytest.raises(InputError, match=r"weight .* is not in \(0, 1\]"):
            build_graphs([bad(kind, weight)])


def bad(kind: str, weight: float) -> Trajectory:
    return Trajectory(id="t", spans=TALK.spans, edges=[Edge(0, 1, kind, weight)])  # type: ignore[arg-type]
