"""The critic on a small world whose truth is known: who is to blame, and what must not change a forecast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import msgspec
import numpy as np
import pytest

from tests.build import batch_of, run
from tests.critics.worlds import (
    ask,
    assert_same,
    by_trajectory,
    call,
    desk,
    got,
    order,
    picked,
    renamed,
    renumbered,
    rewarded,
    say,
    told,
    with_tools,
)
from trajcredit.arrays import F64
from trajcredit.attributors import Grpo
from trajcredit.critics import COLUMNS, KINDS, compatible, fill, ridge
from trajcredit.critics.compatible import _before, _enough, _means
from trajcredit.critics.pool_fit import PoolFit
from trajcredit.critics.taught import repeats, teaching
from trajcredit.errors import InputError, UnknownNameError
from trajcredit.model import Trajectory

Runs = Sequence[Trajectory]


def forecasts(runs: Runs) -> dict[str, F64]:
    """Trajectory -> forecast advantage of every span."""
    return by_trajectory(fill(batch_of(*runs), "compatible"))


@cache
def plain() -> dict[str, F64]:
    return forecasts(desk())


@pytest.mark.parametrize("seed", range(3))
def test_the_wrong_seat_is_to_blame_in_nine_of_ten_lost_runs_and_flat_credit_does_not_see_it(seed: int) -> None:
    batch = batch_of(*desk(seed=seed))
    culprits = picked(batch)
    lost = np.flatnonzero(batch.outcome == 0).tolist()
    assert len(lost) >= 15

    def blamed(column: F64) -> float:
        """In how many lost runs the culprit alone has the lowest number."""
        hits = 0
        for t in lost:
            start, end = batch.span_offsets[t : t + 2]
            actions = start + np.flatnonzero(batch.action_mask[start:end])
            lowest = actions[column[actions] == column[actions].min()]
            hits += lowest.tolist() == [culprits[t]]
        return hits / len(lost)

    assert blamed(fill(batch, "compatible").advantage_forecast) >= 0.9
    assert blamed(Grpo()(batch).credit) == 0


def test_right_seats_are_praised_and_what_does_not_matter_is_near_zero() -> None:
    batch = fill(batch_of(*desk(groups=24)), "compatible")
    seats = np.array(picked(batch))
    notes = np.array(picked(batch, "note"))
    forecast = batch.advantage_forecast
    won = batch.outcome == 1
    assert (forecast[seats][won] > 0.15).mean() > 0.9
    assert (forecast[seats][~won] < -0.3).mean() > 0.9
    assert np.abs(forecast[notes]).mean() < 0.2 * np.abs(forecast[seats]).mean()


def test_every_action_has_numbers_and_nothing_else_has() -> None:
    batch = fill(batch_of(*desk(), run("ucra", None, name="x", group="task-1"), run("", 1.0, name="e")), "compatible")
    for name in COLUMNS:
        column = getattr(batch, name)
        assert column.dtype == np.float64
        assert np.isfinite(column[batch.action_mask]).all()
        assert np.isnan(column[~batch.action_mask]).all()
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1.0


@pytest.mark.parametrize("seed", range(3))
def test_order_of_storage_changes_nothing(seed: int) -> None:
    assert_same(forecasts(order(desk(), seed)), plain(), atol=1e-6)


def test_order_changes_nothing_where_a_sample_of_the_groups_tells_the_components(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("trajcredit.critics.compatible.MOST_FOR_COMPONENTS", 20)
    few = forecasts(desk())
    assert_same(forecasts(order(desk(), 1)), few, atol=1e-4)  # next to no noise: rounding weighs more
    assert max(np.nanmax(np.abs(few[name] - numbers)) for name, numbers in plain().items()) > 1e-3


def test_other_names_of_tools_change_nothing() -> None:
    names = {"look": "zz", "note": "qq", "pick": "aa", "book": "mm"}
    assert_same(forecasts(renamed(desk(), names)), plain(), atol=1e-6)


def test_a_constant_added_to_the_rewards_of_a_group_changes_nothing() -> None:
    moved = [rewarded(one, one.rewards[0].value + 1000 * int((one.group or "0-0")[5:])) for one in desk()]
    assert_same(forecasts(moved), plain(), atol=1e-6)


@pytest.mark.parametrize("scale", [2.0**-60, 0.3, 2.0**40])
def test_rewards_of_another_unit_give_forecasts_of_that_unit_by_both_links(scale: float) -> None:
    scaled = forecasts([rewarded(one, scale * one.rewards[0].value) for one in desk()])
    exact = np.log2(scale).is_integer()
    assert_same({name: column / scale for name, column in scaled.items()}, plain(), atol=0 if exact else 1e-6)


@pytest.mark.parametrize("reward", [0.0, 1.0, -7.5, 0.1])
def test_no_forecast_of_a_run_ever_depends_on_its_own_reward(reward: float) -> None:
    for mine in ("run-3-0", "run-7-1"):
        found = forecasts([rewarded(one, reward) if one.id == mine else one for one in desk()])
        assert_same({mine: found[mine]}, {mine: plain()[mine]})
        assert any((found[name] != column).any() for name, column in plain().items() if name != mine)


@pytest.mark.parametrize("reward", [0.0, 1.0, -7.5, 0.1])
def test_no_model_that_scores_a_group_has_seen_its_rewards(reward: float) -> None:
    """Siblings are heard, two at least: where only one has a reward, none of the group's rewards shows in it."""
    unheard = [msgspec.structs.replace(one, rewards=[]) if one.group == "task-3" else one for one in desk()]
    wanted = forecasts(unheard)
    two = [one.id for one in unheard if one.group == "task-3"][:2]
    found = forecasts([rewarded(one, reward * (k + 1)) if one.id in two else one for k, one in enumerate(unheard)])
    assert_same({name: found[name] for name in two}, {name: wanted[name] for name in two})


def test_the_value_before_a_choice_leaves_out_the_outcome_it_leads_to() -> None:
    runs = desk()
    changed = [rewarded(one, 1 - one.rewards[0].value) if one.id == "run-3-0" else one for one in runs]
    for column in ("values", "q_values"):
        before = by_trajectory(fill(batch_of(*runs), "compatible"), column)["run-3-0"]
        after = by_trajectory(fill(batch_of(*changed), "compatible"), column)["run-3-0"]
        np.testing.assert_array_equal(after, before)


@pytest.mark.parametrize("reward", [0.0, 0.1, 1 / 3, -1e9])
def test_equal_outcomes_give_forecasts_of_exactly_zero(reward: float) -> None:
    for column in forecasts([rewarded(one, reward) for one in desk(rollouts=3)]).values():
        assert not np.nan_to_num(column).any()


def test_groups_whose_outcomes_are_equal_teach_nothing_and_harm_nothing() -> None:
    flat = [rewarded(one, 0.1) if one.group in ("task-0", "task-5") else one for one in desk(groups=14, rollouts=3)]
    found = forecasts(flat)
    assert all(np.isfinite(column[~np.isnan(column)]).all() for column in found.values())
    assert max(np.nanmax(np.abs(column)) for column in found.values()) > 0.3


def test_unscored_runs_are_forecast_and_teach_nothing() -> None:
    runs = [*desk(), *(rewarded(one, None) for one in renumbered(desk(seed=1), "late"))]
    batch = fill(batch_of(*runs), "compatible")
    late = np.isnan(batch.outcome)
    assert late.sum() == 48
    culprits = np.array(picked(batch))
    wrong = np.array([one.rewards[0].value == 0 for one in desk(seed=1)])
    assert (batch.advantage_forecast[culprits[late]][wrong] < 0).all()


def test_too_few_groups_give_forecasts_of_zero_and_say_so() -> None:
    batch = fill(batch_of(*desk(groups=7)), "compatible")
    [note] = [note for note in batch.notes if note.code.startswith("critic")]
    assert note.code == "critic-too-small"
    assert note.message == (
        "28 trajectories are of pools with fewer than 8 groups that have scored siblings: "
        "nothing can be learnt for them, their forecast is 0"
    )
    assert not np.nan_to_num(batch.advantage_forecast).any()
    won = by_trajectory(batch, "values")["run-0-0"]
    siblings = np.mean([one.rewards[0].value for one in desk(groups=7) if one.group == "task-0"][1:])
    np.testing.assert_allclose(won[~np.isnan(won)], siblings)


def test_groups_of_one_and_unscored_groups_do_not_count() -> None:
    lone = [
        one for one in desk() if one.id.endswith("-0") or (one.group or "") < "task-2"
    ]  # 12 groups, 4 with siblings
    codes = [note.code for note in fill(batch_of(*lone), "compatible").notes]
    assert "critic-too-small" in codes


def test_small_pools_share_a_model_and_a_large_one_keeps_its_own() -> None:
    one, other = desk(groups=5, seed=1), with_tools(renumbered(desk(groups=5, seed=2), "b"), "b")
    large = with_tools(renumbered(desk(), "c"), "c")
    batch = fill(batch_of(*one, *other, *large), "compatible")
    said = [note.message for note in batch.notes if note.code == "critic-pools-merged"]
    assert said == ["pools with fewer than 8 groups that have scored siblings share one model (40 trajectories)"]
    groups = [note.message.split(" trajectories of ")[1].split()[0] for note in batch.notes if note.code == "critic"]
    assert groups == ["12", "10"]
    found = by_trajectory(batch)
    alone = forecasts(large)
    assert_same({name: found[name] for name in alone}, alone, atol=1e-6)
    assert max(np.nanmax(np.abs(found[run.id])) for run in one) > 0


def test_every_pool_of_its_own_tools_is_put_with_the_others() -> None:
    runs = [
        moved
        for g in range(12)
        for moved in with_tools([one for one in desk() if one.group == f"task-{g}"], f"tool{g}")
    ]
    batch = fill(batch_of(*runs), "compatible")
    assert len(set(batch.pool.tolist())) == 12
    assert np.isfinite(batch.advantage_forecast[batch.action_mask]).all()
    assert [note.code for note in batch.notes][-2:] == ["critic-pools-merged", "critic"]


def test_where_nothing_recurs_the_note_says_so() -> None:
    runs = [
        told(ask(f"w{g}"), call(f"tool{g}", {f"k{g}": k}), got(f"r{g}"), outcome=float(k), name=f"{g}-{k}",
             group=f"{g}", tools=[f"tool{g}"])
        for g in range(9) for k in range(2)
    ]  # fmt: skip
    batch = fill(batch_of(*runs), "compatible")
    assert batch.notes[-1].message == (
        "critic compatible read 18 scored of 18 trajectories of 9 groups that share tools, 0 features: "
        "nothing recurs from task to task, the forecast is 0"
    )
    assert batch.advantage_forecast[batch.action_mask].tolist() == [0.0] * 18


def test_values_by_hand() -> None:
    # groups of two: b is the other's outcome; too few groups, so forecasts are 0 and V is b less what was paid
    batch = batch_of(
        told(ask("x"), call("look", {}), got("y"), call("pick", {}), got("z"), say("done"), name="a",
             rewards={1: 0.5, 4: 0.25}),
        told(ask("x"), say("no"), name="b", outcome=0.125),
        told(ask("x"), say("lone"), name="c", outcome=4.0, group="h"),
        told(ask("x"), say("unscored"), name="d"),
    )  # fmt: skip
    filled = fill(batch, "compatible")
    values = by_trajectory(filled, "values")
    np.testing.assert_allclose(values["a"][[1, 3, 5]], [0.125, 0.125 - 0.5, 0.125 - 0.75])
    assert values["b"][1] == 0.75
    assert values["c"][1] == pytest.approx((0.75 + 0.125) / 2), "no sibling: the mean of all others"
    assert values["d"][1] == pytest.approx((0.75 + 0.125) / 2), "its siblings, it is no sibling itself"


def test_values_and_q_values_move_with_the_forecasts(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = np.array([1.0, 10.0, 100.0])  # two calls of one turn, then the answer
    monkeypatch.setitem(KINDS, "by hand", lambda stories, *_: PoolFit(np.tile(steps, len(stories)), 1))
    runs = [run("utaccarra", 0.0, name=f"{g}{k}", group=str(g), turns=[-1, 0, 0, 0, 0, 0, 0, 0, 1])
            for g in range(8) for k in range(2)]  # fmt: skip
    batch = fill(batch_of(*runs), "by hand")
    nan = np.nan
    found = {name: by_trajectory(batch, name)["00"].tolist() for name in COLUMNS}
    np.testing.assert_array_equal(found["advantage_forecast"], [nan, 11, 11, 1, 10, 11, nan, nan, 100])
    np.testing.assert_array_equal(found["values"], [nan, 0, 0, 0, 1, 11, nan, nan, 11])
    np.testing.assert_array_equal(found["q_values"], [nan, 11, 11, 1, 11, 11, nan, nan, 111])


def test_huge_rewards_of_one_run_leave_the_values_of_the_next_alone() -> None:
    huge = told(ask("x"), call("look", {}), got(""), say("done"), name="a", rewards={1: 2.0**52, 3: 1.0}, group="h")
    runs = [huge, *(run("ua", 0.1 * k, name=f"b{k}") for k in range(3))]
    assert by_trajectory(fill(batch_of(*runs), "compatible"), "values")["b0"][1] == pytest.approx(0.15, abs=1e-15)


def test_logged_values_stay_and_a_note_says_so() -> None:
    logged = run("uaua", 1.0, name="a", values=[None, 0.25, None, None])
    batch = fill(batch_of(logged, run("ua", 0.5, name="b")), "compatible")
    np.testing.assert_array_equal(batch.values, [np.nan, 0.25, np.nan, 0.5, np.nan, 1.0])
    np.testing.assert_array_equal(batch.q_values, [np.nan, 0.5, np.nan, 0.5, np.nan, 1.0])
    assert batch.notes[-1].message == "1 spans have a logged value: it stays"


@pytest.mark.parametrize(
    "runs",
    [
        pytest.param([], id="no trajectories"),
        pytest.param([run("", 1.0)], id="no spans"),
        pytest.param([run("u"), run("", name="b")], id="no actions"),
        pytest.param([run("ua")], id="no rewards"),
    ],
)
def test_batches_with_nothing_to_learn_from(runs: Runs) -> None:
    batch = fill(batch_of(*runs), "compatible")
    assert not np.nan_to_num(batch.advantage_forecast).any()
    assert np.isfinite(batch.advantage_forecast[batch.action_mask]).all()


def test_an_unknown_critic_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="no critic named 'x'; known: best, compatible, ridge"):
        fill(batch_of(run("ua", 1.0)), "x")


def test_a_batch_without_texts_is_refused_with_the_reason() -> None:
    with pytest.raises(InputError, match="critic 'compatible' reads texts, and this batch was loaded from packed rows"):
        fill(replace(batch_of(run("ua", 1.0)), graphs=None), "compatible")


def test_the_parts_of_a_fit_by_hand() -> None:
    group = np.array([0, 1, 0, 1, 2])
    assert teaching(np.array([1.0, np.nan, 0.0, 1.0, 1.0]), group).tolist() == [True, False, True, False, False]
    choice = np.array([[1, 0], [0.5, 0], [1, 0], [0, 1]], dtype=np.float32)
    assert repeats(choice, np.array([0, 0, 0, 1]), 3).tolist() == [3, 1]
    np.testing.assert_allclose(_means(np.array([[1.0], [2], [3], [4], [5]]), group)[:, 0], [2, 3, 2, 3, 5])
    np.testing.assert_allclose(_before(np.array([1.0, 2, 4, 8, 16]), np.array([3, 3, 3, 5, 5])), [0, 1, 3, 0, 8])


@pytest.mark.parametrize(
    ("most", "target", "wanted"),
    [
        pytest.param(1, [1] * 6, {1}, id="the first group has enough"),
        pytest.param(3, [1] * 6, {1}, id="exactly enough"),
        pytest.param(4, [1] * 6, {1, 2}, id="whole groups"),
        pytest.param(99, [1] * 6, {0, 1, 2}, id="all there are"),
        pytest.param(1, [-1, 0, 0, 0, 1, 0], {0}, id="none of the first differs"),
        pytest.param(3, [-1, 0, 0, 0, 1, 0], {0, 1}, id="then the first again"),
    ],
)
def test_groups_enough_for_the_components(
    monkeypatch: pytest.MonkeyPatch, most: int, target: list[float], wanted: set[int]
) -> None:
    monkeypatch.setattr("trajcredit.critics.compatible.MOST_FOR_COMPONENTS", most)
    group, rank = np.array([0, 1, 2, 1, 0, 1]), np.array([9, 2, 5, 2, 9, 2])  # group 1 first, then 2, then 0
    some = _enough(group, rank, np.array(target, dtype=float))
    assert set(group[some].tolist()) == wanted
    assert all(some[group == g].all() for g in wanted)


def test_a_pool_without_choices_has_none() -> None:
    for kind in (compatible, ridge):
        fitted = kind.fit_pool([], np.zeros(0, dtype=np.int64), [], np.zeros(0))
        assert (fitted.advantage.tolist(), fitted.columns) == ([], 0)
