"""Opinions as rows: written and read to the same columns; what does not fit is named and never applied."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.build import batch_of, run
from tests.judges.logs import call, log, result, said, user
from trajcredit.batching import Batch, Finding
from trajcredit.errors import InputError
from trajcredit.graph import build_graphs
from trajcredit.judges import Case, File, Means, Rules, Segment, Verdict, judge, load, opinion, segmented, with_verdicts
from trajcredit.judges.base import Basis, Scale
from trajcredit.judges.opinions import decoded, digest, encoded, fitted
from trajcredit.model import Reward, Trajectory

ASK = user("Which seat is free?")
BASIS = Basis("f" * 12, "big", "1")


def _bad(name: str) -> Trajectory:
    failed = result("no cabin of that name", error=True)
    return log(ASK, call("look", cabin="upper"), failed, said("All is well."), name=name)


RUNS = [_bad("a"), log(ASK, said("None."), name="b")]


def _written(path: Path, *runs: Trajectory, name: str = "rules") -> Path:
    cases = [Case(graph, segmented(graph, "action")) for graph in build_graphs(list(runs))]
    rows = [
        opinion(name, "state", BASIS, case, verdict)
        for case, verdict in zip(cases, Rules()(cases, Means()), strict=True)
    ]
    path.write_bytes(b"".join(encoded(row) + b"\n" for row in rows))
    return path


def _edit(path: Path, line: int = 0, **change: Any) -> None:
    rows = [json.loads(text) for text in path.read_text().splitlines()]
    rows[line] = {key: value for key, value in {**rows[line], **change}.items() if value is not ...}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _same(one: Batch, two: Batch) -> None:
    for name in ("scores", "score_start", "segment"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    assert one.findings == two.findings


def test_a_file_says_what_the_judge_says_to_the_bit(tmp_path: Path) -> None:
    batch = batch_of(*RUNS)
    found = load(_written(tmp_path / "o.jsonl", *RUNS))
    assert (found.judge, found.scale) == ("rules", "state")
    _same(found.on(batch), judge(batch, "rules"))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_verdict_comes_back_equal(data: st.DataObject) -> None:
    [graph] = build_graphs([run("uacrctarm", 1.0, name="x")])
    actions = [
        i for i, span in enumerate(graph.trajectory.spans) if span.kind in ("assistant", "reasoning", "tool_call")
    ]
    scale: Scale = data.draw(st.sampled_from(["state", "credit"]))
    low = 0.0 if scale == "state" else -1.0
    labels = data.draw(st.lists(st.integers(0, 3), min_size=len(actions), max_size=len(actions)))
    groups = [[a for a, k in zip(actions, labels, strict=True) if k == label] for label in range(4)]
    segments = sorted((Segment(tuple(g), tuple(g)) for g in groups if g), key=lambda s: s.actions[-1])
    score = st.none() | st.floats(low, 1.0)
    verdict = Verdict(
        tuple(data.draw(score) for _ in segments),
        data.draw(st.floats(0, 1)) if scale == "state" else 0.0,
        tuple(data.draw(st.text(max_size=5)) for _ in segments),
        (Finding(actions[0], "r", "why", 0.5),),
    )
    case = Case(graph, tuple(segments))
    row = opinion("mine", scale, BASIS, case, verdict)
    back = fitted(decoded(encoded(row)), graph)
    assert not isinstance(back, str)
    one, two = (with_verdicts(batch_of(graph.trajectory), "mine", scale, [c], [v]) for c, v in ((case, verdict), back))
    _same(one, two)


def test_rewards_that_come_later_change_nothing_and_other_spans_do() -> None:
    other = msgspec.structs.replace(RUNS[0], rewards=[Reward(1.0), Reward(0.0, "human")], task="t")
    assert digest(other) == digest(RUNS[0])
    assert digest(_bad("z")) == digest(RUNS[0])
    assert digest(log(*RUNS[0].spans[:3])) != digest(RUNS[0])
    again = [msgspec.structs.replace(span, error=None) for span in RUNS[0].spans]
    assert digest(msgspec.structs.replace(RUNS[0], spans=again)) != digest(RUNS[0])  # rules read whether a call failed
    assert digest(msgspec.structs.replace(RUNS[0], tools=[])) != digest(RUNS[0])  # and what a tool declares


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"digest": "0" * 32}, "its spans have changed"),
        ({"missing": "the model was away"}, "the model was away"),
        ({"digest": ..., "segments": [{"actions": [0], "spans": [0], "score": 0.5}]}, "span 0, which is no action"),
        ({"segments": [{"actions": [9], "spans": [9], "score": 0.5}]}, "speaks of span 9"),
        ({"segments": [{"actions": [-1], "spans": [-1], "score": 0.5}]}, "speaks of span -1"),
        ({"segments": [{"actions": [], "spans": [1], "score": 0.5}]}, "needs actions"),
        ({"segments": [{"actions": [1], "spans": [3], "score": 0.5}]}, "needs actions"),
        ({"segments": [{"actions": [1], "spans": [1]}] * 2}, "in two segments"),
        ({"findings": [{"span": 7, "rule": "x", "reason": "y", "severity": 0.1}]}, "not there"),
    ],
)
def test_what_does_not_fit_is_not_judged_and_says_why(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    path = _written(tmp_path / "o.jsonl", *RUNS)
    _edit(path, 0, **change)
    found = load(path).on(batch_of(*RUNS))
    assert np.isnan(found.scores[:4]).all()
    assert found.scores[5] == 1.0
    [note] = [note for note in found.notes if note.code == "unjudged"]
    assert note.trajectory == "a"
    assert said in note.message


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"segments": [{"actions": [1], "spans": [1], "score": 1.5}]},
            "segments.0.score: expected",
        ),
        ({"segments": [{"actions": [1], "spans": [1], "scroe": 1}]}, "scroe"),
        ({"scale": "percent"}, "percent"),
        ({"start": 3}, "start: expected"),
        ({"findings": [{"span": 1, "rule": "x", "reason": "y", "severity": 2}]}, "severity: expected"),
        ({"judge": 3}, "judge"),
        ({"judge": "x" * 201}, "judge"),
        ({"sratr": 0.5}, "sratr"),
    ],
)
def test_a_broken_line_is_named_and_the_others_count(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    path = _written(tmp_path / "o.jsonl", *RUNS)
    _edit(path, 0, **change)
    found = load(path).on(batch_of(*RUNS))
    assert found.scores[5] == 1.0
    assert np.isnan(found.scores[:4]).all()
    [note] = [note for note in found.notes if note.code == "opinions"]
    assert note.message.startswith(f"{path}:1: ")
    assert said in note.message


def test_a_row_that_cannot_be_read_leaves_no_other_of_its_trajectory_standing(tmp_path: Path) -> None:
    path = _written(tmp_path / "o.jsonl", *RUNS)
    good = path.read_bytes()
    _edit(path, 0, segments=[{"actions": [1], "spans": [1], "score": 9}])
    path.write_bytes(path.read_bytes() + good.splitlines()[0] + b"\n")
    found = load(path).on(batch_of(*RUNS))
    assert np.isnan(found.scores[:4]).all()
    assert found.scores[5] == 1.0
    assert [one.message for one in found.notes if one.code == "unjudged"] == [
        "judge rules: line 1 is about it, and cannot be read; its spans are not scored"
    ]


def test_what_was_missing_may_come_later_and_two_opinions_are_none(tmp_path: Path) -> None:
    path = _written(tmp_path / "o.jsonl", *RUNS)
    whole = path.read_text()
    first, second = whole.splitlines(keepends=True)
    away = json.dumps({**json.loads(first), "missing": "away", "segments": [], "findings": []}) + "\n"
    path.write_text(away + whole)
    _same(load(path).on(batch_of(*RUNS)), judge(batch_of(*RUNS), "rules"))
    path.write_text(whole + second)
    found = load(path).on(batch_of(*RUNS))
    assert np.isnan(found.scores[4:]).all()
    assert "two opinions" in found.notes[-1].message


def test_names_that_are_not_there_or_not_unique_are_said(tmp_path: Path) -> None:
    path = _written(tmp_path / "o.jsonl", *RUNS, _bad("elsewhere"))
    found = load(path).on(batch_of(*RUNS))
    assert [note.message for note in found.notes if note.code == "opinions"] == [
        "o.jsonl: opinions of what was not read: 'elsewhere'"
    ]
    twice = replace(batch_of(*RUNS), trajectory_ids=("a", "a"))
    assert twice.graphs is not None
    with pytest.raises(InputError, match="no opinion is about a trajectory that was read"):
        load(path).on(batch_of(_bad("other")))
    with pytest.raises(InputError, match="loaded without them"):
        load(path).on(replace(twice, graphs=None))


def test_one_file_is_of_one_judge_and_one_scale(tmp_path: Path) -> None:
    path = _written(tmp_path / "o.jsonl", *RUNS)
    _edit(path, 1, judge="other")
    with pytest.raises(InputError, match="several judges: other, rules"):
        load(path)
    _edit(path, 1, judge="rules", scale="credit", start=0.0)
    with pytest.raises(InputError, match="several scales: credit, state"):
        load(path)
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(InputError, match="no opinions in it"):
        load(tmp_path / "empty.jsonl")
    with pytest.raises(InputError, match="cannot read the opinions"):
        load(tmp_path / "none.jsonl")


def _simple(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_scores_that_someone_else_computed_are_placed_by_span_or_by_message(tmp_path: Path) -> None:
    spans = [
        msgspec.structs.replace(span, message_index=i // 2, call_id="c1" if span.kind == "tool_call" else None)
        for i, span in enumerate(RUNS[0].spans)
    ]
    one = msgspec.structs.replace(RUNS[0], spans=spans)
    path = _simple(
        tmp_path / "s.jsonl",
        {"trajectory_id": "a", "message_index": 0, "tool_call_id": "c1", "score": -0.5, "reason": "no such cabin"},
        {"trajectory_id": "a", "message_index": 1, "score": 0.25, "more": 1},
    )
    found = load(path).on(batch_of(one))
    assert found.scores[[1, 3]].tolist() == [-0.5, -0.25]
    assert found.score_start.tolist() == [0.0]
    assert [(one.span, one.reason, one.severity) for one in found.findings] == [(1, "no such cabin", 0.5)]


def test_states_that_someone_else_computed_start_where_they_start(tmp_path: Path) -> None:
    rows = [{"trajectory_id": "a", "span": i, "score": score} for i, score in ((1, 0.25), (3, 0.75))]
    found = load(_simple(tmp_path / "s.jsonl", *rows), "state").on(batch_of(*RUNS))
    assert found.scores[[1, 3]].tolist() == [0.25, 0.75]
    assert found.score_start[0] == 0.25
    assert np.isnan(found.score_start[1])


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"span": 2, "score": 0}, "span 2 is scored, which is no action"),
        ({"span": 99, "score": 0}, "there are 4 spans"),
        ({"message_index": 8, "score": 0}, "message 8 is scored, and holds no action"),
        ({"message_index": 0, "tool_call_id": "c9", "score": 0}, "with call 'c9' is scored"),
    ],
)
def test_a_score_without_a_place_leaves_its_trajectory_unjudged(tmp_path: Path, row: Any, said: str) -> None:
    path = _simple(tmp_path / "s.jsonl", {"trajectory_id": "a", **row}, {"trajectory_id": "b", "span": 1, "score": 1})
    found = load(path).on(batch_of(*RUNS))
    assert np.isnan(found.scores[:4]).all()
    assert found.scores[5] == 1.0
    assert said in found.notes[-1].message


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"span": 1, "score": 2}, "score: expected a number from -1 to 1"),
        ({"span": 1, "score": "x"}, "score"),
        ({"score": 1}, "neither span nor message_index"),
        ({"span": 1, "span_index": 2, "score": 1}, "span is 1 and span_index 2"),
        ({"span": 1}, "score"),
    ],
)
def test_a_score_that_is_none_is_named_by_its_line(tmp_path: Path, row: Any, said: str) -> None:
    path = _simple(tmp_path / "s.jsonl", {"trajectory_id": "b", "span": 1, "score": 1}, {"trajectory_id": "a", **row})
    found = load(path).on(batch_of(*RUNS))
    [note] = [note for note in found.notes if note.code == "opinions"]
    assert note.message.startswith(f"{path}:2: ")
    assert said in note.message
    assert [one.message for one in found.notes if one.code == "unjudged" and one.trajectory == "a"] == [
        "judge s.jsonl: line 2 is about it, and cannot be read; its spans are not scored"
    ]


def test_of_a_trajectory_whose_scores_are_not_all_readable_none_counts(tmp_path: Path) -> None:
    """What the unreadable one says is not known, and 0 would be an opinion; as JSON and as a table."""
    table = tmp_path / "s.csv"
    table.write_text("trajectory_id,span,score\na,1,0.5\na,3,O.5\nb,1,1\n")
    rows = [{"trajectory_id": "a", "span": 1, "score": 0.5}, {"trajectory_id": "a", "span": 3, "score": "O.5"}]
    lines = _simple(tmp_path / "s.jsonl", *rows, {"trajectory_id": "b", "span": 1, "score": 1})
    for path in (table, lines):
        found = load(path).on(batch_of(*RUNS))
        assert np.isnan(found.scores[:4]).all()
        assert found.scores[5] == 1.0


def test_the_file_judge_gives_each_action_its_share(tmp_path: Path) -> None:
    path = _written(tmp_path / "o.jsonl", *RUNS)
    segments = [{"actions": [1, 3], "spans": [1, 2, 3], "score": 0.5, "reason": "both"}]
    _edit(path, 0, segments=segments, findings=...)
    cases = [Case(graph, segmented(graph, "action")) for graph in build_graphs(RUNS)]
    [shared, whole] = File(str(path), "state")(cases, Means())
    assert shared == Verdict((0.75, 0.5), 1.0, ("", "both"))
    assert whole.scores == (1.0,)
    apart, together = judge(batch_of(*RUNS), File(str(path), "state")), load(path).on(batch_of(*RUNS))
    np.testing.assert_array_equal(apart.scores, together.scores)
    assert [apart.segment.tolist(), together.segment.tolist()] == [[-1, 0, -1, 1, -1, 2], [-1, 0, 0, 0, -1, 1]]
    with pytest.raises(InputError, match="on the scale state, not credit"):
        list(File(str(path))(cases, Means()))
    with pytest.raises(InputError, match="path= names the file"):
        File().basis(Means())
