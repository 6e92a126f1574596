"""The first split that matters: named where it is, and not where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import trajcredit as tc
from tests.service.rollouts import members, rollout
from trajcredit.model import Trajectory
from trajcredit.service.grouping_calls import Rollout
from trajcredit.service.grouping_split import Split, first_split
from trajcredit.service.grouping_words import split_sentence

FLIGHTS = Path(tc.__file__).parent / "data" / "wrong_flight.jsonl"
TAU = Path(__file__).parents[3] / "shared" / "data" / "tau-bench" / "gpt-4o-airline.json.gz"


def split_of(*trajectories: Trajectory) -> Split:
    found = first_split(members(*trajectories))
    assert isinstance(found, Split), found
    return found


def test_the_wrong_flight_is_the_argument_of_the_search() -> None:
    found = split_of(*tc.read(str(FLIGHTS)))
    assert (found.step, found.last_step, found.tool, found.argument, found.also) == (1, 1, "search_flights", "to", ())
    assert (found.low.values, found.low.members, found.low.mean) == (("SJC",), (1, 3), 0.0)
    assert (found.high.values, found.high.members, found.high.mean) == (("SJO",), (2, 4), 1.0)
    assert (found.gap, found.share, found.weak, found.left_out) == (1.0, 1.0, True, 0)
    assert split_sentence(found) == (
        "First split that matters: step 1, search_flights argument 'to' "
        "(SJC mean 0.00, SJO mean 1.00, n 2 vs 2, weak). "
        "Chance alone divides them as widely in 4 of the 6 ways to deal these rewards out (4 splits looked at)."
    )


def test_an_id_that_only_one_side_was_shown_never_wins_over_what_led_to_it() -> None:
    """One of the wrong searches is lucky: the id divides more cleanly than the search, but it came out of it."""
    wrong = {"search": "FL-1 FL-2"}
    found = split_of(
        rollout("a", 0.0, "search to=PRX", "select id=FL-1", told=wrong),
        rollout("b", 0.0, "search to=PRX", "select id=FL-1", told=wrong),
        rollout("c", 0.0, "search to=PRX", "select id=FL-1", told=wrong),
        *(rollout(n, 1.0, "search to=PAR", "select id=AF-9", told={"search": "AF-9"}) for n in "def"),
    )
    assert (found.step, found.tool, found.argument) == (1, "search", "to")


def test_a_choice_among_what_was_shown_divides_only_those_that_were_shown_it() -> None:
    offered = {"search": "FL-1 FL-2"}
    found = split_of(
        *(rollout(n, 0.0, "search to=PRX", "select id=FL-1", told=offered) for n in "abc"),
        *(rollout(n, 1.0, "search to=PRX", "select id=FL-2", told=offered) for n in "def"),
        rollout("g", 1.0, "search to=LON"),
        rollout("h", 0.0, "search to=LON"),
    )
    assert (found.tool, found.argument, found.step) == ("select", "id", 2)
    assert {found.low.values, found.high.values} == {("FL-1",), ("FL-2",)}
    assert (found.low.members, found.high.members, found.left_out) == ((1, 2, 3), (4, 5, 6), 2)
    assert not found.weak
    assert "2 rollouts left aside: nothing showed them that value." in split_sentence(found)


def test_of_splits_that_explain_as_much_the_earliest_is_named() -> None:
    found = split_of(
        *(rollout(n, 0.0, "look at=A", "take what=X", "end") for n in "abc"),
        *(rollout(n, 1.0, "look at=B", "take what=Y", "stop") for n in "def"),
    )
    assert (found.step, found.tool, found.argument) == (1, "look", "at")
    assert (found.looked_at, found.chance.as_wide, found.chance.ways) == (1, 2, 20)


def test_arguments_of_one_call_that_differ_together_are_named_together() -> None:
    found = split_of(rollout("a", 0.0, "look at=A how=slow"), rollout("b", 1.0, "look at=B how=fast"))
    assert (found.argument, found.also) == ("at", ("how",))
    assert "look argument 'at' (and 'how') (A mean 0.00, B mean 1.00, n 1 vs 1, weak)" in split_sentence(found)


def test_long_values_that_begin_alike_are_cut_where_they_differ() -> None:
    begins = "select_all_columns_of_the_table_" * 2
    found = split_of(rollout("a", 0.0, f"query sql={begins}a"), rollout("b", 1.0, f"query sql={begins}b"))
    sides = "(…f_the_table_a mean 0.00, …f_the_table_b mean 1.00, n 1 vs 1, weak)"
    assert f"query argument 'sql' {sides}" in split_sentence(found)
    more = "c" * 60
    found = split_of(rollout("a", 0.0, f"query sql={begins}a{more}"), rollout("b", 1.0, f"query sql=b{begins}"))
    assert f"({f'{begins}'[:39]}… mean 0.00, {f'b{begins}'[:39]}… mean 1.00," in split_sentence(found)
    found = split_of(rollout("a", 0.0, f"query sql={begins}a{more}"), rollout("b", 1.0, f"query sql={begins}b{more}"))
    assert f"(…f_the_table_a{'c' * 25}… mean 0.00, …f_the_table_b{'c' * 25}… mean 1.00," in split_sentence(found)


def test_whether_a_tool_is_called_at_all() -> None:
    found = split_of(
        *(rollout(n, 0.0, "look", "cancel id=1") for n in "abc"),
        *(rollout(n, 1.0, "look") for n in "def"),
    )
    assert (found.step, found.tool, found.argument) == (2, "cancel", None)
    said = "step 2, whether cancel is called (called mean 0.00, not called mean 1.00, n 3 vs 3)"
    assert said in split_sentence(found)
    assert not found.weak


def test_one_rollout_against_all_others_does_not_win_over_half_against_half() -> None:
    """The bare gap of the single one, 1 - 3/7, is as wide as many; what it explains is less."""
    half = [rollout(f"l{n}", float(n == 0), "look at=A") for n in range(4)]
    rest = [rollout(f"h{n}", float(n != 0), "look at=B", *(["odd"] if n == 3 else [])) for n in range(4)]
    found = split_of(*half, *rest)
    assert (found.tool, found.argument, len(found.low.members), len(found.high.members)) == ("look", "at", 4, 4)
    assert found.share == pytest.approx(0.25)


def test_a_side_that_also_gives_the_value_of_the_other_is_told_by_what_it_lacks() -> None:
    found = split_of(
        rollout("a", 0.0, "cancel id=X"),
        rollout("b", 1.0, "cancel id=X", "cancel id=Y"),
        rollout("c", 0.0, "cancel id=X"),
    )
    assert (found.argument, found.low.values, found.high.values) == ("id", (), ("Y",))
    assert "without Y mean 0.00, Y mean 1.00" in split_sentence(found)


def test_wording_of_one_rollout_is_no_choice() -> None:
    spoken = "I must think of what the customer wants most of all"
    texts = (spoken, spoken[::-1])
    group = [
        replace(t, spans=[t.spans[0], replace(t.spans[1], arguments={"thought": text})])
        for t, text in zip((rollout("a", 0.0, "think"), rollout("b", 1.0, "think")), texts, strict=True)
    ]
    assert first_split(members(*group)) == "follows"


@pytest.mark.parametrize(
    ("trajectories", "reason"),
    [
        pytest.param(
            [rollout("a", 1.0, "look"), rollout("b", None, "take")], "unscored", id="one reward is none to compare"
        ),
        pytest.param([rollout("a", 1.0, "look"), rollout("b", 1.0, "take")], "equal", id="all pass"),
        pytest.param([rollout("a", 1.0), rollout("b", 0.0)], "no_calls", id="nobody calls anything"),
        pytest.param(
            [rollout("a", 1.0, "x", "y"), rollout("b", 0.0, "y", "x")], "identical", id="the same in another order"
        ),
        pytest.param([rollout("a", 1.0, "x"), rollout("b", 0.0, "x", "x")], "identical", id="the same, once more"),
        pytest.param(
            [
                rollout("a", 1.0, "make", "use id=AAA-1", told={"make": "AAA-1"}),
                rollout("b", 0.0, "make", "use id=BBB-2", told={"make": "BBB-2"}),
            ],
            "follows",
            id="only generated ids differ",
        ),
    ],
)
def test_where_nothing_divides_them_the_reason_is_told(trajectories: list[Trajectory], reason: str) -> None:
    found = first_split(members(*trajectories))
    assert found == reason
    assert split_sentence(found).startswith("No split matters: ")


calls = st.lists(st.sampled_from(["look at=A", "look at=B", "look at=A how=C", "take", "take what=A"]), max_size=4)
groups = st.lists(st.tuples(calls, st.sampled_from([0.0, 1.0, 0.25, None])), min_size=2, max_size=6).map(
    lambda runs: members(*(rollout(f"t{n}", reward, *own) for n, (own, reward) in enumerate(runs)))
)


@given(groups, st.data())
def test_the_order_of_the_rollouts_changes_nothing(group: list[Rollout], data: st.DataObject) -> None:
    assert first_split(data.draw(st.permutations(group))) == first_split(group)


@given(groups)
def test_a_split_is_what_it_says(group: list[Rollout]) -> None:
    found = first_split(group)
    if not isinstance(found, Split):
        return
    reward = {one.number: one.reward for one in group if one.reward is not None}
    sides = (found.low, found.high)
    assert not set(found.low.members) & set(found.high.members)
    assert len(found.low.members) + len(found.high.members) + found.left_out == len(reward)
    for side in sides:
        own = [reward[number] for number in side.members]
        assert side.mean == pytest.approx(sum(own) / len(own))
    assert found.gap == found.high.mean - found.low.mean >= 0
    assert 0 <= found.share <= 1
    assert sorted(side.has for side in sides) == [False, True]
    for one in group:
        if one.number in reward:
            made = {(c.tool, path) for c in one.calls for path, _ in c.arguments} | {(c.tool, None) for c in one.calls}
            has = next((side.has for side in sides if one.number in side.members), False)
            assert not has or (found.tool, found.argument) in made


@pytest.mark.skipif(not TAU.exists(), reason="no folder of real logs beside the repository")
def test_real_groups_have_a_split_or_a_reason() -> None:
    tasks: dict[str | None, list[Trajectory]] = {}
    for one in tc.read(str(TAU)):
        tasks.setdefault(one.task, []).append(one)
    found = {task: first_split(members(*own)) for task, own in tasks.items()}
    split = {task: one for task, one in found.items() if isinstance(one, Split)}
    mixed = {task for task, own in tasks.items() if len({t.rewards[0].value for t in own}) > 1}
    assert split.keys() == mixed
    assert (split["26"].tool, split["26"].argument) == ("update_reservation_flights", "payment_id")
