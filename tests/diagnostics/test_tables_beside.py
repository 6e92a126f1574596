"""pass@k, diversity, the course of training, comparisons and the checklist, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tests.diagnostics.tables import row, table
from trajcredit.diagnostics.catalog import MODES
from trajcredit.diagnostics.checklist import checklist
from trajcredit.diagnostics.comparison import compare
from trajcredit.diagnostics.diversity import group_diversity
from trajcredit.diagnostics.passk import pass_at, pass_at_k
from trajcredit.diagnostics.trend import MOST, trend
from trajcredit.errors import InputError


@pytest.mark.parametrize(
    ("n", "c", "k", "expected"), [(4, 2, 1, 0.5), (4, 2, 2, 5 / 6), (4, 2, 3, 1.0), (4, 0, 4, 0.0), (3, 1, 2, 2 / 3)]
)
def test_pass_at_k_of_one_group(n, c, k, expected):
    assert pass_at(n, c, k) == pytest.approx(expected)


def test_pass_at_k_leaves_small_groups_out_and_counts_them():
    rows = [row(0, outcome=v) for v in (0, 1, 0, 1)] + [row(1, outcome=v) for v in (1, 1)] + [row(2)]
    found = {one.k: one for one in pass_at_k(table(*rows))}
    assert sorted(found) == [1, 2, 4]
    assert (found[1].value, found[1].groups, found[1].left_out) == (0.75, 2, 0)
    assert found[2].value == pytest.approx((5 / 6 + 1) / 2)
    assert (found[4].value, found[4].groups, found[4].left_out) == (1.0, 1, 1)
    assert found[4].low is None
    assert found[1].low is not None
    assert found[1].low <= 0.75 <= (found[1].high or 0)


def test_nobody_scored_has_no_pass_at_k():
    assert pass_at_k(table(row(0), row(1))) == ()


def test_diversity_by_hand():
    same, other = (1, 2, 3), (1, 4)
    rows = [
        *(row(0, calls_made=made) for made in (same, same, other)),
        *(row(1, calls_made=made) for made in (same, same)),
        *(row(2) for _ in range(2)),
        row(3, calls_made=same),
    ]
    found = group_diversity(table(*rows))
    assert (found.groups, found.identical) == (2, 1)
    assert found.distinct == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert found.overlap == pytest.approx(((1 + 1 / 4 + 1 / 4) / 3 + 1) / 2)


def test_diversity_of_no_siblings_is_not_known():
    assert group_diversity(table(row(0, calls_made=(1,)))).distinct is None


def test_versions_stand_in_the_order_of_their_numbers():
    rows = [row(k, policy_version=v, outcome=float(v == "10")) for v in ("9", "10") for k in range(9)]
    found = trend(table(*rows))
    assert [point.label for point in found.points] == ["9", "10"]
    assert [point.reward for point in found.points] == [0.0, 1.0]
    assert (found.axis, found.common_tasks) == ("policy version", 9)


def test_versions_that_are_names_stand_in_the_order_they_appear():
    rows = [row(k, policy_version=v) for v in ("warm", "cold") for k in range(2)]
    assert [point.label for point in trend(table(*rows)).points] == ["warm", "cold"]


def test_few_tasks_have_a_mean_and_no_interval():
    [point] = trend(table(row(0, step=1, outcome=1), row(1, step=1, outcome=0))).points
    assert (point.reward, point.reward_low, point.pass_rate, point.kl) == (0.5, None, 0.5, None)


def test_one_task_a_step_has_a_point_whatever_its_rollouts_did():
    rows = [row(k, step=k, outcome=float(n < k)) for k in range(3) for n in range(2)]
    assert [(point.pass_rate, point.pass_low) for point in trend(table(*rows)).points] == [
        (0.0, None),
        (0.5, None),
        (1.0, None),
    ]


def test_neighbouring_steps_are_put_together_where_there_are_many():
    rows = [row(0, step=s, kl=1.0, kl_tokens=4) for s in range(3 * MOST)] + [row(1)]
    found = trend(table(*rows))
    assert len(found.points) == MOST
    assert (found.points[0].label, found.points[0].trajectories, found.points[0].kl) == ("0 to 2", 3, 0.25)
    assert found.unplaced == 1


def versions():
    """Task k: version a at k % 2, b one better on three of four tasks; task 9 only in a."""
    rows = [row(k, policy_version="a", outcome=k % 2, tokens=10) for k in range(4) for _ in range(2)]
    rows += [row(k, policy_version="b", outcome=k % 2 + (k < 3), tokens=12) for k in range(4)]
    return [*rows, row(9, policy_version="a", outcome=5, tokens=1)]


def test_a_comparison_counts_every_common_task_once():
    found = compare(table(*versions()), "a", "b")
    assert (found.field, found.common, found.only_a, found.only_b) == ("policy version", 4, 1, 0)
    reward = found.differences[0]
    assert (reward.measure, reward.a, reward.b, reward.difference) == ("reward", 0.5, 1.25, 0.75)
    assert (reward.up, reward.down, reward.same) == (3, 0, 1)
    assert reward.low is not None
    assert reward.low <= 0.75 <= (reward.high or 0)
    assert {one.measure: one.difference for one in found.differences}["length"] == 2.0
    assert "repeated calls" not in {one.measure for one in found.differences}


def test_a_comparison_the_other_way_round_is_its_negative():
    forth, back = compare(table(*versions()), "a", "b"), compare(table(*versions()), "b", "a")
    assert [one.difference for one in back.differences] == [-one.difference for one in forth.differences]


def test_what_one_side_lacks_is_not_compared():
    rows = [row(k, policy_version=v, **({"outcome": 1.0} if v == "a" else {})) for k in range(3) for v in "ab"]
    assert [one.measure for one in compare(table(*rows), "a", "b").differences] == ["length"]


def test_two_data_sets_are_compared_on_tasks_of_the_same_name():
    rows = [row(k, dataset=name, outcome=float(name == "new")) for name in ("old", "new") for k in range(3)]
    found = compare(table(*rows), "old", "new")
    assert (found.field, found.common, found.differences[0].difference) == ("data set", 3, 1.0)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ("a", "a", "with itself"),
        ("a", "z", "are not two names of one kind; known: policy version: a, b"),
    ],
)
def test_sides_that_are_not_there(a, b, message):
    with pytest.raises(InputError, match=message):
        compare(table(*versions()), a, b)


def test_versions_without_a_common_task_cannot_be_compared():
    rows = [row(k, policy_version="ab"[k]) for k in range(2)]
    with pytest.raises(InputError, match="no task in common"):
        compare(table(*rows), "a", "b")


def ticks(*rows, source="verifier", valued=0):
    whole = table(*rows)
    found = {mode: entry.detect(whole) for mode, entry in MODES.items()}
    items = checklist(whole, source, valued, found, pass_at_k(whole), trend(whole))
    return [item.tick for item in items]


def test_a_bare_log_ticks_little():
    assert ticks(row(0, outcome=1.0)) == ["no", "ask", "yes", "ask", "no", "no", "ask", "no", "ask", "no", "ask"]


def test_a_log_that_has_it_all():
    whole = {"instructed": True, "declared": True, "kl": 0.1, "kl_tokens": 9, "calls_made": (1,)}
    rows = [row(k, step=s, outcome=float((k + n) % 2), **whole) for k in range(9) for s in range(3) for n in range(2)]
    assert ticks(*rows) == ["yes", "yes", "yes", "ask", "yes", "yes", "yes", "yes", "ask", "in part", "ask"]


@pytest.mark.parametrize(
    ("facts", "place", "tick"),
    [
        pytest.param({"instructed": True}, 0, "in part", id="a prompt and no tools"),
        pytest.param({"instructed": True, "declared": True}, 0, "yes", id="a prompt and tools"),
        pytest.param({"calls_made": ()}, 1, "ask", id="no call"),
        pytest.param({}, 1, "yes", id="no broken call"),
        pytest.param({"broken": 2, "told_broken": 1}, 1, "in part", id="one broken call of two was told"),
        pytest.param({"broken": 2}, 1, "no", id="broken calls went through"),
        pytest.param({"masked": 1}, 8, "no", id="a mask trains a prompt"),
    ],
)
def test_single_items(facts, place, tick):
    assert ticks(row(0, outcome=1.0, **{"calls_made": (1,), **facts}))[place] == tick


def test_a_judge_alone_is_no_checkable_reward():
    assert ticks(row(0, outcome=1.0), source="judge")[2] == "no"
    assert ticks(row(0), source=None)[2] == "ask"


def test_thirds_are_of_places_not_of_rollouts():
    whole = table(*(row(0, step=s) for s in (1, 1, 1, 1, 2, 3, 4)))
    thirds = whole.scale.thirds()
    assert thirds is not None
    assert [np.flatnonzero(part).tolist() for part in thirds] == [[0, 1, 2, 3], [4, 5], [6]]


def test_the_doubted_reward_is_followed_where_there_are_two():
    rows = [row(k, step=s, proxy=float(s), trusted=0.0, outcome=0.0) for k in range(3) for s in (1, 2)]
    assert [point.doubted for point in trend(table(*rows)).points] == [1.0, 2.0]
    one = [{name: value for name, value in facts.items() if name != "trusted"} for facts in rows]
    assert [point.doubted for point in trend(table(*one)).points] == [None, None]
