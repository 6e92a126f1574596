"""What siblings tell of values: by hand, on worlds where it is known what matters, and what must never change it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trajcredit.arrays import F64, I64
from trajcredit.critics.siblings import NEVER, NO_USES, Task, matters, placed, tasks_of, told_by_siblings, uses_of
from trajcredit.critics.story import Choice, Story

NAN = np.nan


def story(*values: str, tool: str = "find", path: str = "code") -> Story:
    """A run that calls a tool once with each value."""
    return Story([Choice(tool, False, 0, ((path, value),), "", (), 0) for value in values])


def tasks(stories: list[Story], groups: I64) -> list[Task]:
    owner = np.repeat(np.arange(len(stories)), [len(one.choices) for one in stories])
    return tasks_of(uses_of(stories), owner, groups)


def told(stories: list[Story], groups: list[int], outcome: list[float], forecast: F64 | None = None) -> F64:
    """What siblings tell, every group by what matters in the others."""
    n = int(sum(len(one.choices) for one in stories))
    owner = np.repeat(np.arange(len(stories)), [len(one.choices) for one in stories])
    left = np.array(outcome, dtype=np.float64) - np.bincount(
        owner, np.zeros(n) if forecast is None else forecast, len(stories)
    )
    of = np.array(groups, dtype=np.int64)
    found = tasks(stories, of)
    n_arguments = len(uses_of(stories).arguments)
    added = np.zeros(n)
    for task in found:
        mattering = matters([one for one in found if one is not task], left, n_arguments)
        added += told_by_siblings([task], left, mattering, n)
    return added


def world(n_groups: int, weight: float, noise: float = 0.3, seed: int = 0) -> tuple[list[Story], I64, F64, F64]:
    """Groups of six runs: of two values of `code` one is right, by `weight`; `size` says nothing.

    Stories, groups, outcomes, and whether each run chose the right value (+1, -1).
    """
    random = np.random.default_rng(seed)
    stories, right = [], []
    for g in range(n_groups):
        for _ in range(6):
            good = bool(random.random() < 0.5)
            right.append(1.0 if good else -1.0)
            arguments = (("code", f"{'A' if good else 'B'}{g}"), ("size", str(random.integers(3))))
            stories.append(Story([Choice("find", False, 0, arguments, "", (), 0)]))
    outcome = weight * np.array(right) + noise * random.normal(size=len(right))
    return stories, np.repeat(np.arange(n_groups), 6), outcome, np.array(right)


def test_the_effect_of_one_value_by_hand() -> None:
    """Three others used a, a, b with 1, 0, 0 left: x = (1, 1, -2) / 3 on a, -x on b, y = (2, -1, -1) / 3.

    x y is 1/3 and x x is 2/3; both values together: V = 2 r x x' + I, effect of a is r x y / (1 + 2 r x x), of b minus
    that. The mean of what they used is a third of it.
    """
    stories, groups, outcome, _ = world(12, 1.0)
    stories += [story("a"), story("a"), story("b"), story("b")]
    groups = np.append(groups, [12] * 4)
    outcome = np.append(outcome, [1.0, 0.0, 0.0, 5.0])
    ratio = matters(tasks(stories, groups)[:12], outcome, 2)
    found = told(stories, groups.tolist(), outcome.tolist())
    of_a = ratio[0] / 3 / (1 + 4 / 3 * ratio[0])
    assert found[-1] == pytest.approx(-of_a - of_a / 3, rel=1e-9)


def test_what_matters_is_told_from_what_does_not() -> None:
    stories, groups, outcome, _ = world(30, 0.5)
    code, size = matters(tasks(stories, groups), outcome, 2).tolist()
    # one run's two values differ by 1, so each effect is of variance 0.25 = 2.8 of luck's 0.09, shared over two values
    assert 0.8 < code < 5
    assert size < 0.05


def test_credit_goes_to_the_right_values() -> None:
    stories, groups, outcome, right = world(30, 0.5)
    found = told(stories, groups.tolist(), outcome.tolist())
    assert np.corrcoef(found, right)[0, 1] > 0.9
    for g in range(30):
        mine = groups == g
        if abs(right[mine].sum()) < 6:
            assert found[mine & (right > 0)].min() > found[mine & (right < 0)].max()


def test_where_no_value_matters_next_to_nothing_is_added() -> None:
    sizes = []
    for seed in range(8):
        stories, groups, outcome, _ = world(16, 0.0, seed=seed)
        found = told(stories, groups.tolist(), outcome.tolist())
        sizes.append(float(np.abs(found).mean() / outcome.std()))
    assert np.mean(sizes) < 0.05
    assert max(sizes) < 0.2


def test_forecasts_are_taken_off_first() -> None:
    stories, groups, outcome, _ = world(20, 0.5)
    np.testing.assert_allclose(told(stories, groups.tolist(), outcome.tolist(), outcome), 0.0, atol=1e-12)


def test_the_first_use_of_a_value_carries_it() -> None:
    stories, groups, outcome, _ = world(20, 0.5)
    plain = told(stories, groups.tolist(), outcome.tolist())
    again = [Story([*one.choices, *one.choices]) for one in stories]
    found = told(again, groups.tolist(), outcome.tolist()).reshape(-1, 2)
    np.testing.assert_allclose(found[:, 0], plain, rtol=1e-12)
    assert (found[:, 1] == 0).all()


def test_nobody_s_own_outcome_enters() -> None:
    stories, groups, outcome, _ = world(20, 0.5)
    before = told(stories, groups.tolist(), outcome.tolist())
    for run in (0, 7, 119):
        changed = outcome.copy()
        changed[run] = -3.0
        after = told(stories, groups.tolist(), changed.tolist())
        assert after[run] == before[run]
        assert (after != before).any()


def test_runs_without_an_outcome_are_told_and_tell_nothing() -> None:
    stories, groups, outcome, _ = world(20, 0.5)
    some = outcome.copy()
    some[5] = NAN
    found = told(stories, groups.tolist(), some.tolist())
    assert np.isfinite(found).all()
    assert found[5] == told(stories, groups.tolist(), outcome.tolist())[5]
    without = np.delete(np.arange(120), 5)
    alone = told([stories[t] for t in without], groups[without].tolist(), outcome[without].tolist())
    np.testing.assert_allclose(found[without], alone, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("stories", "groups", "outcome"),
    [
        pytest.param([], [], [], id="none"),
        pytest.param([story("a"), story("b"), story("a")], [0, 0, 0], [1.0, 0.0, 1.0], id="one group"),
        pytest.param([story("a"), story("b")] * 2, [0, 0, 1, 1], [1.0, 0.0] * 2, id="one sibling each"),
        pytest.param([story("a")] * 6, [0, 0, 0, 1, 1, 1], [1.0, 0, 0] * 2, id="all used the same"),
        pytest.param([Story()] * 6, [0, 0, 0, 1, 1, 1], [1.0, 0, 0] * 2, id="no choices"),
        pytest.param([story("a"), story("b"), story("b")] * 2, [0, 0, 0, 1, 1, 1], [1.0] * 6, id="all did as well"),
        pytest.param([story("a"), story("b"), story("b")] * 2, [0, 0, 0, 1, 1, 1], [NAN] * 6, id="no outcomes"),
    ],
)
def test_where_siblings_tell_nothing_nothing_is_added(
    stories: list[Story], groups: list[int], outcome: list[float]
) -> None:
    found = told(stories, groups, outcome)
    np.testing.assert_array_equal(found, np.zeros(sum(len(one.choices) for one in stories)))


@settings(max_examples=6, deadline=None)
@given(shift=st.integers(-5, 5), power=st.integers(-20, 20), seed=st.integers(0, 99))
def test_shift_scale_names_and_order_change_nothing(shift: int, power: int, seed: int) -> None:
    stories, groups, outcome, _ = world(10, 0.4, seed=seed)
    plain = told(stories, groups.tolist(), outcome.tolist())
    shifted = outcome + shift * (groups == 3)
    np.testing.assert_allclose(told(stories, groups.tolist(), shifted.tolist()), plain, rtol=0, atol=1e-9)
    scaled = np.ldexp(outcome, power)
    np.testing.assert_array_equal(told(stories, groups.tolist(), scaled.tolist()), np.ldexp(plain, power))
    renamed = [
        Story([Choice("suche", False, 0, tuple((f"x-{p}", v) for p, v in c.arguments), "", (), 0) for c in one.choices])
        for one in stories
    ]
    np.testing.assert_array_equal(told(renamed, groups.tolist(), outcome.tolist()), plain)
    order = np.random.default_rng(seed).permutation(len(stories))
    mixed = told([stories[t] for t in order], groups[order].tolist(), outcome[order].tolist())
    np.testing.assert_allclose(mixed, plain[order], rtol=1e-6, atol=1e-9)


def test_uses_by_hand() -> None:
    stories = [story("a", "b"), Story(), story("b", tool="take")]
    uses = uses_of(stories)
    assert uses.arguments == (("find", "code"), ("take", "code"))
    assert [uses.decision.tolist(), uses.argument.tolist(), uses.value.tolist()] == [[0, 1, 2], [0, 0, 1], [0, 1, 2]]
    moved = placed(uses, (("take", "code"), ("other", "x")))
    assert [moved.decision.tolist(), moved.argument.tolist(), moved.value.tolist()] == [[2], [0], [2]]
    assert placed(NO_USES, uses.arguments).arguments == uses.arguments


def test_tasks_by_hand() -> None:
    stories = [story("a"), story("b", "a", "b"), story("a"), story("a")]
    [task] = tasks(stories, np.array([0, 0, 1, 1]))
    assert task.runs.tolist() == [0, 1]
    assert task.used.tolist() == [[1.0, 0.0], [1.0, 1.0]]
    assert task.first.tolist() == [[0, NEVER], [2, 1]]
    assert task.kind.tolist() == [0, 0]
