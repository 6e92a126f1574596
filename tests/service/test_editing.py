"""Edges as people edit them: shown beside what was derived, read by runs, carried by the canonical line."""

from __future__ import annotations

import json

import pytest

from tests.build import run
from tests.service.pools import pool
from tests.service.scenes import PROJECT, ran
from tests.service.uploads import log
from tests.store.shelf import put
from trajcredit.errors import InputError, NotFoundError
from trajcredit.model import decode
from trajcredit.service import crediting, editing, evidence, looking, rescoring
from trajcredit.service.editing import Action, Change
from trajcredit.service.ingesting import Log, ingest
from trajcredit.service.reasons import why
from trajcredit.store import Store, documents

FAILED = run("ucrcra", 0.0, name="bad", edges=[(2, 3), (4, 5)])
"""Its first call leads to the answer by way of the second."""
BAD = "ext:bad"


@pytest.fixture
def filled(store: Store) -> Store:
    put(store, FAILED, run("ucra", 1.0, name="good", edges=[(2, 3)]))
    return store


def change(action: Action, parent: int, child: int) -> Change:
    return Change(parent, child, action, "seen", "Ann")


def credit(store: Store, name: str) -> list[float | None]:
    return list(crediting.credits(store, PROJECT, BAD, name).credit)


def test_an_edit_stands_beside_what_was_derived(filled: Store) -> None:
    editing.edit(filled, PROJECT, BAD, [change("remove", 2, 3), change("add", 0, 3)])
    found = editing.edits(filled, PROJECT, BAD)
    assert [(one.saying.action, one.saying.parent, one.saying.child) for one in found.in_force] == [
        ("add", 0, 3),
        ("remove", 2, 3),
    ]
    added, removed = found.in_force
    assert removed.derived is not None
    assert (removed.derived.kind, removed.derived.why) == ("explicit", "the log says so")
    assert added.derived is None or added.derived.kind != "override"
    shown = evidence.edges_of(filled, PROJECT, BAD, 3)
    assert [(edge.parent, edge.kind, edge.why) for edge in shown.fed_by if edge.kind == "override"] == [
        (0, "override", "a person says so: seen (Ann)")
    ]
    assert 2 not in [edge.parent for edge in shown.fed_by]
    after = editing.withdraw(filled, PROJECT, BAD, 2, 3, "was right", "Ben")
    assert [one.saying.parent for one in after.in_force] == [0]
    assert [(one.action, one.person) for one in after.history] == [
        ("remove", "Ann"),
        ("add", "Ann"),
        ("withdraw", "Ben"),
    ]
    with pytest.raises(NotFoundError):
        editing.edits(filled, PROJECT, "ext:nobody")


def test_all_changes_are_made_or_none(filled: Store) -> None:
    with pytest.raises(InputError, match="nothing to remove"):
        editing.edit(filled, PROJECT, BAD, [change("add", 0, 3), change("remove", 1, 5)])
    assert editing.edits(filled, PROJECT, BAD).history == ()


def test_runs_read_what_is_in_force_and_old_ones_are_explained_by_what_they_saw(filled: Store) -> None:
    old = ran(filled, "dag")
    before = credit(filled, old.id)
    editing.edit(filled, PROJECT, BAD, [change("remove", 2, 3)])
    new = ran(filled, "dag")
    assert credit(filled, old.id) == before
    assert before[1] == -0.5
    assert credit(filled, new.id) == [None, 0.0, *before[2:]]
    assert new.edge_version.startswith(f"{old.edge_version}+")
    assert [note.trajectory for note in new.notes if note.code == "override"] == ["bad"]
    assert [step.child for step in why(filled, PROJECT, BAD, old.id, 1).path] == [2, 3, 4, 5]
    assert why(filled, PROJECT, BAD, new.id, 1).path == ()
    assert crediting.credits(filled, PROJECT, BAD, old.id).stale
    editing.withdraw(filled, PROJECT, BAD, 2, 3, "was right", "Ben")
    again = ran(filled, "dag")
    assert (credit(filled, again.id), again.edge_version) == (before, old.edge_version)


def test_a_preview_says_what_the_run_after_the_edit_says(filled: Store) -> None:
    old = ran(filled, "dag")
    changes = [change("remove", 2, 3), change("add", 1, 5)]
    found = rescoring.preview(filled, PROJECT, BAD, old.id, changes)
    alone = rescoring.preview(filled, PROJECT, BAD, old.id, changes[:1])
    assert editing.edits(filled, PROJECT, BAD).history == ()
    assert (found.run, found.label, found.n_trajectories) == (old.id, "dag", 2)
    assert list(found.before.credit) == credit(filled, old.id)
    assert (found.changed, found.others_changed, alone.changed, found.scale) == (0, 0, 1, 0.5)
    editing.edit(filled, PROJECT, BAD, changes[:1])
    new = crediting.credits(filled, PROJECT, BAD, ran(filled, "dag").id)
    assert (alone.after.credit, alone.after.advantage) == (new.credit, new.advantage)


def test_a_preview_of_a_stale_run_says_so(filled: Store) -> None:
    old = ran(filled, "dag")
    editing.edit(filled, PROJECT, BAD, [change("remove", 2, 3)])
    found = rescoring.preview(filled, PROJECT, BAD, old.id, [])
    assert found.changed == 1, "the edges as they are now"
    assert found.notes[0].code == "stale"
    assert "the edge s2 -> s3 of bad was removed" in found.notes[0].message
    none = rescoring.preview(filled, PROJECT, BAD, old.id, [change("withdraw", 2, 3)])
    assert (none.changed, none.before) == (0, none.after)


def test_a_preview_asks_no_critic_anew_and_says_so(store: Store) -> None:
    ingest(store, PROJECT, [log(*(json.dumps(row) for row in pool()))])
    made = ran(store, "doubly_robust", w=0.5)
    graph = evidence.edge_columns(store, PROJECT, "ext:g0r0")
    parent, child = graph.parent[0], graph.child[0]
    found = rescoring.preview(store, PROJECT, "ext:g0r0", made.id, [change("remove", parent, child)])
    assert found.notes[0].code == "critic"
    assert "was not asked anew" in found.notes[0].message
    assert found.before == found.after


def test_what_a_run_cannot_say_is_refused(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    made = ran(filled, "dag")
    put(filled, run("ua", 1.0, name="late"))
    with pytest.raises(InputError, match="it did not read this trajectory"):
        rescoring.preview(filled, PROJECT, "ext:late", made.id, [])
    with pytest.raises(InputError, match="nothing to remove"):
        rescoring.preview(filled, PROJECT, BAD, made.id, [change("remove", 1, 5)])
    with pytest.raises(NotFoundError):
        rescoring.preview(filled, PROJECT, BAD, "shapley", [])
    with pytest.raises(InputError, match="at most 100"):
        rescoring.preview(filled, PROJECT, BAD, made.id, [change("add", 0, 1)] * 101)
    monkeypatch.setattr(rescoring, "MOST_SPANS", 9)
    with pytest.raises(InputError, match="10 spans would be scored for this, more than 9: save the change"):
        rescoring.preview(filled, PROJECT, BAD, made.id, [])


def test_the_canonical_line_carries_what_is_in_force_and_is_read_as_the_same_graph(filled: Store) -> None:
    editing.edit(filled, PROJECT, BAD, [change("remove", 2, 3), change("add", 0, 3), change("add", 4, 5)])
    editing.withdraw(filled, PROJECT, BAD, 4, 5, "no need", "Ann")
    line = looking.raw_line(filled, PROJECT, BAD)
    assert b'"kind":"override","weight":0.0,"evidence":"seen (Ann)"' in line
    made = ingest(filled, "other", [Log(line, "bad.jsonl", None)])
    assert (made.created, made.rejected) == (1, 0)
    assert evidence.edge_columns(filled, "other", BAD) == evidence.edge_columns(filled, PROJECT, BAD)
    for span in range(len(FAILED.spans)):
        theirs, ours = (evidence.edges_of(filled, project, BAD, span) for project in ("other", PROJECT))
        assert theirs == ours
    said = editing.edits(filled, "other", BAD)
    assert [(one.saying.action, one.saying.person, one.saying.number) for one in said.in_force] == [
        ("add", None, None),
        ("remove", None, None),
    ]
    assert said.history == ()
    assert decode(looking.raw_line(filled, "other", BAD)).edges == decode(line).edges


def test_what_the_log_says_of_edges_is_overruled_here(filled: Store) -> None:
    editing.edit(filled, PROJECT, BAD, [change("remove", 2, 3)])
    ingest(filled, "other", [Log(looking.raw_line(filled, PROJECT, BAD), "bad.jsonl", None)])
    found = editing.edit(filled, "other", BAD, [change("add", 2, 3)])
    assert [(one.saying.action, one.saying.person) for one in found.in_force] == [("add", "Ann")]
    with filled.read() as conn:
        graph = documents.graph(conn, "other", BAD)
    assert (2, 3) in {(parent, child) for _, parent, child in graph.edges()}
    again = looking.raw_line(filled, "other", BAD)
    assert again.count(b'"kind":"override"') == 1
