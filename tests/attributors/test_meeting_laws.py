"""What must hold where rollouts meet: attributors that compare states, calls and changes of a group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.attributors.meetings import measured, meetings
from tests.build import batch_of
from trajcredit.attributors import Attributor, Gigpo, InformationGain, Novelty, Shapley, Tree
from trajcredit.batching import Batch
from trajcredit.model import Trajectory
from trajcredit.registry import parameters

Runs = list[Trajectory]
OF_RETURNS: list[Attributor] = [
    Tree(),
    Tree("jump"),
    Tree(leave_one_out=True, alone="inherit"),
    Tree("jump", leave_one_out=True),
    Gigpo(gamma=1.0),
    Gigpo(gamma=1.0, step_weight=0.5, count="steps"),
    Shapley(),
    Shapley(coalitions="all"),
]
"""Those that read rewards against the group's, undiscounted."""
EVERY: list[Attributor] = [
    *OF_RETURNS,
    Tree("jump", gamma=0.9, alone="inherit"),
    Gigpo(scale="group", singleton="as_trainer"),
    Gigpo(scale="group", count="steps", singleton="as_trainer"),
    Novelty(),
    Novelty(bonus=0.5),
    Novelty(bonus=2.0, base="tree", changes="facts"),
    InformationGain(),
    InformationGain("probability"),
]


def _says(attributor: Attributor) -> str:
    """Its name and what differs from the defaults."""
    plain = type(attributor)()
    given = {p.name: getattr(attributor, p.name) for p in parameters(type(attributor))}
    told = [f"{name}={value}" for name, value in given.items() if value != getattr(plain, name)]
    return " ".join([type(attributor).__name__, *told])


def _applicable(attributors: Sequence[Attributor], *batches: Batch) -> list[Attributor]:
    """Those that none of the batches is refused by, for want of a column."""
    measured = all(not np.isnan(batch.info[batch.action_mask]).all() for batch in batches)
    return [attributor for attributor in attributors if measured or "info" not in attributor.needs]


def _of_each(attributor: Attributor, batch: Batch) -> dict[str, list[float]]:
    """Credit, then advantage of every span of a trajectory, by its id."""
    got, ends = attributor(batch), batch.span_offsets
    both = [got.credit, got.advantage]
    return {
        name: [x for column in both for x in column[ends[t] : ends[t + 1]].tolist()]
        for t, name in enumerate(batch.trajectory_ids)
    }


def _same_in(before: Batch, after: Batch, atol: float, mark: str = "") -> None:
    """What every attributor says of the trajectories of both; those of `after` have the mark behind their id."""
    for attributor in _applicable(EVERY, before, after):
        left, right = _of_each(attributor, before), _of_each(attributor, after)
        for name in left.keys() & {other.removesuffix(mark) for other in right}:
            said = f"{_says(attributor)}: {name}"
            np.testing.assert_allclose(left[name], right[name + mark], rtol=1e-9, atol=atol, err_msg=said)


@given(runs=meetings())
def test_only_actions_of_scored_runs_have_numbers(runs: Runs) -> None:
    batch = measured(batch_of(*runs))
    scored = batch.action_mask & np.repeat(~np.isnan(batch.outcome), np.diff(batch.span_offsets))
    for attributor in _applicable(EVERY, batch):
        got = attributor(batch)
        for column in (got.credit, got.advantage):
            assert column.shape == (batch.n_spans,)
            assert column.dtype == np.float64
            assert np.isnan(column[~scored]).all(), attributor
            assert not np.isinf(column).any(), attributor
            assert attributor.needs or not np.isnan(column[scored]).any(), attributor


@given(runs=meetings())
def test_the_explanation_adds_up_to_the_credit(runs: Runs) -> None:
    batch = measured(batch_of(*runs))
    for attributor in _applicable(EVERY, batch):
        credit = attributor(batch).credit
        for span in range(batch.n_spans):
            terms = attributor.explain(batch, span)
            assert (not terms) == np.isnan(credit[span]), attributor
            assert not terms or abs(sum(term.value for term in terms) - credit[span]) < 1e-6, attributor
            assert all(0 <= s < batch.n_spans for term in terms for s in term.spans), attributor


@given(runs=meetings(), random=st.randoms(use_true_random=False))
def test_order_of_upload_changes_nothing(runs: Runs, random: Any) -> None:
    before = measured(batch_of(*runs))
    random.shuffle(runs)
    _same_in(before, measured(batch_of(*runs)), atol=1e-7)


@given(runs=meetings())
def test_a_group_alone_is_a_group_among_many(runs: Runs) -> None:
    batch = measured(batch_of(*runs))
    for name in batch.group_ids:
        part = batch_of(*(run for run in runs if run.group == name), reward=batch.reward_source)
        _same_in(batch, measured(part), atol=1e-12)


@given(runs=meetings())
def test_tools_may_have_other_names(runs: Runs) -> None:
    other = {"look": "peek", "book": "take"}
    renamed = [
        msgspec.structs.replace(
            run,
            tools=[msgspec.structs.replace(tool, name=other[tool.name]) for tool in run.tools],
            spans=[
                msgspec.structs.replace(span, name=other[span.name]) if span.name is not None else span
                for span in run.spans
            ],
        )
        for run in runs
    ]
    _same_in(measured(batch_of(*runs)), measured(batch_of(*renamed)), atol=1e-9)


@given(runs=meetings())
def test_a_group_that_is_there_twice_is_scored_twice_alike(runs: Runs) -> None:
    once = measured(batch_of(*runs))
    twice = [
        msgspec.structs.replace(run, id=f"{run.id}{mark}", group=f"{run.group}{mark}") for run in runs for mark in "ab"
    ]
    both = measured(batch_of(*twice))
    for mark in "ab":
        _same_in(once, both, atol=1e-12, mark=mark)


def _moved(runs: Runs, scale: float, shift: float) -> Runs:
    """The same runs, every outcome scaled, then shifted; step rewards are dropped to keep outcomes plain."""
    return [
        msgspec.structs.replace(
            run,
            rewards=[msgspec.structs.replace(r, value=scale * r.value + shift) for r in run.rewards if r.span is None],
        )
        for run in runs
    ]


@given(runs=meetings(), shift=st.floats(-100, 100), scale=st.floats(0.01, 100))
def test_a_constant_added_to_a_group_changes_nothing_and_scaled_rewards_scale_the_credit(
    runs: Runs, shift: float, scale: float
) -> None:
    plain, shifted, scaled = (batch_of(*_moved(runs, *by)) for by in ((1, 0), (1, shift), (scale, 0)))
    for attributor in OF_RETURNS:
        credit, said = attributor(plain).credit, _says(attributor)
        np.testing.assert_allclose(attributor(shifted).credit, credit, atol=1e-9, err_msg=said)
    for attributor in (*OF_RETURNS, Tree("jump", gamma=0.9), Gigpo()):
        credit, said = attributor(plain).credit, _says(attributor)
        np.testing.assert_allclose(attributor(scaled).credit, scale * credit, rtol=1e-9, atol=1e-9, err_msg=said)


@given(runs=meetings(groups=("x",)))
def test_equal_outcomes_leave_exactly_nothing(runs: Runs) -> None:
    batch = batch_of(*_moved(runs, 0, 0.7))
    scored = batch.action_mask & np.repeat(~np.isnan(batch.outcome), np.diff(batch.span_offsets))
    for attributor in OF_RETURNS:
        assert (attributor(batch).credit[scored] == 0).all(), attributor


@pytest.mark.parametrize("attributor", EVERY, ids=_says)
def test_no_rollout_is_no_trouble(attributor: Attributor) -> None:
    got = attributor(batch_of())
    assert got.credit.shape == got.advantage.shape == (0,)
    assert got.notes == ()
