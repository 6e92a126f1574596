"""Named features to columns; folds by group."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajcredit.critics.columns import Columns, Intervals, numbered
from trajcredit.critics.folds import folds_of, ranks

GROUP = np.array([0, 0, 1, 2, 2, 3])
"""The tasks of six decisions."""


def noted(features: dict[str, list[int]], value: float = 1.0) -> Columns:
    columns = Columns()
    for name, rows in features.items():
        for row in rows:
            columns.add(row, {name: value})
    return columns


def test_columns_are_features_of_three_groups_and_of_two_values_the_larger_stays() -> None:
    columns = noted({"two": [0, 2], "three": [0, 2, 3], "twice": [0, 1, 2]})
    columns.add(3, {"three": 0.25})
    columns.add(5, {"three": 0.25})
    table = columns.dense(GROUP, 6, 10)
    matrix = table.matrix
    assert table.names == ["three"]
    assert matrix.dtype == np.float32
    assert matrix[:, 0].tolist() == [1, 0, 1, 1, 0, 0.25]


@pytest.mark.parametrize(
    ("most", "names"),
    [
        pytest.param(4, ["all", "a", "b", "most"], id="as many as there are"),
        pytest.param(3, ["all", "most"], id="two tie for one place: neither gets it"),
        pytest.param(2, ["all", "most"], id="no tie at the border"),
        pytest.param(1, ["all"], id="told apart by how often they were noted"),
    ],
)
def test_of_too_many_those_of_most_groups_stay(most: int, names: list[str]) -> None:
    columns = noted({"all": [0, 1, 2, 3, 5], "a": [0, 2, 3], "b": [2, 3, 5], "most": [0, 2, 3, 5], "none": [0]})
    table = columns.dense(GROUP, 6, most)
    assert table.names == names
    assert table.matrix.shape == (6, len(names))


def test_where_nearly_all_tie_the_more_frequent_stay() -> None:
    columns = noted({"a": [0, 2, 3], "b": [0, 1, 2, 3, 4], "c": [0, 1, 2, 3], "d": [0, 2, 4]})
    assert columns.dense(GROUP, 6, 3).names == ["b", "c"], "a and d tie"
    assert columns.dense(GROUP, 6, 2).names == ["b", "c"]
    assert noted({name: [0, 2, 3] for name in "abcd"}).dense(GROUP, 6, 2).names == [], "nothing tells them apart"


@given(random=st.randoms(use_true_random=False), most=st.integers(1, 6))
def test_the_order_in_which_features_are_noted_changes_no_column(random: Random, most: int) -> None:
    notes = [(row, name) for name in "abcdefgh" for row in random.choices(range(6), k=5)]
    found = []
    for _ in range(2):
        columns = Columns()
        for row, name in notes:
            columns.add(row, {name: 1.0})
        table = columns.dense(GROUP, 6, most)
        found.append({name: table.matrix[:, c].tolist() for c, name in enumerate(table.names)})
        random.shuffle(notes)
    assert found[0] == found[1]
    assert len(found[0]) <= most


def test_nothing_noted_is_no_column() -> None:
    assert Columns().dense(GROUP, 6, 5).matrix.shape == (6, 0)
    assert Intervals().dense(GROUP, 6, 5).matrix.shape == (6, 0)
    assert Columns().dense(GROUP[:0], 0, 5).matrix.shape == (0, 0)


def test_intervals_by_hand() -> None:
    state = Intervals()
    state.begin("on", 0)
    state.begin("on", 1)  # is on already
    state.end("on", 2)
    state.end("on", 2)  # is off already
    state.begin("blink", 0)
    state.end("blink", 0)  # no decision saw it
    state.begin("on", 2)
    state.close(3)
    state.begin("on", 5)
    state.begin("two", 4)
    state.begin("late", 6)  # no decision sees it
    state.close(6)
    state.during(["now", "on"], 1, 3)
    matrix = state.dense(GROUP, 6, 5).matrix
    assert "late" not in state.names
    assert matrix.dtype == np.float32
    assert matrix[:, 0].tolist() == [1, 1, 1, 0, 0, 1]
    assert matrix.shape == (6, 1), "on is of groups 0, 1 and 3; two of 2 and 3, blink of none"


def test_features_that_are_not_kept_cost_no_room() -> None:
    state = Intervals()
    for n in range(200):
        state.begin(f"once {n}", n)
    state.close(2_000_000)  # written out they would be 400 million numbers
    group = np.zeros(2_000_000, dtype=np.int64)
    assert state.dense(group, 2_000_000, 5).matrix.shape == (2_000_000, 0)


def test_what_was_noted_and_what_of_it_is_new() -> None:
    # "three" would be no column without any one of its groups; "four" would
    table = noted({"three": [0, 1, 2, 3], "four": [0, 2, 3, 5], "one": [4, 4]}).dense(GROUP, 6, 10)
    assert table.noted.tolist() == [2, 1, 2, 2, 2, 1]
    assert table.new.tolist() == [1, 1, 1, 1, 2, 0]
    state = Intervals()
    for start in (0, 2, 3):
        state.begin("on", start)
        state.close(start + 1)
    table = state.dense(GROUP, 6, 10)
    assert (table.noted.tolist(), table.new.tolist()) == ([1, 0, 1, 1, 0, 0], [1, 0, 1, 1, 0, 0])


def test_columns_may_be_given() -> None:
    columns = noted({"a": [0, 2, 3], "b": [1, 2]}, 0.5)
    table = columns.placed(["b", "missing", "a"], 6)
    assert table.names == ["b", "missing", "a"]
    assert table.matrix.T.tolist() == [[0, 0.5, 0.5, 0, 0, 0], [0] * 6, [0.5, 0, 0.5, 0.5, 0, 0]]
    assert columns.placed(["b"], 6).new.tolist() == [1, 0, 1, 1, 0, 0]
    assert np.array_equal(columns.placed(["a"], 6).matrix, columns.dense(GROUP, 6, 10).matrix)
    state = Intervals()
    state.begin("on", 1)
    state.begin("off", 2)
    state.close(4)
    table = state.placed(["never", "on"], 6)
    assert table.matrix.T.tolist() == [[0] * 6, [0, 1, 1, 1, 0, 0]]
    assert table.new.tolist() == [0, 0, 1, 0, 0, 0]


def test_equal_values_get_equal_numbers() -> None:
    assert numbered(["x", ("a", 1), "x", ("a", 1), "y"]).tolist() == [0, 1, 0, 1, 2]
    assert numbered([]).dtype == np.int64


@given(names=st.sets(st.text(max_size=5), max_size=40), most=st.integers(1, 12), random=st.randoms())
def test_folds_follow_from_names_alone_and_differ_by_one_at_most(names: set[str], most: int, random: Random) -> None:
    ordered, shuffled = sorted(names), sorted(names)
    random.shuffle(shuffled)
    fold = dict(zip(ordered, folds_of(ordered, most).tolist(), strict=True))
    assert dict(zip(shuffled, folds_of(shuffled, most).tolist(), strict=True)) == fold
    sizes = Counter(fold.values())
    assert len(sizes) == min(most, len(names))
    assert max(sizes.values(), default=0) - min(sizes.values(), default=0) <= 1
    assert sorted(ranks(ordered).tolist()) == list(range(len(names)))


def test_folds_by_hand() -> None:
    # blake2b, 8 bytes: "a" 40f89e39, "b" 8472c2e3, "c" 373f6364, "d" b5a5e556
    assert ranks(["a", "b", "c", "d"]).tolist() == [1, 2, 0, 3]
    assert folds_of(["a", "b", "c", "d"], 3).tolist() == [1, 2, 0, 0]
    assert folds_of(["\ud800"], 3).tolist() == [0]
