"""What is stored comes back: documents equal, graphs and batches bit for bit."""

from __future__ import annotations

import dataclasses
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.build import run
from tests.laws import any_trajectory, rollouts
from tests.store.shelf import PROJECT, named, put
from trajcredit.batching import assemble, pack
from trajcredit.errors import NotFoundError
from trajcredit.graph import build_graphs
from trajcredit.model import SpawnedBy, Trajectory
from trajcredit.store import Store, batches, documents
from trajcredit.store.filters import Filters

one_store = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
"""The database stays, every example has a project of its own."""
project = map("p{}".format, count())


def same(a: Any, b: Any, *but: str) -> None:
    """Two dataclasses of arrays, bit for bit."""
    for field in dataclasses.fields(a):
        x, y = getattr(a, field.name), getattr(b, field.name)
        if field.name in but:
            continue
        if isinstance(x, np.ndarray):
            assert x.dtype == y.dtype, field.name
            assert x.shape == y.shape, field.name
            assert x.tobytes() == y.tobytes(), field.name
            assert y.flags.c_contiguous, field.name
        else:
            assert x == y, field.name


@one_store
@given(items=st.lists(any_trajectory(), max_size=4))
def test_any_trajectory_comes_back_equal_with_its_graph(store: Store, items: list[Trajectory]) -> None:
    items = named(items, next(project))
    graphs = build_graphs(items)
    added = put(store, *items, project=items[0].project) if items else []
    with store.read() as conn:
        for item, graph, one in zip(items, graphs, added, strict=True):
            assert one.id is not None
            assert documents.document(conn, item.project, one.id) == item
            same(graph, documents.graph(conn, item.project, f"ext:{item.id}"))


@one_store
@given(items=st.lists(any_trajectory(), max_size=4), seed=st.randoms(use_true_random=False))
def test_a_batch_from_stored_columns_is_the_batch_of_the_graphs(
    store: Store, items: list[Trajectory], seed: Any
) -> None:
    items = named(items, name := next(project))
    added = put(store, *items, project=name)
    order = list(range(len(items)))
    seed.shuffle(order)
    with store.read() as conn:
        loaded = batches.load(conn, name, Filters())
        shuffled = batches.load(conn, name, [added[i].id or "" for i in order])
    same(pack(build_graphs(items)), assemble(loaded.heads, loaded.columns, loaded.rewards), "graphs", "notes")
    mixed = [items[i] for i in order]
    same(pack(build_graphs(mixed)), assemble(shuffled.heads, shuffled.columns, shuffled.rewards), "graphs", "notes")


@one_store
@given(items=rollouts())
def test_rollouts_of_a_few_tasks_come_back_as_one_batch(store: Store, items: list[Trajectory]) -> None:
    items = named(items, name := next(project))
    put(store, *items, project=name)
    with store.read() as conn:
        loaded = batches.load(conn, name, Filters())
        graphs = documents.graphs(conn, name, loaded.ids)
    same(pack(build_graphs(items)), assemble(loaded.heads, loaded.columns, loaded.rewards, graphs=graphs), "graphs")


def test_a_negative_zero_stays_negative(store: Store) -> None:
    put(store, run("ua", -0.0, name="a", truncated=True, bootstrap=-0.0))
    with store.read() as conn:
        loaded = batches.load(conn, PROJECT, Filters())
    assert str(loaded.rewards[0][0].value) == str(loaded.heads[0].bootstrap) == "-0.0"


def test_the_head_has_what_lists_and_screens_show(store: Store) -> None:
    item = replace(
        run("ucra", 1.0, name="a", group=None),
        dataset="d",
        task="t",
        role="solver",
        trial="2",
        step=7,
        policy_version="v1",
        answer="42",
        parent=SpawnedBy("boss", 3),
    )
    [graph] = build_graphs([item])
    [added] = put(store, item, raw=b"the log")
    with store.read() as conn:
        head = documents.head(conn, PROJECT, added.id or "")
        same_head = documents.head(conn, PROJECT, "ext:a")
    assert head == same_head
    shown = head.listed
    assert (shown.id, shown.external_id, shown.project) == (added.id, "a", PROJECT)
    assert (shown.dataset, shown.task, shown.role, shown.trial, shown.step) == ("d", "t", "solver", "2", 7)
    assert (shown.n_spans, shown.n_actions, shown.n_errors, shown.n_edges) == (4, 2, 0, len(graph))
    assert (shown.outcome, shown.outcome_source, shown.group_name) == (1.0, "verifier", "d/t")
    assert (head.answer, head.parent, head.terminated, head.truncated) == ("42", SpawnedBy("boss", 3), True, False)


def test_the_skeleton_is_the_graph_without_text(store: Store) -> None:
    item = run("uccrra", name="a", edges=[(1, 4), (0, 5, 0.5)])
    [graph] = build_graphs([item])
    put(store, item)
    with store.read() as conn:
        found = documents.skeleton(conn, PROJECT, "ext:a")
    assert [(s.span, s.kind, s.turn, s.tool) for s in found.spans] == [
        (i, s.kind, s.turn, s.name) for i, s in enumerate(item.spans)
    ]
    assert [s.is_action for s in found.spans] == [False, True, True, False, False, True]
    assert [(e.child, e.parent) for e in found.edges] == [(child, parent) for _, parent, child in graph.edges()]
    assert (found.edges[-1].kind, found.edges[-1].weight) == ("explicit", 0.5)


@pytest.mark.parametrize("ref", ["nobody", "ext:nobody", "", "ext:", "ext:\0", "\ud800"])
def test_an_id_nobody_has_is_named(store: Store, ref: str) -> None:
    with store.read() as conn, pytest.raises(NotFoundError, match="no trajectory"):
        documents.document(conn, PROJECT, ref)


def test_another_projects_trajectory_is_not_found(store: Store) -> None:
    [added] = put(store, run("ua", name="a"))
    with store.read() as conn:
        for ref in ("ext:a", added.id or ""):
            with pytest.raises(NotFoundError):
                documents.head(conn, "other", ref)
            with pytest.raises(NotFoundError):
                batches.load(conn, "other", [ref])
        assert batches.load(conn, "other", Filters(ids=(added.id or "",))).ids == ()
