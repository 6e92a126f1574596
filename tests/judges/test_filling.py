"""Scores of a batch: what is left of 1 after every action, by findings, run by run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.build import batch_of
from tests.judges.logs import call, log, result, said, user
from trajcredit.errors import InputError, UnknownNameError
from trajcredit.judges import judge
from trajcredit.model import Trajectory

NAN = np.nan
ASK = user("Which seat is free?")


def _bad(name: str) -> Trajectory:
    failed = result("no cabin of that name", error=True)
    return log(ASK, call("look", cabin="upper"), failed, said("All is well."), name=name)


def test_each_finding_takes_its_part_of_what_is_left() -> None:
    batch = judge(batch_of(_bad("a"), log(ASK, said("None."), name="b"), _bad("c")), "rules")
    bad = [NAN, 0.4, NAN, 0.4 * 0.7]
    np.testing.assert_allclose(batch.scores, [*bad, NAN, 1.0, *bad])
    assert [(one.span, one.rule) for one in batch.findings] == [
        (1, "failed-call"),
        (3, "ignored-failure"),
        (7, "failed-call"),
        (9, "ignored-failure"),
    ]
    assert batch.notes[-1].message == "judge rules: 4 findings in 2 of 3 trajectories"
    with pytest.raises(ValueError, match="read-only"):
        batch.scores[1] = 1.0


def test_no_score_rests_on_an_outcome() -> None:
    runs = [log(*_bad("a").spans, outcome=outcome, name="a") for outcome in (0.0, 1.0, None)]
    first, *others = (judge(batch_of(one), "rules").scores for one in runs)
    for other in others:
        np.testing.assert_array_equal(first, other)


def test_an_unknown_judge_and_a_batch_without_texts_are_refused() -> None:
    batch = batch_of(_bad("a"))
    with pytest.raises(UnknownNameError, match="oracle"):
        judge(batch, "oracle")
    with pytest.raises(InputError, match="reads texts"):
        judge(replace(batch, graphs=None), "rules")
