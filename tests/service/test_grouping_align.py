"""Two rollouts laid against each other: the cheapest way, the same whichever of them comes first."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajcredit.service import grouping_align
from trajcredit.service.grouping_align import GAP, PARTIAL, Item, Pair, align

SIGNS = {"same": "=", "differs": "~", "a": "-", "b": "+"}


def items(text: str) -> list[Item]:
    """`x1 y x2`: a call of x with 1, of y, of x with 2; two letters after the name are two arguments."""
    return [
        Item(at, word[0], word, frozenset((str(place), value) for place, value in enumerate(word[1:])))
        for at, word in enumerate(text.split())
    ]


def signs(a: str, b: str) -> str:
    return "".join(SIGNS[pair.state] for pair in align(items(a), items(b))[0])


@pytest.mark.parametrize(
    ("a", "b", "found"),
    [
        pytest.param("x1 y z", "x1 y z", "===", id="the same"),
        pytest.param("", "", "", id="nothing"),
        pytest.param("", "x y", "++", id="one has nothing"),
        pytest.param("x1 y z", "x2 y z", "~==", id="another argument"),
        pytest.param("x1 w y", "x1 y", "=-=", id="one call more"),
        pytest.param("x y", "w y", "-+=", id="another tool never shares a row"),
        pytest.param("x1 x2 x3", "x2 x3", "-==", id="what is equal goes before what is first"),
        pytest.param("x12 x34", "x35", "-~", id="the nearer of two calls"),
        pytest.param("x y p q", "x w v q", "=--++=", id="what only a has comes first"),
    ],
)
def test_rows_by_hand(a: str, b: str, found: str) -> None:
    assert signs(a, b) == found


words = st.lists(st.sampled_from(["x", "x1", "x2", "x12", "x13", "y", "y1", "z"]), max_size=7).map(" ".join)


def swapped(pair: Pair) -> Pair:
    states: dict[Any, Any] = {"a": "b", "b": "a"}
    return Pair(states.get(pair.state, pair.state), pair.b, pair.a)


def by_place(pairs: Sequence[Pair]) -> set[Pair]:
    return set(pairs)


@given(words)
def test_a_rollout_aligns_with_itself(a: str) -> None:
    assert signs(a, a) == "=" * len(a.split())


@given(words, words)
def test_swapping_the_sides_swaps_the_rows(a: str, b: str) -> None:
    there, back = align(items(a), items(b))[0], align(items(b), items(a))[0]
    assert by_place(map(swapped, there)) == by_place(back)  # type: ignore[arg-type]  # any iterable serves


@given(words, words)
def test_every_item_stands_once_in_order_at_the_least_cost(a: str, b: str) -> None:
    left, right = items(a), items(b)
    pairs, more = align(left, right)
    assert more == 0
    assert [pair.a for pair in pairs if pair.a is not None] == list(range(len(left)))
    assert [pair.b for pair in pairs if pair.b is not None] == list(range(len(right)))
    total = 0.0
    for pair in pairs:
        one = None if pair.a is None else left[pair.a]
        other = None if pair.b is None else right[pair.b]
        if one is None or other is None:
            total += GAP
            continue
        assert one.name == other.name
        assert (one.key == other.key) == (pair.state == "same")
        total += cost(one, other)
    assert total == pytest.approx(least(left, right))


def cost(one: Item, other: Item) -> float:
    if one.key == other.key:
        return 0.0
    most = max(len(one.parts), len(other.parts), 1)
    return PARTIAL[1] - (PARTIAL[1] - PARTIAL[0]) * len(one.parts & other.parts) / most


def least(a: Sequence[Item], b: Sequence[Item]) -> float:
    """Needleman and Wunsch as one writes it down."""

    @cache
    def best(i: int, j: int) -> float:
        if i == 0 or j == 0:
            return GAP * (i + j)
        ways = [best(i - 1, j) + GAP, best(i, j - 1) + GAP]
        if a[i - 1].name == b[j - 1].name:
            ways.append(best(i - 1, j - 1) + cost(a[i - 1], b[j - 1]))
        return min(ways)

    return best(len(a), len(b))


def test_what_is_too_long_is_aligned_so_far_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouping_align, "MOST_AT_ONCE", 2)
    pairs, more = align(items("x1 y1 y2 y3 z"), items("x1 z1 z2 z3 z4 z"))
    assert "".join(SIGNS[pair.state] for pair in pairs) == "=---++++="
    assert more == 3
