"""The ridge critic: against a slow twin, on a world whose truth is known, and what must not change a forecast."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest

from tests.build import batch_of, run
from tests.critics.worlds import assert_same, by_trajectory, desk, order, picked, renamed, rewarded
from trajcredit.arrays import F64
from trajcredit.batching import decisions
from trajcredit.critics import fill
from trajcredit.critics.centring import Centring
from trajcredit.critics.folds import folds_of
from trajcredit.critics.frames import described
from trajcredit.critics.grams import Grams
from trajcredit.critics.members import members_of
from trajcredit.critics.ridge import CHOICE_PENALTIES, PARTS, STATE_PENALTIES, fit_pool, learn
from trajcredit.critics.story import Story
from trajcredit.critics.taught import repeats
from trajcredit.model import Trajectory

Runs = Sequence[Trajectory]


def forecasts(runs: Runs, column: str = "advantage_forecast") -> dict[str, F64]:
    return by_trajectory(fill(batch_of(*runs), "ridge"), column)


@cache
def plain() -> dict[str, F64]:
    return forecasts(desk())


def ridge_by_hand(design: F64, target: F64, penalty: float) -> F64:
    return np.asarray(np.linalg.solve(design.T @ design + penalty * np.eye(design.shape[1]), design.T @ target))


def chosen(
    design: F64, target: F64, fold: np.ndarray, penalties: Sequence[float], owner: np.ndarray, wanted: F64, whole: bool
) -> tuple[F64, F64]:
    """Coefficients under the best penalty, and what the other parts of these folds say of every row under it.

    The best forecasts `wanted`: of every row, or where `whole` of every run, by the sum of its rows.
    """
    part = np.searchsorted(np.unique(fold), fold) % PARTS
    best: tuple[float, float, F64] | None = None
    for penalty in penalties:
        said = np.zeros(len(target))
        for p in range(PARTS):
            said[part == p] = design[part == p] @ ridge_by_hand(design[part != p], target[part != p], penalty)
        missed = wanted - (np.bincount(owner, said, len(wanted)) if whole else said)
        if best is None or missed @ missed < best[0]:
            best = (float(missed @ missed), penalty, said)
    assert best is not None
    return ridge_by_hand(design, target, best[1]), best[2]


def test_each_fold_is_forecast_by_what_the_slow_twin_fits_on_the_others() -> None:
    batch = batch_of(*desk(groups=10, rollouts=3, seed=4))
    members = members_of(batch, decisions(batch), np.arange(batch.n_trajectories))
    _, told = described(members.stories, members.groups)
    fold = folds_of(members.names, 10)[members.groups][told.owner]
    centring = Centring(told, members.groups[told.owner], fold)
    often = repeats(told.choice, told.owner, 30)
    choice = centring.left.astype(float)[:, centring.columns.which] / often  # every feature by itself
    state = told.state.astype(float) - told.state.astype(float).mean(axis=0)
    outcome = members.outcome
    mean = np.bincount(members.groups, outcome) / 3
    siblings = (3 * mean[members.groups] - outcome) / 2
    found = fit_pool(members.stories, members.groups, members.names, outcome)
    assert found.before is not None
    assert found.after is not None
    for f in (0, 7):
        mine, rows = fold == f, fold != f
        owner = told.owner[rows]
        runs = np.unique(owner)
        against = (outcome - mean[members.groups])[runs]
        target = (outcome - mean[members.groups])[owner]
        level = target.mean()
        which = np.searchsorted(runs, owner)
        value, said = chosen(state[rows], target - level, fold[rows], STATE_PENALTIES, which, target - level, False)
        effects, _ = chosen(choice[rows], target - level - said, fold[rows], CHOICE_PENALTIES, which, against, True)
        before = siblings[told.owner[mine]] + level + state[mine] @ value
        np.testing.assert_allclose(found.before[mine], before, atol=1e-5)
        np.testing.assert_allclose(found.advantage[mine], choice[mine] @ effects, atol=1e-5)
    np.testing.assert_array_equal(found.after, found.before + found.advantage)
    assert np.abs(found.advantage).max() > 0.1


def test_grams_add_up_to_the_regressions_of_any_folds() -> None:
    random = np.random.default_rng(0)
    design, target = random.normal(size=(40, 5)).astype(np.float32), random.normal(size=40)
    fold, counted = random.permutation(np.arange(40) % 4), random.random(40) < 0.8
    target[~counted] = 0.0
    grams = Grams(design, fold, counted)
    rows = counted & np.isin(fold, [0, 2])
    wanted = ridge_by_hand(design[rows].astype(float), target[rows], 2.0)
    np.testing.assert_allclose(
        grams.solved([0, 2], np.where(np.isin(fold, [0, 2]), target, 0.0), 2.0), wanted, atol=1e-6
    )
    target[fold == 3] = 0.0
    said = grams.forecasts([[0, 1], [2]], target, [2.0, 5.0])
    others = counted & (fold <= 1)
    wanted = ridge_by_hand(design[others].astype(float), target[others], 5.0)
    np.testing.assert_allclose(said[1, fold == 2], design[fold == 2] @ wanted, atol=1e-6)
    assert not said[:, fold == 3].any()


def test_the_wrong_seat_is_blamed_and_what_does_not_matter_is_near_zero() -> None:
    batch = fill(batch_of(*desk(groups=24)), "ridge")
    seats, notes = np.array(picked(batch)), np.array(picked(batch, "note"))
    forecast, won = batch.advantage_forecast, batch.outcome == 1
    assert (forecast[seats][won] > 0).mean() > 0.9
    assert (forecast[seats][~won] < -0.1).mean() > 0.9
    assert np.abs(forecast[notes]).mean() < 0.3 * np.abs(forecast[seats]).mean()


def test_values_know_after_the_choice_what_they_do_not_before_it() -> None:
    batch = fill(batch_of(*desk(groups=24)), "ridge")
    last = np.array([int(end) - 1 for end in batch.span_offsets[1:]])  # "done", after the seat was picked
    seats, won = np.array(picked(batch)), batch.outcome == 1
    assert batch.values[last][won].mean() - batch.values[last][~won].mean() > 0.5
    assert batch.q_values[seats][won].mean() - batch.q_values[seats][~won].mean() > 0.3
    assert abs(batch.values[seats][won].mean() - batch.values[seats][~won].mean()) < 0.2


@pytest.mark.parametrize("seed", range(2))
def test_order_of_storage_changes_nothing(seed: int) -> None:
    assert_same(forecasts(order(desk(), seed)), plain(), atol=1e-6)


def test_other_names_of_tools_change_nothing() -> None:
    names = {"look": "zz", "note": "qq", "pick": "aa", "book": "mm"}
    assert_same(forecasts(renamed(desk(), names)), plain(), atol=1e-6)


def test_a_constant_added_to_the_rewards_of_a_group_moves_its_values_and_no_advantage() -> None:
    moved = [rewarded(one, one.rewards[0].value + 1000 * int((one.group or "0-0")[5:])) for one in desk()]
    assert_same(forecasts(moved), plain(), atol=1e-6)
    before, after = forecasts(desk(), "values"), forecasts(moved, "values")
    wanted = {one.id: before[one.id] + 1000 * int((one.group or "0-0")[5:]) for one in desk()}
    assert_same(after, wanted, atol=1e-6)


@pytest.mark.parametrize("scale", [2.0**-60, 2.0**40])
def test_rewards_of_another_unit_give_forecasts_of_that_unit(scale: float) -> None:
    scaled = forecasts([rewarded(one, scale * one.rewards[0].value) for one in desk()])
    assert_same({name: column / scale for name, column in scaled.items()}, plain())


@pytest.mark.parametrize("reward", [0.0, -7.5, 0.1])
def test_no_advantage_of_a_group_ever_depends_on_its_rewards(reward: float) -> None:
    others = [
        rewarded(one, reward * (k + 1) if one.group == "task-3" else one.rewards[0].value)
        for k, one in enumerate(desk())
    ]
    found = forecasts(others)
    mine = [one.id for one in others if one.group == "task-3"]
    assert_same({name: found[name] for name in mine}, {name: plain()[name] for name in mine})
    assert any((found[name] != column).any() for name, column in plain().items() if name not in mine)


def test_no_value_of_a_run_ever_depends_on_its_own_outcome() -> None:
    changed = [rewarded(one, 1 - one.rewards[0].value) if one.id == "run-3-0" else one for one in desk()]
    for column in ("values", "q_values"):
        np.testing.assert_array_equal(forecasts(changed, column)["run-3-0"], forecasts(desk(), column)["run-3-0"])


def test_a_group_that_is_there_twice_is_forecast_alike_both_times() -> None:
    twin = [one for one in desk() if one.group == "task-2"]
    names = {one.id: f"twin-{one.id}" for one in twin}
    from msgspec.structs import replace

    found = forecasts([*desk(), *(replace(one, id=names[one.id], group="twin") for one in twin)])
    folds = folds_of([*{one.group or "" for one in desk()}, "twin"], 10)
    assert len(folds) == 13
    for name, other in names.items():
        assert np.nanmax(np.abs(found[name] - found[other])) < 0.1


@pytest.mark.parametrize("reward", [0.0, 1 / 3, -1e9])
def test_equal_outcomes_give_advantages_of_exactly_zero(reward: float) -> None:
    for column in forecasts([rewarded(one, reward) for one in desk(rollouts=3)]).values():
        assert not np.nan_to_num(column).any()


def test_runs_without_siblings_or_outcomes_have_the_value_of_all_others() -> None:
    lone = [run("ua", None, name="x", group="x"), *(one for one in desk() if one.id != "run-0-1")]
    values = forecasts(lone, "values")
    assert np.isfinite(values["x"][1])
    batch = batch_of(*desk())
    members = members_of(batch, decisions(batch), np.arange(48))
    model, _ = learn(members.stories, members.groups, members.names, members.outcome, [-1])
    assert model.models[-1].base == pytest.approx(batch.outcome.mean())


def test_scored_runs_without_a_choice_teach_nothing() -> None:
    batch = batch_of(*desk(groups=8, rollouts=2))
    members = members_of(batch, decisions(batch), np.arange(16))
    idle = [*members.stories, *(Story() for _ in range(16))]
    groups, names = np.concatenate([members.groups, 8 + members.groups]), [*members.names, *"abcdefgh"]
    outcome = np.concatenate([np.full(16, np.nan), np.arange(16.0)])
    found = fit_pool(idle, groups, names, outcome)
    assert not found.advantage.any()
    assert found.before is not None
    assert np.isnan(found.before).all()


@pytest.mark.parametrize("huge", [2.0**52, 1e-300])
def test_rewards_of_any_size(huge: float) -> None:
    batch = fill(batch_of(*(rewarded(one, huge * one.rewards[0].value) for one in desk())), "ridge")
    for name in ("advantage_forecast", "values", "q_values"):
        assert np.isfinite(getattr(batch, name)[batch.action_mask]).all()
