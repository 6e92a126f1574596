"""Forecasts and what they leave unexplained: by hand, as `rloo`, and what adds up."""

from __future__ import annotations

from dataclasses import replace
from math import fsum, inf, nan
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.build import batch_of, group_of, run
from tests.critics.worlds import desk
from tests.laws import reward, rollouts
from trajcredit.arrays import F64, I64
from trajcredit.attributors import DoublyRobust, Rloo, configure
from trajcredit.attributors.skill import Skill, _reach, skills
from trajcredit.batching import Batch, decisions, spread
from trajcredit.critics import fill
from trajcredit.errors import InputError
from trajcredit.model import Trajectory

NAN = np.nan
PAIR = [run("utccrra", 1.0, turns=[-1, 0, 0, 0, 0, 0, 1]), run("ua", 0.0)]
"""A thought, two calls and an answer that won; an answer that lost."""


def forecast(batch: Batch, *of_decisions: float) -> Batch:
    """The batch with a forecast for each decision, in order; words beside them carry the sum of their turn."""
    chosen = decisions(batch)
    column = np.zeros(batch.n_spans)
    column[chosen] = of_decisions
    return replace(batch, advantage_forecast=spread(batch, column, chosen))


FORECAST = forecast(batch_of(*PAIR), 0.25, -0.125, 0.5, -0.75)
"""Sums 0.625 and -0.75; R - b is 1 and -1: residuals 0.375 and -0.25."""


@pytest.mark.parametrize(
    ("w", "credit"),
    [
        pytest.param(0, [0.125, 0.25, -0.125, 0.5, -0.75], id="w=0: the forecasts"),
        pytest.param(1, [0.5, 0.625, 0.25, 0.875, -1], id="w=1: and all that they leave"),
        pytest.param(0.5, [0.3125, 0.4375, 0.0625, 0.6875, -0.875], id="w=0.5: and half of it"),
        pytest.param("auto", [1, 1, 1, 1, -1], id="w=auto: one group tells no skill, so this is rloo"),
    ],
)
def test_two_rollouts_by_hand(w: Literal["auto"] | float, credit: list[float]) -> None:
    found = DoublyRobust(w=w)(FORECAST)
    assert found.credit[FORECAST.action_mask].tolist() == credit
    assert np.isnan(found.credit[~FORECAST.action_mask]).all()
    np.testing.assert_array_equal(found.advantage, found.credit)


def test_what_an_explanation_says() -> None:
    assert DoublyRobust(w=0.5)(FORECAST).credit[2] == 0.4375
    said = [(term.name, term.value, term.spans) for term in DoublyRobust(w=0.5).explain(FORECAST, 2)]
    assert said == [
        ("forecast of this choice", 0.25, (2,)),
        ("outcome, x 0.5", 0.5, (6,)),
        ("mean of siblings, x 0.5", 0.0, (8,)),
        ("forecasts of the whole run, x 0.5", -0.3125, (6, 2, 3)),
    ]
    assert DoublyRobust().explain(FORECAST, 0) == ()


def test_a_group_of_one_has_its_forecasts_alone_and_a_note() -> None:
    batch = forecast(batch_of(run("uca", 1.0, turns=[-1, 0, 1], group="lone"), *PAIR), 0.5, 0.25, 0, 0, 0, 0)
    found = DoublyRobust(w=1)(batch)
    assert found.credit[:3].tolist()[1:] == [0.5, 0.25]
    note = found.notes[0]
    assert (note.code, note.trajectory, note.group) == ("singleton-group", "t0", "lone")
    [term] = DoublyRobust(w=1).explain(batch, 1)
    assert (term.value, term.spans) == (0.5, (1,))
    assert DoublyRobust()(batch).credit[1:3].tolist() == [0, 0], "no skill: rloo, and that is 0 in a group of one"


def test_unscored_members_are_not_scored_and_in_nobody_s_baseline() -> None:
    batch = forecast(batch_of(run("ua"), *PAIR), 7, 0.25, -0.125, 0.5, -0.75)
    for w in ("auto", 0, 0.5, 1):
        found = DoublyRobust(w=w)(batch)
        assert np.isnan(found.credit[:2]).all()
        np.testing.assert_array_equal(found.credit[2:], DoublyRobust(w=w)(FORECAST).credit)
        assert DoublyRobust(w=w).explain(batch, 1) == ()


def told(batch: Batch, w: Literal["auto"] | float = "auto") -> list[tuple[str, str]]:
    return [(note.code, note.message) for note in DoublyRobust(w=w)(batch).notes]


def test_the_notes_say_what_the_forecasts_are_worth() -> None:
    said = "pool 0: out-of-fold slope 0.00 of 2 trajectories"
    assert told(FORECAST) == [("critic-skill", f"{said}, forecasts count 0.00, w 1.00")]
    assert told(FORECAST, 0.25) == [
        ("critic-unskilled", f"{said}: at w=0.25 credit rests on forecasts that fail there")
    ]


@pytest.mark.parametrize("missing", [NAN, inf, -inf, 1e300])
def test_actions_without_a_forecast_count_as_0_and_are_told(missing: float) -> None:
    column = FORECAST.advantage_forecast.copy()
    column[3] = missing
    batch = replace(FORECAST, advantage_forecast=column)
    assert DoublyRobust(w=1)(batch).credit[[1, 2, 3, 6]].tolist() == [0.375, 0.5, 0.25, 0.75]
    assert told(batch, 1)[-1] == ("no-forecast", "1 of 5 actions have no forecast to go by: it counts as 0 there")
    assert sum(term.value for term in DoublyRobust(w=1).explain(batch, 3)) == 0.25


def skilled(n: int = 12, wrong: bool = False) -> Batch:
    """Groups of two whose forecasts are half the truth, give or take; or its opposite."""
    random = np.random.default_rng(0)
    batch = batch_of(*(t for g in range(n) for t in group_of(1.0, 0.0, group=f"g{g}")))
    signs = np.tile([0.25, -0.25], n) * (-1 if wrong else 1)
    return forecast(batch, *(signs + 0.05 * random.normal(size=2 * n)))


def jackknife(x: F64, y: F64, group: I64) -> float:
    """Error of the slope of y on x, from the slopes without one group after the other."""
    slopes = np.array([x[group != g] @ y[group != g] / (x[group != g] @ x[group != g]) for g in np.unique(group)])
    n = len(slopes)
    return float(np.sqrt((n - 1) / n * ((slopes - x @ y / (x @ x)) ** 2).sum()))


def test_forecasts_that_hold_are_trusted_and_w_falls_with_the_evidence() -> None:
    batch = skilled()
    against = np.tile([1.0, -1.0], 12)
    x = batch.advantage_forecast - batch.advantage_forecast.reshape(12, 2).mean(axis=1).repeat(2)
    x = 2 * x  # held against the one sibling
    slope = float(x @ against / (x @ x))
    error = jackknife(x, against, np.arange(24) // 2)
    assert slope > 1
    n0 = 12 * (slope / error) ** 2
    for size in (8, 24, 256, 10**6):
        s = min(1, 24 / size)  # 24 trajectories tell the skill
        share = 1 - s * (1 - size / (size + n0))
        wanted = s * batch.advantage_forecast + share * (against - s * batch.advantage_forecast)  # one decision each
        np.testing.assert_allclose(DoublyRobust(update_size=size)(batch).credit, wanted, atol=1e-12)
    [(code, message)] = told(batch)
    assert code == "critic-skill"
    assert message == (
        f"pool 0: out-of-fold slope {slope:.2f} of 24 trajectories, forecasts count 0.09, "
        f"w {1 - 24 / 256 * n0 / (256 + n0):.2f}"
    )
    assert told(batch, 0.5) == []


def test_forecasts_that_mislead_are_left_out_and_a_number_for_w_is_warned_of() -> None:
    batch = skilled(wrong=True)
    np.testing.assert_array_equal(DoublyRobust()(batch).credit, Rloo()(batch).credit)
    assert [code for code, _ in told(batch, 0.1)] == ["critic-unskilled"]


def test_a_pool_is_trusted_for_itself() -> None:
    batch = skilled(24)
    pool = np.repeat([0, 1], 24)
    column = np.where(pool == 0, batch.advantage_forecast, -batch.advantage_forecast)
    batch = replace(batch, pool=pool, advantage_forecast=column)
    found, flat = DoublyRobust()(batch).credit, Rloo()(batch).credit
    np.testing.assert_array_equal(found[24:], flat[24:])
    assert (found[:24] != flat[:24]).all()
    [(code, message)] = told(batch)
    good, bad = message.split("; ")
    assert code == "critic-skill"
    assert good.startswith("pool 0: out-of-fold slope 2.")
    assert bad.startswith("pool 1: out-of-fold slope -2.")
    assert bad.endswith("of 24 trajectories, forecasts count 0.00, w 1.00")
    [(code, message)] = told(batch, 0.5)
    assert code == "critic-unskilled"
    assert message == bad.removesuffix(", forecasts count 0.00, w 1.00") + (
        ": at w=0.5 credit rests on forecasts that fail there"
    )


def test_of_many_pools_the_first_are_told() -> None:
    batch = replace(skilled(24), pool=np.arange(48) // 2)
    [(_, message)] = told(batch)
    assert message.count("pool ") == 8
    assert message.endswith("; and 16 more pools")


def test_perfect_forecasts_leave_nothing_to_add_and_equal_outcomes_nothing_to_trust() -> None:
    batch = batch_of(*(t for g in range(6) for t in group_of(1.0, 0.0, group=f"g{g}")))
    perfect = forecast(batch, *([0.5, -0.5] * 6))
    np.testing.assert_array_equal(DoublyRobust(update_size=12)(perfect).credit, [0.5, -0.5] * 6)
    equal = batch_of(*(t for g in range(6) for t in group_of(1.0, 1.0, group=f"g{g}")))
    np.testing.assert_array_equal(DoublyRobust()(forecast(equal, *range(12))).credit, [0.0] * 12)


def test_skill_by_hand() -> None:
    # two groups of two; forecasts against the sibling 2, -2 and 1, -1, outcomes 1, -1 and 1, -1
    against, total = np.array([1.0, -1, 1, -1]), np.array([1.0, -1, 5.5, 4.5])
    [(number, skill)] = skills(against, total, np.array([3, 3, 8, 8]), np.full(4, 7), np.ones(4)).items()
    # slope 6 / 10; without the first group 2 / 2, without the second 4 / 8
    error = np.sqrt(1 / 2 * ((1 - 0.6) ** 2 + (0.5 - 0.6) ** 2))
    assert number == 7
    assert skill.trajectories == 4
    assert skill.slope == pytest.approx(0.6)
    assert skill.error == pytest.approx(error) == jackknife(2 * total - [0, 0, 10, 10], against, np.array([0, 0, 1, 1]))
    assert skill.trusted == 0.0, "two groups tell nothing for sure"


def test_members_that_do_not_count_are_left_out_of_the_skill() -> None:
    against = np.array([1.0, -1, NAN, 0, 1, -1])
    total = np.array([1.0, -1, 50, 60, 0.5, -0.5])
    counted = np.array([1.0, 1, 0, 0, 1, 1])
    group = np.array([0, 0, 0, 1, 2, 2])
    kept = counted > 0
    found = skills(against, total, group, np.zeros(6, dtype=np.int64), counted)[0]
    assert found == skills(against[kept], total[kept], group[kept], np.zeros(4, dtype=np.int64), np.ones(4))[0]
    assert found.trajectories == 4


@pytest.mark.parametrize("total", [[0.0] * 6, [0.1] * 3 + [0.7] * 3], ids=["no forecasts", "equal in every group"])
def test_forecasts_that_do_not_differ_in_a_group_have_no_skill(total: list[float]) -> None:
    group = np.repeat([0, 1], 3)
    found = skills(np.array([1.0, -1, 0, 1, -1, 0]), np.array(total), group, group * 0, np.ones(6))[0]
    assert found == Skill(0.0, inf, 0.0, 6)
    assert found.evidence == 0


@pytest.mark.parametrize(
    ("free", "point"), [(3, 3.182), (4, 2.776), (7, 2.365), (15, 2.131), (39, 2.023), (10**6, 1.96)]
)
def test_the_reach_of_an_interval_is_student_s(free: int, point: float) -> None:
    assert _reach(free) == pytest.approx(point, rel=0.008)


def test_noise_is_taken_for_skill_as_rarely_as_an_interval_of_95_percent_says() -> None:
    random = np.random.default_rng(1)
    trusted = 0
    group = np.arange(32) // 4
    for _ in range(1500):
        won = random.random(32) < 0.5
        against = 4 / 3 * (won - np.bincount(group, won)[group] / 4)
        found = skills(against, random.normal(size=32), group, np.zeros(32, dtype=np.int64), np.ones(32))
        trusted += found[0].trusted > 0
    assert 0.01 < trusted / 1500 < 0.045, "one side of it: 2.5 %"


def test_where_one_group_alone_has_forecasts_nothing_is_sure() -> None:
    group = np.arange(10) // 2
    total = np.array([1.0, -1, *[0] * 8])
    found = skills(np.tile([1.0, -1], 5), total, group, group * 0, np.ones(10))[0]
    assert (found.slope, found.error, found.trusted) == (0.5, inf, 0.0)


def test_the_slope_of_shrunk_forecasts_is_trusted_no_further_than_it_goes() -> None:
    random = np.random.default_rng(2)
    truth = np.repeat(random.normal(size=200), 2) * np.tile([1, -1], 200)
    found = skills(
        truth, 2 * truth + random.normal(size=400), np.arange(400) // 2, np.zeros(400, dtype=int), np.ones(400)
    )
    assert 0.2 < found[0].slope == found[0].trusted < 0.5


@given(runs=rollouts(), numbers=st.lists(reward, min_size=1, max_size=9), w=st.one_of(st.just("auto"), st.floats(0, 1)))
def test_the_laws_of_any_batch(runs: list[Trajectory], numbers: list[float], w: Literal["auto"] | float) -> None:
    plain = batch_of(*runs)
    batch = forecast(plain, *np.resize(numbers, int(decisions(plain).sum())))
    attributor = DoublyRobust(w=w)
    credit = attributor(batch).credit
    scored = batch.action_mask & ~np.isnan(np.repeat(batch.outcome, np.diff(batch.span_offsets)))
    np.testing.assert_array_equal(np.isfinite(credit), scored)
    np.testing.assert_array_equal(np.isnan(credit), ~scored)
    for span in range(batch.n_spans):
        terms = attributor.explain(batch, span)
        assert bool(terms) == scored[span]
        if terms:
            assert abs(fsum(term.value for term in terms) - credit[span]) <= 1e-6
    empty = replace(batch, advantage_forecast=np.full(batch.n_spans, nan))
    np.testing.assert_array_equal(DoublyRobust()(empty).credit, Rloo()(empty).credit)


def sums(column: F64, batch: Batch) -> F64:
    """Sum over the decisions of every trajectory."""
    chosen = decisions(batch)
    owner = np.repeat(np.arange(batch.n_trajectories), np.diff(batch.span_offsets))
    return np.bincount(owner[chosen], column[chosen], batch.n_trajectories).astype(float)


def test_with_the_critic_on_a_world_whose_truth_is_known() -> None:
    batch = fill(batch_of(*desk(groups=24)), "compatible")
    flat = Rloo()(batch).credit
    found = DoublyRobust(update_size=96)(batch)
    [note] = [note for note in found.notes if note.code == "critic-skill"]
    assert "of 96 trajectories, forecasts count 1.00" in note.message
    assert (found.credit != flat)[batch.action_mask].all()
    all_of_it = DoublyRobust(w=1)(batch).credit
    count = sums(np.ones(batch.n_spans), batch)
    total = sums(batch.advantage_forecast, batch)
    against = np.array(
        [flat[s:e][~np.isnan(flat[s:e])][0] for s, e in zip(batch.span_offsets, batch.span_offsets[1:], strict=False)]
    )
    np.testing.assert_allclose(sums(all_of_it, batch), total + count * (against - total), atol=1e-9)
    for span in np.flatnonzero(batch.action_mask)[:40].tolist():
        terms = DoublyRobust(update_size=96).explain(batch, span)
        assert fsum(term.value for term in terms) == pytest.approx(found.credit[span], abs=1e-6)


@pytest.mark.parametrize(
    ("given_", "complaint"),
    [
        ({"w": 1.5}, r"doubly_robust: w=1.5 is not a number in \[0, 1\]"),
        ({"w": -0.1}, "w=-0.1"),
        ({"w": nan}, "w=nan"),
        ({"w": "much"}, "w='much'"),
        ({"update_size": 0}, "update_size=0"),
    ],
)
def test_parameters_out_of_range_are_refused(given_: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        DoublyRobust(**given_)


def test_parameters_from_text() -> None:
    assert configure(DoublyRobust, {"w": "0.2", "update_size": "64"}) == DoublyRobust(0.2, 64)
    assert configure(DoublyRobust, {"w": "auto", "part": "0.3"}) == DoublyRobust(part=0.3)
    with pytest.raises(InputError, match="w='some'"):
        configure(DoublyRobust, {"w": "some"})


@pytest.mark.parametrize("w", ["auto", 0.0, 0.5])
def test_a_part_is_added_by_share_and_explained(w: Literal["auto"] | float) -> None:
    """part x share x (R - b - s sum c) on top: one group tells no skill, so forecasts count nothing."""
    plain = DoublyRobust(w=1 if w == "auto" else w, part=1e-12)(FORECAST)
    found = DoublyRobust(w=w, part=0.25)(FORECAST)
    added = (found.credit - plain.credit)[decisions(FORECAST)]
    owner = np.repeat(np.arange(2), np.diff(FORECAST.span_offsets))[decisions(FORECAST)]
    np.testing.assert_allclose(np.bincount(owner, added), [0.25, -0.25], rtol=0, atol=1e-9)
    for span in np.flatnonzero(FORECAST.action_mask).tolist():
        terms = DoublyRobust(w=w, part=0.25).explain(FORECAST, span)
        assert sum(term.value for term in terms) == pytest.approx(found.credit[span], abs=1e-12)
        assert any("own share" in term.name for term in terms)


def test_a_part_out_of_range_is_refused() -> None:
    with pytest.raises(InputError, match=r"part=1\.5 is not a number in \[0, 1\]"):
        DoublyRobust(part=1.5)
