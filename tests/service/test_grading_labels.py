"""Files of labels: every form, every bad row named, labels about nothing that was read counted."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import trajcredit as tc
from tests.build import batch_of, run
from trajcredit.errors import InputError, ParseError
from trajcredit.service import plugins
from trajcredit.service.grading import grade, grade_advantages, read_labels
from trajcredit.service.grading_places import placed

OWN = {"schema": "trajcredit.label/1", "trajectory_id": "t0"}
CHAT = {
    "trajectory_id": "chat",
    "group_id": "g",
    "reward": 0,
    "messages": [
        {"role": "user", "content": "Two rooms"},
        {
            "role": "assistant",
            "content": "I book both.",
            "tool_calls": [
                {"id": "x", "type": "function", "function": {"name": "book", "arguments": '{"room": 1}'}},
                {"id": "y", "type": "function", "function": {"name": "book", "arguments": '{"room": 2}'}},
            ],
        },
        {"role": "tool", "tool_call_id": "x", "content": "done"},
        {"role": "tool", "tool_call_id": "y", "content": "done"},
        {"role": "assistant", "content": "Both are booked."},
    ],
}


def file(folder: Path, *rows: Any) -> Path:
    path = folder / "labels.jsonl"
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        pytest.param("{broken", "not JSON", id="torn"),
        pytest.param("[1]", "expected an object, not list", id="a list"),
        pytest.param({"id": 1}, "keys id: no label; expected schema 'trajcredit.label/1'", id="no form of ours"),
        pytest.param(
            {**OWN, "schema": "trajcredit.label/9"}, "schema 'trajcredit.label/9': no label", id="a new schema"
        ),
        pytest.param({**OWN, "verdict": "culprit"}, "names no span; expected `span_index`", id="no span"),
        pytest.param({**OWN, "span_index": 0}, "says nothing; expected a `verdict` (culprit,", id="no word"),
        pytest.param({**OWN, "span_index": 0, "verdict": "guilty"}, "Invalid enum value 'guilty'", id="a new verdict"),
        pytest.param({**OWN, "span_index": 0, "verdit": "culprit"}, "unknown field `verdit`", id="a typing error"),
        pytest.param({**OWN, "span_index": "0", "value": 1}, "Expected `int | null`, got `str`", id="a wrong type"),
        pytest.param(
            {**OWN, "span_index": 0, "value": 1, "at": "noon"}, "`at` is 'noon'; expected a time", id="no time"
        ),
        pytest.param(
            {"kind": "action", "trajectory_id": "t0", "message_index": 0, "tool_call_id": None},
            "missing required field `advantage_true`",
            id="an action without its advantage",
        ),
        pytest.param(
            {"trajectory_id": "t0", "group_id": "g", "candidates": [2, 4], "culprit_index": 3, "scored": True},
            "`culprit_index` 3 is none of the `candidates`",
            id="a culprit that is no candidate",
        ),
        pytest.param(
            {"trajectory_id": "t0", "group_id": "g", "candidates": [2, 2], "culprit_index": 2},
            "`candidates` names a message twice",
            id="a candidate twice",
        ),
    ],
)
def test_a_bad_row_is_named_with_its_line_and_the_others_count(tmp_path: Path, row: Any, reason: str) -> None:
    path = file(tmp_path, {**OWN, "span_index": 0, "verdict": "culprit"}, "", row)
    found = read_labels(path)
    assert len(found.spans) == 1
    [error] = found.errors
    assert str(error).startswith(f"{path}:3: ")
    assert reason in str(error)


def test_a_file_without_a_label_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no label in it; expected lines with schema"):
        read_labels(file(tmp_path))
    with pytest.raises(InputError, match=r"no label in it: .*labels.jsonl:1: not JSON"):
        read_labels(file(tmp_path, "{"))
    (tmp_path / "labels.jsonl").write_bytes(b"\xff\n")
    with pytest.raises(ParseError, match="not UTF-8 at byte 0"):
        read_labels(tmp_path / "labels.jsonl")
    with pytest.raises(ParseError, match=r"nowhere\.jsonl: cannot be read"):
        read_labels(tmp_path / "nowhere.jsonl")


def test_compressed_files_are_read(tmp_path: Path) -> None:
    path = file(tmp_path, {**OWN, "span_index": 0, "verdict": "culprit"})
    packed = tmp_path / "labels.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_labels(packed).spans == read_labels(path).spans


def chat(folder: Path) -> tc.Batch:
    log = folder / "chat.jsonl"
    log.write_text(json.dumps(CHAT) + "\n")
    return tc.batch(tc.read(log))


@pytest.mark.parametrize(
    ("message", "call", "spans"),
    [
        pytest.param(1, "x", (2, 1), id="a call first, then the words beside it"),
        pytest.param(1, "y", (3, 1), id="the other call"),
        pytest.param(1, None, (1,), id="the words"),
        pytest.param(4, None, (6,), id="a plain message"),
    ],
)
def test_message_and_call_name_a_span(tmp_path: Path, message: int, call: str | None, spans: tuple[int, ...]) -> None:
    row = {**OWN, "trajectory_id": "chat", "message_index": message, "tool_call_id": call, "value": 0.5}
    [truth] = placed(read_labels(file(tmp_path, row)), chat(tmp_path)).truths
    assert truth.places == spans


@pytest.mark.parametrize(
    ("place", "why"),
    [
        pytest.param({"trajectory_id": "nobody", "span_index": 0}, "no such trajectory was read", id="no trajectory"),
        pytest.param({"span_index": 7}, "span_index 7 is not one of its 7 spans", id="no span"),
        pytest.param({"span_index": 0}, "span_index 0 is an observation", id="an observation"),
        pytest.param({"message_index": 1, "tool_call_id": "z"}, "no call 'z' at message 1", id="no call"),
        pytest.param({"message_index": 2}, "message 2 has no text or reasoning of the agent", id="no text"),
    ],
)
def test_a_label_about_nothing_is_named_with_its_line(tmp_path: Path, place: dict[str, Any], why: str) -> None:
    batch, own = chat(tmp_path), {**OWN, "trajectory_id": "chat", "verdict": "culprit"}
    labels = read_labels(file(tmp_path, {**own, **place}, {**own, "span_index": 2}))
    found = grade(batch, plugins.choose(["grpo"]), labels, draws=2)
    [sentence] = found.unmatched
    assert sentence.startswith(f"{labels.file}:1: ")
    assert why in sentence
    with pytest.raises(InputError, match=r"none of its labels grades anything that was read, e\.g\. "):
        placed(read_labels(file(tmp_path, {**own, **place})), batch)


def test_a_call_id_that_comes_again_is_told_apart_by_its_message(tmp_path: Path) -> None:
    calls = [{"id": "x", "type": "function", "function": {"name": "book", "arguments": "{}"}}]
    once = [{"role": "assistant", "tool_calls": calls}, {"role": "tool", "tool_call_id": "x", "content": "done"}]
    log = tmp_path / "chat.jsonl"
    log.write_text(json.dumps({**CHAT, "messages": [*once, *once]}) + "\n")
    row = {**OWN, "trajectory_id": "chat", "tool_call_id": "x", "value": 1}
    at = [{**row, "message_index": m} for m in (0, 2, 3)]
    found = placed(read_labels(file(tmp_path, *at)), tc.batch(tc.read(log)))
    assert [truth.places for truth in found.truths] == [(0,), (2,)]
    assert "no call 'x' at message 3" in found.unmatched[0]


def test_both_forms_of_benches(tmp_path: Path) -> None:
    batch = chat(tmp_path)
    rows = [
        {"kind": "task", "group_id": "g", "binary": False, "grad": {}},
        {"kind": "trajectory", "trajectory_id": "chat", "group_id": "g", "family": "hotel", "reward": 0.2},
        {"kind": "trajectory", "trajectory_id": "other", "group_id": "g", "family": "hotel", "reward": 0.6},
        *(
            {"kind": "action", "trajectory_id": "chat", "message_index": m, "tool_call_id": c, "advantage_true": a}
            for m, c, a in ((1, "x", 0.1), (1, "y", -0.4), (4, None, 0.0))
        ),
        {"trajectory_id": "chat", "group_id": "g", "candidates": [1, 4], "culprit_index": 1, "span_truth": {"4": 1}},
    ]
    labels = read_labels(file(tmp_path, *rows))
    assert labels.errors == ()
    found = placed(labels, batch)
    assert found.failed == {"chat": True}, "0.2 is below the mean of its group, which was not all read"
    advantage = tc.attribute(batch, "rtg").advantage.copy()
    advantage[[1, 2, 3, 6]] = 0.0, 0.5, -0.5, -0.1
    culprits, truths = grade_advantages(batch, {"mine": advantage}, labels, draws=2)
    assert (culprits.labels, truths.labels) == ("culprits", "advantages")
    assert culprits.figures["mine"]["acc@1"].value == 1, "of a message the lowest number counts"
    assert truths.figures["mine"]["blame@1"].value == 1
    assert truths.figures["mine"]["blame@1"].n == 1


def test_runs_with_verdicts_that_grade_nothing_are_said(tmp_path: Path) -> None:
    batch = batch_of(run("c", 0.0), run("c", 1.0))
    rows = [{**OWN, "span_index": 0, "verdict": "unsure"}, {**OWN, "trajectory_id": "t1", "span_index": 0, "value": 1}]
    found = placed(read_labels(file(tmp_path, *rows)), batch)
    assert found.remarks == ("1 trajectory with verdicts, but no culprit and no innocent span to grade on",)
