"""Notes: counted by stage and code, one example each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.build import batch_of, run
from trajcredit.batching import pack
from trajcredit.exporters import Credit
from trajcredit.model import Note, Trajectory
from trajcredit.service.notes import count_notes, of_batch, of_credit, of_reading


def test_notes_of_one_code_become_one_line_with_the_first_as_example() -> None:
    notes = tuple(Note(code="zero-variance", message="all rewards equal", group=name) for name in ("g1", "g2"))
    credit = Credit(batch_of(), "grpo", {}, np.zeros(0), np.zeros(0), notes)
    [count] = count_notes(of_credit(credit))
    assert str(count) == "grpo: 2 groups: all rewards equal (zero-variance), e.g. group g1"


def test_one_is_counted_in_the_singular() -> None:
    [count] = count_notes(of_batch(batch_of(run("u", name="silent"))))
    assert str(count) == "batch: 1 trajectory: no action in the log: nothing can get credit (no-action), e.g. silent"


def test_what_a_graph_guessed_is_told_once_and_as_its_own() -> None:
    guess = Note("common-values", "too common")
    batch = batch_of(run("a", 1.0, name="t"))
    assert batch.graphs is not None
    [graph] = batch.graphs
    packed = pack([replace(graph, notes=(guess,))])
    assert [str(count) for count in count_notes(of_batch(packed))] == [
        "graph: 1 trajectory: too common (common-values), e.g. t"
    ]


def test_what_a_reader_reported_names_its_trajectory_and_span() -> None:
    report = [Note(code="unpaired", message="no call of that id", span=3)]
    [count] = count_notes(of_reading([Trajectory(id="t", spans=[], report=report)] * 1200))
    assert str(count) == "read: 1,200 spans: no call of that id (unpaired), e.g. t span 3"


def test_the_same_code_of_two_stages_stays_apart() -> None:
    note = Note(code="x", message="m", trajectory="t")
    scored = [Credit(batch_of(), name, {}, np.zeros(0), np.zeros(0), (note,)) for name in ("grpo", "dag")]
    counts = count_notes(entry for credit in scored for entry in of_credit(credit))
    assert [count.stage for count in counts] == ["grpo", "dag"]
