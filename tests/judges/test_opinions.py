"""Opinions as rows of a file: the same columns as judging on the spot, and nothing that does not fit is applied."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.build import batch_of
from tests.judges.logs import call, log, result, said, user
from trajcredit.batching import Batch, Finding
from trajcredit.errors import InputError, JudgeError, ParseError
from trajcredit.judges import Basis, Case, Scale, Segment, Verdict, judge, with_verdicts
from trajcredit.judges.opinions import Opinion, digest, on, read, to_row
from trajcredit.judges.rules import Rules
from trajcredit.model import Note, Reward, Trajectory

ASK = user("Which seat is free?")
BASIS = Basis("f1", "some-model", "p2")


def _run(name: str, text: str = "All is well.") -> Trajectory:
    return log(ASK, call("look", cabin="upper"), result("none of that name", error=True), said(text), name=name)


def _batch(*names: str) -> Batch:
    return batch_of(*map(_run, names))


def _case(batch: Batch, t: int = 0) -> Case:
    assert batch.graphs is not None
    return Case(batch.graphs[t], (Segment((1,), (1, 2)), Segment((3,), (3,))))


def _row(batch: Batch, t: int = 0, **other: Any) -> dict[str, Any]:
    verdict = Verdict((0.5, 0.25), 1.0, ("the call failed", ""))
    case = _case(batch, t)
    return {**to_row(case.graph, "mine", "state", BASIS, case, verdict), **other}


def _missing(batch: Batch, t: int = 0) -> dict[str, Any]:
    case = _case(batch, t)
    return to_row(case.graph, "mine", "state", BASIS, case, Verdict((), 0.0, missing="no answer"))


def _file(folder: Path, *rows: dict[str, Any] | str) -> Path:
    path = folder / "opinions.jsonl"
    lines = [row if isinstance(row, str) else msgspec.json.encode(row).decode() for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _laid(batch: Batch, path: Path) -> Batch:
    return on(batch, read(path), path.name)


def _same(found: Batch, expected: Batch) -> None:
    for name in ("scores", "score_start", "segment"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), strict=True)
    assert found.findings == expected.findings


def _notes(batch: Batch, code: str) -> list[str]:
    return [note.message for note in batch.notes if note.code == code]


# ---------------------------------------------------------------- round trip


def test_rules_from_a_file_are_rules_on_the_spot(tmp_path: Path) -> None:
    batch, rules = _batch("a", "b"), Rules()
    assert batch.graphs is not None
    cases = [Case(graph, (Segment((1,), (1,)), Segment((3,), (3,)))) for graph in batch.graphs]
    verdicts = rules(cases, None)  # type: ignore[arg-type]  # rules ask nobody
    rows = [
        to_row(case.graph, "rules", "state", Basis("f"), case, verdict)
        for case, verdict in zip(cases, verdicts, strict=True)
    ]
    _same(_laid(batch, _file(tmp_path, *rows)), judge(batch, "rules"))


@st.composite
def _judged(draw: st.DrawFn) -> tuple[Scale, tuple[Segment, ...], Verdict]:
    """A scale, segments over six actions and their results, and what was said of them."""
    scale: Scale = draw(st.sampled_from(["state", "credit"]))
    owner = draw(st.lists(st.integers(0, 3), min_size=6, max_size=6))
    groups = [tuple(1 + 2 * k for k in range(6) if owner[k] == one) for one in sorted(set(owner))]
    whole = draw(st.booleans())
    segments = [Segment(a, tuple(sorted((*a, *(i + 1 for i in a)))) if whole else a) for a in groups]
    segments.sort(key=lambda one: one.actions[-1])
    score = st.floats(0.0 if scale == "state" else -1.0, 1.0)
    scores = draw(st.lists(st.none() | score, min_size=len(segments), max_size=len(segments)))
    start = draw(st.floats(0.0, 1.0)) if scale == "state" else 0.0
    texts = st.lists(st.text(max_size=5), min_size=len(segments), max_size=len(segments)).map(tuple)
    fault = st.builds(Finding, st.sampled_from([1, 3]), st.text(max_size=3), st.text(max_size=5), st.floats(0.1, 1.0))
    reasons = draw(st.just(()) | texts)
    findings = draw(st.lists(fault, max_size=2).map(tuple))
    return scale, tuple(segments), Verdict(tuple(scores), start, reasons, findings)


@given(_judged())
def test_what_is_written_is_read_back_bit_for_bit(
    tmp_path_factory: pytest.TempPathFactory, judged: tuple[Scale, tuple[Segment, ...], Verdict]
) -> None:
    scale, segments, verdict = judged
    calls = [span for k in range(6) for span in (call("look", cabin=str(k)), result("no"))]
    batch = batch_of(log(ASK, *calls))
    assert batch.graphs is not None
    case = Case(batch.graphs[0], segments)
    path = _file(tmp_path_factory.mktemp("rows"), to_row(case.graph, "mine", scale, BASIS, case, verdict))
    [row] = read(path)
    assert isinstance(row, Opinion)
    assert (row.judge, row.scale, row.segments, row.basis) == ("mine", scale, segments, BASIS)
    assert row.verdict.scores == verdict.scores
    _same(_laid(batch, path), with_verdicts(batch, "mine", scale, [case], [verdict]))


def test_a_verdict_that_is_missing_leaves_its_spans_unscored(tmp_path: Path) -> None:
    batch = _batch("a", "b")
    found = _laid(batch, _file(tmp_path, _row(batch), _missing(batch, 1)))
    np.testing.assert_array_equal(found.scores, [np.nan, 0.5, np.nan, 0.25, *[np.nan] * 4])
    assert _notes(found, "unjudged") == ["judge mine: no answer; its spans are not scored"]
    assert _missing(batch, 1)["segments"] == []
    assert _missing(batch, 1)["start"] is None


# ---------------------------------------------------------------- what is no row


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"schema": "trajcredit.label/1"}, "schema 'trajcredit.label/1': expected 'trajcredit.opinion/1'"),
        ({"scale": "stars"}, r"Invalid enum value 'stars' - at `\$.scale`"),
        ({"colour": 1}, "unknown field `colour`"),
        ({"start": None}, "'a': `start` is null: expected a number"),
        ({"start": 1.5}, "`start` is 1.5: expected 0 to 1 on the scale 'state'"),
        ({"scale": "credit"}, "`start` is 1: expected 0 on the scale 'credit'"),
        ({"findings": [{"span": -1, "rule": "r", "reason": "", "severity": 0.1}]}, r"`findings\[0\].span` is -1"),
        ({"findings": [{"span": 1, "rule": "r", "reason": "", "severity": 2}]}, r"`findings\[0\].severity` is 2"),
    ],
)
def test_a_bad_row_is_named_with_its_line_and_field(tmp_path: Path, other: dict[str, Any], says: str) -> None:
    batch = _batch("a", "b")
    first, error = read(_file(tmp_path, _row(batch, 1), _row(batch, **other)))
    assert isinstance(first, Opinion)
    assert isinstance(error, ParseError)
    assert error.line == 2
    with pytest.raises(ParseError, match=f"opinions.jsonl:2: .*{says}"):
        raise error


@pytest.mark.parametrize(
    ("segment", "says"),
    [
        ({"actions": [1], "spans": [1], "score": 1.01}, r"`segments\[0\].score` is 1.01: expected 0 to 1"),
        ({"actions": [1], "spans": [1], "score": "high"}, r"at `\$.segments\[0\].score`"),
        ({"actions": [], "spans": [1], "score": 1}, r"`segments\[0\].actions` is \[\]: expected ascending"),
        ({"actions": [1], "spans": [2, 1], "score": 1}, r"`segments\[0\].spans` is \[2, 1\]: expected ascending"),
        ({"actions": [1], "spans": [2], "score": 1}, r"expected some of its `spans` \[2\]"),
        ({"actions": [5], "spans": [5], "score": 1}, r"`segments\[1\]` ends before the one before it"),
        ({"actions": [1], "spans": [1, 3], "score": 1}, r"`segments\[1\].spans` has 3, which is in another"),
    ],
)
def test_a_bad_segment_is_named(tmp_path: Path, segment: dict[str, Any], says: str) -> None:
    good = {"actions": [3], "spans": [3], "score": 0.5}
    [error] = read(_file(tmp_path, _row(_batch("a"), segments=[segment, good])))
    assert isinstance(error, ParseError)
    with pytest.raises(ParseError, match=says):
        raise error


def test_lines_that_are_no_json_do_not_stop_the_rest(tmp_path: Path) -> None:
    batch = _batch("a")
    lines = _file(tmp_path, "\ufeff{oops", "[1]", "", _row(batch), "[" * 100_000)
    kinds = [type(one) for one in read(lines)]
    assert kinds == [ParseError, ParseError, Opinion, ParseError]
    found = _laid(batch, lines)
    assert found.scores[1] == 0.5
    assert len(_notes(found, "unusable-opinion")) == 3
    with pytest.raises(ParseError, match="cannot be read"):
        list(read(tmp_path / "none.jsonl"))


@pytest.mark.parametrize(
    ("verdict", "says"),
    [
        (Verdict((0.5,), 1.0), "1 scores of 2 segments"),
        (Verdict((0.5, 0.5), 1.0, ("",)), "1 reasons of 2 segments"),
        (Verdict((0.5, float("nan")), 1.0), "`segments.1..score` is nan"),
        (Verdict((0.5, -0.5), 1.0), "is -0.5: expected 0 to 1"),
        (Verdict((0.5, 0.5), 1.0, findings=(Finding(4, "r", "", 0.5),)), "expected a position in the trajectory"),
    ],
)
def test_what_is_no_verdict_is_never_written(verdict: Verdict, says: str) -> None:
    case = _case(_batch("a"))
    with pytest.raises(JudgeError, match=f"judge mine: 'a': .*{says}"):
        to_row(case.graph, "mine", "state", BASIS, case, verdict)


# ---------------------------------------------------------------- joins


def test_rows_of_others_and_trajectories_without_a_row_are_told(tmp_path: Path) -> None:
    path = _file(tmp_path, _row(_batch("a")), _row(_batch("z")))
    found = _laid(_batch("a", "b"), path)
    assert _notes(found, "unmatched-opinion") == [f"{path}:2 is of 'z', which was not read"]
    assert _notes(found, "unjudged") == ["judge mine: opinions.jsonl has no row of it; its spans are not scored"]
    assert np.isnan(found.scores[4:]).all()
    assert np.isnan(found.score_start[1])


def test_a_trajectory_that_changed_is_not_judged_by_its_old_row(tmp_path: Path) -> None:
    path = _file(tmp_path, _row(_batch("a", "b")), _row(_batch("a", "b"), 1))
    found = _laid(batch_of(_run("a"), _run("b", text="All is lost.")), path)
    assert found.scores[1] == 0.5
    assert np.isnan(found.scores[4:]).all()
    [said_of_it] = _notes(found, "unjudged")
    assert f"{path}:2: the trajectory has changed since it was judged" in said_of_it


def test_a_reward_that_comes_later_changes_no_opinion() -> None:
    one = _run("a")
    assert digest(msgspec.structs.replace(one, rewards=[Reward(1.0)], group="other")) == digest(one)
    assert digest(_run("a", text="other")) != digest(one)


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"segments": [{"actions": [2], "spans": [2], "score": 0.5}]}, "has 2, a tool_result, which is no action"),
        ({"segments": [{"actions": [9], "spans": [9], "score": 0.5}]}, "has 9, and it has 4 spans"),
        ({"findings": [{"span": 9, "rule": "r", "reason": "", "severity": 0.1}]}, "is 9, and it has 4 spans"),
    ],
)
def test_a_row_that_does_not_fit_its_trajectory_is_not_applied(
    tmp_path: Path, other: dict[str, Any], says: str
) -> None:
    found = _laid(_batch("a"), _file(tmp_path, _row(_batch("a"), digest=None, **other)))
    assert np.isnan(found.scores).all()
    assert found.findings == ()
    assert says in _notes(found, "unjudged")[0]


def test_an_id_that_several_logs_have_is_applied_by_its_digest_alone(tmp_path: Path) -> None:
    numbered = Note("duplicate-id", "another trajectory has the id 'a': this one is 'a#1'")
    batch = batch_of(_run("a"), msgspec.structs.replace(_run("a#1"), report=[numbered]))
    found = _laid(batch, _file(tmp_path, _row(_batch("a"), digest=None)))
    assert np.isnan(found.scores).all()
    assert "several logs have the id 'a', and the row has no digest to tell them by" in _notes(found, "unjudged")[0]
    assert _laid(batch, _file(tmp_path, _row(_batch("a")))).scores[1] == 0.5


def test_a_later_row_takes_the_place_of_a_missing_one_alone(tmp_path: Path) -> None:
    batch = _batch("a")
    found = _laid(batch, _file(tmp_path, _missing(batch), _row(batch)))
    assert found.scores[1] == 0.5
    for again in (_row(batch), _missing(batch)):
        with pytest.raises(InputError, match=r"opinions.jsonl:2: 'a' was judged in line 1 already"):
            _laid(batch, _file(tmp_path, _row(batch), again))


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"judge": "theirs"}, "opinions.jsonl:1 is of the judge 'mine', line 2 of 'theirs'"),
        ({"scale": "credit", "start": 0}, "opinions.jsonl:1 is of the scale 'state', line 2 of 'credit'"),
    ],
)
def test_several_judges_or_scales_in_one_file_are_refused(tmp_path: Path, other: dict[str, Any], says: str) -> None:
    batch = _batch("a", "b")
    with pytest.raises(InputError, match=says):
        _laid(batch, _file(tmp_path, _row(batch), _row(batch, 1, **other)))


def test_rows_of_another_version_of_the_judge_are_told(tmp_path: Path) -> None:
    batch = _batch("a", "b")
    found = _laid(batch, _file(tmp_path, _row(batch), _row(batch, 1, fingerprint="f2")))
    assert len(_notes(found, "mixed-basis")) == 1
    assert found.scores[5] == 0.5


def test_a_file_about_nothing_that_was_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"opinions.jsonl: none of its 1 rows .* e.g. 'b'"):
        _laid(_batch("b"), _file(tmp_path, _row(_batch("a"))))
    with pytest.raises(InputError, match=r"opinions.jsonl: no opinion in it; .*opinions.jsonl:1: no opinion: "):
        _laid(_batch("b"), _file(tmp_path, "nothing"))
    with pytest.raises(InputError, match="loaded without them"):
        on(replace(_batch("a"), graphs=None), [], "opinions.jsonl")


def test_a_row_is_json_of_the_schema() -> None:
    row = json.loads(msgspec.json.encode(_row(_batch("a"))))
    assert list(row) == [
        *("schema", "trajectory_id", "digest", "judge", "scale", "model", "prompt_version", "fingerprint"),
        *("start", "segments", "findings", "missing"),
    ]
    assert row["segments"][0] == {"actions": [1], "spans": [1, 2], "score": 0.5, "reason": "the call failed"}
