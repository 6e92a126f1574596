"""Stored runs graded on labels: by hand, and the same numbers from every door."""

from __future__ import annotations

import json
from math import isnan, sqrt
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.api.speaking import Api
from tests.build import run
from tests.service.credits import credited
from tests.service.scenes import ran
from tests.store.shelf import PROJECT, put
from trajcredit.cli.root import root
from trajcredit.errors import InputError
from trajcredit.service import editing, labelling
from trajcredit.service.demo import bundled
from trajcredit.service.editing import Change
from trajcredit.service.grading_hits import wilson
from trajcredit.service.grading_labels import read_labels
from trajcredit.service.ingesting import Log, ingest
from trajcredit.service.labelling_agreement import cohen, kappa
from trajcredit.service.labelling_grades import Grades, Interval, grades
from trajcredit.store import Store, open_store


def label(store: Store, name: str, span: int, verdict: str | None, labeller: str = "ann", **more: Any) -> None:
    row = {"trajectory_id": f"ext:{name}", "span_index": span, "verdict": verdict, "labeller": labeller, **more}
    assert labelling.give(store, PROJECT, json.dumps(row).encode()).given == 1


# ---------------------------------------------------------------- by hand


@pytest.mark.parametrize(
    ("share", "n", "low", "high"),
    [
        pytest.param(1.0, 1, 1 / (1 + 3.8414588), 1.0, id="one hit of one is not certainty"),
        pytest.param(0.0, 10, 0.0, 0.2775328, id="none of ten"),
        pytest.param(0.5, 10, 0.2365931, 0.7634069, id="half of ten"),
        pytest.param(81 / 263, 263, 0.2553, 0.3662, id="Newcombe 1998, table I"),
        pytest.param(15 / 148, 148, 0.0624, 0.1605, id="the same table, a smaller share"),
    ],
)
def test_wilson_by_hand(share: float, n: int, low: float, high: float) -> None:
    assert wilson(share, n) == pytest.approx((low, high), abs=1e-4)


def test_wilson_solves_the_equation_it_comes_from() -> None:
    for share, n in ((0.3, 7), (0.9, 40), (1 / 3, 2)):
        for end in wilson(share, n):
            assert abs(share - end) == pytest.approx(1.959963984540054 * sqrt(end * (1 - end) / n))
    assert all(isnan(end) for end in wilson(0.5, 0))


@pytest.mark.parametrize(
    ("pairs", "value"),
    [
        pytest.param(["cc"] * 20 + ["ci"] * 5 + ["ic"] * 10 + ["ii"] * 15, 0.4, id="0.7 seen, 0.5 by chance"),
        pytest.param(["cc", "ii"], 1.0, id="all alike"),
        pytest.param(["ci", "ic"], -1.0, id="always the other"),
        pytest.param(["cc", "cc"], None, id="no room for chance"),
        pytest.param(["cc", "ci"], 0.0, id="one of them says the same of all"),
    ],
)
def test_kappa_by_hand(pairs: list[str], value: float | None) -> None:
    found = cohen([(pair[0], pair[1]) for pair in pairs])
    assert found == (None if value is None else pytest.approx(value))


def test_kappa_is_of_the_two_who_share_most() -> None:
    said = [(span, who, "c") for span in range(3) for who in ("ann", "bob")] + [(0, "cid", "i"), (1, "ann", "i")]
    found = kappa(said)
    assert found is not None
    assert (found.labellers, found.n) == (("ann", "bob"), 3)
    assert found.value == pytest.approx(0.0)
    assert kappa([(0, "ann", "c"), (1, "bob", "c")]) is None


def test_kappa_of_a_crowd_looks_at_those_who_labelled_most() -> None:
    """Pairs of all would be 200 million, each with a list of its own."""
    crowd = [(0, f"p{i}", "culprit") for i in range(20_000)]
    found = kappa(
        [*crowd, (1, "zoe", "culprit"), (2, "zoe", "culprit"), (1, "yan", "innocent"), (2, "yan", "innocent")]
    )
    assert found is not None
    assert (found.labellers, found.n) == (("yan", "zoe"), 2)


@pytest.fixture
def three(store: Store) -> Store:
    """Three rollouts of four calls, the second call the culprit, and a run that blames it most once."""
    put(store, *(run("ucrcrcrcr", 0.0, name=name) for name in "abc"))
    for name in "abc":
        label(store, name, 3, "culprit", blind=name != "a", queue="random" if name == "c" else None)
    return store


def of(found: Grades, name: str) -> list[float]:
    [own] = [one for one in found.runs if one.label == name]
    return [own.graded, own.hit_at_1.value, own.hit_at_3.value, own.mrr.value]


def test_hits_and_ranks_with_ties_by_hand(three: Store) -> None:
    credited(three, "sure", {"a": [0, -1, 0, 0], "b": [-2, -1, 0, 0], "c": [0, 0, 0, 0]})
    found = grades(three, PROJECT)
    ranks = (1 + 1 / 2 + (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4) / 3
    assert of(found, "sure") == pytest.approx([3, (1 + 0 + 1 / 4) / 3, (1 + 1 + 3 / 4) / 3, ranks])
    [own] = found.runs
    assert (own.hit_at_1.low, own.hit_at_1.high) == wilson(own.hit_at_1.value, 3)
    assert own.mrr.low <= own.mrr.value <= own.mrr.high
    assert own.mrr.low == pytest.approx(1 / 2), "the worst of three drawn three times"
    assert own.mrr.high == pytest.approx(1)
    assert (found.labelled, found.labels, found.blind) == (3, 3, 2)
    assert grades(three, PROJECT) == found


def test_what_a_run_did_not_read_does_not_count_for_it_and_a_missing_number_ranks_last(three: Store) -> None:
    nan = float("nan")
    credited(three, "some", {"a": [0, -1, 0, 0]})
    credited(three, "gaps", {"a": [-1, nan, 0, 0], "b": [nan] * 4, "c": [-3, -4, 0, 0]})
    found = grades(three, PROJECT)
    assert of(found, "some") == [1, 1, 1, 1]
    assert of(found, "gaps") == pytest.approx([3, 1 / 3, 1 / 3, (1 / 4 + 0 + 1) / 3])
    alone = next(one for one in found.runs if one.label == "some").mrr
    assert (alone.value, isnan(alone.low), isnan(alone.high)) == (1, True, True), "one says nothing of others"


def test_a_stale_run_is_graded_and_says_so(three: Store) -> None:
    credited(three, "old", {"a": [0, -1, 0, 0]})
    editing.edit(three, PROJECT, "ext:a", [Change(1, 5, "add", "it shows", "Ann")])
    credited(three, "new", {"b": [0, -1, 0, 0]})
    assert [(one.label, one.stale, one.stale_reason) for one in grades(three, PROJECT).runs] == [
        ("new", False, None),
        ("old", True, "the edge s1 -> s5 of a was added"),
    ]


def test_parts_of_the_labels_count_alone(three: Store) -> None:
    credited(three, "sure", {"a": [0, -1, 0, 0], "b": [-2, -1, 0, 0], "c": [0, 0, 0, 0]})
    blind, random = grades(three, PROJECT, "blind"), grades(three, PROJECT, "random")
    assert of(blind, "sure")[:2] == pytest.approx([2, (0 + 1 / 4) / 2])
    assert of(random, "sure")[:2] == [1, 1 / 4]
    assert (random.labelled, random.blind) == (1, 1)
    with pytest.raises(InputError, match="no part 'best'"):
        grades(three, PROJECT, "best")  # type: ignore[arg-type]


def test_of_one_label_the_newest_run_is_graded_and_of_one_trajectory_every_run(three: Store) -> None:
    old = credited(three, "sure", {"a": [-1, 0, 0, 0]})
    new = credited(three, "sure", {"a": [0, -1, 0, 0], "b": [0, -1, 0, 0]})
    assert [one.run for one in grades(three, PROJECT).runs] == [new]
    alone = grades(three, PROJECT, trajectory="ext:a")
    assert [(one.run, one.hit_at_1.value) for one in alone.runs] == [(new, 1.0), (old, 0.0)]
    assert [one.run for one in grades(three, PROJECT, trajectory="ext:b").runs] == [new]
    assert (alone.labelled, alone.kappa) == (1, None)


def test_two_people_who_differ_are_told_and_the_newest_grades(three: Store) -> None:
    credited(three, "sure", {"a": [0, -1, 0, 0], "b": [0, -1, 0, 0], "c": [0, -1, 0, 0]})
    label(three, "a", 3, "innocent", "bob")
    found = grades(three, PROJECT)
    assert of(found, "sure")[0] == 2
    assert found.remarks == ("1 label overruled by a newer one of the same span that says otherwise",)
    assert found.kappa is not None
    assert (found.kappa.value, found.kappa.n, found.kappa.labellers) == (0.0, 1, ("ann", "bob"))


def test_without_labels_or_culprits_nothing_is_graded(store: Store) -> None:
    assert grades(store, PROJECT) == Grades(0, 0, 0, (), None, ())
    put(store, run("ucrcr", 0.0, name="a"))
    credited(store, "sure", {"a": [0, -1]})
    label(store, "a", 1, "unsure")
    found = grades(store, PROJECT)
    assert found.runs[0].graded == 0
    assert isnan(found.runs[0].hit_at_1.value)
    assert found.remarks == ("1 trajectory with verdicts, but no culprit and no innocent span to grade on",)


# ---------------------------------------------------------------- the same from every door


def invoked(*arguments: str) -> str:
    result = CliRunner().invoke(root, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_api_the_command_line_and_exported_rows_give_the_same_numbers(tmp_path: Path) -> None:
    """And so does `eval` on the logs themselves, whose attributors score anew."""
    flights = bundled("wrong_flight.jsonl")
    db = str(tmp_path / "store.db")
    with open_store(db) as store:
        ingest(store, PROJECT, [Log(flights.read_bytes(), "wrong_flight.jsonl")])
        for name in ("grpo", "dag", "shapley"):
            ran(store, name)
        for flight, span in (("flight-1", 2), ("flight-3", 4)):
            label(store, flight, span, "culprit", blind=True)
            label(store, flight, 2 if span == 4 else 4, "innocent", "bob")
        api = Api(store)
        asked = api.get("/labels/grades")
        rows = tmp_path / "labels.jsonl"
        rows.write_bytes(api.send("GET", "/labels/export").content)
        read = grades(store, PROJECT, given=read_labels(rows))
    assert json.loads(invoked("eval", "--stored", "--db", db, "--json")) == asked
    assert json.loads(invoked("eval", "--stored", "--db", db, "--labels", str(rows), "--json")) == asked
    assert read.runs[0].hit_at_1 == Interval(**asked["runs"][0]["hit_at_1"])
    names = [one["label"] for one in asked["runs"]]
    assert sorted(names) == ["dag", "grpo", "shapley"]
    choices = [part for name in names for part in ("-a", name)]
    [table] = json.loads(invoked("eval", str(flights), "--labels", str(rows), *choices, "--json", "--draws", "9"))[
        "tables"
    ]
    for one in asked["runs"]:
        figures = table["figures"][one["label"]]
        assert one["graded"] == figures["acc@1"]["n"] == 2
        for ours, theirs in (("hit_at_1", "acc@1"), ("hit_at_3", "acc@3"), ("mrr", "mrr")):
            assert one[ours]["value"] == pytest.approx(figures[theirs]["value"], abs=1e-12)


def test_the_table_has_a_row_a_run_and_says_what_it_rests_on(tmp_path: Path) -> None:
    db = str(tmp_path / "store.db")
    with open_store(db) as store:
        put(store, run("ucrcr", 0.0, name="a"), run("ucrcr", 0.0, name="b"))
        credited(store, "sure", {"a": [0, -1], "b": [-1, 0]})
        for name in "ab":
            label(store, name, 3, "culprit", blind=True)
        label(store, "a", 3, "innocent", "bob")
    lines = invoked("eval", "--stored", "--db", db).splitlines()
    assert lines[0] == "3 labels, 2 of them blind, on 2 trajectories; 95 % intervals"
    assert lines[1].split() == ["run", "graded", "hit@1", "hit@3", "mrr"]
    assert lines[2].split()[:4] == ["sure", "#1", "1", "0.000"]
    assert lines[3] == "Cohen's kappa of ann and bob over 1 span: 0.000"
    assert lines[-1] == "no labels from the random queue yet"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        pytest.param(["--stored", "-a", "dag"], "this reads what is stored", id="an attributor"),
        pytest.param(["--stored", "log.jsonl"], "this reads what is stored", id="a log"),
        pytest.param(["log.jsonl"], "expected PATH... and --labels FILE; or --stored", id="no labels"),
        pytest.param(["log.jsonl", "--labels", "l", "--part", "blind"], "--stored reads a database", id="a part"),
        pytest.param(["--stored", "--db", "none.db"], "there is no database at none.db", id="no database"),
    ],
)
def test_what_does_not_go_together_is_refused(arguments: list[str], why: str) -> None:
    result = CliRunner().invoke(root, ["eval", *arguments])
    assert result.exit_code == 2
    assert why in result.stderr


def test_a_database_without_labels_says_how_to_give_them(tmp_path: Path) -> None:
    db = str(tmp_path / "store.db")
    open_store(db).close()
    result = CliRunner().invoke(root, ["eval", "--stored", "--db", db])
    assert result.exit_code == 2
    assert "project 'default' has no labels: `trajcredit label FILE`" in result.stderr


def test_labels_are_read_from_a_file_and_written_out(tmp_path: Path) -> None:
    db, file = str(tmp_path / "store.db"), tmp_path / "labels.jsonl"
    with open_store(db) as store:
        put(store, run("ucrcr", 0.0, name="a"))
    row = {
        "schema": "trajcredit.label/1",
        "trajectory_id": "a",
        "span_index": 1,
        "verdict": "culprit",
        "labeller": "ann",
    }
    file.write_text(json.dumps(row) + "\n" + json.dumps({**row, "span_index": 0}) + "\n")
    result = CliRunner().invoke(root, ["label", str(file), "--db", db])
    assert result.exit_code == 1
    assert f"error: {file}:2: span 0 is an observation" in result.stderr
    assert result.stderr.splitlines()[-1] == "1 given, 0 known already, 1 rejected"
    [out] = invoked("label", "--export", "--db", db).splitlines()
    assert json.loads(out).items() >= row.items()
    assert CliRunner().invoke(root, ["label", "--db", db]).exit_code == 2
