"""Levels, spreads, doubts and shares by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp, nan, sqrt

import msgspec
import numpy as np
import pytest

from tests.attributors.meetings import told
from tests.build import batch_of, group_of
from trajcredit.arrays import F64
from trajcredit.attributors.sharing import Shared, doubts, levels, share_out, spreads
from trajcredit.batching import Batch, decisions
from trajcredit.model import Trajectory


def _at(batch: Batch, *numbers: float) -> F64:
    """A number for each decision in turn, 0 beside them."""
    column = np.zeros(batch.n_spans)
    column[decisions(batch)] = numbers
    return column


def _failed(batch: Batch, *spans: int) -> Batch:
    error = batch.is_error.copy()
    error[list(spans)] = True
    return replace(batch, is_error=error)


# ---------------------------------------------------------------- levels by hand


def _outcomes(*groups: Sequence[float | None], pool: Sequence[int] | None = None) -> Batch:
    """A group a row, its outcomes; the pool of every trajectory."""
    batch = batch_of(*(run for g, row in enumerate(groups) for run in group_of(*row, group=f"g{g}")))
    return batch if pool is None else replace(batch, pool=np.array(pool))


@pytest.mark.parametrize(
    ("batch", "against"),
    [
        pytest.param(_outcomes([1, 0, 0]), [1, -0.5, -0.5], id="a mixed group: the mean of the others"),
        pytest.param(_outcomes([1, 0], [0.7], [None]), [1, -1, 0, nan], id="a group of one says nothing"),
        pytest.param(_outcomes([0.7, None], [1, 0]), [0, nan, 1, -1], id="one scored is a group of one"),
        pytest.param(_outcomes([1, 1], [0, 0, 0]), [0] * 5, id="all unanimous: each task is what it is"),
        pytest.param(_outcomes([1, 1], [1, 1]), [0] * 4, id="all equal"),
        pytest.param(_outcomes([0.3, 0.3]), [0, 0], id="one unanimous group has no pool to lean on"),
        # means 1, 1/2, 0; within (0 + 1/2 + 0) / 3 = 1/6; between 1/4 - 1/12 = 1/6; k = 1
        pytest.param(
            _outcomes([1, 1], [1, 0], [0, 0]),
            [0.375, 0.375, 1, -1, -0.375, -0.375],
            id="unanimous groups lean: (1 - 1/4) / 2",
        ),
        # means 1/2, 0; within 1/4; between 1/8 - 1/8 = 0: k = 2
        pytest.param(_outcomes([1, 0], [0, 0]), [1, -1, -1 / 3, -1 / 3], id="luck alone: 2 (0 - 1/2) / 3"),
        pytest.param(
            _outcomes([1.1, 0.1], [0.1, 0.1]), [1, -1, -1 / 3, -1 / 3], id="luck alone, and rewards that round"
        ),
        # one win in three pairs: between 1/12 - 1/12, in floats a little above 0
        pytest.param(
            _outcomes([1, 0], [0, 0], [0, 0]), [1, -1, *[-1 / 6] * 4], id="luck alone, though floats see more between"
        ),
        # sizes 3 and 2; means 1/3, 0; within 1/6; luck (1/18 + 1/12) / 2 > 1/18 between: k = 3
        pytest.param(_outcomes([1, 0, 0], [0, 0]), [1, -0.5, -0.5, -0.25, -0.25], id="the larger group says k"),
        pytest.param(
            _outcomes([1, 0], [0, 0], [1, 1], pool=[0, 0, 0, 0, 1, 1]), [1, -1, -1 / 3, -1 / 3, 0, 0], id="pools apart"
        ),
        pytest.param(
            _outcomes([1, 0], [0, 0], pool=[0, 0, 0, 1]), [1, -1, -1 / 3, 0], id="a group of two pools is whole in both"
        ),
        pytest.param(
            _outcomes([1, 0], [0, 0, None], [0.5]), [1, -1, -1 / 3, -1 / 3, nan, 0], id="unscored and lone do not count"
        ),
    ],
)
def test_levels_by_hand(batch: Batch, against: list[float]) -> None:
    np.testing.assert_allclose(levels(batch), against, atol=1e-15)


def test_the_last_bit_of_a_reward_still_tells_a_mixed_group() -> None:
    batch = _outcomes([1, 1 + 2**-52], [0, -1])
    np.testing.assert_array_equal(levels(batch), [-(2**-52), 2**-52, 1, -1])


# ---------------------------------------------------------------- spreads by hand


def test_decisions_are_alike_by_tool_and_by_the_last_call_before_their_turn() -> None:
    batch = batch_of(told("u c1 r:x c2 b1 r:y r:ok a", 1.0), told("u c3 r:x c1 r:x a u:more a", 0.0))
    got = spreads(batch, _at(batch, 3, 1, 2, 7, 4, 5, 6, 8), decisions(batch))
    first, second = sqrt((9 + 16) / 2), sqrt((1 + 25) / 2)  # looks at the start; looks after a look
    # the books follows a look, the words at the end a book or a look, those in the middle a look
    np.testing.assert_allclose(got[decisions(batch)], [first, second, 2, 7, first, second, 6, 8], rtol=1e-15)
    assert not got[~decisions(batch)].any()


def test_a_failed_call_is_another_last_call() -> None:
    batch = batch_of(told("u c1 r:x c2 r:y a", 1.0), told("u c1 r:x c2 r:y a", 0.0))
    got = spreads(_failed(batch, 1), _at(batch, 1, 2, 3, 1, 4, 5), decisions(batch))
    np.testing.assert_allclose(got[decisions(batch)], [1, 2, sqrt(17), 1, 4, sqrt(17)], rtol=1e-15)


def test_pools_are_apart_and_unscored_runs_are_not_looked_at() -> None:
    batch = batch_of(*(told("u c1 r:x a", reward) for reward in (1.0, 0.0, 0.5, None)))
    batch = replace(batch, pool=np.array([0, 0, 1, 0]))
    got = spreads(batch, _at(batch, 1, 3, 3, 4, 9, 9, 50, 60), decisions(batch))
    look, words = sqrt((1 + 9) / 2), sqrt((9 + 16) / 2)
    np.testing.assert_allclose(got[decisions(batch)], [look, words, look, words, 9, 9, look, words], rtol=1e-15)


def test_calls_without_a_name_are_a_tool_of_their_own() -> None:
    runs = [told("u a", 1.0), _nameless(told("u c1 r:x a", 0.0), 1), told("u c1 r:x a", 0.5)]
    batch = replace(batch_of(*runs), pool=np.array([0, 1, 1]))
    got = spreads(batch, _at(batch, 1, 2, 3, 4, 5), decisions(batch))
    np.testing.assert_array_equal(got[decisions(batch)], [1, 2, 3, 4, 5])


def _nameless(run: Trajectory, call: int) -> Trajectory:
    spans = list(run.spans)
    spans[call] = msgspec.structs.replace(spans[call], name=None)
    return msgspec.structs.replace(run, spans=spans)


# ---------------------------------------------------------------- doubts by hand

PLAIN, MADE = 0.1, 0.3
"""Chance before siblings are asked: anything, an effect."""
END = 1 - 0.9 * 0.9
"""The last words: they may be wrong, or it was wrong to end there."""


def _end(stop: float, last: float = PLAIN) -> float:
    return 1 - (1 - last) * (1 - stop)


@pytest.mark.parametrize(
    ("stories", "outcomes", "chances"),
    [
        pytest.param(["u c1 r:x b1 r:ok a"], [0], [PLAIN, MADE, END], id="nobody to ask"),
        pytest.param(["u b1 r:ok a"] * 2, [0, 0], [MADE, END] * 2, id="none did better"),
        pytest.param(["u b1 r:ok"], [0], [_end(0.1, MADE)], id="a run that ends on an effect"),
        # odds .3/.7 x .05 = 3/140; of the end .1/.9 x .05 = 1/180
        pytest.param(
            ["u b1 r:ok a"] * 2, [1, 0], [MADE, END, 3 / 143, _end(1 / 181)], id="a better sibling clears the effect"
        ),
        # odds .3/.7 x 2 = 6/7; of the end .1/.9 x 2 = 2/9, for the better one booked 1
        pytest.param(
            ["u b1 r:ok a", "u b2 r:ok a"], [1, 0], [MADE, END, 6 / 13, _end(2 / 11)], id="or makes it suspect"
        ),
        pytest.param(
            ["u c1 r:x a", "u b2 r:ok a"], [1, 0], [PLAIN, END, 6 / 13, _end(1 / 181)], id="that did less was right to"
        ),
        pytest.param(
            ["u b1 r:ok a", "u c1 r:x a"], [1, 0], [MADE, END, PLAIN, _end(2 / 11)], id="that did more went on"
        ),
        # by half as much: odds 3/7 sqrt(2), 1/9 sqrt(2)
        pytest.param(
            ["u b1 r:ok", "u b2 r:ok a", "u a"],
            [0.5, 0, 1],
            [
                # the third did better by 1/2 and did nothing: sqrt(2) for the effect, sqrt(.05) for the end
                _end(1 / (1 + 9 / sqrt(0.05)), 1 / (1 + 7 / 3 / sqrt(2))),
                1 / (1 + 7 / 3 / 2**1.5),
                _end(1 / (1 + 9 / (0.05 * sqrt(2)))),
                END,
            ],
            id="by how much better a sibling did",
        ),
        pytest.param(
            ["u b1 r:ok a", "u b1 r:ok b1 r:ok a", "u b2 r:ok a"],
            [1, 0, None],
            [MADE, END, 3 / 143, 3 / 143, _end(1 / 181), MADE, END],
            id="a call made twice counts once, and nobody asks an unscored run",
        ),
    ],
)
def test_doubts_by_hand(stories: list[str], outcomes: list[float | None], chances: list[float]) -> None:
    batch = batch_of(*(told(story, outcome) for story, outcome in zip(stories, outcomes, strict=True)))
    got = doubts(batch, decisions(batch), np.zeros(batch.n_spans, dtype=bool), np.zeros(batch.n_trajectories))
    np.testing.assert_allclose(got[decisions(batch)], chances, rtol=1e-14)
    assert not got[~decisions(batch)].any()


def test_better_is_measured_by_the_widest_group_of_the_pool() -> None:
    runs = [told("u b1 r:ok a", 1.0), told("u b2 r:ok a", 0.0), *group_of(4, 0, group="wide")]
    batch = batch_of(*runs)
    for pool, odds in (([0, 0, 0, 0], 3 / 7 * 2**0.25), ([0, 0, 1, 1], 6 / 7)):
        got = _unhurried(replace(batch, pool=np.array(pool)))
        np.testing.assert_allclose(got[5], odds / (1 + odds), rtol=1e-14)


def _unhurried(batch: Batch) -> F64:
    """Doubts where nothing fell short."""
    return doubts(batch, decisions(batch), np.zeros(batch.n_spans, dtype=bool), np.zeros(batch.n_trajectories))


@pytest.mark.parametrize(
    ("story", "failed", "end"),
    [
        pytest.param("u b1 r:no a", [1], _end(0.3), id="tried in vain"),
        pytest.param("u b1 r:no b2 r:ok a", [1], END, id="the second try came about"),
        pytest.param("u b1 r:ok b2 r:no a", [3], _end(0.3), id="the last try did not"),
        pytest.param("u c1 r:no a", [1], END, id="a look that fails is no effect"),
    ],
)
def test_ending_after_an_effect_in_vain_is_suspect(story: str, failed: list[int], end: float) -> None:
    got = _unhurried(_failed(batch_of(told(story, 0.0)), *failed))
    np.testing.assert_allclose(got[-1], end, rtol=1e-15)
    np.testing.assert_allclose(got[failed], PLAIN, rtol=1e-15)  # a call that failed changed nothing


@pytest.mark.parametrize("trust", [0.0, 0.25, 1.0])
def test_of_a_run_that_fell_short_the_first_wrong_effect_counts(trust: float) -> None:
    batch = batch_of(told("u b1 r:ok c1 r:x b2 r:ok a", 0.0), told("u b1 r:ok a", 0.0))
    short = np.arange(batch.n_spans) < 8
    got = doubts(batch, decisions(batch), short, np.array([trust, 0.0]))
    first, both = (trust + (1 - trust) * intact for intact in (0.7, 0.49))
    np.testing.assert_allclose(got[decisions(batch)], [0.3, 0.1 * first, 0.3 * first, END * both, 0.3, END], rtol=1e-15)


def test_no_number_of_siblings_makes_it_certain() -> None:
    batch = batch_of(told("u b1 r:ok a", 0.0), *[told("u b1 r:ok a", 1.0)] * 200)
    cleared = _unhurried(batch)[1]
    batch = batch_of(told("u b1 r:ok a", 0.0), *[told("u b2 r:ok a", 1.0)] * 200)
    np.testing.assert_allclose([cleared, 1 - _unhurried(batch)[1]], 1 / (1 + exp(30)), rtol=1e-2)


# ---------------------------------------------------------------- shares by hand

TWO = (told("u b1 r:ok a", 1.0), told("u b2 r:ok a", 0.0))
"""R - b is 1 and -1; the outcomes' spread is 1/2 within the group, for two decisions each: 1 / sqrt(8)."""


def _share(batch: Batch, forecast: F64, trust: float, part: float = 0.3) -> Shared:
    return share_out(batch, forecast, decisions(batch), np.full(batch.n_trajectories, trust), part)


def test_without_trust_shares_are_doubts() -> None:
    batch = batch_of(*TWO)
    got = _share(batch, _at(batch, 9, -9, 9, -9), trust=0.0)
    chances = np.array([MADE, END, 6 / 13, _end(2 / 11) * 7 / 13])
    total = np.repeat([MADE + END, chances[2] + chances[3]], 2)
    np.testing.assert_array_equal(got.left, [1, -1])
    np.testing.assert_allclose(got.share, _at(batch, *(chances / total)), rtol=1e-14)
    np.testing.assert_allclose(got.credit, _at(batch, *(0.3 * chances / total * [1, 1, -1, -1])), rtol=1e-14)


def test_with_trust_shares_are_what_forecasts_usually_are_and_harm_counts_again() -> None:
    batch = batch_of(*TWO)
    got = _share(batch, _at(batch, 0.4, 0.0, -0.3, 0.4), trust=1.0, part=0.5)
    book, words = sqrt(0.25 / 2), sqrt(0.16 / 2)
    np.testing.assert_allclose(got.left, [0.6, -1.1], rtol=1e-15)
    share = [book / (book + words), words / (book + words)]
    weight = book + words + 0.7
    share += [(book + 0.3) / weight, (words + 0.4) / weight]
    np.testing.assert_allclose(got.share, _at(batch, *share), rtol=1e-14)
    credit = np.array([0.4, 0, -0.3, 0.4]) + 0.5 * np.array(share) * [0.6, 0.6, -1.1, -1.1]
    np.testing.assert_allclose(got.credit, _at(batch, *credit), rtol=1e-14)


def test_between_the_two_doubts_are_in_units_of_the_outcomes() -> None:
    # a group of one in the pool has no spread, and is no sign of little
    batch = batch_of(*TWO, told("u b3 r:ok a", 5.0, group="lone"))
    got = _share(batch, _at(batch, 0.4, 0.0, -0.3, 0.4, 0, 0), trust=0.5)
    book, words, unit = sqrt((0.04 + 0.0225) / 3), sqrt(0.04 / 3), 0.5 / sqrt(8)
    np.testing.assert_allclose(got.left, [0.8, -1.05, 0], rtol=1e-15)
    first = [book + unit * MADE, words + unit * END]
    suspect = 6 / 13
    second = [
        book + 0.15 + unit * suspect,
        words + 0.2 + unit * _end(2 / 11) * (0.5 + 0.5 * (1 - suspect)),
    ]
    share = [w / sum(pair) for pair in (first, second, first) for w in pair]
    np.testing.assert_allclose(got.share, _at(batch, *share), rtol=1e-14)


def test_three_tenths_of_what_is_left_are_the_decisions_own() -> None:
    batch = batch_of(*TWO)
    got = share_out(batch, np.zeros(batch.n_spans), decisions(batch), np.zeros(2))
    np.testing.assert_allclose([got.credit[:4].sum(), got.credit[4:].sum()], [0.3, -0.3], rtol=1e-14)


def test_where_nothing_tells_shares_are_even_and_a_run_alone_keeps_its_forecasts() -> None:
    batch = batch_of(told("u c1 r:x c2 r:y a", 1.0), told("u a", None))
    got = _share(batch, np.zeros(batch.n_spans), trust=1.0)
    np.testing.assert_allclose(got.share, _at(batch, 1 / 3, 1 / 3, 1 / 3, 1), rtol=1e-15)
    np.testing.assert_array_equal(got.left, [0, nan])
    forecast = _at(batch, 0.5, -0.25, 0.125, 3)
    np.testing.assert_array_equal(_share(batch, forecast, trust=1.0).credit, _at(batch, 0.5, -0.25, 0.125, nan))
