"""A judge's progress, passed back and mixed with the outcome; terms that quote what was found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.build import batch_of, run
from tests.judges.logs import call, log, result, said, user
from trajcredit.attributors import Judge, Term
from trajcredit.batching import Batch, Finding
from trajcredit.errors import InputError
from trajcredit.service.attributing import explained, scored

NAN = np.nan


def _scored_by_hand() -> Batch:
    """A good and a bad rollout: call, result, answer that rests on the result. The bad call was found at fault."""
    batch = batch_of(run("ucra", 0.0, edges=[(2, 3)]), run("ucra", 1.0, edges=[(2, 3)]))
    scores = np.array([NAN, 0.5, NAN, 0.3, NAN, 1.0, NAN, 1.0])
    found = (Finding(1, "failed-call", 'it said "no"', 0.5), Finding(3, "invented-value", "310", 0.4))
    return replace(batch, scores=scores, findings=found)


def test_progress_alone() -> None:
    got = Judge(mix=1.0, smear=0.0)(_scored_by_hand())
    np.testing.assert_allclose(got.credit, [NAN, -0.5, NAN, -0.2, NAN, 0, NAN, 0], atol=1e-15)
    np.testing.assert_array_equal(got.credit, got.advantage)


def test_a_part_goes_back_along_the_graph_through_observations() -> None:
    got = Judge(mix=1.0, smear=0.25)(_scored_by_hand())
    np.testing.assert_allclose(got.credit[:4], [NAN, -0.55, NAN, -0.15], atol=1e-15)


def test_mixed_with_the_outcome_against_the_siblings() -> None:
    """R - b is -1 and +1: a quarter of the judge, in units of 2, and three quarters of that."""
    got = Judge(mix=0.25, smear=0.0, unit=2.0)(_scored_by_hand())
    wanted = [NAN, -0.25 - 0.75, NAN, -0.1 - 0.75, NAN, 0.75, NAN, 0.75]
    np.testing.assert_allclose(got.credit, wanted, atol=1e-15)


def test_terms_say_what_was_found_here_and_in_what_rests_on_it() -> None:
    assert Judge(mix=0.5, smear=0.25).explain(_scored_by_hand(), 1) == (
        Term('failed-call: it said "no"', pytest.approx(-0.25), (1,)),  # type: ignore[arg-type]
        Term("in a step that rests on this one, invented-value: 310", pytest.approx(-0.025), (3,)),  # type: ignore[arg-type]
        Term("outcome, x 0.5", 0.0, (3,)),
        Term("mean of siblings, x 0.5", -0.5, (7,)),
    )
    nothing = Judge(mix=0.5).explain(_scored_by_hand(), 5)
    assert nothing[0] == Term("the judge found nothing here, nor in what rests on it", 0.0)
    assert Judge().explain(_scored_by_hand(), 0) == ()


def test_of_many_steps_that_rest_on_one_the_largest_are_told_one_by_one() -> None:
    batch = batch_of(run("u" + "a" * 31, 0.0, edges=[(1, child) for child in range(2, 32)]))
    batch = replace(batch, scores=np.append(NAN, np.append(1.0, 1.0 - np.arange(1, 31) ** 2 / 1000)))
    *told, others, _, _ = Judge(mix=1.0, smear=0.5).explain(batch, 1)
    assert [term.spans for term in told] == [(k,) for k in range(16, 32)]
    assert others.name == "14 more steps that rest on it"
    assert others.value == pytest.approx(-0.5 * 14**2 / 1000)


def test_a_single_failed_run_is_credited_by_rules_alone() -> None:
    batch = batch_of(
        log(
            user("Which seat is free?"),
            call("look", cabin="upper"),
            result("no cabin of that name", error=True),
            said("None that I could find."),
        )
    )
    credit = scored(batch, "judge", Judge(smear=0.0))
    np.testing.assert_allclose(credit.credit, [NAN, -0.3, NAN, 0.0], atol=1e-15)
    [found, *_] = explained(credit, Judge(smear=0.0), 1)
    assert found == Term('failed-call: its result is a failure: "no cabin of that name"', pytest.approx(-0.3), (1,))  # type: ignore[arg-type]


def test_scores_that_are_there_already_are_not_replaced() -> None:
    batch = _scored_by_hand()
    assert scored(batch, "judge", Judge()).batch is batch


def test_a_batch_without_texts_is_refused_with_what_to_do() -> None:
    batch = replace(batch_of(run("uca", 0.0)), graphs=None)
    with pytest.raises(InputError, match="the judge 'rules' reads texts, and this batch was loaded without them"):
        scored(batch, "judge", Judge())


def test_other_bases_bring_their_needs_and_their_scope() -> None:
    assert (Judge().needs, Judge().scope, Judge().default_critic) == (("scores",), "group", None)
    other = Judge(base="doubly_robust")
    assert (other.needs, other.default_critic) == (("scores", "advantage_forecast"), "compatible")
    assert other.scope == "batch"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"mix": 1.5}, "judge: mix=1.5"),
        ({"smear": 1.0}, "judge: smear=1.0"),
        ({"unit": -1}, "judge: unit=-1"),
        ({"base": "tree"}, "judge: base='tree'"),
    ],
)
def test_parameters_out_of_range_are_named(given: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Judge(**given)  # type: ignore[arg-type]
