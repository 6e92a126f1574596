"""What must hold for any batch."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests import naive
from tests.build import batch_of
from tests.laws import rollouts
from trajcredit.arrays import F64
from trajcredit.attributors import Attribution, Attributor, Broadcast, Dag, Gae, Grpo, MovingAverage, Rloo, Rtg
from trajcredit.batching import Batch
from trajcredit.graph import EDGE_KINDS
from trajcredit.model import Trajectory
from trajcredit.registry import parameters

STABLE = ("call", "explicit")
TRAJECTORY = [Broadcast(), Rtg(0.9), Gae(0.9, 0.8, values="zero"), Gae(0.9, 0.8, "turn", "zero")]
"""Those that score a trajectory alone."""
GROUP = [
    Grpo(),
    Grpo("trl", ddof=0, singleton="as_trainer"),
    Grpo(scale="none"),
    Rloo(),
    Rloo(singleton="as_trainer"),
    Dag(kinds=STABLE),
    Dag("rloo", gamma=0.9, off_path=0.3, kinds=STABLE, soft=True),
    Dag("gae", gamma=0.5, kinds=STABLE, sinks=("reward",)),
]
"""Those that look at the group."""
BATCH = [MovingAverage(0.5), Dag("moving_average", kinds=STABLE)]
"""Those that look at the whole batch, in order."""
Runs = list[Trajectory]


def _score(attributor: Attributor, batch: Batch) -> Attribution:
    """The attribution; a batch that a critic-based attributor refuses is no case for a law."""
    assume(not attributor.needs or not np.isnan(batch.values[batch.action_mask]).all())
    return attributor(batch)


def _by_trajectory(column: F64, batch: Batch) -> dict[str, list[float]]:
    ends = batch.span_offsets
    return {name: column[ends[t] : ends[t + 1]].tolist() for t, name in enumerate(batch.trajectory_ids)}


def _same(left: dict[str, list[float]], right: dict[str, list[float]], atol: float = 1e-9) -> None:
    for name, numbers in left.items():
        np.testing.assert_allclose(numbers, right[name], rtol=1e-9, atol=atol)


def _says(attributor: Attributor) -> str:
    """Its name and what differs from the defaults: "Dag base=rloo gamma=0.9"."""
    plain = type(attributor)()
    given = {p.name: getattr(attributor, p.name) for p in parameters(type(attributor)) if p.name != "kinds"}
    told = [f"{name}={value}" for name, value in given.items() if value != getattr(plain, name)]
    return " ".join([type(attributor).__name__, *told])


every = pytest.mark.parametrize("attributor", [*TRAJECTORY, *GROUP, *BATCH], ids=_says)


@every
@given(runs=rollouts())
def test_only_actions_of_scored_runs_have_numbers(attributor: Attributor, runs: Runs) -> None:
    batch = batch_of(*runs)
    got = _score(attributor, batch)
    scored = np.repeat(~np.isnan(batch.outcome), np.diff(batch.span_offsets))
    for column in (got.credit, got.advantage):
        assert column.shape == (batch.n_spans,)
        assert column.dtype == np.float64
        assert np.isnan(column[~(batch.action_mask & scored)]).all()
        assert not np.isinf(column).any()
        if not attributor.needs:
            assert not np.isnan(column[batch.action_mask & scored]).any()


@every
@given(runs=rollouts())
def test_the_explanation_adds_up_to_the_credit(attributor: Attributor, runs: Runs) -> None:
    batch = batch_of(*runs)
    credit = _score(attributor, batch).credit
    for span in range(batch.n_spans):
        terms = attributor.explain(batch, span)
        if np.isnan(credit[span]):
            assert terms == ()
        else:
            assert terms
            assert abs(sum(term.value for term in terms) - credit[span]) < 1e-6
        assert all(0 <= s < batch.n_spans for term in terms for s in term.spans)


@pytest.mark.parametrize("attributor", [*TRAJECTORY, *GROUP], ids=_says)
@given(runs=rollouts(), random=st.randoms(use_true_random=False))
def test_order_of_upload_changes_nothing(attributor: Attributor, runs: Runs, random: Any) -> None:
    batch = batch_of(*runs)
    random.shuffle(runs)
    shuffled = batch_of(*runs)
    for column in ("credit", "advantage"):
        left = _by_trajectory(getattr(_score(attributor, batch), column), batch)
        _same(left, _by_trajectory(getattr(_score(attributor, shuffled), column), shuffled), atol=1e-7)


@pytest.mark.parametrize("attributor", [*TRAJECTORY, *GROUP], ids=_says)
@given(runs=rollouts())
def test_a_group_alone_is_a_group_among_many(attributor: Attributor, runs: Runs) -> None:
    batch = batch_of(*runs)
    whole = _by_trajectory(_score(attributor, batch).credit, batch)
    for name in batch.group_ids:
        part = batch_of(*(run for run in runs if run.group == name), reward=batch.reward_source)
        _same(_by_trajectory(_score(attributor, part).credit, part), whole, atol=0)


@pytest.mark.parametrize("attributor", TRAJECTORY, ids=_says)
@given(runs=rollouts())
def test_a_batch_of_one_is_one_of_many(attributor: Attributor, runs: Runs) -> None:
    batch = batch_of(*runs)
    whole = _by_trajectory(attributor(batch).credit, batch)
    for run in runs:
        alone = batch_of(run)
        _same(_by_trajectory(attributor(alone).credit, alone), whole, atol=0)


@pytest.mark.parametrize("attributor", [Grpo(), Grpo("trl"), Rloo()], ids=_says)
@given(runs=rollouts())
def test_the_credit_of_a_group_sums_to_zero(attributor: Attributor, runs: Runs) -> None:
    batch = batch_of(*runs)
    credit = _by_trajectory(attributor(batch).credit, batch)
    scalar = np.array([np.nanmax([*numbers, -np.inf]) for numbers in credit.values()])
    scored = ~np.isnan(batch.outcome)
    for g in range(len(batch.group_ids)):
        assert abs(scalar[(batch.group == g) & scored].sum()) < 1e-9


def _moved(runs: Runs, scale: float, shift: float) -> Runs:
    """The same runs, every outcome scaled, then shifted; step rewards are dropped to keep outcomes plain."""
    return [
        msgspec.structs.replace(
            run,
            rewards=[msgspec.structs.replace(r, value=scale * r.value + shift) for r in run.rewards if r.span is None],
        )
        for run in runs
    ]


@pytest.mark.parametrize("attributor", [Grpo(), Rloo(), Dag(kinds=STABLE, gamma=0.9, sinks=("answer",))], ids=_says)
@given(runs=rollouts(), shift=st.floats(-100, 100))
def test_a_constant_added_to_a_group_changes_nothing(attributor: Attributor, runs: Runs, shift: float) -> None:
    before, after = batch_of(*_moved(runs, 1, 0)), batch_of(*_moved(runs, 1, shift))
    np.testing.assert_allclose(attributor(after).credit, attributor(before).credit, atol=1e-9)


@pytest.mark.parametrize("attributor", [*TRAJECTORY, Grpo(), Rloo(), MovingAverage()], ids=_says)
@given(runs=rollouts(), scale=st.floats(0.01, 100))
def test_scaled_rewards_scale_the_credit(attributor: Attributor, runs: Runs, scale: float) -> None:
    before, after = batch_of(*_moved(runs, 1, 0)), batch_of(*_moved(runs, scale, 0))
    np.testing.assert_allclose(attributor(after).credit, scale * attributor(before).credit, rtol=1e-9, atol=1e-9)


def _on_a_path(batch: Batch) -> list[bool]:
    """Whether each span is a sink or an ancestor of one over STABLE edges; no call of these runs changes anything."""
    edges, sinks = [], [False] * batch.n_spans
    for child in range(batch.n_spans):
        for e in range(batch.parent_offsets[child], batch.parent_offsets[child + 1]):
            if batch.parent_weight[e] >= 0.25 and EDGE_KINDS[batch.parent_kind[e]] in STABLE:
                edges.append((int(batch.parents[e]), child))
    for start, end in pairwise(batch.span_offsets.tolist()):
        actions = [i for i in range(start, end) if batch.action_mask[i]]
        for i in actions:
            sinks[i] = i == actions[-1] or abs(batch.rewards[i]) > 0
    return naive.ancestors(sinks, edges)


@given(runs=rollouts())
def test_a_span_that_reaches_no_sink_gets_exactly_zero_or_its_share_and_every_other_all_of_it(runs: Runs) -> None:
    batch = batch_of(*runs)
    masked, damped = (Dag(kinds=STABLE, off_path=share)(batch).credit for share in (0.0, 0.5))
    for i, (plain, on) in enumerate(zip(Grpo()(batch).credit, _on_a_path(batch), strict=True)):
        if np.isnan(plain):
            assert np.isnan(masked[i])
            assert np.isnan(damped[i])
        else:
            assert masked[i] == (plain if on else 0.0)
            assert damped[i] == (plain if on else 0.5 * plain)
