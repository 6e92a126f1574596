"""The critic that foretells best: chosen by the other half of the tasks, never by the outcomes it is to forecast."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from tests.build import batch_of
from tests.critics.worlds import assert_same, by_trajectory, desk
from trajcredit.arrays import F64, I64
from trajcredit.critics import fill
from trajcredit.critics.best import _chosen, fit_best
from trajcredit.critics.folds import folds_of
from trajcredit.critics.pool_fit import PoolFit
from trajcredit.critics.story import Choice, Story

GROUPS, ROLLOUTS = 32, 4
NAMES = [f"task {g}" for g in range(GROUPS)]
TASK: I64 = np.repeat(np.arange(GROUPS), ROLLOUTS)
RIGHT = np.tile([1.0, 1.0, 0.0, 0.0], GROUPS)
"""What every run did: the outcome is this, and luck."""


def stories(good: F64 = RIGHT) -> list[Story]:
    """One choice a run, which says whether it was right."""
    return [Story(choices=[Choice("pick", False, 0, (), str(right), (), 0)]) for right in good.tolist()]


def outcomes(seed: int = 0) -> F64:
    luck: F64 = np.random.default_rng(seed).normal(0, 0.1, len(RIGHT))
    return RIGHT + luck


def knowing(share: float, before: float | None = None) -> Callable[..., PoolFit]:
    """A critic that knows what was right, and says that share of it."""

    def fit(runs: Sequence[Story], groups: I64, names: Sequence[str], outcome: F64) -> PoolFit:
        said = np.array([share * (float(run.choices[0].text) - 0.5) for run in runs])
        level = None if before is None else np.full(len(runs), before)
        return PoolFit(said, 1, level, level)

    return fit


def test_the_kind_that_foretells_clearly_better_is_asked() -> None:
    kinds = {"none": knowing(0.0), "all": knowing(1.0), "half": knowing(0.5)}
    found = fit_best(kinds, stories(), TASK, NAMES, outcomes())
    assert np.array_equal(found.advantage, RIGHT - 0.5)
    [note] = found.notes
    assert note.code == "critic-chosen"
    assert note.message.count("16 tasks by all") == 2
    assert "none 0.00" in note.message


def test_the_first_stays_where_none_is_clearly_better() -> None:
    first = np.ones(4)
    assert _chosen({"first": first, "other": np.array([0.5, 1.4, 1.0, 1.0])}) == "first"  # .025 less, give or take .19
    assert _chosen({"first": first, "other": np.array([0.8, 0.9, 0.85, 0.9])}) == "other"
    assert _chosen({"first": first, "a": first - 0.2, "b": first - 0.3}) == "b"
    alike = {"first": knowing(0.0, before=1.0), "other": knowing(0.0, before=2.0)}
    same = fit_best(alike, stories(), TASK, NAMES, np.ones(len(RIGHT)))
    assert same.before is not None
    assert same.before.tolist() == [1.0] * len(RIGHT)


def test_few_tasks_stay_with_the_first_and_say_so() -> None:
    few = TASK < 14
    kinds = {"none": knowing(0.0), "all": knowing(1.0)}
    found = fit_best(kinds, stories(RIGHT[few]), TASK[few], NAMES[:14], outcomes()[few])
    assert not found.advantage.any()
    assert "fewer than 8 other tasks" in found.notes[0].message


def test_each_half_is_asked_of_its_own_kind() -> None:
    half = folds_of(NAMES, 2)[TASK]
    outcome = outcomes()
    outcome[half == 1] = np.random.default_rng(2).normal(0, 1, int((half == 1).sum()))
    kinds = {"none": knowing(0.0), "all": knowing(1.0, before=0.25)}
    found = fit_best(kinds, stories(), TASK, NAMES, outcome)
    assert np.array_equal(found.advantage, np.where(half == 1, RIGHT - 0.5, 0.0))
    assert found.before is not None
    assert np.array_equal(np.isnan(found.before), half == 0)  # the first kind forecasts no outcome


@pytest.mark.parametrize("half", [0, 1])
def test_outcomes_of_a_task_have_no_say_in_its_own_kind(half: int) -> None:
    """Whatever becomes of one half, it is asked of the same kind: the other half alone decides."""
    kinds = {"none": knowing(0.0), "all": knowing(1.0)}
    mine = folds_of(NAMES, 2)[TASK] == half
    for other in (np.zeros(len(RIGHT)), 1e300 * RIGHT, -outcomes(3), np.full(len(RIGHT), np.nan)):
        changed = np.where(mine, other, outcomes())
        assert np.array_equal(fit_best(kinds, stories(), TASK, NAMES, changed).advantage[mine], RIGHT[mine] - 0.5)


def test_huge_outcomes_are_compared_like_others() -> None:
    kinds = {"none": knowing(0.0), "all": knowing(1e300)}
    assert fit_best(kinds, stories(), TASK, NAMES, 1e300 * outcomes()).advantage.any()


def test_real_kinds_are_compared_whatever_the_order_of_storage() -> None:
    runs = desk(groups=20)
    found = fill(batch_of(*runs), "best")
    [note] = [note for note in found.notes if note.code == "critic-chosen"]
    assert all(f"{kind} " in note.message for kind in ("compatible", "ridge", "sequence"))
    assert_same(by_trajectory(found), by_trajectory(fill(batch_of(*runs[::-1]), "best")), 1e-5)
