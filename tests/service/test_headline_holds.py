"""Every number in the sentence over a transcript is one that can be counted in the bars below it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from trajcredit.service.headline import Picture, headline
from trajcredit.service.wording import signed

shares = st.lists(st.integers(-40, 40).map(lambda n: n / 20), min_size=2, max_size=8)


def said(credit: list[float], law: str, total: float | None) -> str:
    names = tuple(f"s{n} call" for n in range(len(credit)))
    return headline(Picture(credit=np.array(credit), names=names, law=law, total=total, outcome=1.0))  # type: ignore[arg-type]


@given(mask=st.lists(st.booleans(), min_size=2, max_size=9), whole=st.sampled_from([-0.5, 0.25, 1.0]))
def test_of_a_mask_those_that_carry_it_and_those_it_clears_are_counted(mask: list[bool], whole: float) -> None:
    assume(0 < sum(mask) < len(mask))
    found = re.match(
        r"(\d+) of (\d+) action spans carr(?:y|ies) the (blame|credit), (\d+) gets? exactly 0$",
        said([whole * one for one in mask], "mask", whole),
    )
    assert found is not None
    assert [int(found[n]) for n in (1, 2, 4)] == [sum(mask), len(mask), len(mask) - sum(mask)]
    assert found[3] == ("blame" if whole < 0 else "credit")


@given(credit=shares)
def test_of_shares_the_largest_is_named_with_its_part_of_that_side(credit: list[float]) -> None:
    assume(any(credit) and len(set(credit)) > 1)
    text = said(credit, "shared", sum(credit))
    kind = re.search(r"(negative|positive) credit", text)
    assert kind is not None
    side = [abs(one) if (one < 0) == (kind[1] == "negative") else 0.0 for one in credit]
    if abs(total := sum(credit)) > 1e-9:
        assert (total < 0) == (kind[1] == "negative"), "of the side that the whole is on"
    first = max(range(len(credit)), key=lambda n: side[n])
    assert text.startswith(f"s{first} call ")
    assert signed(credit[first]) in text
    part = re.search(r"carries (?:about )?(\d+) % of", text)
    if part is not None:
        assert int(part[1]) == pytest.approx(100 * side[first] / sum(side), abs=1)
    elif "carries all" in text:
        assert sum(one > 0 for one in side) == 1
    ties = re.search(r" and (\d+) others? carry", text)
    assert (0 if ties is None else int(ties[1])) == sum(one == side[first] for one in side) - 1
    cleared = re.search(r"(\d+) action spans? gets? exactly 0", text)
    assert (0 if cleared is None else int(cleared[1])) == credit.count(0.0)


@given(value=st.sampled_from([-0.5, 0.5]), n=st.integers(2, 6))
def test_one_number_for_all_is_told_as_that(value: float, n: int) -> None:
    text = said([value] * n, "flat", value)
    assert text.startswith(f"flat: every action span gets {signed(value)}; this run cannot tell which call ")
