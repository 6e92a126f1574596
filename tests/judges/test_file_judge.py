"""Scores that someone else computed: which action each is about, and what is refused instead of guessed."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.build import batch_of
from tests.judges.logs import call, log, result, said, user
from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.graph import build_graphs
from trajcredit.judges import (
    SEGMENTS,
    Basis,
    Case,
    File,
    Means,
    Scale,
    Segment,
    Verdict,
    judge,
    load,
    opinion,
    segmented,
    with_verdicts,
)
from trajcredit.judges.opinions import encoded
from trajcredit.model import Note, Trajectory

ACTIONS = [1, 2, 3, 6]


def _run(name: str = "a") -> Trajectory:
    """One request; a message of words and two calls (c1, c2), their results, an answer."""
    run = log(user("Book it."), said("I look."), call("look"), call("book"), result("1"), result("2"), said("Done."))
    places = [0, 1, 1, 1, 2, 3, 4]
    ids = {2: "c1", 3: "c2", 4: "c1", 5: "c2"}
    spans = [
        msgspec.structs.replace(span, message_index=places[i], call_id=ids.get(i)) for i, span in enumerate(run.spans)
    ]
    return msgspec.structs.replace(run, id=name, spans=spans)


def _file(folder: Path, *rows: dict[str, Any], name: str = "s.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps({"trajectory_id": "a", **row}) + "\n" for row in rows), encoding="utf-8")
    return path


def _verdict(path: Path, **parameters: Any) -> Verdict:
    [graph] = build_graphs([_run()])
    [verdict] = File(str(path), **parameters)([Case(graph, segmented(graph, "action"))], Means())
    return verdict


def _notes(batch: Batch, code: str) -> list[str]:
    return [note.message for note in batch.notes if note.code == code]


@pytest.mark.parametrize(
    ("rows", "scores"),
    [
        pytest.param([{"span": 2, "score": 0.5}], [None, 0.5, None, None], id="a span"),
        pytest.param([{"span_index": 2, "score": 0.5}], [None, 0.5, None, None], id="a span as credit rows call it"),
        pytest.param([{"span": 2, "message_index": 1, "score": 1}], [None, 1, None, None], id="a span and its message"),
        pytest.param(
            [{"message_index": 1, "tool_call_id": "c1", "score": 1}], [None, 1, None, None], id="a call of a message"
        ),
        pytest.param([{"message_index": 4, "score": -1}], [None, None, None, -1], id="the only action of a message"),
        pytest.param([{"message_index": 1, "score": 1}], [None, None, 1, None], id="the last action of a message"),
        pytest.param(
            [
                {"message_index": 1, "tool_call_id": None, "score": 0.1},
                {"message_index": 1, "tool_call_id": "c2", "score": 0.3},
                {"message_index": 1, "tool_call_id": "c1", "score": 0.2},
            ],
            [0.1, 0.2, 0.3, None],
            id="the words of a message whose calls have rows of their own",
        ),
        pytest.param([{"span": 1, "score": None}, {"span": 2, "score": 0}], [None, 0, None, None], id="no opinion"),
    ],
)
def test_a_score_is_about_one_action(tmp_path: Path, rows: list[dict[str, Any]], scores: list[float | None]) -> None:
    assert _verdict(_file(tmp_path, *rows)).scores == tuple(scores)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([{"span": 0, "score": 0}], "line 1: span 0 is scored, which is no action"),
        ([{"span": 2, "message_index": 4, "score": 0}], "line 1: span 2 is of message 1, and the row says 4"),
        ([{"span": 1, "score": 0}, {"span": 1, "score": 0}], "line 2: span 1 is scored twice"),
        ([{"message_index": 4, "score": 0}, {"span": 6, "score": 0}], "line 1: span 6 is scored twice"),
        ([{"message_index": 2, "tool_call_id": "c1", "score": 0}], "message 2 with call 'c1' is scored, and holds no"),
    ],
)
def test_a_score_without_a_place_leaves_its_trajectory_unjudged(tmp_path: Path, rows: Any, says: str) -> None:
    verdict = _verdict(_file(tmp_path, *rows))
    assert verdict.missing is not None
    assert says in verdict.missing
    assert set(verdict.scores) == {None}


def test_rows_of_a_table_say_the_same(tmp_path: Path) -> None:
    table = tmp_path / "s.csv"
    table.write_text(
        '\ufefftrajectory_id,message_index,tool_call_id,score,reason,who\na,1,c1,-0.5,"wrong, again",me\na,4,,0.25,,\n'
        "a,1,c2,,,\n",
        encoding="utf-8",
    )
    first = {"message_index": 1, "tool_call_id": "c1", "score": -0.5, "reason": "wrong, again"}
    lines = _file(tmp_path, first, {"message_index": 4, "score": 0.25})
    assert _verdict(table) == _verdict(lines) == Verdict((None, -0.5, None, 0.25), 0.0, ("", "wrong, again", "", ""))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("trajectory_id,span,score\na,2,high\n", r"s.csv:2: .*score"),
        ("trajectory_id,span,score\na,2,1\na,3,7\n", r"s.csv:3: score: expected a number from -1 to 1 .* found 7.0"),
        ("trajectory_id,score\na,1\n", r"s.csv:2: .*neither span nor message_index"),
        ("run,score\na,1\n", "neither lines of JSON nor CSV with a first line with trajectory_id"),
        ("\n", "no opinions in it"),
    ],
)
def test_what_is_no_table_of_scores_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "s.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=says):
        _verdict(path)


@pytest.mark.parametrize(
    ("rows", "scale", "says"),
    [
        ([{"span": 1, "score": 0.5}, {"span": 2, "score": 1.5}], "state", r":2: score: expected a number from 0 to 1"),
        ([{"span": 1, "score": -0.5}], "state", ":1: score: expected a number from 0 to 1 on the scale state"),
        ([{"span": 1, "score": 1, "scale": "state"}], "credit", "on the scale state, not credit"),
        (
            [{"span": 1, "score": 1, "scale": "state"}, {"span": 2, "score": 1, "scale": "credit"}],
            "credit",
            r"scores of several scales: credit \(line 2\) and state \(line 1\)",
        ),
        ([{"span": 1, "score": 1}] + [{"span": 1}] * 7, "credit", ":2: .*; and 2 more$"),
    ],
)
def test_the_judge_leaves_no_bad_row_out_without_a_word(tmp_path: Path, rows: Any, scale: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        _verdict(_file(tmp_path, *rows), scale=scale)


def test_the_scale_that_rows_say_is_theirs(tmp_path: Path) -> None:
    found = load(_file(tmp_path, {"span": 2, "score": 0.75, "scale": "state"}, {"span": 6, "score": 0.25}))
    assert found.scale == "state"
    batch = found.on(batch_of(_run()))
    assert batch.scores[[2, 6]].tolist() == [0.75, 0.25]
    assert batch.score_start.tolist() == [0.75]


def test_a_reason_that_speaks_of_a_schema_makes_no_opinion_of_a_score(tmp_path: Path) -> None:
    rows = [{"span": 1, "score": 1, "reason": 'the "schema" is wrong'}, {"span": 2, "score": 1, "schema": "mine"}]
    assert _verdict(_file(tmp_path, *rows)).scores == (1, 1, None, None)
    other = _file(tmp_path, {"schema": "trajcredit.label/1", "span_index": 1, "verdict": "culprit"})
    with pytest.raises(InputError, match=r"s.jsonl:1: expected a row of trajcredit.opinion/1"):
        _verdict(other)


def test_an_id_that_several_logs_had_says_nothing_of_any(tmp_path: Path) -> None:
    numbered = Note("duplicate-id", "another trajectory has the id 'a': this one is 'a#1'")
    runs = [_run(), msgspec.structs.replace(_run("a#1"), report=[numbered]), _run("b")]
    path = _file(tmp_path, {"span": 1, "score": 1}, {"trajectory_id": "b", "span": 1, "score": 1})
    batch = load(path).on(batch_of(*runs))
    assert np.flatnonzero(~np.isnan(batch.scores)).tolist() == [15]
    first, second = _notes(batch, "unjudged")
    assert "several logs have the id 'a'" in first
    assert "there is no opinion of it" in second
    np.testing.assert_array_equal(judge(batch_of(*runs), File(str(path))).scores, batch.scores)
    case = Case(build_graphs(runs[:1])[0], segmented(build_graphs(runs[:1])[0], "action"))
    row = opinion("mine", "credit", Basis("f"), case, Verdict((1.0, None, None, None), 0.0))
    path.write_bytes(encoded(row))
    assert load(path).on(batch_of(*runs)).scores[1] == 1.0  # its digest says which was judged


def test_opinions_of_several_versions_of_a_judge_are_told(tmp_path: Path) -> None:
    path = tmp_path / "o.jsonl"
    with path.open("wb") as file:
        for name in "ab":
            [graph] = build_graphs([_run(name)])
            case = Case(graph, segmented(graph, "action"))
            file.write(encoded(opinion("mine", "credit", Basis(name), case, Verdict((0.0,) * 4, 0.0))) + b"\n")
    both, one = (load(path).on(batch_of(*map(_run, names))) for names in ("ab", "a"))
    [note] = _notes(both, "opinions")
    assert "several versions of the judge" in note
    assert not any("versions" in note for note in _notes(one, "opinions"))


@given(st.lists(st.none() | st.floats(-1, 1), min_size=4, max_size=4), st.permutations(range(4)))
def test_scores_of_every_action_come_back_whatever_their_order_and_names(
    tmp_path_factory: pytest.TempPathFactory, scores: list[float | None], order: Sequence[int]
) -> None:
    names: list[dict[str, Any]] = [
        {"message_index": 1},
        {"message_index": 1, "tool_call_id": "c1"},
        {"span_index": 3, "message_index": 1, "tool_call_id": "c2"},
        {"message_index": 4},
    ]
    rows = [{**names[k], "score": scores[k]} for k in order]
    path = _file(tmp_path_factory.mktemp("rows"), *rows)
    assert _verdict(path) == Verdict(tuple(scores), 0.0)
    batch = load(path).on(batch_of(_run()))
    np.testing.assert_array_equal(batch.scores, judge(batch_of(_run()), File(str(path))).scores)
    assert np.isnan(batch.scores[ACTIONS]).tolist() == [score is None for score in scores]


@pytest.mark.parametrize("kind", SEGMENTS)
@given(data=st.data())
def test_every_kind_of_segment_goes_through_a_file_to_the_same_columns(
    tmp_path_factory: pytest.TempPathFactory, kind: str, data: st.DataObject
) -> None:
    scale: Scale = data.draw(st.sampled_from(["state", "credit"]))
    batch = batch_of(_run())
    assert batch.graphs is not None
    case = Case(batch.graphs[0], segmented(batch.graphs[0], kind))
    score = st.none() | st.floats(0 if scale == "state" else -1, 1)
    scores = tuple(data.draw(score) for _ in case.segments)
    verdict = Verdict(scores, data.draw(st.floats(0, 1)) if scale == "state" else 0.0)
    path = tmp_path_factory.mktemp("rows") / "o.jsonl"
    path.write_bytes(encoded(opinion("mine", scale, Basis("f"), case, verdict)) + b"\n")
    expected, found = with_verdicts(batch, "mine", scale, [case], [verdict]), load(path).on(batch)
    for name in ("scores", "score_start", "segment"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    if scale == "credit" or all(0 <= one <= 1 for one in expected.scores[~np.isnan(expected.scores)]):
        np.testing.assert_allclose(judge(batch, File(str(path), scale)).scores, expected.scores, rtol=0, atol=1e-8)


def test_shares_that_are_no_states_are_not_given_as_such(tmp_path: Path) -> None:
    batch = batch_of(_run())
    assert batch.graphs is not None
    case = Case(batch.graphs[0], (Segment((2,), (2,)), Segment((1, 3), (1, 3)), Segment((6,), (6,))))
    path = tmp_path / "o.jsonl"
    for scores, judged in (((1.0, 0.0, 0.5), False), ((0.5, 0.5, 0.5), True)):
        path.write_bytes(encoded(opinion("mine", "state", Basis("f"), case, Verdict(scores, 0.0))))
        assert not np.isnan(load(path).on(batch).scores[ACTIONS]).any()
        found = judge(batch, File(str(path), "state"))
        assert np.isfinite(found.scores[ACTIONS]).all() == judged
        assert any("lie within one another" in one for one in _notes(found, "unjudged")) != judged


def test_the_rows_of_the_docs_are_rows(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "judges_files.md").read_text(encoding="utf-8")
    rows = re.findall(r"^ {4}(\{.*(?:\n {5}.*)?\})$", page, re.MULTILINE)
    whole = [row.replace("\n", "") for row in rows if "schema" in row]
    scores = [row for row in rows if "schema" not in row]
    for some, count in ((whole, 1), (scores, 2)):
        path = tmp_path / "rows.jsonl"
        path.write_text("\n".join(some), encoding="utf-8")
        found = load(path)
        assert found.errors == ()
        assert (found.scale, [len(rows) for rows in found.of.values()]) == ("credit", [count])
