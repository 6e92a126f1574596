"""What was not judged has no credit, and touches nobody else; calibration; where judge and structure differ."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.build import batch_of, run
from trajcredit.arrays import F64
from trajcredit.attributors import Judge
from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.exporters import Credit
from trajcredit.model import Note, Trajectory
from trajcredit.service.attributing import explained, scored

NAN = np.nan


def _with(batch: Batch, scores: list[float], start: list[float], *notes: Note) -> Batch:
    return replace(batch, scores=np.array(scores), score_start=np.array(start), notes=(*batch.notes, *notes))


def _three() -> Batch:
    """Rollouts t0, t1, t2 of one task: two actions each; t1 was not judged."""
    batch = batch_of(run("uaa", 0.0), run("uaa", 1.0), run("uaa", 1.0))
    out = Note("unjudged", "judge far: no answer in 30 s; its spans are not scored", trajectory="t1")
    return _with(batch, [NAN, 0.5, 0.25, NAN, NAN, NAN, NAN, NAN, 0.75], [1.0, NAN, 0.5], out)


def test_what_was_not_judged_has_no_credit_and_a_missing_opinion_counts_as_no_change() -> None:
    """rloo gives -1, 1/2 and 1/2; the steps are -1/2 and -1/4; none; none, and +1/4."""
    got = Judge(mix=0.5, smear=0.0)(_three())
    wanted = [NAN, -0.25 - 0.5, -0.125 - 0.5, NAN, NAN, NAN, NAN, 0.0 + 0.25, 0.125 + 0.25]
    np.testing.assert_allclose(got.credit, wanted, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(got.advantage, got.credit)
    said = {note.code: note.message for note in got.notes}
    assert said["judge-unscored"] == (
        "1 of 3 trajectories have no score of the judge, and get no credit: "
        "judge far: no answer in 30 s; its spans are not scored (1 of them)"
    )
    assert said["judge-silent"] == (
        "the judge has no opinion on 1 of the 4 actions of trajectories that it judged: its part is 0 there"
    )


def test_of_what_was_not_judged_nothing_is_explained() -> None:
    credit = scored(_three(), "judge", Judge())
    assert explained(credit, Judge(), 4) == ()
    assert explained(credit, Judge(), 7)


def test_without_a_part_in_it_nobody_waits_for_the_judge() -> None:
    batch = _three()
    got = Judge(mix=0.0)(batch)
    np.testing.assert_array_equal(got.credit, [NAN, -1, -1, NAN, 0.5, 0.5, NAN, 0.5, 0.5])
    assert got.notes == ()
    assert (Judge(mix=0.0).needs, Judge(mix=0.0, calibrate=True).scope) == ((), "group")
    silent = replace(batch, scores=np.full(9, NAN))
    np.testing.assert_array_equal(scored(silent, "judge", Judge(mix=0.0)).credit, got.credit)
    assert [term.value for term in Judge(mix=0.0).explain(batch, 4)] == [1.0, -0.5]


def test_a_judged_trajectory_without_a_single_opinion_has_no_credit_either() -> None:
    batch = _with(batch_of(run("ua", 0.0), run("ua", 1.0)), [NAN, NAN, NAN, 1.0], [0.5, 0.5])
    got = Judge()(batch)
    assert np.isnan(got.credit).tolist() == [True, True, True, False]
    assert got.notes[0].message.endswith("get no credit: it has no opinion on any of their actions")


def test_running_totals_of_credits_leave_the_range_of_states_and_lose_nothing() -> None:
    """Credits -1, -1 and +1 of one run: totals -1, -2, -1 after a start of 0."""
    batch = _with(batch_of(run("uaaa", 0.0)), [NAN, -1.0, -2.0, -1.0], [0.0])
    got = Judge(mix=1.0, smear=0.0, unit=2.0)(batch)
    np.testing.assert_array_equal(got.credit, [NAN, -2.0, -2.0, 2.0])


# ---------------------------------------------------------------- laws

LETTERS = st.text("acr", min_size=0, max_size=6)


@st.composite
def judged_batches(draw: st.DrawFn) -> tuple[list[Trajectory], list[F64], list[float]]:
    """Runs of two tasks, scores of their spans and starts; some have none at all, some no outcome."""
    runs, scores, starts = [], [], []
    for t in range(draw(st.integers(1, 6))):
        spans = "u" + draw(LETTERS)
        edges = [
            (i, j)
            for j in range(2, len(spans))
            for i in range(1, j)
            if draw(st.booleans()) and spans[i] != "u" and spans[j] != "u"
        ]
        outcome = draw(st.sampled_from([0.0, 1.0, 0.25, None]))
        runs.append(run(spans, outcome, name=f"t{t}", group=f"g{draw(st.integers(0, 1))}", edges=edges))
        said = st.sampled_from([NAN, 0.0, 0.5, 0.75, 1.0, -1.5])
        lost = draw(st.booleans()) and draw(st.booleans())
        scores.append(np.array([NAN if lost or letter in "ur" else draw(said) for letter in spans], dtype=np.float64))
        starts.append(NAN if lost else draw(st.sampled_from([1.0, 0.5, 0.0])))
    return runs, scores, starts


def _packed(runs: list[Trajectory], scores: list[F64], starts: list[float]) -> Batch:
    return replace(batch_of(*runs), scores=np.concatenate(scores), score_start=np.array(starts))


@settings(max_examples=40, deadline=None)
@given(case=judged_batches(), mix=st.sampled_from([0.25, 1.0]), smear=st.sampled_from([0.0, 0.3, 0.9]))
def test_credit_is_there_exactly_where_there_are_outcome_and_opinion_and_sums_to_what_the_judge_said(
    case: Any, mix: float, smear: float
) -> None:
    batch = _packed(*case)
    made = Judge(mix=mix, smear=smear)
    got, base = made(batch), Judge(mix=0.0)(batch)
    for t, (run_, said, start) in enumerate(zip(*case, strict=True)):
        own = slice(int(batch.span_offsets[t]), int(batch.span_offsets[t + 1]))
        acts = batch.action_mask[own]
        has = acts & (not np.isnan(said).all() and bool(run_.rewards))
        assert (~np.isnan(got.credit[own]) == has).all()
        if has.any():
            last = said[~np.isnan(said)][-1]
            judge_part = (got.credit[own][acts] - (1 - mix) * base.credit[own][acts]).sum() / mix
            assert judge_part == pytest.approx(last - start, abs=1e-9)
    credit = _credit(batch, made)
    for span in range(batch.n_spans):
        explained(credit, made, span)


def _credit(batch: Batch, made: Judge) -> Credit:
    """The credit as the service has it, also where the judge has said nothing at all."""
    got = made(batch)
    return Credit(batch, "judge", {}, got.credit, got.advantage, got.notes)


@settings(max_examples=40, deadline=None)
@given(case=judged_batches(), random=st.randoms(use_true_random=False))
def test_order_of_trajectories_changes_nothing(case: Any, random: Any) -> None:
    rows = list(zip(*case, strict=True))
    random.shuffle(rows)
    before, after = _by_name(_packed(*case)), _by_name(_packed(*map(list, zip(*rows, strict=True))))
    for name, numbers in before.items():
        np.testing.assert_allclose(numbers, after[name], rtol=0, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(case=judged_batches(), which=st.integers(0, 5))
def test_an_outage_never_changes_the_credit_of_others(case: Any, which: int) -> None:
    runs, scores, starts = case
    lost = which % len(runs)
    without = [np.full(len(one), NAN) if t == lost else one for t, one in enumerate(scores)]
    before = _by_name(_packed(runs, scores, starts))
    after = _by_name(_packed(runs, without, [NAN if t == lost else one for t, one in enumerate(starts)]))
    assert np.isnan(after.pop(runs[lost].id)).all()
    for name, numbers in after.items():
        np.testing.assert_array_equal(numbers, before[name])


def _by_name(batch: Batch) -> dict[str, F64]:
    credit = Judge()(batch).credit
    ends = batch.span_offsets
    return {name: credit[ends[t] : ends[t + 1]] for t, name in enumerate(batch.trajectory_ids)}


# ---------------------------------------------------------------- calibration


def _tasks(n: int = 12, *, lost: int | None = None) -> Batch:
    """n tasks of two rollouts. One run ends with the score 0.2 and failed, one with 0.9 and passed; both start at 0.5,
    of which states a half comes to pass: those after the first of two actions have 0.5."""
    runs, scores = [], list[float]()
    for g in range(n):
        for outcome, last in ((0.0, 0.2), (4.0, 0.9)):
            runs.append(run("uaa", outcome, name=f"{g}-{outcome:g}", group=f"task {g}"))
            scores += [NAN, NAN, NAN] if len(runs) - 1 == lost else [NAN, 0.5, last]
    start = [NAN if t == lost else 0.5 for t in range(len(runs))]
    return _with(batch_of(*runs), scores, start)


def test_calibrated_scores_are_in_units_of_the_outcome() -> None:
    """The map says 0 at 0.2, 2 (the mean) at 0.5 and 4 at 0.9, whichever tasks are left out."""
    got = Judge(mix=1.0, smear=0.0, calibrate=True)(_tasks())
    np.testing.assert_allclose(got.credit[:6], [NAN, 0.0, -2.0, NAN, 0.0, 2.0], atol=1e-12)
    assert got.notes[-1].message == "the judge's scores are calibrated, out of fold, on 24 outcomes of 12 groups"
    assert Judge(calibrate=True).scope == "batch"


def test_a_judge_whose_scores_fall_where_outcomes_rise_is_left_with_nothing() -> None:
    batch = _tasks()
    got = Judge(mix=1.0, calibrate=True)(replace(batch, scores=1.0 - batch.scores, score_start=1.0 - batch.score_start))
    np.testing.assert_array_equal(got.credit[batch.action_mask], 0.0)
    assert got.notes[-1].message.endswith("every map is flat, its scores tell nothing of outcomes, its part is 0")


def test_what_was_not_judged_stays_without_credit_when_calibrated() -> None:
    batch = _tasks(lost=3)
    made = Judge(calibrate=True)
    got = made(batch)
    lost = slice(int(batch.span_offsets[3]), int(batch.span_offsets[4]))
    assert np.isnan(got.credit[lost]).all()
    assert not np.isnan(np.delete(got.credit, np.r_[lost])[np.delete(batch.action_mask, np.r_[lost])]).any()
    credit = scored(batch, "judge", made)
    for span in range(12):
        explained(credit, made, span)


def test_order_changes_nothing_of_calibrated_scores() -> None:
    batch = _tasks()
    order = np.random.default_rng(0).permutation(batch.n_trajectories)
    runs = [graph.trajectory for graph in batch.graphs or ()]
    scores = np.split(batch.scores, batch.span_offsets[1:-1])
    shuffled = _packed([runs[t] for t in order], [scores[t] for t in order], [0.5] * len(order))
    before, after = (
        {name: credit[one.span_offsets[t] : one.span_offsets[t + 1]] for t, name in enumerate(one.trajectory_ids)}
        for one, credit in ((one, Judge(calibrate=True)(one).credit) for one in (batch, shuffled))
    )
    for name, numbers in before.items():
        np.testing.assert_allclose(numbers, after[name], rtol=0, atol=1e-12)


def test_too_few_outcomes_to_calibrate_on_are_refused() -> None:
    with pytest.raises(InputError, match="in 10 groups at least, and there are 9: leave it out"):
        Judge(calibrate=True)(_tasks(9))
    batch = _tasks()
    alike = replace(batch, outcome=np.ones(batch.n_trajectories))
    with pytest.raises(InputError, match="outcomes that differ, and all 24 of judged runs are equal"):
        Judge(calibrate=True)(alike)
    with pytest.raises(InputError, match="calibrate='maybe'"):
        Judge(calibrate="maybe")  # type: ignore[arg-type]


# ---------------------------------------------------------------- disagreement


def test_strong_praise_of_what_the_outcome_blames_is_told_with_its_place() -> None:
    """rloo is -1 and +1 over a spread of 1. The failed run's answer is praised by 0.6, its first step blamed by 0.1."""
    batch = _with(batch_of(run("uaa", 0.0), run("ua", 1.0)), [NAN, 0.4, 1.0, NAN, 0.6], [0.5, 0.5])
    got = Judge(smear=0.0)(batch)
    [told] = [note for note in got.notes if note.code == "judge-disagrees"]
    assert told.message == (
        "judge and outcomes (dag:base=rloo) say the opposite of 1 of 3 actions, both at least 0.25 of their range; "
        "furthest apart: span 2 of t0: judge +0.60, dag -1.00"
    )


def test_five_places_of_many_are_named_and_none_where_outcomes_tell_nothing() -> None:
    many = [run("ua", float(n % 2), name=f"t{n}") for n in range(16)]
    scores = [one for n in range(16) for one in (NAN, 0.0 if n % 2 else 0.5 + n / 32)]
    batch = _with(batch_of(*many), scores, [0.0 if n % 2 == 0 else 0.5 for n in range(16)])
    [told] = [note for note in Judge()(batch).notes if note.code == "judge-disagrees"]
    assert "the opposite of 16 of 16 actions" in told.message
    assert told.message.count(";") == 5
    alike = replace(batch, outcome=np.ones(16))
    assert not [note for note in Judge()(alike).notes if note.code == "judge-disagrees"]


def test_the_threshold_follows_the_spread_of_outcomes() -> None:
    """In rewards of 0 and 100 the structure says -100 and +100: the same actions stand out."""
    runs = [run("ua", 0.0), run("ua", 100.0)]
    batch = _with(batch_of(*runs), [NAN, 0.8, NAN, 0.6], [0.5, 0.5])
    [told] = [note for note in Judge()(batch).notes if note.code == "judge-disagrees"]
    assert "span 1 of t0: judge +0.30, dag -1.00" in told.message
