"""Sub-goals and the steps within: by hand, against a plain loop, what adds up, what is told."""

from __future__ import annotations

from math import fsum, nan

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings

from tests.attributors.meetings import meetings, told
from tests.build import batch_of
from trajcredit.attributors import Options, configure
from trajcredit.batching import Batch, decisions
from trajcredit.errors import InputError
from trajcredit.graph import EDGE_KINDS
from trajcredit.kernels.subgoals import first_end
from trajcredit.model import Trajectory

NAN = np.nan
STABLE = ("call", "explicit")
"""Edge kinds that no rule of the graph builder adds to these trajectories."""
STORY = "u c1 r:x b{} r:ok a"
USED = [(2, 3)]
"""The booking rests on what was looked up."""


def bookings(*what: tuple[int, float]) -> Batch:
    """A look, a booking that rests on it, an answer: what was booked, and how it ended."""
    return batch_of(*(told(STORY.format(n), outcome, edges=USED) for n, outcome in what))


def test_the_wrong_booking_and_the_look_it_rests_on_take_the_blame_by_hand() -> None:
    batch = bookings((1, 1.0), (2, 0.0), (1, 1.0))
    credit = Options(kinds=STABLE)(batch).credit
    look, book = 0.7 / 1.7, 1 / 1.7
    # the first: b = 1/2, with booking 1 the mean of two is 1, and 1 it ends with
    np.testing.assert_allclose(credit[:6], [NAN, 0.5 * look, NAN, 0.5 * book, NAN, 0], atol=1e-15)
    # the second: b = 1, nobody else booked 2, so that has all of 0 - 1
    np.testing.assert_allclose(credit[6:12], [NAN, -look, NAN, -book, NAN, 0], atol=1e-15)


def test_siblings_alone_say_nothing_of_what_none_of_them_did() -> None:
    credit = Options(kinds=STABLE, leave_one_out=True)(bookings((1, 1.0), (2, 0.0), (1, 1.0))).credit
    np.testing.assert_allclose(credit[6:12], [NAN, 0, NAN, 0, NAN, -1], atol=1e-15)
    assert credit[3] == pytest.approx(0.5 / 1.7)


def test_what_every_rollout_achieved_is_the_group_mean_and_the_end_takes_the_rest() -> None:
    credit = Options(kinds=STABLE, gamma=0.0)(bookings((1, 1.0), (1, 0.0))).credit
    # b = 0, both booked 1: mean 1/2; then 1
    np.testing.assert_allclose(credit[:6], [NAN, 0, NAN, 0.5, NAN, 0.5], atol=1e-15)
    np.testing.assert_allclose(credit[6:], [NAN, 0, NAN, -0.5, NAN, -0.5], atol=1e-15)


def test_the_order_of_achievements_is_none_of_their_own() -> None:
    runs = [told("u b1 r:ok b2 r:ok a", 1.0), told("u b2 r:ok b1 r:ok a", 0.0), told("u b3 r:ok a", 0.0)]
    credit = Options(kinds=STABLE)(batch_of(*runs)).credit
    # the first: b = 0; with 1 the mean of two is 1/2; with 2 too it is the same; then 1
    np.testing.assert_allclose(credit[:6], [NAN, 0.5, NAN, 0, NAN, 0.5], atol=1e-15)


def test_a_booking_made_again_and_one_that_failed_change_nothing() -> None:
    again = told("u b1 r:ok b1 r:ok a", 1.0)
    failed = msgspec.structs.replace(
        again, spans=[msgspec.structs.replace(s, error=True) if i == 4 else s for i, s in enumerate(again.spans)]
    )
    other = told("u b2 r:ok a", 0.0)
    for one in (again, failed):
        credit = Options(kinds=STABLE)(batch_of(one, other)).credit
        np.testing.assert_allclose(credit[:6], [NAN, 1, NAN, 0, NAN, 0], atol=1e-15)


def test_a_choice_that_leads_to_no_sub_goal_gets_exactly_nothing_and_words_carry_their_turn() -> None:
    runs = [
        told("u t c1 c2 r:x r:y b1 r:ok a", 1.0, edges=[(4, 6), (1, 2)], turns=[-1, 0, 0, 0, 0, 0, 1, 1, 2]),
        told("u b2 r:ok a", 0.0),
    ]
    batch = batch_of(*runs)
    credit = Options(kinds=STABLE, gamma=1.0)(batch).credit
    np.testing.assert_allclose(credit[:9], [NAN, 0.5, 0.5, 0, NAN, NAN, 0.5, NAN, 0], atol=1e-15)
    assert Options(kinds=STABLE).explain(batch, 3)[0].name == "leads to no sub-goal"


def test_a_rewarded_choice_is_a_sub_goal_too() -> None:
    batch = batch_of(told("u c1 r:x c2 r:y a", rewards={1: 1.0, 5: 1.0}), told("u a", 0.0))
    credit = Options(kinds=STABLE)(batch).credit
    # nobody else made look 1: it takes R - b = 2
    np.testing.assert_allclose(credit[:6], [NAN, 2, NAN, 0, NAN, 0], atol=1e-15)


def test_a_path_does_not_go_on_beyond_the_first_end() -> None:
    """0 -> 1 -> 3 and 0 -> 4, 2 leads nowhere; ends are 3 and 4."""
    ends = np.array([False, False, False, True, True])
    parents, offsets = np.array([0, 1, 0, 3]), np.array([0, 0, 1, 1, 2, 4])
    end, hops = first_end(ends, np.ones(5, dtype=bool), offsets, parents, np.ones(4, dtype=bool))
    assert end.tolist() == [3, 3, -1, 3, 4]
    assert hops.tolist() == [2, 1, -1, 0, 0]


def test_notes_say_where_there_is_one_segment() -> None:
    got = Options()(batch_of(told("u c1 r:x a", 1.0), told("u a", 0.0), told("u a", 1.0, group="h")))
    assert [(note.code, note.group) for note in got.notes] == [
        ("singleton-group", "h"),
        ("one-segment", "g"),
        ("one-segment", "h"),
    ]
    assert got.notes[1].message.startswith("2 of its rollouts reached no sub-goal")


def test_the_explanation_names_the_sub_goal_and_its_means() -> None:
    batch = bookings((1, 1.0), (2, 0.0), (1, 1.0))
    after, before = Options(kinds=STABLE).explain(batch, 1)
    assert after.name == "mean outcome with sub-goal 1 of 2 (2 rollouts), x 0.412"
    assert after.spans == (3, 15)
    assert before.name == "mean outcome of siblings, x 0.412"
    assert after.value + before.value == pytest.approx(0.5 * 0.7 / 1.7)


def test_parameters_out_of_range_are_named() -> None:
    for given_, said in (
        ({"gamma": "2"}, "gamma=2.0 is not a number"),
        ({"kinds": "value+luck"}, "kinds='luck' is not one of"),
        ({"leave_one_out": "perhaps"}, "leave_one_out='perhaps'"),
    ):
        with pytest.raises(InputError, match=said):
            configure(Options, given_)


def by_hand(batch: Batch, options: Options) -> list[float]:
    """Plain loops: what each choice leads to, what the group got, who is asked."""
    credit, chosen = [nan] * batch.n_spans, decisions(batch)
    paths = [
        (int(batch.parents[e]), child)
        for child in range(batch.n_spans)
        for e in range(batch.parent_offsets[child], batch.parent_offsets[child + 1])
        if batch.parent_weight[e] >= options.min_weight and EDGE_KINDS[batch.parent_kind[e]] in options.kinds
    ]
    goals = {t: _goals(batch, t) for t in range(batch.n_trajectories)}

    def leads(i: int, ends: list[int]) -> list[tuple[int, int]]:
        """Ends and hops of every path."""
        if i in ends:
            return [(i, 0)]
        step = int(batch.action_mask[i])
        return [(end, hops + step) for parent, child in paths if parent == i for end, hops in leads(child, ends)]

    for t in np.flatnonzero(~np.isnan(batch.outcome)).tolist():
        mates = [s for s in np.flatnonzero(batch.group == batch.group[t]).tolist() if not np.isnan(batch.outcome[s])]
        others = [s for s in mates if s != t]
        value = float(np.mean(batch.outcome[others])) if others else float(batch.outcome[t])
        ends = [i for i, _ in goals[t]]
        gains, made = {}, set()
        for n, (end, key) in enumerate(goals[t]):
            after = value
            if key and key not in made:
                made.add(key)
                alike = [
                    s
                    for s in (others if options.leave_one_out else mates)
                    if made <= {known for _, known in goals[s] if known}
                ]
                after = float(np.mean(batch.outcome[alike])) if alike else value
            if n == len(ends) - 1:
                after = float(batch.outcome[t])
            gains[end], value = after - value, after
        weight = {}
        mine = [i for i in range(int(batch.span_offsets[t]), int(batch.span_offsets[t + 1])) if chosen[i]]
        for i in mine:
            found = min(leads(i, ends), default=None)
            weight[i] = (-1, 0.0) if found is None else (found[0], options.gamma ** found[1])
        for i in mine:
            end, own = weight[i]
            whole = fsum(w for other, w in weight.values() if other == end)
            credit[i] = 0.0 if end < 0 else gains[end] * own / whole
        for i in range(int(batch.span_offsets[t]), int(batch.span_offsets[t + 1])):
            if batch.action_mask[i] and not chosen[i]:
                credit[i] = fsum(credit[k] for k in mine if batch.turn[k] == batch.turn[i])
    return credit


def _goals(batch: Batch, t: int) -> list[tuple[int, int]]:
    """The sub-goals of a trajectory: span, and the call's key (0: words)."""
    span = range(int(batch.span_offsets[t]), int(batch.span_offsets[t + 1]))
    mine = [i for i in span if decisions(batch)[i]]
    found = [
        i
        for i in mine
        if i == mine[-1] or (batch.is_write[i] and not batch.is_error[i]) or np.nan_to_num(batch.rewards[i]) != 0
    ]
    return [(i, int(batch.call_key[i])) for i in found]


@pytest.mark.parametrize("options", [Options(), Options(gamma=0.5, leave_one_out=True)], ids=["plain", "left out"])
@settings(max_examples=40)
@given(runs=meetings())
def test_it_says_what_the_plain_loop_says_and_choices_add_up(options: Options, runs: list[Trajectory]) -> None:
    batch = batch_of(*runs)
    credit = options(batch).credit
    np.testing.assert_allclose(credit, by_hand(batch, options), rtol=1e-9, atol=1e-9)
    chosen = decisions(batch)
    for t in np.flatnonzero(~np.isnan(batch.outcome)).tolist():
        others = (batch.group == batch.group[t]) & ~np.isnan(batch.outcome)
        others[t] = False
        own = np.arange(batch.span_offsets[t], batch.span_offsets[t + 1])
        against = batch.outcome[t] - batch.outcome[others].mean() if others.any() else 0.0
        assert credit[own[chosen[own]]].sum() == pytest.approx(against, abs=1e-9)
