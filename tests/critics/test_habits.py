"""A task's own habits: how far they are believed, told by how much tasks differ."""

from __future__ import annotations

import numpy as np
import pytest

from tests.critics.test_centring import centred, described
from trajcredit.critics import shares
from trajcredit.critics.centring import LEAST_PULL, MOST_PULL, Centring, pull_of
from trajcredit.errors import InputError


def test_the_pull_by_hand() -> None:
    left = np.array([[3.0], [1.0], [-3.0], [-1.0]], dtype=np.float32)
    # means 2 and -2: within 4 / (4 - 2) = 2, between (2 * 4 + 2 * 4 - 2 * 2) / 4 = 3
    assert pull_of(np.repeat(left, 2, axis=1) * 4, np.array([0, 0, 1, 1])) == LEAST_PULL, "2 / 3 is below the least"
    left = np.array([[5.0], [-1.0], [-5.0], [1.0]], dtype=np.float32)
    # means 2 and -2: within 36 / 2 = 18, between (16 - 2 * 18) / 4 < 0
    assert pull_of(left, np.array([0, 0, 1, 1])) == MOST_PULL
    left = np.array([[4.0], [1.0], [-4.0], [-1.0]], dtype=np.float32)
    # means 2.5 and -2.5: within 9 / 2, between (25 - 9) / 4
    assert pull_of(left, np.array([0, 0, 1, 1])) == pytest.approx(4.5 / 4)


@pytest.mark.parametrize("ratio", [4.0, 40.0])
def test_the_pull_is_the_ratio_of_variances(ratio: float) -> None:
    random = np.random.default_rng(0)
    cell = random.integers(0, 800, 16_000)
    habits = random.normal(size=(800, 6)) / np.sqrt(ratio)
    left = (habits[cell] + random.normal(size=(16_000, 6))).astype(np.float32)
    assert pull_of(left, cell) == pytest.approx(ratio, rel=0.15)
    order = random.permutation(len(cell))
    assert pull_of(left[order], 799 - cell[order]) == pytest.approx(pull_of(left, cell), rel=1e-4)
    assert pull_of(left * 1000, cell) == pytest.approx(pull_of(left, cell), rel=1e-4)


def test_where_nothing_tells_tasks_apart_nothing_is_taken_for_a_habit() -> None:
    assert pull_of(np.ones((3, 2), dtype=np.float32), np.arange(3)) == MOST_PULL, "no cell has two rows"
    assert pull_of(np.zeros((4, 2), dtype=np.float32), np.array([0, 0, 1, 1])) == MOST_PULL
    assert pull_of(np.zeros((0, 2), dtype=np.float32), np.zeros(0, dtype=np.int64)) == MOST_PULL


def test_habits_are_taken_off_where_tasks_have_them_and_chance_is_left() -> None:
    random = np.random.default_rng(1)
    group = np.arange(4000) // 40
    for spread, far in ((0.45, 0.06), (0.0, 0.3)):
        chance = 0.5 + random.uniform(-spread, spread, 100)
        choice = (random.random((4000, 2)) < chance[group, None]).astype(float)
        told = described(choice)
        left = centred(told, group, group % 10)
        means = np.array([left[group == g].mean(axis=0) for g in range(100)])
        assert np.abs(means).max() < far
        assert (Centring(told, group, group % 10).habit < 10) == (spread > 0)
    usual = np.array([choice[group == g].mean(axis=0) for g in range(100)]) - choice.mean(axis=0)
    np.testing.assert_allclose(means, usual, atol=0.05)


def test_a_kept_habit_is_what_it_was_and_none_below_zero_is_read() -> None:
    told = described(np.random.default_rng(2).integers(0, 2, (60, 2)).astype(float))
    group = np.arange(60) // 6
    one = Centring(told, group, group % 5).shares(np.ones((2, 1)), np.ones(2), 0)
    kept = shares.stacked([one, one])
    assert [read.habit for read in shares.unstacked(kept, 2)] == [one.habit] * 2
    assert kept["habit"].shape == shares.stacked_shapes(2, 2, 1, 1, 1)["habit"]
    with pytest.raises(InputError, match="by at least 0 decisions, not by -1"):
        shares.unstacked(kept | {"habit": np.array([-1.0])}, 2)
