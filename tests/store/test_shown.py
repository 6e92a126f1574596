"""What a page shows of spans is what their documents and graphs say, without decoding them."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.build import run
from tests.laws import any_trajectory
from tests.store.scored import scored
from tests.store.shelf import PROJECT, named, put
from trajcredit.errors import InputError, NotFoundError
from trajcredit.graph import build_graphs
from trajcredit.model import ACTION_KINDS, Trajectory, body
from trajcredit.store import Store, run_credits, run_inputs, runs, shown, span_credits, trajectories

project = map("p{}".format, count())


@pytest.fixture
def spans(store: Store) -> list[str]:
    """Two rollouts of one task; their ids."""
    return [one.id or "" for one in put(store, run("ucra", 0.0, name="x"), run("ua", 1.0, name="y"))]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(items=st.lists(any_trajectory(), min_size=1, max_size=3))
def test_facts_are_those_of_document_and_graph(store: Store, items: list[Trajectory]) -> None:
    items = named(items, next(project))
    put(store, *items, project=items[0].project)
    for item, graph in zip(items, build_graphs(items), strict=True):
        name, ref, n = item.project, f"ext:{item.id}", len(item.spans)
        with store.read() as conn:
            found = shown.facts(conn, name, ref)
            assert shown.some_spans(conn, name, ref, 0, n) == tuple(item.spans)
            assert shown.some_spans(conn, name, ref, n // 2, n + 5) == tuple(item.spans[n // 2 :])
            assert [shown.own_span(conn, name, ref, i) for i in range(n)] == item.spans
        assert found.sizes == tuple(len(body(span)) for span in item.spans)
        assert found.write_basis == graph.write_basis
        assert found.is_action.tolist() == [span.kind in ACTION_KINDS for span in item.spans]
        agents = tuple(span.agent for span in item.spans)
        assert found.agents == (agents if any(agent is not None for agent in agents) else None)
        assert found.columns.is_write.tolist() == graph.is_write.tolist()


def test_spans_that_are_not_there_are_refused(store: Store, spans: list[str]) -> None:
    with store.read() as conn:
        for first, last in ((-1, 1), (5, 6), (2, 1)):
            with pytest.raises(InputError, match=f"spans {first} to {last}: trajectory 'ext:x' has 4 spans"):
                shown.some_spans(conn, PROJECT, "ext:x", first, last)
        with pytest.raises(InputError, match="span 4: trajectory 'ext:x' has spans 0 to 3"):
            shown.own_span(conn, PROJECT, "ext:x", 4)
        with pytest.raises(NotFoundError, match="no trajectory 'ext:z'"):
            shown.facts(conn, PROJECT, "ext:z")
    with pytest.raises(InputError, match="span 0: trajectory 'e' has no spans"):
        shown.check_span(0, 0, "e")


def test_a_run_says_nothing_of_what_it_did_not_read(store: Store, spans: list[str]) -> None:
    made = scored(store, spans[0])
    with store.read() as conn:
        found = runs.find(conn, PROJECT, made)
        said = run_credits.said_of(conn, found, spans[0])
        assert said is not None
        assert (said.id, said.external_id, said.group_name, len(said.credit)) == (spans[0], "x", "g", 4)
        assert run_credits.said_of(conn, found, spans[1]) is None


def test_a_run_is_whole_until_something_it_read_is_gone(store: Store, spans: list[str]) -> None:
    made = scored(store)

    def whole() -> bool:
        with store.read() as conn:
            return run_inputs.is_whole(conn, runs.find(conn, PROJECT, made))

    assert whole()
    with store.write() as conn:
        runs.mark_stale(conn, [1], "a reward came later")
    assert whole()
    put(store, run("ua", 1.0, name="z"))
    assert whole()
    with store.write() as conn:
        trajectories.delete(conn, PROJECT, spans[1])
    assert not whole()


def test_of_runs_of_one_label_a_span_has_the_newest_that_scored_it(store: Store, spans: list[str]) -> None:
    both, one = scored(store), scored(store, spans[0])
    put(store, run("ua", name="open"))
    unscored = scored(store, "ext:open")
    with store.read() as conn:
        assert [said.run for said in span_credits.of_span(conn, PROJECT, spans[0], 1)] == [one]
        assert [said.run for said in span_credits.of_span(conn, PROJECT, spans[1], 1)] == [both]
        assert span_credits.of_span(conn, PROJECT, "ext:open", 1) == []
        assert runs.find(conn, PROJECT, unscored).state == "done"
