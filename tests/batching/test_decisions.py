"""Which spans stand for a choice, and how a number of theirs reaches the words beside them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given

from tests.build import batch_of, run
from tests.laws import rollouts
from trajcredit.batching import Batch, decisions, spread, turns_of
from trajcredit.model import Trajectory

NAN = np.nan


@pytest.mark.parametrize(
    ("spans", "turns", "chosen"),
    [
        pytest.param("uca", [-1, 0, 0], "c", id="a call, and not the words after it"),
        pytest.param("utaccrra", [-1, 0, 0, 0, 0, 0, 0, 1], "cca", id="calls of one turn, then an answer"),
        pytest.param("utaa", [-1, 0, 0, 0], "a", id="the last words of a turn without calls"),
        pytest.param("uat", [-1, 0, 0], "a", id="words, though a thought follows"),
        pytest.param("utt", [-1, 0, 0], "t", id="the last thought where there is nothing else"),
        pytest.param("aa", [0, 1], "aa", id="two turns side by side"),
        pytest.param("acrc", [0, 0, 0, 0], "cc", id="a turn that goes on after a result"),
        pytest.param("usrm", [-1] * 4, "", id="observations"),
        pytest.param("", [], "", id="nothing"),
    ],
)
def test_decisions_by_hand(spans: str, turns: Sequence[int], chosen: str) -> None:
    mine = decisions(batch_of(run(spans, turns=turns)))
    assert mine.dtype == np.bool_
    assert "".join(letter for letter, is_mine in zip(spans, mine, strict=True) if is_mine) == chosen
    if spans == "utaa":
        assert mine.tolist() == [False, False, False, True]
    if spans == "utt":
        assert mine.tolist() == [False, False, True]


def test_turns_are_numbered_through_the_batch() -> None:
    batch = batch_of(run("utaa", turns=[-1, 0, 0, 5]), run(""), run("acra", turns=[5, 5, 5, 6]), run("u"))
    assert turns_of(batch).tolist() == [-1, 0, 0, 1, 2, 2, -1, 3, -1]
    assert turns_of(batch_of()).tolist() == []


def test_words_carry_the_sum_of_their_turn() -> None:
    batch = batch_of(run("utccarra", turns=[-1, 0, 0, 0, 0, 0, 0, 1]), run("ta"))
    column = np.array([9, 9, 1, 2, 9, 9, 9, 4, 9, 8.0])  # what is no decision's is not looked at
    found = spread(batch, column, decisions(batch))
    np.testing.assert_array_equal(found, [NAN, 3, 1, 2, 3, NAN, NAN, 4, 8, 8])


def by_hand(batch: Batch) -> list[bool]:
    """Turn by turn: the calls, else the last text, else the last thought."""
    chosen = [False] * batch.n_spans
    assert batch.graphs is not None
    for graph, start in zip(batch.graphs, batch.span_offsets.tolist(), strict=False):
        turns: dict[int, list[int]] = {}
        spans = graph.trajectory.spans
        for i, span in enumerate(spans):
            if batch.action_mask[start + i]:
                turns.setdefault(span.turn, []).append(i)
        for mine in turns.values():
            calls = [i for i in mine if spans[i].kind == "tool_call"]
            texts = [i for i in mine if spans[i].kind == "assistant"]
            for i in calls or texts[-1:] or mine[-1:]:
                chosen[start + i] = True
    return chosen


@given(runs=rollouts())
def test_decisions_are_what_the_slow_loop_says_and_every_turn_has_one(runs: list[Trajectory]) -> None:
    batch = batch_of(*runs)
    chosen = decisions(batch)
    assert chosen.tolist() == by_hand(batch)
    turn = turns_of(batch)
    assert set(turn[chosen].tolist()) == set(turn[batch.action_mask].tolist())
    ones = spread(batch, np.ones(batch.n_spans), chosen)
    np.testing.assert_array_equal(np.isnan(ones), ~batch.action_mask)
    assert (ones[batch.action_mask] >= 1).all()
