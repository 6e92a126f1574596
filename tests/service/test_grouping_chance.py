"""How often chance divides as widely: all ways counted, or the same ones drawn."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajcredit.arrays import BOOL, F64
from trajcredit.service.grouping_chance import DRAWN, chance, explained


def sides(*rows: str) -> tuple[BOOL, BOOL]:
    """`llhh-`: low, low, high, high, on neither side."""
    return tuple(np.array([[letter == side for letter in row] for row in rows]) for side in "lh")  # type: ignore[return-value]  # two of them


def naive(rewards: list[float], rows: list[str]) -> float:
    """The largest n m / (n + m) gap**2."""
    found = []
    for row in rows:
        low = [r for r, letter in zip(rewards, row, strict=True) if letter == "l"]
        high = [r for r, letter in zip(rewards, row, strict=True) if letter == "h"]
        gap = sum(high) / len(high) - sum(low) / len(low)
        found.append(len(low) * len(high) / (len(low) + len(high)) * gap**2)
    return max(found)


def test_what_a_split_explains_by_hand() -> None:
    rewards = np.array([[0.0, 0.0, 1.0, 1.0]])
    np.testing.assert_allclose(explained(rewards, *sides("llhh", "lhhh", "lhlh", "l--h")), [[1.0, 1 / 3, 0.0, 0.5]])


@pytest.mark.parametrize(
    ("rewards", "rows", "as_wide", "ways"),
    [
        pytest.param([0, 0, 1, 1], ["llhh"], 2, 6, id="one split of two and two: it, and it the other way round"),
        pytest.param([0, 0, 1, 1], ["llhh", "lhlh", "lhhl"], 6, 6, id="all splits there are: always one is as wide"),
        pytest.param([0, 0, 0, 1], ["lllh"], 1, 4, id="the one that passed, singled out"),
        pytest.param([0, 0, 0, 1, 1, 1], ["lllhhh"], 2, 20, id="three and three"),
    ],
)
def test_all_ways_are_counted(rewards: list[float], rows: list[str], as_wide: int, ways: int) -> None:
    found = chance(np.array(rewards, dtype=float), *sides(*rows))
    assert (found.as_wide, found.ways, found.exact, found.p) == (as_wide, ways, True, as_wide / ways)


def test_of_too_many_ways_the_same_ones_are_drawn() -> None:
    rewards = np.arange(12.0)
    found = chance(rewards, *sides("llllllhhhhhh", "lhlhlhlhlhlh"))
    assert (found.exact, found.ways) == (False, DRAWN)
    assert found == chance(rewards, *sides("llllllhhhhhh", "lhlhlhlhlhlh"))
    assert found.p == (1 + found.as_wide) / (1 + DRAWN)
    assert 0 < found.p < 0.02, "2 splits with 2 of 924 ways each to be that wide"


rows = st.text("lh-", min_size=5, max_size=5).filter(lambda row: "l" in row and "h" in row)


@given(st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=5, max_size=5), st.lists(rows, min_size=1, max_size=4))
def test_all_ways_are_those_of_the_plain_loop(rewards: list[float], rows: list[str]) -> None:
    here = naive(rewards, rows)
    dealt = [naive(list(other), rows) for other in set(permutations(rewards))]
    found = chance(np.array(rewards) - np.mean(rewards), *sides(*rows))
    assert found.ways == len(dealt)
    assert found.as_wide == sum(other >= here - 1e-9 for other in dealt)
    wide: F64 = explained(np.array([rewards]), *sides(*rows))
    assert wide.max() == pytest.approx(here)
