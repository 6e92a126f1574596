"""Fitted critics: what they say of what they were fitted to, and of what is new to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import msgspec
import numpy as np
import pytest

from tests.build import batch_of, run
from tests.critics.worlds import (
    assert_same,
    by_trajectory,
    desk,
    order,
    picked,
    renamed,
    renumbered,
    rewarded,
    with_tools,
)
from trajcredit.batching import Batch
from trajcredit.critics import COLUMNS, KINDS, FittedCritic, fill, fit
from trajcredit.errors import InputError, UnknownNameError
from trajcredit.model import Trajectory

Runs = Sequence[Trajectory]
KEPT = ("compatible", "ridge")


@cache
def fitted(kind: str) -> FittedCritic:
    return fit(batch_of(*desk()), kind)


def codes(batch: Batch) -> list[str]:
    return [note.code for note in batch.notes if note.code.startswith("critic")]


def of_kind(batch: Batch, code: str) -> list[str]:
    return [note.message for note in batch.notes if note.code == code]


def undeclared(runs: Runs) -> list[Trajectory]:
    """The same runs from a log that does not say which tools there are."""
    return [msgspec.structs.replace(one, tools=[]) for one in runs]


@pytest.mark.parametrize("kind", KEPT)
@pytest.mark.parametrize(
    "runs",
    [
        pytest.param(desk(), id="one pool"),
        pytest.param(undeclared(desk()), id="tools not declared"),
        pytest.param([*desk(groups=9), *with_tools(renumbered(desk(), "b"), "b")], id="two pools"),
        pytest.param(
            [*desk(groups=5, seed=1), *with_tools(renumbered(desk(groups=5, seed=2), "b"), "b")], id="merged pools"
        ),
        pytest.param([*desk(groups=8), *with_tools(renumbered(desk(groups=2), "b"), "b")], id="one pool too small"),
        pytest.param([*desk(), *(rewarded(one, None) for one in renumbered(desk(seed=1), "c"))], id="unscored runs"),
        pytest.param([rewarded(one, 1.0) for one in desk()], id="equal outcomes"),
        pytest.param([run("", 1.0), run("u", 1.0, name="b")], id="no actions"),
        pytest.param([], id="nothing"),
    ],
)
def test_a_critic_says_of_its_own_batch_what_fill_says_bit_for_bit(runs: Runs, kind: str) -> None:
    batch = batch_of(*runs)
    found, wanted = fit(batch, kind).fill(batch), fill(batch, kind)
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))
    assert "critic-drift" not in codes(found)


@pytest.mark.parametrize("kind", KEPT)
def test_new_tasks_are_blamed_without_fitting_anything(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    critic = fitted(kind)
    monkeypatch.setitem(KINDS, kind, None)
    new = renumbered(desk(seed=1), "new")
    batch = critic.fill(batch_of(*new))
    seats = np.array(picked(batch))
    lost = batch.outcome == 0
    assert (batch.advantage_forecast[seats][lost] < -0.1).mean() > 0.9
    assert (batch.advantage_forecast[seats][~lost] > 0).mean() > 0.9
    assert codes(batch) == ["critic-kept"]
    alone = critic.fill(batch_of(*(rewarded(one, None) for one in new[:1])))  # as it comes in, before it is judged
    np.testing.assert_allclose(
        np.sign(by_trajectory(alone)["new-run-0-0"]), np.sign(by_trajectory(batch)["new-run-0-0"])
    )


@pytest.mark.parametrize("kind", KEPT)
def test_a_task_it_was_fitted_to_is_scored_by_the_model_without_its_fold(kind: str) -> None:
    # two critics that differ in what the outcomes of task-3 were say the same of it
    other = fit(batch_of(*(rewarded(one, 0.0) if one.group == "task-3" else one for one in desk())), kind)
    mine = batch_of(*(one for one in desk() if one.group == "task-3"))
    found, wanted = other.fill(mine), fitted(kind).fill(mine)
    assert_same(by_trajectory(found), by_trajectory(wanted))
    assert_same(
        by_trajectory(found),
        {n: c for n, c in by_trajectory(fill(batch_of(*desk()), kind)).items() if n in by_trajectory(found)},
        1e-12,
    )
    new = batch_of(*renumbered(desk(groups=2, seed=5), "new"))
    assert (other.fill(new).advantage_forecast != fitted(kind).fill(new).advantage_forecast)[new.action_mask].any()
    assert of_kind(found, "critic-kept") == [
        f"critic {kind} {other.fingerprint} forecast 4 trajectories of 1 groups, "
        "1 of them by models fitted without them"
    ]


def test_a_known_run_is_known_under_another_name_of_its_group() -> None:
    critic = fitted("compatible")
    moved = [msgspec.structs.replace(one, group="else") for one in desk() if one.group == "task-3"]
    found, wanted = critic.fill(batch_of(*moved)), critic.fill(batch_of(*(o for o in desk() if o.group == "task-3")))
    assert_same(by_trajectory(found), by_trajectory(wanted))
    other = [msgspec.structs.replace(one, id=f"x{one.id}") for one in moved]  # other runs of an unknown group
    assert by_trajectory(critic.fill(batch_of(*other)))["xrun-3-0"][1] != by_trajectory(found)["run-3-0"][1]


def test_a_group_put_together_from_several_folds_is_refused_with_a_note() -> None:
    critic = fitted("compatible")
    [pool] = critic.pools
    first = next(name for name, fold in pool.folds.items() if fold == 0)
    second = next(name for name, fold in pool.folds.items() if fold == 1)
    mixed = [msgspec.structs.replace(one, group="both") for one in desk() if one.group in (first, second)]
    batch = critic.fill(batch_of(*mixed, *renumbered(desk(groups=1), "new")))
    assert not np.nan_to_num(batch.advantage_forecast[: batch.span_offsets[8]]).any()
    assert batch.advantage_forecast[batch.span_offsets[8] :][batch.action_mask[batch.span_offsets[8] :]].any()
    assert of_kind(batch, "critic-seen") == [
        "8 trajectories are of groups put together from several that the critic was fitted to: no model is free of "
        "their outcomes, their forecast is 0"
    ]


def test_order_of_storage_changes_nothing() -> None:
    shuffled = fit(batch_of(*order(desk(), 1)), "compatible")
    new = renumbered(desk(seed=3), "new")
    assert_same(by_trajectory(shuffled.fill(batch_of(*order(new, 2)))),
                by_trajectory(fitted("compatible").fill(batch_of(*new))), atol=1e-6)  # fmt: skip


def test_runs_go_to_the_pool_whose_tools_are_most_like_theirs() -> None:
    apart = fit(batch_of(*desk(), *with_tools(renumbered(desk(seed=4), "b"), "b")), "compatible")
    new = renumbered(desk(groups=3, seed=1), "new")
    wanted = by_trajectory(fitted("compatible").fill(batch_of(*new)))
    three_of_four = renamed(new, {"book": "other"})  # 3 tools shared of 5
    assert_same(by_trajectory(apart.fill(batch_of(*three_of_four))), wanted, atol=1e-6)
    two_of_four = renamed(new, {"book": "other", "note": "another"})  # 2 of 6: not alike
    batch = apart.fill(batch_of(*two_of_four, *renumbered(new, "other")))
    assert not np.nan_to_num(batch.advantage_forecast[: batch.span_offsets[12]]).any()
    assert of_kind(batch, "critic-no-pool") == [
        "12 trajectories have tools like none that the critic was fitted to: their forecast is 0"
    ]


def test_where_tools_are_not_declared_those_used_find_the_pool() -> None:
    new = undeclared(renumbered(desk(groups=3, seed=1), "new"))
    found = by_trajectory(fitted("compatible").fill(batch_of(*new)))
    assert_same(found, by_trajectory(fitted("compatible").fill(batch_of(*renumbered(desk(groups=3, seed=1), "new")))))


def test_pools_that_were_too_small_stay_so() -> None:
    critic = fit(batch_of(*desk(groups=3)), "ridge")
    batch = critic.fill(batch_of(*desk(groups=20, seed=2)))
    assert codes(batch) == ["critic-too-small"]
    assert not np.nan_to_num(batch.advantage_forecast).any()


def test_the_fingerprint_follows_from_kind_and_data() -> None:
    prints = {
        fitted("compatible").fingerprint,
        fitted("ridge").fingerprint,
        fit(batch_of(*desk(seed=1)), "compatible").fingerprint,
        fit(
            batch_of(*(rewarded(one, 0.5) if one.id == "run-0-0" else one for one in desk())), "compatible"
        ).fingerprint,
    }
    assert len(prints) == 4
    assert fit(batch_of(*desk()), "compatible").fingerprint == fitted("compatible").fingerprint


def test_another_version_of_the_code_is_told() -> None:
    older = replace(fitted("compatible"), code="0")
    assert "critic-code" in codes(older.fill(batch_of(*desk())))


def test_what_cannot_be_kept_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError, match="no critic named 'x'; known: best, compatible, ridge"):
        fit(batch_of(*desk()), "x")
    monkeypatch.setitem(KINDS, "fleeting", KINDS["ridge"])
    with pytest.raises(InputError, match=r"critic 'fleeting' cannot be kept.*these can: compatible, ridge"):
        fit(batch_of(*desk()), "fleeting")
    with pytest.raises(InputError, match="critic 'best' cannot be kept"):
        fit(batch_of(*desk()), "best")
    for ask in (lambda batch: fit(batch, "ridge"), fitted("ridge").fill):
        with pytest.raises(InputError, match="critic 'ridge' reads texts"):
            ask(replace(batch_of(*desk()), graphs=None))
