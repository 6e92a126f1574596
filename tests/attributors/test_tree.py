"""Values of the states that rollouts share: by hand, against the slow loop, what adds up."""

from __future__ import annotations

from itertools import groupby
from math import fsum, isnan, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from tests.attributors.meetings import meetings, steps_by_hand, told
from tests.build import batch_of, group_of, run
from trajcredit.attributors import Grpo, Rloo, Term, Tree, configure
from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.model import Trajectory

NAN = np.nan
FORK = [
    told("u c1 r:x c1 r:x a", 1.0, name="won"),
    told("u c1 r:x c2 r:y a", 0.0, name="lost"),
    told("u c2 r:y a", 0.0, name="early"),
]
"""All start alike; two look 1 up; of these one looks again, which tells it nothing, and one looks 2 up."""


def test_a_state_is_worth_the_mean_of_the_rollouts_that_came_to_it() -> None:
    values = Tree().state_values(batch_of(*FORK))
    # the start: 1, 0, 0; after look 1: 1, 0, and the repeat comes to the same state, counted once
    third, half = 1 / 3, 1 / 2
    wanted = [NAN, third, NAN, half, NAN, half, NAN, third, NAN, half, NAN, 0, NAN, third, NAN, 0]
    np.testing.assert_allclose(values, wanted, atol=1e-15)


@pytest.mark.parametrize(
    ("tree", "credit"),
    [
        pytest.param(
            Tree(), [[2 / 3, 0.5, 0.5], [-1 / 3, -0.5, 0], [-1 / 3, 0]], id="the return against what others made of it"
        ),
        pytest.param(Tree("jump"), [[1 / 6, 0, 0.5], [1 / 6, -0.5, 0], [-1 / 3, 0]], id="from state to state"),
        pytest.param(Tree(leave_one_out=True), [[1, 1, 1], [-0.5, -1, 0], [-0.5, 0]], id="against the others alone"),
        pytest.param(
            Tree("jump", leave_one_out=True), [[0, 0, 1], [0.5, -1, 0], [-0.5, 0]], id="jumps, the others alone"
        ),
        pytest.param(
            Tree(alone="inherit"), [[2 / 3, 0.5, 0.5], [-1 / 3, -0.5, -0.5], [-1 / 3, -1 / 3]], id="inherited"
        ),
    ],
)
def test_a_fork_by_hand(tree: Tree, credit: list[list[float]]) -> None:
    batch = batch_of(*FORK)
    got = tree(batch)
    np.testing.assert_allclose(got.credit[batch.action_mask], [x for one in credit for x in one], atol=1e-15)
    np.testing.assert_array_equal(got.credit, got.advantage)
    assert np.isnan(got.credit[~batch.action_mask]).all()


def test_the_answer_of_a_state_nobody_else_came_to_is_counted_and_named() -> None:
    [note] = Tree()(batch_of(*FORK)).notes
    assert (note.code, note.group) == ("unshared-states", "g")
    assert note.message == "2 of 8 steps were taken in states that no sibling came to: they get 0"


def test_what_was_learnt_in_another_order_is_the_same_state() -> None:
    one, other = told("u c1 r:x c2 r:y a", 1.0), told("u c2 r:y c1 r:x a", 0.0)
    values = Tree().state_values(batch_of(one, other))
    assert values[[5, 11]].tolist() == [0.5, 0.5]


def test_a_jump_through_a_lone_state_lands_on_the_decision_that_led_there() -> None:
    # after c1 and after c2 each is alone; they meet again once both know both: no step between is to praise or blame
    batch = batch_of(
        told("u c1 r:x c2 r:y a", 1.0), told("u c2 r:y c1 r:x a", 0.0), told("u c3 r:z a", 1.0), told("u c3 r:z a", 0.5)
    )
    credit = Tree("jump")(batch).credit[batch.action_mask]
    start, met, third = 0.625, 0.5, 0.75
    wanted = [met - start, 0, 1 - met, met - start, 0, -met, third - start, 1 - third, third - start, 0.5 - third]
    np.testing.assert_allclose(credit, wanted, atol=1e-15)


def test_rewards_on_the_way_count_from_the_step_on_and_are_discounted_by_step() -> None:
    batch = batch_of(
        told("u t c1 r:x a", rewards={2: 1.0, 4: 2.0}, name="paid"), told("u c1 r:x a", rewards={3: 4.0}, name="late")
    )
    # from the start: 1 + .5 x 2 and .5 x 4; one number for the thought and the call of a turn
    credit = Tree(gamma=0.5)(batch).credit
    np.testing.assert_allclose(credit, [NAN, 0, 0, NAN, -1, NAN, 0, NAN, 1])
    jumps = Tree("jump", gamma=0.5)(batch).credit
    np.testing.assert_allclose(jumps, [NAN, 0.5, 0.5, NAN, -1, NAN, -0.5, NAN, 1])


def test_where_all_share_one_state_it_is_the_group_mean() -> None:
    batch = batch_of(*group_of(0, 1, 0, 1), *group_of(0.3, None, 0.9, group="h"))
    np.testing.assert_allclose(Tree()(batch).credit, Grpo()(batch).credit, atol=1e-15)
    np.testing.assert_allclose(Tree(leave_one_out=True)(batch).credit, Rloo()(batch).credit, atol=1e-15)


def test_where_states_never_meet_flat_credit_is_inherited() -> None:
    batch = batch_of(*(told(f"u:{n} c{n} r:x a", r, name=n) for n, r in (("p", 1.0), ("q", 0.0), ("r", 0.0))))
    assert np.nansum(np.abs(Tree()(batch).credit)) == 0
    for leave_one_out, flat in ((False, Grpo()), (True, Rloo())):
        tree = Tree(leave_one_out=leave_one_out, alone="inherit")
        np.testing.assert_allclose(tree(batch).credit, flat(batch).credit, atol=1e-15)
    assert Tree(leave_one_out=True, alone="inherit").explain(batch, 3) == (
        Term("no shared state so far: return from the start on", 1.0, (3,)),
        Term("mean return of the rollouts of the task", 0.0, (5, 9)),
    )


@pytest.mark.parametrize("kind", ["return", "jump"])
@pytest.mark.parametrize("leave_one_out", [True, False])
def test_a_group_of_one_gets_nothing_and_is_named(kind: Any, leave_one_out: bool) -> None:
    got = Tree(kind, leave_one_out=leave_one_out)(batch_of(told("u c1 r:x a", 0.8), told("u c1 r:x a", None)))
    np.testing.assert_array_equal(got.credit, [NAN, 0, NAN, 0, NAN, NAN, NAN, NAN])
    assert [(note.code, note.trajectory) for note in got.notes] == [("singleton-group", "t0")]


def test_tasks_do_not_share_states_however_alike_they_look() -> None:
    batch = batch_of(run("ua", 1.0, group="x"), run("ua", 0.0, group="y"))
    assert Tree()(batch).credit[batch.action_mask].tolist() == [0, 0]


def test_the_wrong_search_is_blamed_and_what_followed_from_it_is_not() -> None:
    wrong = [told(f"u c1 r:w b1 r:h{i} a", 0.0) for i in range(2)]
    right = [told(f"u c2 r:v b2 r:k{i} a", 1.0) for i in range(2)]
    batch = batch_of(*wrong, *right)
    for kind in ("return", "jump"):
        credit = Tree(kind)(batch).credit[batch.action_mask].reshape(4, 3).tolist()
        assert credit == [[-0.5, 0, 0], [-0.5, 0, 0], [0.5, 0, 0], [0.5, 0, 0]]


def test_the_explanation_names_the_visits_that_a_value_rests_on() -> None:
    batch = batch_of(*FORK)
    assert Tree().explain(batch, 5) == (
        Term("return from this step on", 1.0, (5,)),
        Term("mean return of the 2 rollouts that came to this state", -0.5, (3, 9)),
    )
    assert Tree("jump").explain(batch, 9) == (
        Term("reward of this turn", 0.0, (9,)),
        Term("value of the state it led to", 0.0, (11,)),
        Term("mean return of the 2 rollouts that came to this state", -0.5, (3, 9)),
    )
    assert next(t.name for t in Tree(alone="inherit").explain(batch, 11)) == (
        "of the last step in a shared state: return from this step on"
    )
    assert Tree().explain(batch, 11) == (Term("no sibling came to this state: nothing to hold it against", 0.0),)
    assert Tree().explain(batch, 0) == ()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"kind": "td"}, "tree: kind='td' is not one of return, jump"),
        ({"gamma": "2"}, "tree: gamma=2.0 is not a number in"),
        ({"leave_one_out": "perhaps"}, "leave_one_out='perhaps': expected bool"),
        ({"alone": "drop"}, "parameter alone='drop': expected zero | inherit"),
    ],
)
def test_what_is_out_of_range_is_refused_by_name(given: dict[str, str], says: str) -> None:
    with pytest.raises(InputError) as refusal:
        Tree(**given) if "td" in says else configure(Tree, given)  # type: ignore[arg-type]  # on purpose
    assert says in str(refusal.value)


# ---------------------------------------------------------------- against the slow loop


def _naive(batch: Batch, tree: Tree) -> list[float]:
    """Every visit looked for among all steps of the group, straight from the docstring."""
    returns: dict[int, list[tuple[int, list[int], float, float]]] = {}
    for t in range(batch.n_trajectories):
        ahead = 0.0
        for state, spans, gain in reversed(list(steps_by_hand(batch, t))):
            ahead = gain + tree.gamma * ahead
            returns.setdefault(t, []).insert(0, (state, spans, gain, ahead))

    def visits(t: int, state: int) -> dict[int, float]:
        """Return of each scored rollout of the group from its first visit on."""
        found: dict[int, float] = {}
        for other, steps in returns.items():
            if batch.group[other] == batch.group[t] and not isnan(batch.outcome[other]):
                for s, _, _, ahead in steps:
                    if s == state:
                        found.setdefault(other, ahead)
        return found

    credit = [nan] * batch.n_spans
    for t, steps in returns.items():
        if isnan(batch.outcome[t]):
            continue
        after = 0.0
        numbers: list[tuple[list[int], float | None]] = []
        for state, spans, gain, ahead in reversed(steps):
            found = visits(t, state)
            shared = len(found) > 1
            among = [x for other, x in found.items() if other != t or not tree.leave_one_out]
            here = fsum(among) / len(among) if shared else gain + tree.gamma * after
            number = gain + tree.gamma * after - here if tree.kind == "jump" else ahead - here
            numbers.insert(0, (spans, number if shared else None))
            after = here
        starts = {o: s[0][3] for o, s in returns.items() if batch.group[o] == batch.group[t]}
        starts = {o: x for o, x in starts.items() if not isnan(x) and (o != t or not tree.leave_one_out)}
        last = returns[t][0][3] - fsum(starts.values()) / len(starts) if starts else 0.0
        for spans, own in numbers:
            last = last if own is None else own
            for i in spans:
                credit[i] = 0.0 if own is None and tree.alone == "zero" else last
    return credit


@pytest.mark.parametrize(
    "tree",
    [
        Tree(),
        Tree("jump"),
        Tree(gamma=0.9, leave_one_out=True),
        Tree("jump", gamma=0.9, leave_one_out=True, alone="inherit"),
        Tree(alone="inherit"),
    ],
    ids=str,
)
@given(runs=meetings())
def test_it_says_what_the_slow_loop_says(tree: Tree, runs: list[Trajectory]) -> None:
    batch = batch_of(*runs)
    np.testing.assert_allclose(tree(batch).credit, _naive(batch, tree), atol=1e-9)


@pytest.mark.parametrize("leave_one_out", [True, False])
@given(runs=meetings())
def test_the_jumps_of_a_rollout_add_up_to_its_outcome_minus_the_value_of_the_start(
    leave_one_out: bool, runs: list[Trajectory]
) -> None:
    batch = batch_of(*runs)
    tree = Tree("jump", leave_one_out=leave_one_out)
    credit, values = tree(batch).credit, tree.state_values(batch)
    for t in np.flatnonzero(~np.isnan(batch.outcome)):
        start, end = batch.span_offsets[t : t + 2]
        actions = start + np.flatnonzero(batch.action_mask[start:end])
        one_each = [next(spans) for _, spans in groupby(actions.tolist(), key=lambda i: int(batch.turn[i]))]
        total = fsum(credit[one_each])
        assert abs(total - (batch.outcome[t] - values[one_each[0]])) < 1e-9
