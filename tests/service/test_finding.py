"""Text found in a trajectory: every place of it, upper or lower case, in all spans."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.service.scenes import PROJECT
from tests.store.shelf import put
from trajcredit.errors import InputError, NotFoundError
from trajcredit.model import Span, Trajectory
from trajcredit.service import finding
from trajcredit.service.finding import find, fold
from trajcredit.store import Store

TEXTS = Trajectory(
    id="t",
    spans=[
        Span("user", -1, "Paris, paris or PARIS?"),
        Span("tool_call", 0, name="paris_search", call_id="c", arguments_raw='{"to": "Paris"}'),
        Span("tool_result", 0, "nothing", name="paris_search", call_id="c", result_of=1),
        Span("assistant", 1, "x" * 50_000 + "Paris" + "x" * 50_000 + "paris"),
    ],
)


@pytest.fixture
def filled(store: Store) -> Store:
    put(store, TEXTS)
    return store


def places(store: Store, q: str, first: int = 0) -> list[tuple[int, int | None]]:
    found = find(store, PROJECT, "ext:t", q, first)
    return list(zip(found.span, found.start, strict=True))


def test_every_place_is_told_in_long_texts_and_in_names_of_tools(filled: Store) -> None:
    found = find(filled, PROJECT, "ext:t", "pArIs")
    assert list(zip(found.span, found.start, strict=True)) == [
        (0, 0),
        (0, 7),
        (0, 16),
        (1, None),
        (1, 8),
        (2, None),
        (3, 50_000),
        (3, 100_005),
    ]
    assert (found.spans, found.counts) == ((0, 1, 2, 3), (3, 2, 1, 2))
    assert (found.total, found.length, found.next) == (8, 5, None)


def test_a_search_may_begin_later_and_find_nothing(filled: Store) -> None:
    assert places(filled, "paris", 3) == [(3, 50_000), (3, 100_005)]
    assert places(filled, "London") == []
    assert places(filled, '"to": "P') == [(1, 1)]


def test_hits_do_not_overlap_and_what_is_beyond_the_most_is_counted(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "MOST_HITS", 3)
    put(store, Trajectory(id="t", spans=[Span("user", -1, "aaaaaaaaa"), Span("user", -1, "aa")]))
    found = find(store, PROJECT, "ext:t", "aa")
    assert (found.span, found.start) == ((0, 0, 0), (0, 2, 4))
    assert (found.spans, found.counts, found.total) == ((0, 1), (4, 1), 5)


def test_where_time_runs_out_it_says_which_span_comes_next(filled: Store) -> None:
    ticks = iter([0.0, 1.0, 3.0])
    found = find(filled, PROJECT, "ext:t", "paris", clock=lambda: next(ticks))
    assert (found.spans, found.next) == ((0, 1), 2)
    late: Iterator[float] = iter([0.0, 9.0])
    assert find(filled, PROJECT, "ext:t", "paris", 2, clock=lambda: next(late)).spans == (2,), "one span in any case"


@pytest.mark.parametrize("q", ["", "x" * 201])
def test_what_cannot_be_looked_for_is_told(filled: Store, q: str) -> None:
    with pytest.raises(InputError, match="expected 1 to 200"):
        find(filled, PROJECT, "ext:t", q)


def test_spans_and_trajectories_that_are_not_there_are_told(filled: Store) -> None:
    with pytest.raises(InputError, match="span 4: trajectory 'ext:t' has spans 0 to 3"):
        find(filled, PROJECT, "ext:t", "x", 4)
    with pytest.raises(NotFoundError):
        find(filled, PROJECT, "ext:nobody", "x")


def test_folding_keeps_every_place() -> None:
    """Of every character there is."""
    every = "".join(chr(code) for code in range(sys.maxunicode + 1))
    assert len(fold(every)) == len(every)
    assert fold(fold(every)) == fold(every)


@given(text=st.text(alphabet="aAbB\u0130ΣΑς€", max_size=30), q=st.text(alphabet="aAbΣσς", min_size=1, max_size=3))
def test_places_are_those_of_a_plain_search(text: str, q: str) -> None:
    one = Span("user", -1, text)
    placed, more = finding._hits(one, fold(q), 1000)
    assert more == 0
    same = [i for i in range(len(text)) if [fold(c) for c in text[i : i + len(q)]] == [fold(c) for c in q]]
    expected, end = [], 0
    for start in same:
        if start >= end:
            expected.append(start)
            end = start + len(q)
    assert placed == expected
    assert len(re.findall(re.escape(fold(q)), fold(text))) == len(expected)
