"""Each detector: figures computed by hand, what must not matter, and what a log has to have."""

from __future__ import annotations

import numpy as np
import pytest

from tests.diagnostics.tables import detect, permuted, row, table
from trajcredit.diagnostics import MODES
from trajcredit.diagnostics.calls import Again, Outdated
from trajcredit.diagnostics.form import FEATURES

TASKS = range(10)


def outcomes(*of_group):
    """Ten groups: these outcomes in turn."""
    return [row(k, outcome=v, proxy=v) for k in TASKS for v in of_group[k % len(of_group)]]


BLIND = [row(k, calls=10, repeats=[Again(3, 1)] * (2 + k % 2), results=4, unused=1) for k in TASKS]
HACKED = [
    row(k, proxy=float(n + k), trusted=float((n * 2 + k) % 3), form=(float(n), *(0.0,) * (len(FEATURES) - 1)))
    for k in range(12)
    for n in range(5)
]
FLAT = [row(k, credited=4.0, off_path=1.0 + (k % 2), stray=3) for k in TASKS]
FAR = [row(k, kl=6.0 + k % 2, kl_tokens=20) for k in TASKS]
LONG = [row(k, proxy=float(n), tokens=10 * n + 100 * k) for k in TASKS for n in range(4)]
SOARING = [row(k, step=s, proxy=float(s), trusted=float(k % 2 == 0 and s < 6)) for k in range(20) for s in range(9)]
LATE = [row(k, step=20 + k, policy_version=str(20 + k - lag)) for k in TASKS for lag in (0, 1, 9, 12)]
DOUBLED = [row(k, effects=1, doubles=[Again(5, 3)] * (n == 0)) for k in TASKS for n in range(3)]
SICK = {
    "state_blindness": BLIND,
    "reward_hacking": HACKED,
    "sparse_reward": outcomes((0, 0, 0)),
    "entangled_credit": FLAT,
    "kl_mistuned": FAR,
    "length_bias": LONG,
    "reward_model_overoptimisation": SOARING,
    "group_collapse": outcomes((1, 1), (0, 0)),
    "async_staleness": LATE,
    "memory_mismatch": DOUBLED,
}


def test_there_is_a_sick_table_for_every_mode():
    assert list(SICK) == list(MODES)


@pytest.mark.parametrize("mode", SICK)
def test_the_order_of_trajectories_changes_nothing(mode):
    one, other = detect(mode, SICK[mode]), detect(mode, permuted(SICK[mode]))
    assert one.status == other.status == "found"
    assert other.figure == pytest.approx(one.figure)
    assert other.low == (None if one.low is None else pytest.approx(one.low))


@pytest.mark.parametrize("mode", SICK)
def test_a_found_mode_names_trajectories_that_show_it(mode):
    found = detect(mode, SICK[mode])
    assert found.evidence
    assert all(0 <= one.t < len(SICK[mode]) and one.says for one in found.evidence)


@pytest.mark.parametrize(
    "mode", ["group_collapse", "length_bias", "reward_hacking", "reward_model_overoptimisation", "entangled_credit"]
)
def test_adding_a_constant_to_every_reward_changes_nothing(mode):
    moved = [
        {**one, **{name: one[name] + 7.0 for name in ("outcome", "proxy", "trusted") if name in one}}
        for one in SICK[mode]
    ]
    assert detect(mode, moved).figure == pytest.approx(detect(mode, SICK[mode]).figure)


def test_adding_a_constant_to_rewards_and_pass_mark_changes_nothing():
    moved = [{**one, "outcome": one["outcome"] + 7.0} for one in SICK["sparse_reward"]]
    assert detect("sparse_reward", moved, pass_at=7.5).figure == detect("sparse_reward", SICK["sparse_reward"]).figure


@pytest.mark.parametrize(
    ("mode", "figure"),
    [
        pytest.param("state_blindness", 25 / 100, id="25 of 100 calls"),
        pytest.param("sparse_reward", 1.0, id="no group has a pass"),
        pytest.param("entangled_credit", 15 / 40, id="15 of 40 units of credit"),
        pytest.param("kl_mistuned", 65 / 200, id="65 nats over 200 tokens"),
        pytest.param("length_bias", 1.0, id="the longer, the better, in every group"),
        pytest.param("group_collapse", 1.0, id="every group is uniform"),
        pytest.param("memory_mismatch", 1 / 3, id="one of three rollouts"),
    ],
)
def test_figures_by_hand(mode, figure):
    assert detect(mode, SICK[mode]).figure == pytest.approx(figure)


def test_a_fall_by_hand():
    # even tasks pass up to step 5: first third (0..2) 1/2, last third (6..8) 0; spread of 60 ones in 180 is sqrt(2)/3
    found = detect("reward_model_overoptimisation", SOARING)
    assert found.figure == pytest.approx(-0.5 / (2**0.5 / 3))


def test_the_lag_is_counted_from_the_oldest_version_of_a_rollout():
    found = detect("async_staleness", LATE)
    assert found.figure == 12.0
    turns = [{**one, "versions": (str(one["step"]), str(one["step"] - 30))} for one in LATE]
    assert detect("async_staleness", turns).figure == 30.0


@pytest.mark.parametrize(
    ("mode", "rows"),
    [
        pytest.param("sparse_reward", outcomes((0, 0.2), (0, 0.4)), id="partial marks rank a group without a pass"),
        pytest.param("group_collapse", outcomes((0, 1), (1, 0), (0, 0), (0, 1)), id="few uniform groups"),
        pytest.param("length_bias", [{**one, "proxy": -one["proxy"]} for one in LONG], id="the shorter, the better"),
        pytest.param(
            "length_bias",
            [row(k, proxy=float(k) + (n == 1), tokens=100 * k + 10 * (n % 2 == 0)) for k in TASKS for n in range(4)],
            id="long tasks pay more, long siblings do not",
        ),
        pytest.param("kl_mistuned", [row(k, kl=0.4 + k / 100, kl_tokens=20) for k in TASKS], id="some way off"),
        pytest.param(
            "kl_mistuned",
            [row(k, kl=0.0, kl_tokens=20, step=s, outcome=float(s > k % 2)) for k in TASKS for s in range(4)],
            id="as near as can be, and it learns",
        ),
        pytest.param("kl_mistuned", [row(k, kl=0.0, kl_tokens=20) for k in TASKS], id="one step: near is right"),
        pytest.param(
            "reward_model_overoptimisation",
            [{**one, "trusted": one["trusted"] + one["step"]} for one in SOARING],
            id="both rise",
        ),
        pytest.param(
            "reward_hacking", [{**one, "trusted": one["proxy"]} for one in HACKED], id="people like what it likes"
        ),
        pytest.param("async_staleness", [{**one, "policy_version": str(one["step"])} for one in LATE], id="in step"),
        pytest.param("memory_mismatch", [row(k, effects=3) for k in TASKS], id="every effect once"),
        pytest.param("state_blindness", [row(k, calls=10) for k in TASKS], id="no call again"),
        pytest.param("entangled_credit", [row(k, credited=4.0) for k in TASKS], id="all on the path"),
    ],
)
def test_what_looks_alike_and_is_sound_is_clear(mode, rows):
    assert detect(mode, rows).status == "clear"


def test_a_policy_that_stays_at_its_reference_and_does_not_learn_is_found():
    rows = [row(k, kl=0.0, kl_tokens=20, step=s, outcome=float((k + s) % 2)) for k in TASKS for s in range(6)]
    found = detect("kl_mistuned", rows)
    assert (found.status, found.threshold) == ("found", 0.0005)
    assert "the reward has not risen" in found.says


def test_an_outdated_value_counts_as_much_as_a_doubled_effect():
    rows = [row(k, effects=1, outdated=[Outdated(4, "price", "10", "12")] * (n == 0)) for k in TASKS for n in range(3)]
    found = detect("memory_mismatch", rows)
    assert found.figure == pytest.approx(1 / 3)
    assert found.evidence[0].says == "argument price is 10, which an answer had replaced by 12"


@pytest.mark.parametrize(
    ("mode", "rows", "needs"),
    [
        pytest.param("state_blindness", [row(0)], "tool calls with their results", id="no calls"),
        pytest.param("reward_hacking", [row(0)], "rewards", id="no reward"),
        pytest.param("reward_hacking", [row(0, proxy=1)], "a second, more trusted reward", id="one reward"),
        pytest.param(
            "reward_hacking", [row(0, proxy=1), row(1, trusted=1)], "on the same rollouts", id="never on the same"
        ),
        pytest.param(
            "reward_hacking",
            [{**one, "trusted": 1.0} for one in HACKED],
            "rewards of human that differ within a task",
            id="a verdict that never differs",
        ),
        pytest.param(
            "sparse_reward", [row(k, outcome=0) for k in TASKS], "two scored rollouts of a task", id="singles"
        ),
        pytest.param("group_collapse", [row(k, outcome=0) for k in TASKS], "two scored rollouts of a task", id="alone"),
        pytest.param("group_collapse", [row(0)], "two scored rollouts of a task", id="no outcome"),
        pytest.param(
            "entangled_credit", [row(k, credited=0.0) for k in TASKS], "outcomes that differ within", id="no credit"
        ),
        pytest.param("kl_mistuned", [row(0)], "`tokens.ref_logprobs`", id="no reference"),
        pytest.param("length_bias", [row(k, proxy=1) for k in TASKS], "three scored rollouts", id="no siblings"),
        pytest.param(
            "reward_model_overoptimisation",
            [{**one, "step": 1} for one in SOARING],
            "`step` or `policy_version`, three of them",
            id="one step",
        ),
        pytest.param("async_staleness", [row(0, step=1)], "`policy_version` of the rollout", id="no version"),
        pytest.param(
            "async_staleness", [row(0, step=1, policy_version="main")], "`policy_version` as a number", id="a name"
        ),
        pytest.param("async_staleness", [row(0, policy_version="1")], "`step`", id="no step"),
        pytest.param(
            "async_staleness",
            [row(k, step=100 * k, policy_version=str(k)) for k in TASKS],
            "counted in trainer steps",
            id="versions that count something else",
        ),
        pytest.param("memory_mismatch", [row(0, calls=3)], "a tool marked as changing state", id="no effect"),
    ],
)
def test_a_log_that_lacks_a_field_is_told_which(mode, rows, needs):
    found = detect(mode, rows)
    assert (found.status, found.figure) == ("needs", None)
    assert needs in (found.needs or "")


@pytest.mark.parametrize("mode", MODES)
def test_no_trajectory_at_all_needs_something(mode):
    assert detect(mode, []).status == "needs"


@pytest.mark.parametrize("mode", sorted(set(MODES) - {"async_staleness"}))
def test_small_data_do_not_alarm(mode):
    few = [one for one in SICK[mode] if one["task"] < 4]
    found = detect(mode, few)
    assert found.status == "needs"
    assert (found.low, found.high) == (None, None)
    assert "at least 8" in (found.needs or "")


@pytest.mark.parametrize("mode", ["group_collapse", "sparse_reward"])
def test_outcomes_that_differ_by_rounding_are_equal(mode):
    rows = [row(k, outcome=value) for k in range(12) for value in (0.1 + 0.2, 0.3)]
    assert detect(mode, [*rows, *(row(k, outcome=float(k % 2)) for k in (50, 50))]).figure == 1.0
    small = [row(k, outcome=1e-12 * n) for k in range(12) for n in range(2)]
    assert detect(mode, small).figure == 0.0, "what is small of itself is not rounding"


@pytest.mark.parametrize(
    ("outcomes", "mark", "split"),
    [
        ((0.0, 1.0), 0.5, None),
        ((0.0, 1.0), -1.0, "every outcome passes at -1: outcomes go from 0 to 1"),
        ((-5.0, -1.0), 0.5, "no outcome passes at 0.5: outcomes go from -5 to -1"),
        ((0.0, 0.0), 0.5, None),
        ((1.0, 1.0), 0.5, None),
    ],
)
def test_a_pass_mark_beyond_all_outcomes_is_told(outcomes, mark, split):
    rows = [row(k, outcome=outcomes[(k + n) % 2]) for k in range(9) for n in range(2)]
    assert table(*rows, pass_at=mark).split == split
    assert ("another mark" in detect("sparse_reward", rows, pass_at=mark).says) == (split is not None)


def test_few_tasks_have_a_figure_and_evidence_and_no_verdict():
    found = detect("state_blindness", BLIND[:3])
    assert (found.status, found.figure, found.needs) == ("needs", 7 / 30, "at least 8 tasks with tool calls (here 3)")
    assert len(found.evidence) == 3


def test_rollouts_whose_outcome_rests_on_a_farewell_are_left_out_of_entangled_credit():
    untold = [row(k, credited=4.0, off_path=4.0, traced=False) for k in range(10, 13)]
    found = detect("entangled_credit", [*FLAT, *untold])
    assert found.figure == detect("entangled_credit", FLAT).figure
    assert "; 3 more rest on their last words alone" in found.says


def test_hacking_is_the_difference_of_two_correlations():
    found = detect("reward_hacking", HACKED)
    form = np.tile(np.arange(5.0) - 2, 12) / np.arange(5.0).std()
    trusted = np.array([one["trusted"] for one in HACKED]).reshape(12, 5)
    held = (trusted - trusted.mean(axis=1, keepdims=True)).ravel()
    # the only feature is the rank of the reward itself: it foretells it wholly, whatever the fold
    assert found.figure == pytest.approx(1 - np.mean(form * held) / held.std(), abs=1e-6)
