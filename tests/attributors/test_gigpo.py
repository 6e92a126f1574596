"""Two levels of comparison: by hand, against the trainer's numbers and the slow loop."""

from __future__ import annotations

import json
from dataclasses import replace
from math import fsum, nan, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from tests.attributors.meetings import meetings, steps_by_hand, told
from tests.build import batch_of, group_of, run
from trajcredit.attributors import Gigpo, Grpo, Term
from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.model import Trajectory

NAN = np.nan
GOLDEN = Path(__file__).parents[3] / "shared" / "trainers_golden.json"


def _placed(states: list[list[str]], rewards: list[list[float]]) -> Batch:
    """One rollout a row, one action a step, each in the state of that name."""
    runs = [
        run("a" * len(row), rewards={k: r for k, r in enumerate(row) if r} or {0: 0.0}, turns=range(len(row)))
        for row in rewards
    ]
    names = {name: n for n, name in enumerate(sorted({name for row in states for name in row}))}
    key = np.array([names[name] for row in states for name in row], dtype=np.uint64)
    return replace(batch_of(*runs), state_key=key)


def test_a_state_met_by_one_rollout_adds_nothing() -> None:
    batch = _placed([["s0", "s1", "s2"], ["s0", "s2"]], [[0, 0, 1], [0, 0]])
    got = Gigpo(gamma=1.0, step_weight=0.5)(batch)
    assert got.credit.tolist() == [0.75, 0.5, 0.75, -0.75, -0.75]
    np.testing.assert_array_equal(got.credit, got.advantage)
    assert [note.message for note in got.notes] == ["1 of 5 steps were taken in states met once: A_step is 0 there"]


def test_every_visit_of_a_state_counts_and_returns_are_discounted_by_step() -> None:
    # returns 1, 2, 4 in s, t, s against 0 in s: mean of s 5/3
    batch = _placed([["s", "t", "s"], ["s"]], [[0, 0, 4], [0]])
    got = Gigpo(gamma=0.5)(batch).credit
    np.testing.assert_allclose(got, [2 + 1 - 5 / 3, 2, 2 + 4 - 5 / 3, -2 - 5 / 3], atol=1e-15)


def test_long_rollouts_weigh_more_only_where_steps_are_counted() -> None:
    batch = _placed([["a", "b", "c"], ["d"]], [[0, 0, 1], [0]])
    assert Gigpo(gamma=1.0)(batch).credit.tolist() == [0.5, 0.5, 0.5, -0.5]
    assert Gigpo(gamma=1.0, count="steps")(batch).credit.tolist() == [0.25, 0.25, 0.25, -0.75]


def test_either_part_is_divided_by_its_own_spread() -> None:
    batch = _placed([["s", "a"], ["s", "b"]], [[0, 1], [0, 0]])
    got = Gigpo(gamma=1.0, step_weight=0.5, scale="group")(batch)
    part = 0.5 / (sqrt(0.5) + 1e-6)
    assert got.credit.tolist() == [0.75, 0.5, -0.75, -0.5]
    np.testing.assert_allclose(got.advantage, [1.5 * part, part, -1.5 * part, -part], atol=1e-15)


def test_without_a_step_part_it_is_the_group_mean() -> None:
    batch = batch_of(*group_of(0, 1, 0, 1), *group_of(0.3, None, 0.9, group="h"))
    got = Gigpo(step_weight=0.0, scale="group")(batch)
    np.testing.assert_allclose(got.credit, Grpo()(batch).credit, atol=1e-15)
    np.testing.assert_allclose(got.advantage, Grpo()(batch).advantage, atol=1e-15)


@pytest.mark.parametrize(
    ("gigpo", "credit"),
    [
        pytest.param(Gigpo(), [0, 0], id="nothing"),
        pytest.param(Gigpo(singleton="as_trainer"), [0.8, 0.8], id="the raw outcome, as verl-agent has it"),
        pytest.param(Gigpo(singleton="as_trainer", count="steps"), [0, 0], id="two rows are no group of one there"),
    ],
)
def test_a_group_of_one(gigpo: Gigpo, credit: list[float]) -> None:
    batch = batch_of(told("u c1 r:x a", 0.8), told("u a", None))
    got = gigpo(batch)
    np.testing.assert_array_equal(got.credit, [NAN, credit[0], NAN, credit[1], NAN, NAN])
    assert [(note.code, note.trajectory) for note in got.notes] == [("singleton-group", "t0")]


def test_a_lone_row_is_raw_for_the_trainer_however_rows_are_counted() -> None:
    batch = batch_of(run("a", 0.8))
    for count in ("rollouts", "steps"):
        got = Gigpo(singleton="as_trainer", scale="group", count=count)(batch)
        assert got.credit.tolist() == [0.8]
        np.testing.assert_allclose(got.advantage, [0.8 / (1 + 1e-6)], atol=1e-15)
    assert Gigpo(singleton="as_trainer").explain(batch, 0)[0] == Term("outcome", 0.8, (0,))


def test_the_explanation_names_what_each_mean_rests_on() -> None:
    batch = _placed([["s", "a"], ["s", "b"]], [[0, 1], [0, 0]])
    gigpo = Gigpo(gamma=1.0, step_weight=0.5)
    assert gigpo.explain(batch, 0) == (
        Term("outcome", 1.0, (1,)),
        Term("mean of the group, over rollouts", -0.5, (1, 3)),
        Term("return from this step on, x 0.5", 0.5, (1,)),
        Term("mean return of the 2 steps taken in this state, x 0.5", -0.25, (0, 2)),
    )
    assert gigpo.explain(batch, 1)[2:] == (Term("no other step in this state: nothing to hold it against", 0.0),)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"step_weight": -1}, "gigpo: step_weight=-1 is not a number in"),
        ({"gamma": 1.5}, "gigpo: gamma=1.5"),
        ({"scale": "batch"}, "gigpo: scale='batch' is not one of none, group"),
        ({"count": "rows"}, "gigpo: count='rows' is not one of rollouts, steps"),
        ({"singleton": "raw"}, "gigpo: singleton='raw'"),
    ],
)
def test_what_is_out_of_range_is_refused_by_name(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError) as refusal:
        Gigpo(**given)
    assert says in str(refusal.value)


# ---------------------------------------------------------------- against the trainer, and the slow loop


@pytest.mark.skipif(not GOLDEN.exists(), reason=f"{GOLDEN} is not there")
@pytest.mark.parametrize(("scale", "key"), [("none", "adv_mean_norm"), ("group", "adv_mean_std_norm")])
def test_what_the_trainer_computed(scale: Any, key: str) -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))["gigpo"]
    anchor, rewards = golden["anchor"], golden["step_rewards"]
    batch = _placed([anchor[:2], anchor[2:]], [rewards[:2], rewards[2:]])
    got = Gigpo(gamma=golden["gamma"], scale=scale, count="steps", singleton="as_trainer")(batch)
    np.testing.assert_allclose(got.advantage, golden[key], atol=2e-6)


def _normal(rows: list[tuple[Any, float]], lone_mean: float | None, divide: bool) -> list[float]:
    """Each number minus the mean of its key, over its spread + 1e-6; of a lone one the mean is itself, or as given."""
    out = []
    for key, number in rows:
        others = [x for k, x in rows if k == key]
        mean = fsum(others) / len(others)
        spread = 1.0
        if len(others) > 1:
            spread = sqrt(fsum((x - mean) ** 2 for x in others) / (len(others) - 1))
        elif lone_mean is not None:
            mean = lone_mean
        out.append((number - mean) / (spread + 1e-6 if divide else 1.0))
    return out


def _naive(batch: Batch, gigpo: Gigpo, divide: bool) -> list[float]:
    rows = []
    for t in np.flatnonzero(~np.isnan(batch.outcome)).tolist():
        ahead = 0.0
        mine: list[tuple[int, int, int, list[int], float]] = []
        for state, spans, gain in reversed(list(steps_by_hand(batch, t))):
            ahead = gain + gigpo.gamma * ahead
            mine.insert(0, (t, int(batch.group[t]), state, spans, ahead))
        rows += mine
    lone = 0.0 if gigpo.singleton == "as_trainer" else None
    if gigpo.count == "steps":
        episode = _normal([(g, float(batch.outcome[t])) for t, g, *_ in rows], lone, divide)
    else:
        once = dict.fromkeys((t, g) for t, g, *_ in rows)
        each = dict(zip(once, _normal([(g, float(batch.outcome[t])) for t, g in once], lone, divide), strict=True))
        episode = [each[t, g] for t, g, *_ in rows]
    step = _normal([((g, state), ahead) for _, g, state, _, ahead in rows], None, divide)
    out = [nan] * batch.n_spans
    for (_, _, _, spans, _), a, b in zip(rows, episode, step, strict=True):
        for i in spans:
            out[i] = a + gigpo.step_weight * b
    return out


@pytest.mark.parametrize(
    "gigpo",
    [
        Gigpo(),
        Gigpo(gamma=0.5, step_weight=2.0, scale="group"),
        Gigpo(scale="group", count="steps", singleton="as_trainer"),
        Gigpo(scale="group", singleton="as_trainer"),
    ],
    ids=str,
)
@given(runs=meetings())
def test_it_says_what_the_slow_loop_says(gigpo: Gigpo, runs: list[Trajectory]) -> None:
    batch = batch_of(*runs)
    got = gigpo(batch)
    np.testing.assert_allclose(got.credit, _naive(batch, gigpo, divide=False), atol=1e-9)
    np.testing.assert_allclose(got.advantage, _naive(batch, gigpo, gigpo.scale == "group"), rtol=1e-6, atol=1e-6)
