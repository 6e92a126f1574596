"""What can be said of choices from columns alone, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.attributors.meetings import told
from tests.build import batch_of
from trajcredit.attributors.events import LAST_MESSAGE, MESSAGE, Events, events_of, numbered
from trajcredit.batching import Batch

STORY = "u:do t c1 r:x c1 r:x b1 c2 r:ok r:y a u:more a"
"""Looks 1 up twice, which tells nothing new; books 1 and looks 2 up in one message; says something, twice."""


def seen(*stories: str) -> tuple[Batch, Events]:
    batch = batch_of(*(told(story) for story in stories))
    return batch, events_of(batch)


def test_the_events_of_a_run_by_hand() -> None:
    batch, found = seen(STORY)
    look, book = batch.tool_names.index("look"), batch.tool_names.index("book")
    assert found.span.tolist() == [2, 4, 6, 7, 10, 12]
    assert found.act.tolist() == [look, look, book, look, MESSAGE, LAST_MESSAGE]
    assert found.turn.tolist() == [0, 1, 2, 2, 3, 4]
    assert found.repeat.tolist() == [False, True, False, False, False, False]
    # the start; after a look (both calls of the message see that alone); after the message's last call; after words
    first, second, third, fourth, fifth, last = found.last.tolist()
    assert second == third == fourth == fifth
    assert len({first, second, last}) == 3
    assert found.told.tolist() == [1, 0, 1, 1, 1, -1]


def test_a_call_after_one_that_failed_stands_somewhere_else() -> None:
    batch, found = seen("u c1 r:x c2 r:y", "u c1 r:x c2 r:y")
    failed = np.zeros(batch.n_spans, dtype=bool)
    failed[[6, 7]] = True
    after = events_of(replace(batch, is_error=failed))
    assert after.failed.tolist() == [False, False, True, False]
    assert found.last[1] == found.last[3]
    assert after.last[1] != after.last[3]


@pytest.mark.parametrize(
    ("edges", "alike"),
    [
        pytest.param([(1, 5), (2, 5)], True, id="a call and its result are one source"),
        pytest.param([(0, 5), (2, 5)], False, id="the request is another"),
        pytest.param([], False, id="no source is another"),
    ],
)
def test_sources_are_told_apart_by_tool_and_kind(edges: list[tuple[int, int]], alike: bool) -> None:
    batch = batch_of(told("u c1 r:x c2 r:y a", edges=[(2, 5)]), told("u c1 r:x c2 r:y a", edges=edges))
    origin = events_of(batch).origin
    assert (origin[2] == origin[5]) is np.bool_(alike)
    assert origin[0] == origin[3]


def test_rows_are_numbered_by_all_their_columns() -> None:
    left, right = np.array([0, 0, 1, 0], dtype=np.int64), np.array([True, False, True, True])
    found = numbered(left, right)
    assert found[0] == found[3]
    assert len(set(found.tolist())) == 3
    assert numbered(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool)).tolist() == []
