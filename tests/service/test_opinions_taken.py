"""Opinions that were written elsewhere, kept as judgings, and held against each other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.service.test_judging_jobs import ROLLOUTS, asked, earned, told, worked
from tests.service.uploads import PROJECT, rollout, scored, send
from trajcredit.errors import InputError
from trajcredit.judges.file import load
from trajcredit.service import taking_opinions, trusting_stored
from trajcredit.store import Store, documents, ids


def test_what_was_written_elsewhere_is_taken_row_by_row(store: Store) -> None:
    send(store, *ROLLOUTS)
    judging = asked(store)
    worked(store)
    rows = told(store, judging)
    rows[1]["segments"][0]["actions"] = [0]
    rows[1].pop("digest")
    rows[2]["digest"] = "0" * 32
    rows[3]["trajectory_id"] = "elsewhere"
    unknown = json.dumps({**rows[4], "trajectory_id": "nowhere", "socre": 1})
    lines = [json.dumps(row) for row in rows] + ["{", unknown]
    taken = taking_opinions.take(store, PROJECT, "\n".join(lines).encode())
    assert (taken.kept, taken.rejected) == (3, 5)
    reasons = [(one.line, one.reason) for one in taken.items if one.status == "rejected"]
    for (line, why), (expected, said) in zip(
        reasons,
        [(2, "span"), (3, "changed"), (4, "no such trajectory"), (7, "expected a row"), (8, "socre")],
        strict=True,
    ):
        assert line == expected
        assert said in str(why)
    assert taken.judging is not None
    assert (taken.judging.judge, taken.judging.label, taken.judging.state) == ("file", "file:rules", "done")
    run = scored(store, f"judge:judge={taken.judging.id}")
    assert earned(store, run.id)["t0"] == earned(store, scored(store, "judge").id)["t0"]
    assert earned(store, run.id)["t2"] == [None, None]
    none = taking_opinions.take(store, PROJECT, b"{}\n")
    assert (none.judging, none.rejected) == (None, 1)
    mixed = json.dumps({**rows[0], "judge": "x"})
    with pytest.raises(InputError, match="several judges"):
        taking_opinions.take(store, PROJECT, f"{lines[0]}\n{mixed}".encode())
    assert [row["trajectory_id"] for row in told(store, taken.judging.id)] == ["t0", "t4", "t5"]


def test_of_two_opinions_on_one_trajectory_none_is_taken_as_in_a_file(store: Store, tmp_path: Path) -> None:
    """One that is missing gives way; of two nothing says which one is meant."""
    send(store, *ROLLOUTS)
    judging = asked(store)
    worked(store)
    rows = told(store, judging)
    rows[0].pop("digest")
    lost = {**rows[0], "segments": [], "missing": "it was away"}
    rows = [lost, {**rows[0], "model": "a"}, rows[1], {**rows[1], "start": 0.5}, {**lost, "trajectory_id": "t2"}]
    rows.append({**rows[-1], "missing": "still away"})
    text = "\n".join(json.dumps(row) for row in rows)
    taken = taking_opinions.take(store, PROJECT, text.encode())
    assert [one.reason for one in taken.items] == [
        "it gives way to the opinion in line 2",
        None,
        "there are 2 opinions of it, in lines 3, 4; expected one",
        "there are 2 opinions of it, in lines 3, 4; expected one",
        "it gives way to the opinion in line 6",
        None,
    ]
    assert taken.judging is not None
    assert (taken.judging.model, taken.judging.missing) == (None, 1)
    (tmp_path / "opinions.jsonl").write_text(text)
    found = load(tmp_path / "opinions.jsonl")
    with store.read() as conn:
        there = ids.known(conn, PROJECT, [ids.EXTERNAL + f"t{n}" for n in range(6)])
        graphs = documents.graphs(conn, PROJECT, [one.id for one in there.values()])
    said = {graph.trajectory.id: found.fit(graph) for graph in graphs}
    assert (said["t1"], said["t2"]) == ("there are two opinions of it", "still away")
    assert not isinstance(said["t0"], str)


def test_a_row_that_cannot_be_read_leaves_no_other_of_its_trajectory_standing(store: Store) -> None:
    send(store, *ROLLOUTS)
    judging = asked(store)
    worked(store)
    rows = told(store, judging)
    bad = {**rows[0], "start": 7}
    taken = taking_opinions.take(store, PROJECT, "\n".join(map(json.dumps, [bad, rows[0], rows[1]])).encode())
    assert [one.status for one in taken.items] == ["rejected", "rejected", "created"]
    assert taken.items[1].reason == "line 1 is about it too, and cannot be read"


def test_a_repeat_of_a_judging_is_of_the_same_judge(store: Store) -> None:
    send(store, *(rollout(f"t{n}", n % 2, group_id=f"g{n // 2}") for n in range(24)))
    first, second = asked(store), asked(store)
    worked(store)
    worked(store)
    found = trusting_stored.of_judging(store, PROJECT, first, repeat=second, draws=20)
    assert found.asked == 2
    assert [said for said in found.remarks if "the very same" in said]
    theirs = [{**row, "judge": "theirs"} for row in told(store, first)]
    other = taking_opinions.take(store, PROJECT, "\n".join(map(json.dumps, theirs)).encode()).judging
    assert other is not None
    for against, repeat, why in (
        (None, first, "is this judging itself"),
        (first, None, "is this judging itself"),
        (None, other.id, f"judge of {first} is 'rules', of {other.id} 'file:theirs'"),
    ):
        with pytest.raises(InputError, match=why):
            trusting_stored.of_judging(store, PROJECT, first, against, repeat)
