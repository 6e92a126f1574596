"""Centring: what a choice has beyond what was to be expected."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from trajcredit.arrays import F64, I64
from trajcredit.critics.centring import Centring, _cell_means, _predicted, distinct, group_sums
from trajcredit.critics.columns import F32
from trajcredit.critics.describe import Description
from trajcredit.critics.shares import Shares, situation_cells
from trajcredit.critics.siblings import NO_USES


def described(choice: F64, state: F64 | None = None, situation: list[int] | None = None) -> Description:
    n = len(choice)
    return Description(
        choice=choice.astype(np.float32),
        names=[f"tool|{c}" for c in range(choice.shape[1])],
        state=(np.zeros((n, 1)) if state is None else state).astype(np.float32),
        state_names=[f"last|{s}" for s in range(1 if state is None else state.shape[1])],
        situation=np.zeros(n, dtype=np.int64) if situation is None else np.array(situation),
        situations=np.arange(1 + max(situation or [0]), dtype=np.uint64),
        last_call=np.zeros(n, dtype=np.int64),
        owner=np.arange(n),
        noted=np.ones(n),
        new=np.zeros(n),
        uses=NO_USES,
    )


def centred(told: Description, group: I64, fold: I64) -> F32:
    """What is left of every choice feature."""
    found = Centring(told, group, fold)
    return found.left[:, found.columns.which]


def test_group_sums_by_hand() -> None:
    matrix = np.array([[1, 10], [2, 20], [3, 30], [4, 40]], dtype=np.float32)
    found = group_sums(matrix, np.array([2, 0, 2, 2]), 4)
    assert found.dtype == np.float32
    assert found.tolist() == [[2, 20], [0, 0], [8, 80], [0, 0]]
    assert group_sums(matrix[:0], np.zeros(0, dtype=np.int64), 2).tolist() == [[0, 0], [0, 0]]


def test_means_of_cells_are_shrunk_by_their_size() -> None:
    column = np.array([[1.0], [0.0], [6.0], [2.0]], dtype=np.float32)
    found = _cell_means(column, np.array([0, 0, 1, 0]), 5.0)
    np.testing.assert_allclose(found[:, 0], [3 / 8, 3 / 8, 1.0, 3 / 8], rtol=1e-6)  # 3 / (3 + 5), 6 / (1 + 5)


def test_a_forced_choice_is_exactly_zero() -> None:
    random = np.random.default_rng(0)
    choice = np.column_stack([np.ones(60), random.integers(0, 2, 60)])
    state = random.normal(size=(60, 3))
    group, fold = np.arange(60) // 6, np.arange(60) // 6 % 5
    left = centred(described(choice, state, random.integers(0, 4, 60).tolist()), group, fold)
    assert not left[:, 0].any()
    assert left[:, 1].any()


def test_what_the_situation_forces_is_near_zero_and_falls_with_the_number_of_such_points() -> None:
    for n, most in ((20, 0.2), (2000, 0.01)):
        situation = np.arange(n) % 2
        choice = np.column_stack([situation, 1 - situation]).astype(float)
        left = centred(described(choice, situation=situation.tolist()), np.arange(n) // 4, np.arange(n) // 4 % 5)
        assert np.abs(left).max() < most


def test_what_is_left_has_mean_zero_in_large_cells() -> None:
    random = np.random.default_rng(1)
    n = 4000
    situation = random.integers(0, 3, n)
    choice = (random.random((n, 2)) < (0.2 + 0.3 * situation)[:, None]).astype(float)
    group = np.arange(n) // 40
    left = centred(described(choice, situation=situation.tolist()), group, group % 10)
    for s in range(3):
        assert np.abs(left[situation == s].mean(axis=0)).max() < 0.01
    rare = left[(situation == 0) & (choice[:, 0] > 0)][:, 0]
    usual = left[(situation == 0) & (choice[:, 0] == 0)][:, 0]
    assert rare.mean() == pytest.approx(0.8, abs=0.05)
    assert usual.mean() == pytest.approx(-0.2, abs=0.05)


def by_hand(state: F32, choice: F32, fold: I64) -> F64:
    """Ridge of each fold on all the others, penalty 300, means of all."""
    out = np.zeros(choice.shape)
    seen, done = state - state.mean(axis=0), choice - choice.mean(axis=0)
    for f in set(fold.tolist()):
        x, y = seen[fold != f].astype(float), done[fold != f].astype(float)
        out[fold == f] = seen[fold == f] @ np.linalg.solve(x.T @ x + 300 * np.eye(x.shape[1]), x.T @ y)
    found: F64 = out + choice.mean(axis=0)
    return found


def test_the_prediction_from_the_state_is_ridge_on_the_other_folds() -> None:
    random = np.random.default_rng(2)
    state = random.normal(size=(900, 4)).astype(np.float32)
    choice = (state[:, :2] + random.normal(size=(900, 2)) > 0).astype(np.float32)
    fold = np.arange(900) % 4
    weights, left = _predicted(state - state.mean(axis=0), choice - choice.mean(axis=0), fold)
    found = choice - left
    np.testing.assert_allclose(found, by_hand(state, choice, fold), atol=1e-4)
    seen = state - state.mean(axis=0)
    for f in range(4):  # -1: of all
        np.testing.assert_allclose(seen[fold == f] @ weights[f] + choice.mean(axis=0), found[fold == f], atol=1e-5)
    all_of_them = np.linalg.solve(seen.T @ seen + 300 * np.eye(4), seen.T @ (choice - choice.mean(axis=0)))
    np.testing.assert_allclose(weights[-1], all_of_them, atol=1e-5)
    assert np.corrcoef(found[:, 0], state[:, 0])[0, 1] > 0.9


def test_no_rewards_are_asked_and_rows_may_come_in_any_order() -> None:
    random = np.random.default_rng(3)
    told = described(random.normal(size=(80, 3)), random.normal(size=(80, 2)), random.integers(0, 5, 80).tolist())
    group = np.arange(80) // 8
    left = centred(told, group, group % 4)
    order = random.permutation(80)
    shuffled = replace(
        told,
        choice=told.choice[order],
        state=told.state[order],
        situation=told.situation[order],
        last_call=told.last_call[order],
    )
    np.testing.assert_allclose(centred(shuffled, group[order], group[order] % 4), left[order], atol=1e-5)


def test_distinct_columns_by_hand() -> None:
    matrix = np.array([[1, 2, 1, 0, 2], [3, 4, 3, 0, 4]], dtype=np.float32)
    found = distinct(matrix)
    assert found.matrix.tolist() == [[1, 2, 0], [3, 4, 0]]
    assert found.which.tolist() == [0, 1, 0, 2, 1]
    assert found.times.tolist() == [2, 2, 1]
    assert distinct(matrix[:0]).matrix.shape == (0, 1), "of nothing all columns are equal"


def test_equal_columns_are_centred_as_if_each_were_solved_for() -> None:
    random = np.random.default_rng(5)
    state, choice = random.normal(size=(200, 3)), random.normal(size=(200, 2))
    group = np.arange(200) // 10
    few = described(choice, state[:, [0, 0, 0, 1, 2]])
    # what differs by next to nothing is not equal, and is solved for by itself
    apart = state[:, [0, 0, 0, 1, 2]] + 1e-5 * random.normal(size=(200, 5))
    many = described(choice, apart)
    assert Centring(few, group, group % 5).state.matrix.shape == (200, 3)
    assert Centring(many, group, group % 5).state.matrix.shape == (200, 5)
    np.testing.assert_allclose(centred(few, group, group % 5), centred(many, group, group % 5), atol=2e-4)


@pytest.mark.parametrize("fold", [0, 3])
def test_shares_are_the_centred_features_times_their_effects(fold: int) -> None:
    random = np.random.default_rng(6)
    n = 120
    choice = random.integers(0, 2, (n, 3)).astype(float)[:, [0, 1, 2, 1]]  # the last equals the second
    told = described(choice, random.normal(size=(n, 3)), random.integers(0, 4, n).tolist())
    told = replace(told, last_call=random.integers(0, 3, n))
    group = np.arange(n) // 6
    centring = Centring(told, group, group % 5)
    effects = random.normal(size=(3, 2))
    portion = np.array([1, 0.25, 1, 0.75])
    shares = centring.shares(effects, portion, fold)
    np.testing.assert_allclose(shares.choice, effects[[0, 1, 2, 1]] * portion[:, None])
    rows = group % 5 == fold
    found = shares.of(told, rows, situation_cells(told, told.situations), group)
    np.testing.assert_allclose(found, centring.left[rows] @ effects, atol=1e-5)


def test_of_a_situation_not_seen_nothing_is_taken_off() -> None:
    told = described(np.ones((4, 1)), situation=[0, 1, 0, 1])
    shares = Shares(np.zeros(1), np.ones((1, 1)), np.zeros(1), np.zeros((1, 1)), np.array([[0.5], [0.25]]), 3.0)
    known = situation_cells(told, np.array([7, 1], dtype=np.uint64))  # the second of these is situation 1
    assert known.tolist() == [-1, 1, -1, 1]
    assert situation_cells(told, np.zeros(0, dtype=np.uint64)).tolist() == [-1] * 4
    found = shares.of(told, np.ones(4, dtype=bool), known, np.arange(4))
    np.testing.assert_allclose(found[:, 0], np.array([1, 0.75, 1, 0.75]) * (1 - 1 / (1 + 3)))  # own habits, n = 1
