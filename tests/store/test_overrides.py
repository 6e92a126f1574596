"""Overrides of edges: appended, the newest of a pair in force wherever graphs are read; what scored before is stale."""

from __future__ import annotations

import numpy as np
import pytest
from sqlalchemy import func, select

from tests.build import run
from tests.store.scored import scored
from tests.store.shelf import PROJECT, put
from trajcredit.batching import columns_of, columns_with_overrides
from trajcredit.errors import InputError, NotFoundError
from trajcredit.graph import EDGE_KINDS, Override, SpanGraph, with_overrides
from trajcredit.store import (
    Store,
    batches,
    documents,
    overridden,
    overrides,
    pages,
    run_inputs,
    run_numbers,
    runs,
    trajectories,
)
from trajcredit.store.filters import Filters
from trajcredit.store.overrides import Action, Change, Edits
from trajcredit.store.tables import overrides as table

LINKED = run("ucra", 1.0, name="linked", edges=[(2, 3)])


@pytest.fixture
def filled(store: Store) -> Store:
    put(store, LINKED, run("ucra", 0.0, name="other"), run("ua", 1.0, name="apart", group="h"))
    return store


def say(store: Store, action: Action, parent: int, child: int, reason: str = "seen", ref: str = "ext:linked") -> int:
    """How many rows it made."""
    with store.write() as conn:
        return len(overrides.append(conn, PROJECT, ref, [Change(parent, child, action, reason, "Ann")]))


def edges(graph: SpanGraph) -> dict[tuple[int, int], str]:
    return {(parent, child): EDGE_KINDS[graph.kind[e]] for e, parent, child in graph.edges()}


def in_force(store: Store, ref: str = "ext:linked", edits: Edits | None = overrides.ALL) -> dict[tuple[int, int], str]:
    """The edges, as the graph and as the columns have them: the same."""
    with store.read() as conn:
        graph = documents.graph(conn, PROJECT, ref, edits)
        if edits is not None:
            columns = batches.load(conn, PROJECT, [ref], edits).columns
            for name in ("parent_offsets", "parents", "parent_weight", "parent_kind"):
                np.testing.assert_array_equal(getattr(columns, name), getattr(columns_of([graph]), name))
    return edges(graph)


def test_the_newest_word_of_a_pair_counts_and_what_was_derived_stays(filled: Store) -> None:
    derived = in_force(filled)
    assert derived == {(1, 2): "call", (2, 3): "explicit"} | {
        pair: kind for pair, kind in derived.items() if kind in ("context", "control", "turn")
    }
    say(filled, "remove", 2, 3)
    assert in_force(filled) == {pair: kind for pair, kind in derived.items() if pair != (2, 3)}
    say(filled, "add", 2, 3)
    say(filled, "add", 0, 1)
    assert in_force(filled) == {**derived, (2, 3): "override", (0, 1): "override"}
    say(filled, "withdraw", 2, 3)
    say(filled, "withdraw", 0, 1)
    assert in_force(filled) == in_force(filled, edits=None) == derived
    with filled.read() as conn:
        told = [(one.change.action, one.change.parent) for one in overrides.history(conn, PROJECT, "ext:linked")]
    assert told == [("remove", 2), ("add", 2), ("add", 0), ("withdraw", 2), ("withdraw", 0)]


def test_added_and_withdrawn_is_bit_for_bit_as_before(filled: Store) -> None:
    with filled.read() as conn:
        before = batches.load(conn, PROJECT, Filters())
    say(filled, "add", 0, 3)
    with filled.read() as conn:
        between = batches.load(conn, PROJECT, Filters())
    say(filled, "withdraw", 0, 3)
    with filled.read() as conn:
        after = batches.load(conn, PROJECT, Filters())
    for name in ("parent_offsets", "parents", "parent_weight", "parent_kind", "state_key"):
        assert getattr(before.columns, name).tobytes() == getattr(after.columns, name).tobytes()
    assert len(between.columns.parents) in (len(before.columns.parents), len(before.columns.parents) + 1)
    assert (before.overridden, after.overridden) == ("", "")
    assert (before.override_watermark, after.override_watermark - between.override_watermark) == (0, 1)
    assert between.overridden
    assert [(note.code, note.trajectory) for note in between.notes] == [("override", "linked")]


def test_a_filter_and_ids_read_the_same_however_many_there_are(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    say(filled, "remove", 2, 3)
    with filled.read() as conn:
        few = batches.load(conn, PROJECT, Filters())
        monkeypatch.setattr(overrides, "FEW", 0)
        many = batches.load(conn, PROJECT, Filters())
        by_id = batches.load(conn, PROJECT, few.ids)
    for other in (many, by_id):
        np.testing.assert_array_equal(few.columns.parents, other.columns.parents)
        assert few.overridden == other.overridden
    with filled.read() as conn:
        unedited = batches.load(conn, PROJECT, Filters(), Edits(0))
    wanted = columns_with_overrides(unedited.columns, {0: [Override(2, 3, 0.0)]})
    np.testing.assert_array_equal(few.columns.parents, wanted.parents)


def test_runs_are_stale_with_the_edge_as_the_reason_and_see_what_they_saw(filled: Store) -> None:
    old, apart = scored(filled), scored(filled, "ext:apart")
    derived = in_force(filled)
    say(filled, "remove", 2, 3)
    new = scored(filled)
    say(filled, "withdraw", 2, 3)
    with filled.read() as conn:
        found = {name: runs.find(conn, PROJECT, name) for name in (old, new, apart)}
        graphs = {
            name: documents.graph(conn, PROJECT, "ext:linked", run_inputs.edits_seen(one))
            for name, one in found.items()
        }
        seen = run_inputs.seen(conn, found[old], ["ext:linked"]).columns
    assert found[old].stale == "the edge s2 -> s3 of linked was removed"
    assert found[apart].stale is None
    assert edges(graphs[old]) == derived
    np.testing.assert_array_equal(seen.parents, columns_of([graphs[old]]).parents)


def test_a_run_remembers_the_overrides_it_could_see(filled: Store) -> None:
    say(filled, "remove", 2, 3)
    run_id = scored(filled)
    with filled.write() as conn:
        found = runs.find(conn, PROJECT, run_id)
        assert found.override_watermark == 0, "this way of scoring says nothing of overrides"
        assert found.stale == "an edge was edited while it was at work"
        made = runs.create(conn, PROJECT, found.asked)
        runs.start(conn, made.id)
        told = runs.read_inputs(conn, made.id, 3, 0, None, overrides.watermark(conn, PROJECT), "1+abc")
        assert told is not None
        assert (told.override_watermark, told.asked.edge_version) == (1, "1+abc")
        run_numbers.requeue(conn)
        assert runs.find(conn, PROJECT, made.id).override_watermark is None


def test_the_same_said_again_is_one_row_and_makes_nothing_stale(filled: Store) -> None:
    assert say(filled, "remove", 2, 3) == 1
    name = scored(filled, "ext:other")
    assert say(filled, "remove", 2, 3) == 0
    assert say(filled, "remove", 2, 3, reason="looked again") == 1
    with filled.read() as conn:
        assert conn.scalar(select(func.count()).select_from(table)) == 2
        assert runs.find(conn, PROJECT, name).stale is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (Change(3, 2, "add", "x", "Ann"), "edge s3 -> s2: the parent must be an earlier span"),
        (Change(0, 4, "add", "x", "Ann"), "no child s4; the trajectory has spans s0 to s3"),
        (Change(0, 1, "add", " ", "Ann"), "reason: say why"),
        (Change(0, 1, "add", "x", ""), "person: say who"),
        (Change(1, 3, "remove", "x", "Ann"), "no edge s1 -> s3 was derived or logged"),
        (Change(2, 3, "withdraw", "x", "Ann"), "no override of s2 -> s3 is in force"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_of_it_is_kept(filled: Store, change: Change, said: str) -> None:
    name = scored(filled)
    with pytest.raises(InputError, match=said), filled.write() as conn:
        overrides.append(
            conn, PROJECT, "ext:linked", [Change(2, 3, "remove", "x", "Ann"), change][change.parent == 2 :]
        )
    with filled.read() as conn:
        assert overrides.history(conn, PROJECT, "ext:linked") == []
        assert runs.find(conn, PROJECT, name).stale is None
        with pytest.raises(NotFoundError):
            overrides.history(conn, PROJECT, "ext:nobody")


def test_what_is_proposed_is_in_force_for_the_asker_alone(filled: Store) -> None:
    say(filled, "remove", 2, 3)
    with filled.read() as conn:
        ours = batches.load(conn, PROJECT, ["ext:linked"]).ids[0]
    proposed = Edits(proposed={ours: [Change(2, 3, "withdraw", "x", "y"), Change(0, 1, "add", "x", "y")]})
    assert in_force(filled, edits=proposed) == {**in_force(filled, edits=None), (0, 1): "override"}
    with filled.read() as conn:
        assert len(overrides.history(conn, PROJECT, "ext:linked")) == 1
        with pytest.raises(InputError, match="nothing to remove"):
            batches.load(conn, PROJECT, [ours], Edits(proposed={ours: [Change(1, 3, "remove", "x", "y")]}))


def test_lists_find_trajectories_whose_edges_are_edited(filled: Store) -> None:
    say(filled, "remove", 2, 3)
    say(filled, "add", 0, 1, ref="ext:other")
    say(filled, "withdraw", 0, 1, ref="ext:other")
    with filled.read() as conn:
        everyone = [one.id for one in pages.page(conn, PROJECT).trajectories]
        names = {
            flag: [one.external_id for one in pages.page(conn, PROJECT, Filters(has_override=flag)).trajectories]
            for flag in (True, False)
        }
        counts = overridden.counts(conn, everyone)
    assert (names[True], sorted(names[False])) == (["linked"], ["apart", "other"])
    assert sorted(counts.values()) == [1]


def test_deleting_or_replacing_a_trajectory_takes_what_was_said_of_it_along(filled: Store) -> None:
    say(filled, "remove", 2, 3)
    say(filled, "add", 0, 1, ref="ext:other")
    put(filled, run("ucra", 0.5, name="linked"), replace=True)
    with filled.write() as conn:
        trajectories.delete(conn, PROJECT, "ext:other")
        assert conn.scalar(select(func.count()).select_from(table)) == 0


def test_the_hash_tells_what_is_in_force_and_not_how_it_came_to_be() -> None:
    one, two = {0: [Override(0, 1, 1.0, "a")]}, {0: [Override(0, 1, 1.0, "b")]}
    assert overrides.digest(["x"], one) == overrides.digest(["x"], two)
    assert len({overrides.digest(["x"], found) for found in (one, {}, {0: [Override(0, 1, 0.0)]})}) == 3
    assert overrides.digest(["x"], one) != overrides.digest(["y"], one)


def test_a_graph_of_overrides_is_the_graph_with_them(filled: Store) -> None:
    say(filled, "remove", 2, 3, reason="not this one")
    say(filled, "add", 0, 3, reason="the user named it")
    with filled.read() as conn:
        derived = documents.graph(conn, PROJECT, "ext:linked", None)
        found = documents.graph(conn, PROJECT, "ext:linked")
    wanted = with_overrides(derived, [Override(2, 3, 0.0), Override(0, 3, 1.0, "the user named it (Ann)")])
    assert [found.evidence(e).why for e, _, _ in found.edges()] == [
        wanted.evidence(e).why for e, _, _ in wanted.edges()
    ]
