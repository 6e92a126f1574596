"""`judge=`: which judge is asked, several at once, and who hears none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import trajcredit as tc
from tests.build import batch_of
from tests.judges.logs import call, log, result, said, user
from trajcredit.arrays import F64
from trajcredit.batching import Batch, Finding
from trajcredit.errors import InputError, UnknownNameError
from trajcredit.service import plugins, stateless
from trajcredit.service.asking import configured
from trajcredit.service.judged import judged, together

NAN = np.nan
ASK = user("Which seat is free?")


def _batch() -> Batch:
    """Runs a (spans 0 to 3: two actions, the first failed) and b (spans 4 and 5)."""
    failed = result("no cabin of that name", error=True)
    bad = log(ASK, call("look", cabin="upper"), failed, said("All is well."), name="a", outcome=0.0)
    return batch_of(bad, log(ASK, said("None."), name="b", outcome=1.0))


def _heard(scores: list[float], start: list[float], *found: Finding) -> Batch:
    return replace(_batch(), scores=np.array(scores), score_start=np.array(start), findings=found)


def _same(found: F64, expected: list[float]) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)


def test_a_named_judge_is_asked_and_its_credit_is_that_of_the_default() -> None:
    batch = _batch()
    [choice] = plugins.choose(["judge:judge=rules,mix=1"])
    assert choice.judge == "rules"
    [by_name] = stateless.score(batch, [choice])
    np.testing.assert_array_equal(by_name.credit, tc.attribute(batch, "judge", mix=1.0).credit)
    np.testing.assert_array_equal(by_name.credit, tc.attribute(batch, "judge", judge="rules", mix=1.0).credit)


def test_a_named_judge_replaces_scores_that_are_there() -> None:
    other = _heard([NAN, 1.0, NAN, 1.0, NAN, 1.0], [1.0, 1.0])
    kept = tc.attribute(other, "judge", mix=1.0).credit
    _same(kept[other.action_mask], [0.0, 0.0, 0.0])
    assert tc.attribute(other, "judge", judge="rules", mix=1.0).credit[1] < 0


def test_a_stored_run_names_its_judge_among_its_parameters() -> None:
    made = configured("judge", {"judge": "rules", "mix": 1})
    assert (made.judge, made.parameters["judge"], made.label) == ("rules", "rules", "judge:mix=1.0,judge=rules")
    assert configured("judge", {"judge": None}).judge is None


@pytest.mark.parametrize("spec", ["dag:judge=rules", "grpo:judge=rules"])
def test_who_hears_no_judge_says_so(spec: str) -> None:
    with pytest.raises(InputError, match="hears no judge"):
        plugins.choose([spec])
    with pytest.raises(InputError, match="hears no judge"):
        tc.attribute(_batch(), spec.partition(":")[0], judge="rules")


def test_a_judge_there_is_none_of_is_named() -> None:
    with pytest.raises(UnknownNameError, match="oracle"):
        plugins.choose(["judge:judge=oracle"])
    for spec in ("rules+rules", "rules+", ""):
        with pytest.raises(InputError, match="each once"):
            judged(_batch(), spec)


def test_several_judges_are_one_by_the_mean_of_their_steps() -> None:
    one = _heard([NAN, 0.5, NAN, 0.25, NAN, 1.0], [1.0, 1.0], Finding(3, "x", "why", 0.25))
    two = _heard([NAN, NAN, NAN, 0.75, NAN, 0.5], [0.5, 0.5], Finding(1, "y", "why", 0.5))
    both = together([("one", one), ("two", two)])
    # steps of one: -.5, -.25 and 0; of two: none, .25 and 0
    _same(both.scores, [NAN, 0.75 - 0.5, NAN, 0.25 + 0.0, NAN, 0.75])
    _same(both.score_start, [0.75, 0.75])
    assert [finding.span for finding in both.findings] == [1, 3]
    assert both.notes[-1].message == "the mean of the judges one, two"


def test_what_one_of_several_could_not_judge_is_not_judged() -> None:
    one = _heard([NAN, 0.5, NAN, 0.25, NAN, 1.0], [1.0, 1.0])
    out = _heard([NAN, NAN, NAN, NAN, NAN, 0.5], [NAN, 0.5])
    both = together([("one", one), ("out", out)])
    _same(both.scores, [NAN, NAN, NAN, NAN, NAN, 0.75])
    _same(both.score_start, [NAN, 0.75])
