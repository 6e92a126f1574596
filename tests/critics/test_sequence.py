"""The sequence critic on a small world whose truth is known, and what must not change a forecast."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.build import batch_of, run
from tests.critics.worlds import desk, order, picked, renamed, renumbered, rewarded
from trajcredit.arrays import F64
from trajcredit.batching import Batch, decisions
from trajcredit.critics import COLUMNS, critic_file, fill, kept, sequence
from trajcredit.critics.folds import FOLDS, folds_of, ranks
from trajcredit.critics.members import members_of
from trajcredit.critics.sequence import Networks, learn
from trajcredit.critics.sequence_reads import PARTS, Reading
from trajcredit.critics.taught import leave_one_out
from trajcredit.errors import InputError
from trajcredit.model import Trajectory

Runs = Sequence[Trajectory]


@pytest.fixture(autouse=True)
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enough for worlds this small."""
    monkeypatch.setattr("trajcredit.critics.sequence_network.STEPS", 12)


@cache
def world() -> tuple[Trajectory, ...]:
    return tuple(desk(groups=10))


@cache
def plain() -> Batch:
    return fill(batch_of(*world()), "sequence")


def by_trajectory(batch: Batch, column: str) -> dict[str, F64]:
    ends = batch.span_offsets
    return {name: getattr(batch, column)[ends[t] : ends[t + 1]] for t, name in enumerate(batch.trajectory_ids)}


def differences(other: Batch, columns: Sequence[str] = COLUMNS) -> float:
    """The largest difference to the plain world, over trajectories that both have."""
    most = 0.0
    for column in columns:
        left, right = by_trajectory(plain(), column), by_trajectory(other, column)
        for name in left.keys() & right.keys():
            most = max(most, float(np.nanmax(np.abs(left[name] - right[name]))))
    return most


def test_the_wrong_seat_is_to_blame_and_a_note_takes_nothing() -> None:
    batch = plain()
    seats, notes, forecast = np.array(picked(batch)), np.array(picked(batch, "note")), batch.advantage_forecast
    lost = batch.outcome == 0
    assert (forecast[seats][lost] < -0.3).mean() >= 0.9
    assert (forecast[seats][~lost] > 0.1).mean() >= 0.9
    assert np.abs(forecast[notes]).mean() < 0.25 * np.abs(forecast[seats]).mean()


def test_forecasts_of_the_outcome_come_nearer_to_it_than_the_mean_of_the_siblings() -> None:
    batch = plain()
    last = [int(np.flatnonzero(batch.action_mask[:end])[-1]) for end in batch.span_offsets[1:].tolist()]
    siblings = leave_one_out(batch.outcome, batch.group)
    left = ((batch.outcome - batch.q_values[last]) ** 2).sum()
    assert left < 0.5 * ((batch.outcome - siblings) ** 2).sum()


def test_every_action_has_numbers_and_nothing_else_has() -> None:
    batch = fill(
        batch_of(*world(), run("ucra", None, name="x", group="task-1"), run("", 1.0, name="e"), run("ua", name="y")),
        "sequence",
    )
    for name in COLUMNS:
        column = getattr(batch, name)
        assert np.isfinite(column[batch.action_mask]).all()
        assert np.isnan(column[~batch.action_mask]).all()
    [note] = [note for note in batch.notes if note.code == "critic-sequence"]
    assert note.message.startswith("critic sequence: R2 0.")


def test_order_of_storage_does_not_change_a_bit() -> None:
    assert differences(fill(batch_of(*order(world(), 3)), "sequence")) == 0.0


def test_the_same_runs_get_the_same_bits_again() -> None:
    assert differences(fill(batch_of(*world()), "sequence")) == 0.0


@pytest.mark.parametrize(
    ("runs", "columns"),
    [
        pytest.param(
            lambda: renamed(world(), {"look": "zz", "note": "qq", "pick": "aa", "book": "mm"}),
            COLUMNS,
            id="tools renamed",
        ),
        pytest.param(
            lambda: [rewarded(one, one.rewards[0].value + 100 * int((one.group or "0-0")[5:])) for one in world()],
            ("advantage_forecast",),
            id="a constant for each group",
        ),
    ],
)
def test_what_means_nothing_changes_nothing_but_rounding(runs: Any, columns: Sequence[str]) -> None:
    assert differences(fill(batch_of(*runs()), "sequence"), columns) < 1e-5


def test_the_outcomes_of_a_task_never_enter_its_own_advantages_and_those_of_others_do() -> None:
    changed = fill(
        batch_of(*(rewarded(one, 1 - one.rewards[0].value) if one.group == "task-3" else one for one in world())),
        "sequence",
    )
    left, right = by_trajectory(plain(), "advantage_forecast"), by_trajectory(changed, "advantage_forecast")
    for k in range(4):
        np.testing.assert_array_equal(left[f"run-3-{k}"], right[f"run-3-{k}"])
    assert any(not np.array_equal(left[name], right[name], equal_nan=True) for name in left)


def test_twins_of_a_task_are_forecast_alike() -> None:
    twins = renumbered([one for one in world() if one.group == "task-2"], "twin")
    found = by_trajectory(fill(batch_of(*world(), *twins), "sequence"), "advantage_forecast")
    largest = max(float(np.nanmax(np.abs(numbers))) for numbers in found.values())
    for k in range(4):
        assert np.nanmax(np.abs(found[f"run-2-{k}"] - found[f"twin-run-2-{k}"])) < 0.25 * largest


def test_where_outcomes_are_luck_forecasts_stay_near_the_mean_of_the_siblings() -> None:
    runs = desk(groups=10, seed=3)
    luck = np.random.default_rng(3).permutation([one.rewards[0].value for one in runs])
    batch = fill(batch_of(*(rewarded(one, value) for one, value in zip(runs, luck.tolist(), strict=True))), "sequence")
    assert "folds it has none above 0: their forecast is the mean of siblings" in batch.notes[-1].message
    owner = np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))
    siblings = leave_one_out(batch.outcome, batch.group)[owner]
    mask = batch.action_mask
    assert (batch.advantage_forecast[mask] == 0).mean() > 0.5
    assert np.abs(batch.values - siblings)[mask].mean() < 0.1 * batch.outcome.std()


def test_a_model_without_skill_says_the_base() -> None:
    members, told, model = learnt()
    groups, outcome = members.groups, members.outcome
    fold = folds_of(members.names, FOLDS)[groups]
    spoilt = {f: Networks(one.reader, one.weights, -0.01 if f == 2 else 0.5) for f, one in model.models.items()}
    found = sequence.Sequence(model.frame, spoilt).say(told, groups, outcome, fold)
    idle = (fold == 2)[told.owner]
    assert not found.advantage[idle].any()
    assert found.advantage[~idle].any()
    assert found.before is not None
    np.testing.assert_array_equal(found.before[idle], leave_one_out(outcome, groups)[told.owner][idle])
    assert found.notes[0].message.endswith(
        "in 1 of 10 folds it has none above 0: their forecast is the mean of siblings"
    )


@cache
def learnt() -> tuple[Any, Any, sequence.Sequence]:
    batch = batch_of(*world())
    members = members_of(batch, decisions(batch), np.arange(batch.n_trajectories))
    model, told = learn(members.stories, members.groups, members.names, members.outcome, range(FOLDS))
    return members, told, model


def test_what_networks_learn_from_is_read_by_models_that_did_not_see_it() -> None:
    members, told, _ = learnt()
    rank, fold = ranks(members.names), folds_of(members.names, FOLDS)[members.groups]
    before = Reading(told, members.groups, rank, fold, members.outcome).without(0)
    assert before is not None
    part = before.part
    assert set(part[fold == 0]) == {-1}
    assert sorted(set(part[fold != 0])) == list(range(PARTS))
    changed = np.where(part == 1, 1 - members.outcome, members.outcome)
    mine = (part == 1)[told.owner]
    # how far kinds of features are believed is told by all of the training folds: held as it was
    pool = Reading(told, members.groups, rank, fold, changed)
    kinds = Reading(told, members.groups, rank, fold, members.outcome)
    pool._components = lambda *_: believed(kinds)  # type: ignore[method-assign]
    kinds._components = lambda *_: believed(kinds)  # type: ignore[method-assign]
    left, right = kinds.without(0), pool.without(0)
    assert left is not None
    assert right is not None
    scale = right.reader.unit / left.reader.unit  # readings are in units of what the training outcomes spread
    np.testing.assert_allclose(right.seen[mine] * scale, left.seen[mine], atol=1e-5)
    assert np.abs(right.seen[~mine] * scale - left.seen[~mine]).max() > 0.01


def test_its_models_are_the_same_after_they_were_arrays() -> None:
    members, told, model = learnt()
    arrays = model.arrays()
    frame = model.frame
    wanted = sequence.Sequence.shapes(
        FOLDS, len(frame.names), len(frame.states), len(frame.situations), len(frame.arguments)
    )
    assert {name: array.shape for name, array in arrays.items()} == wanted
    assert all(array.dtype == np.float64 for array in arrays.values())
    again = sequence.Sequence.of(frame, list(model.models), arrays)
    fold = folds_of(members.names, FOLDS)[members.groups]
    left, right = (one.say(told, members.groups, members.outcome, fold) for one in (model, again))
    for name in ("advantage", "before", "after"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name))
    assert sequence.Sequence(frame, {}).arrays() == sequence.Sequence.shapes(0, 1, 1, 1, 1) == {}
    with pytest.raises(InputError, match="1 to 32 kinds of features, not 33"):
        sequence.Sequence.of(frame, list(model.models), arrays | {"numbers": arrays["numbers"] * 0 + 33})


def test_a_kept_critic_says_of_the_runs_it_was_fitted_to_what_it_said_then(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(kept.LEARN, "sequence", sequence.learn)
    monkeypatch.setitem(critic_file.MODELS, "sequence", sequence.Sequence)
    batch = batch_of(*world())
    fitted = kept.fit(batch, "sequence")
    (tmp_path / "it").write_bytes(critic_file.to_bytes(fitted))
    for critic in (fitted, critic_file.load(tmp_path / "it")):
        filled = critic.fill(batch)
        for name in COLUMNS:
            np.testing.assert_array_equal(getattr(filled, name), getattr(plain(), name), err_msg=name)
    new = batch_of(*renumbered(desk(groups=3, seed=5), "new"))
    assert np.isfinite(fitted.fill(new).advantage_forecast[new.action_mask]).all()


def believed(pool: Reading) -> tuple[F64, float]:
    return np.full(len(pool.counts), 0.05), 0.5


@pytest.mark.parametrize("outcome", [pytest.param(1.0, id="all alike"), pytest.param(None, id="no outcome at all")])
def test_outcomes_that_tell_nothing_leave_the_base(outcome: float | None) -> None:
    batch = fill(batch_of(*(rewarded(one, outcome) for one in world())), "sequence")
    assert not batch.advantage_forecast[batch.action_mask].any()
    assert np.isfinite(batch.values[batch.action_mask]).all()


def test_rewards_are_forecast_in_their_own_units() -> None:
    huge = fill(batch_of(*(rewarded(one, one.rewards[0].value * 2.0**40) for one in world())), "sequence")
    mask = huge.action_mask
    np.testing.assert_array_equal(huge.advantage_forecast[mask], plain().advantage_forecast[mask] * 2.0**40)
