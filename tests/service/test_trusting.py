"""How far a judge can be trusted, from the columns of batches: rows, repeats, others, labels, and what notes say."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import trajcredit as tc
from tests.build import batch_of, run
from tests.judges.logs import call, log, result, said, user
from trajcredit.attributors import Judge, Rloo
from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.judges.estimates import Sampling
from trajcredit.judges.reliability import Segments, reliability
from trajcredit.model import Note
from trajcredit.service import trusting
from trajcredit.service.attributing import scored
from trajcredit.service.grading_labels import SCHEMA, Labels, read_labels
from trajcredit.service.trusting import Trust, scale_of, trust
from trajcredit.service.trusting_note import check, checked
from trajcredit.service.trusting_rows import rows_of
from trajcredit.service.trusting_text import advice, head, parts, terminal, to_markdown, warnings

NAN = np.nan
FEW = Sampling(draws=50, seed=0)


def _put(
    batch: Batch, scores: list[float], start: float | list[float] = 0.5, segment: list[int] | None = None
) -> Batch:
    starts = np.full(batch.n_trajectories, start) if isinstance(start, float) else np.array(start)
    own = batch.segment if segment is None else np.array(segment)
    return replace(batch, scores=np.array(scores), score_start=starts, segment=own)


def _tasks(n: int, last: tuple[float, float], outcomes: tuple[float, float] = (0.0, 1.0)) -> Batch:
    """n tasks, two rollouts each with one step; the last scores of the first and of the second."""
    runs = [run("ua", one, name=f"{g}-{k}", group=f"task {g}") for g in range(n) for k, one in enumerate(outcomes)]
    return _put(batch_of(*runs), [one for _ in range(n) for score in last for one in (NAN, score)])


def _labels(folder: Path, *rows: dict[str, object]) -> Labels:
    place = folder / "labels.jsonl"
    place.write_text("".join(json.dumps({"schema": SCHEMA, **row}) + "\n" for row in rows))
    return read_labels(place)


# ---------------------------------------------------------------- rows


def test_a_segment_of_two_actions_is_one_row_with_all_that_it_did_and_all_its_text() -> None:
    asks = log(
        user("A seat?"), call("look", cabin="up"), result("none"), said("No."), said("Bye"), name="a", outcome=0.0
    )
    batch = _put(batch_of(asks), [NAN, 0.4, NAN, 0.3, 0.8], segment=[-1, 0, 0, 0, 1])
    rows = rows_of(batch)
    assert rows.row.tolist() == [-1, 0, -1, 0, 1]
    assert rows.offsets.tolist() == [0, 2]
    np.testing.assert_allclose(rows.steps(batch), [-0.2, 0.5], atol=1e-15)
    assert rows.characters.tolist() == [len('{"cabin":"up"}') + 4 + 3, 3]
    alone = _put(batch, [NAN, 0.4, NAN, NAN, 0.8], segment=[-1, 0, 0, -1, 1])
    np.testing.assert_allclose(rows.steps(alone), [-0.1, 0.4], atol=1e-15)


def test_segments_of_all_repeats_are_rows_in_the_order_of_their_last_actions() -> None:
    batch = batch_of(run("uaaa", 0.0), run("", 1.0), run("ua", 1.0))
    one = _put(batch, [NAN, 0.4, NAN, 0.5, NAN, 0.7], segment=[-1, 0, -1, 0, -1, 1])
    two = _put(batch, [NAN, NAN, 0.6, NAN, NAN, NAN], segment=[-1, -1, 0, -1, -1, -1])
    rows = rows_of(one, [two])
    assert rows.row.tolist() == [-1, 1, 0, 1, -1, 2]
    assert rows.offsets.tolist() == [0, 2, 2, 3]
    np.testing.assert_allclose(rows.steps(one), [NAN, 0.0, 0.2], atol=1e-15)
    np.testing.assert_allclose(rows.steps(two), [0.1, NAN, NAN], atol=1e-15)


def test_other_trajectories_are_refused() -> None:
    with pytest.raises(InputError, match="of the same trajectories"):
        trust(_tasks(2, (0.1, 0.9)), "x", repeats=[_tasks(3, (0.1, 0.9))], sampling=FEW)


# ---------------------------------------------------------------- the report


def test_it_is_the_reliability_of_these_columns() -> None:
    batch = _tasks(12, (0.2, 0.9))
    found = trust(batch, "x", sampling=FEW)
    steps = np.tile([-0.3, 0.4], 12)
    rows = Segments(np.arange(25), steps, np.zeros(24))
    final = np.tile([0.2, 0.9], 12)
    expected = reliability(final, batch.outcome, batch.group, characters=np.zeros(24), segments=rows, sampling=FEW)
    assert replace(found.reliability, position=None) == replace(expected, position=None)
    assert (found.reliability.auc.value, found.segments, found.asked) == (1.0, 24, 1)


def test_an_outcome_passes_from_where_it_is_said_to() -> None:
    batch = _tasks(12, (0.2, 0.9), (3.0, 7.0))
    assert trust(batch, "x", pass_at=5.0, sampling=FEW).reliability.passed == 12
    assert trust(batch, "x", sampling=FEW).reliability.passed == 24


def test_repeats_say_how_far_it_strays() -> None:
    """Steps of -0.3 and -0.1, spread sqrt(2) / 10; of 0.4 twice."""
    one, two = _tasks(12, (0.2, 0.9)), _tasks(12, (0.4, 0.9))
    same = trust(one, "x", repeats=[two], sampling=FEW).reliability.consistency
    assert same is not None
    assert same.spread.value == pytest.approx(np.sqrt(0.02) / 2)
    assert same.same_class.value == 1.0


def test_another_judge_and_people_are_agreed_with(tmp_path: Path) -> None:
    batch = _tasks(12, (0.2, 0.9))
    blames = [{"trajectory_id": f"{g}-0", "span_index": 1, "verdict": "culprit"} for g in range(12)]
    spares = [{"trajectory_id": f"{g}-1", "span_index": 1, "verdict": "innocent"} for g in range(6)]
    true = [{"trajectory_id": f"{g}-1", "span_index": 1, "value": -0.5} for g in range(6)]
    labels = _labels(tmp_path, *blames, *spares, *true, {"trajectory_id": "z", "span_index": 1, "verdict": "culprit"})
    found = trust(batch, "x", others={"y": _tasks(12, (0.9, 0.2))}, labels=labels, sampling=FEW)
    other, values, people = found.reliability.agreement
    assert (other.name, other.confusion) == ("y", ((0, 0, 12), (0, 0, 0), (12, 0, 0)))
    assert (values.name, values.confusion) == ("true advantages", ((0, 0, 0), (0, 0, 0), (6, 0, 0)))
    assert (people.name, people.confusion) == ("labels", ((12, 0, 0), (0, 6, 0), (0, 0, 0))), "praise is not blame"
    assert people.kappa.value == 1.0
    assert found.remarks[-1].startswith("1 label about nothing that was read, e.g. ")
    with pytest.raises(InputError, match="none of its labels grades anything"):
        trust(_tasks(1, (0.2, 0.9)), "x", labels=_labels(tmp_path, {"trajectory_id": "z", "span_index": 1, "value": 1}))


def test_the_scale_is_that_of_the_judge_else_told_from_the_columns() -> None:
    states = _tasks(1, (0.2, 0.9))
    assert (scale_of("x", states), scale_of("rules", _put(states, [NAN, -1.0, NAN, 0.0], 0.0))) == ("state", "state")
    assert scale_of("x", _put(states, [NAN, 0.5, NAN, 1.0], 0.0)) == "credit"
    assert scale_of("x", _put(states, [NAN, 0.5, NAN, 1.5], [0.0, 1.0])) == "credit"
    totals = trust(_put(states, [NAN, -2.0, NAN, 1.0], 0.0), "x", sampling=FEW).reliability
    assert (totals.scale, totals.raw) == ("credit", None)


def _kept(place: Path, name: str, judge: str = "mine", **more: object) -> str:
    """A file of opinions on the call of ten runs."""
    rows = [
        {
            "schema": "trajcredit.opinion/1",
            "trajectory_id": f"r{g}",
            "judge": judge,
            "scale": "credit",
            "segments": [{"actions": [1], "spans": [1], "score": -0.5}],
            **more,
        }
        for g in range(10)
    ]
    (place / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(place / name)


def test_a_repeat_is_of_the_same_judge_asked_again(tmp_path: Path) -> None:
    batch = batch_of(*(run("uca", float(g % 2), name=f"r{g}", group=f"g{g}") for g in range(10)))
    own = _kept(tmp_path, "own.jsonl", model="big", fingerprint="1")
    again = _kept(tmp_path, "again.jsonl", model="big", fingerprint="2")
    found = trusting.asked(batch, [own], [again], draws=20)
    assert (found.asked, found.judge, found.reliability.draws) == (2, own, 20)
    assert found.reliability.consistency is not None
    assert found.reliability.consistency.same_class.value == 1.0
    assert not [line for line in found.remarks if "repeat" in line]
    same = _kept(tmp_path, "same.jsonl", model="big", fingerprint="1")
    assert [line for line in trusting.asked(batch, [own], [same], draws=20).remarks if "the very same" in line]
    for repeats, why in (
        (["rules"], "expected the judge of .*, mine .big. on the scale credit; found rules on the scale state"),
        ([str(tmp_path / "." / "own.jsonl")], "given twice"),
        ([again, again], "given twice"),
        ([_kept(tmp_path, "theirs.jsonl", "theirs", model="big")], "found theirs"),
        ([_kept(tmp_path, "small.jsonl", model="small")], "found mine .small."),
        ([_kept(tmp_path, "state.jsonl", model="big", scale="state", segments=[])], "on the scale state"),
    ):
        with pytest.raises(InputError, match=why):
            trusting.asked(batch, [own], repeats, draws=20)
    with pytest.raises(InputError, match="given twice"):
        trusting.asked(batch, ["rules"], ["rules"], draws=20)
    with pytest.raises(InputError, match="pass_at: expected a finite number"):
        trusting.asked(batch, ["rules"], pass_at=float("nan"))


# ---------------------------------------------------------------- for people


def _told() -> Trust:
    batch = _tasks(12, (0.9, 0.2))
    lost = replace(batch, scores=np.where(np.arange(48) < 2, NAN, batch.scores))
    return trust(lost, "evil|`<b>\x1b[31m", repeats=[batch], others={"other": batch}, sampling=FEW)


def test_warnings_come_first_and_every_figure_says_what_it_is() -> None:
    found = _told()
    lines = list(terminal(found))
    assert lines[0].startswith("judge evil|`<b>")
    assert "23 runs with a score and an outcome in 12 groups, 12 passed (outcome at least 0.5)" in lines[0]
    assert lines[1].startswith("WARNING worse than the base rate: Brier score of its scores")
    assert "WARNING 1 of 24 runs have no score: not judged, or without any opinion" in lines
    assert lines[len(warnings(found)) + 1] == (
        "so its scores are not known to tell anything of outcomes here: read its reasons, do not train on them"
    )
    every = [figure for part in parts(found) for figure in part.figures]
    assert all(figure.name and figure.value and figure.means for figure in every)
    assert any(line.startswith("  AUC ") and "0.000" in line for line in lines)
    assert not any("\x1b" in line for line in lines)


def test_as_markdown_nothing_of_a_name_is_markup() -> None:
    text = to_markdown(_told())
    assert "evil\\|\\`\\<b\\>" in text
    assert "\x1b" not in text
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert tables
    assert all(line.replace("\\|", "").count("|") == 4 for line in tables)


def test_a_judge_that_foretells_outcomes_is_said_to() -> None:
    found = trust(_tasks(12, (0.05, 0.95)), "x", sampling=FEW)
    assert warnings(found) == []
    assert advice(found).endswith("as they are and calibrated (judge:calibrate=true)")
    few = trust(_tasks(3, (0.05, 0.95)), "x", sampling=FEW)
    assert "no interval: 3 of the 10 groups" in warnings(few)[0]
    assert advice(few).startswith("nothing here says whether")
    assert head(few).startswith("judge x: 6 runs with a score and an outcome in 3 groups, 3 passed")


# ---------------------------------------------------------------- notes of who hears it


@pytest.mark.parametrize(
    ("batch", "said"),
    [
        pytest.param(
            replace(_tasks(12, (0.1, 0.9)), outcome=np.full(24, NAN)),
            "the judge is not checked: no trajectory has its score and an outcome",
            id="no outcomes",
        ),
        pytest.param(
            _tasks(3, (0.1, 0.9)),
            "the judge is not checked: scores and outcomes in 3 groups, and it takes 10",
            id="few groups",
        ),
        pytest.param(
            _tasks(12, (0.1, 0.9), (1.0, 1.0)),
            "the judge is not checked: every run with a score passed (an outcome of 0.5 passes)",
            id="one outcome",
        ),
        pytest.param(
            _tasks(12, (1.0, 0.0)),
            "the judge's last scores as chances to pass: as they are worse than the base rate (difference of Brier "
            "scores +0.750 [+0.750, +0.750]); calibrated on other groups not told from the base rate (difference of "
            "Brier scores +0.000 [+0.000, +0.000]); 12 groups",
            id="worse",
        ),
    ],
)
def test_notes_say_what_the_judge_is_worth(batch: Batch, said: str) -> None:
    [note] = checked(batch, Judge(), None)
    assert (note.code, note.message) == ("judge-check", said)
    assert [one.message for one in scored(batch, "judge", Judge()).notes if one.code == "judge-check"] == [said]


def test_the_verdict_is_that_of_the_whole_report() -> None:
    batch = _tasks(12, (0.6, 0.5))
    whole = trust(batch, "x").reliability.against_base_rate
    found = check(batch, "x")
    assert [found.raw, found.calibrated] == [one.verdict for one in whole]
    assert f"{whole[0].difference.value:+.3f} [{whole[0].difference.low:+.3f}" in found.says


def test_there_is_no_note_where_it_is_better_than_the_base_rate_nor_where_nobody_hears_it() -> None:
    assert checked(_tasks(12, (0.0, 1.0)), Judge(), None) == ()
    assert checked(_tasks(12, (1.0, 0.0)), Rloo(), None) == ()
    assert checked(_tasks(12, (1.0, 0.0)), Judge(mix=0.0), None) == ()


def test_an_outage_of_all_is_refused_with_its_reason() -> None:
    batch = _put(batch_of(run("ua", 1.0)), [NAN, NAN], [NAN])
    batch = replace(
        batch, notes=(Note("unjudged", "judge far: no answer in 30 s", trajectory="t0"),), graphs=batch.graphs
    )
    with pytest.raises(InputError, match="no action span has a value: judge far: no answer in 30 s"):
        scored(batch, "judge", Judge(), judge="far", ask=lambda one, name: one)


def test_a_run_by_name_carries_the_note() -> None:
    batch = batch_of(*(run("uca", float(g % 2), name=f"r{g}", group=f"g{g}") for g in range(10)))
    notes = tc.attribute(batch, "judge").notes
    assert [note.code for note in notes].count("judge-check") == 1
