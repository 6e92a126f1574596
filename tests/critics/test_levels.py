"""Values of points from forecasts: of a critic that has its own, and of one that only tells advantages."""

from __future__ import annotations

import numpy as np
import pytest

from tests.build import batch_of, run
from trajcredit.arrays import F64
from trajcredit.batching import Batch, decisions, spread
from trajcredit.critics.levels import levels

NAN = np.nan


def two() -> Batch:
    """user, thought, two calls in one message, their results, an answer; reward .5 on the first call, 1 at the end.
    Its sibling won 2."""
    first = run("utccrra", name="t", turns=[-1, 0, 0, 0, 0, 0, 1], rewards={2: 0.5, 6: 1.0})
    return batch_of(first, run("ua", 2.0, name="s"))


def leveled(batch: Batch, forecast: F64, before: F64, after: F64) -> tuple[F64, F64]:
    chosen = decisions(batch)
    return levels(batch, np.where(chosen, forecast, 0.0), spread(batch, forecast, chosen), before, after)


def column(batch: Batch, **numbers: float) -> F64:
    """f64[N]: NaN but at the positions given, as s2=0.1."""
    out = np.full(batch.n_spans, NAN)
    for place, number in numbers.items():
        out[int(place[1:])] = number
    return out


def test_without_forecasts_of_its_own_the_level_of_the_siblings_and_earlier_choices_stand_in() -> None:
    batch = two()
    none = np.full(batch.n_spans, NAN)
    forecast = np.nan_to_num(column(batch, s2=0.25, s3=-0.5, s6=0.125, s8=0.0625))
    value, q_value = leveled(batch, forecast, none, none)
    # siblings of t: 2; of s: 1.5
    np.testing.assert_array_equal(value, [NAN, 2, 2, 2.25 - 0.5, NAN, NAN, 1.75 - 0.5, NAN, 1.5])
    np.testing.assert_array_equal(q_value, [NAN, 1.75, 2.25, 1.25, NAN, NAN, 1.375, NAN, 1.5625])


def test_forecasts_of_its_own_are_taken_less_what_was_paid_and_words_have_those_of_their_turn() -> None:
    batch = two()
    before, after = column(batch, s2=1.0, s3=1.5, s6=1.25), column(batch, s2=1.5, s3=1.0, s6=2.0)
    value, q_value = leveled(batch, np.nan_to_num(after - before), before, after)
    # the thought: before the first of both calls, after the last; .5 was paid from the second call on
    np.testing.assert_array_equal(value, [NAN, 1, 1, 1, NAN, NAN, 0.75, NAN, 1.5])
    np.testing.assert_array_equal(q_value, [NAN, 1, 1.5, 0.5, NAN, NAN, 1.5, NAN, 1.5])


@pytest.mark.parametrize("missing", ["before", "after"])
def test_where_one_of_both_is_missing_the_level_stands_in(missing: str) -> None:
    batch = two()
    full = {"before": column(batch, s2=1.0, s3=1.5, s6=1.25), "after": column(batch, s2=1.5, s3=1.0, s6=2.0)}
    full[missing][6] = NAN
    value, q_value = leveled(batch, np.zeros(batch.n_spans), full["before"], full["after"])
    assert (value[6], q_value[6]) == (1.5, 1.5)
    assert (value[2], q_value[2]) == (1.0, 1.5)
