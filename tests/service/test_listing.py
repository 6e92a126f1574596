"""A page of the list: what a run says of each row, and the same number of queries however many rows."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.build import run
from tests.service.scenes import PROJECT, counted, ran
from tests.store.shelf import put
from trajcredit.errors import InputError, NotFoundError
from trajcredit.model import Note, Origin
from trajcredit.service.listing import TopSpan, listed, suggested
from trajcredit.store import Store
from trajcredit.store.filters import Filters


@pytest.fixture
def filled(store: Store) -> Store:
    """One group: a failure whose first call leads nowhere, a success, one without a reward."""
    made = run("ucrcra", 0.0, name="bad", edges=[(4, 5)])
    put(
        store,
        replace(
            made,
            source=Origin("openai_chat", "log.jsonl", 3),
            report=[Note("odd", "an odd line")],
            task="book",
            model="m",
        ),
        run("ucra", 1.0, name="good", edges=[(2, 3)]),
        run("ua", name="open"),
    )
    return store


def rows(store: Store, **more):
    page = listed(store, PROJECT, Filters(), sort="created", **more)
    return {row.external_id: row for row in page.items}, page


def test_a_row_says_where_it_comes_from_and_how_its_group_did(filled: Store) -> None:
    found, page = rows(filled)
    assert (page.total, page.total_exact, page.next, page.scale, page.run) == (3, True, None, None, None)
    bad = found["bad"]
    assert (bad.group, bad.group_size, bad.group_scored, bad.group_mean) == ("g", 3, 2, 0.5)
    assert (bad.group_passed, bad.group_difference, found["good"].group_difference) == (1, -0.5, 0.5)
    assert found["open"].group_difference is None
    assert (bad.outcome, bad.n_spans, bad.n_actions, bad.n_errors, bad.n_tokens) == (0.0, 6, 3, 0, None)
    assert (bad.format, bad.n_notes, bad.task, bad.model) == ("openai_chat", 1, "book", "m")
    assert (bad.top, bad.strip) == (None, None)
    assert (found["good"].format, found["good"].n_notes, found["open"].outcome) == ("", 0, None)


def test_with_a_run_rows_have_strips_and_tops_on_one_scale(filled: Store) -> None:
    made = ran(filled, "dag")
    found, page = rows(filled, run="dag")
    assert (page.run, page.scale) == (made.id, 0.5)
    assert found["bad"].strip == (None, 0.0, None, -0.5, None, -0.5)
    assert found["bad"].top == TopSpan(3, "look", -0.5)
    assert found["good"].top is None, "both of its actions get the same"
    assert (found["open"].top, found["open"].strip) == (None, (None, None))
    assert rows(filled, run=made.id)[1] == page


def test_where_nothing_is_blamed_the_most_praised_is_on_top_by_its_kind(filled: Store) -> None:
    ran(filled, "rtg", gamma=0.5)
    found, page = rows(filled, run="rtg")
    assert found["good"].top == TopSpan(3, "assistant", 1.0)
    assert found["good"].strip == (None, 0.5, None, 1.0)
    assert found["bad"].top is None, "all of its actions get 0"
    assert page.scale == 1.0


def test_a_trajectory_that_the_run_did_not_read_has_no_strip(filled: Store) -> None:
    ran(filled, "grpo")
    put(filled, run("ua", 1.0, name="late"))
    found, page = rows(filled, run="grpo")
    assert (found["late"].strip, found["late"].top) == (None, None)
    assert found["bad"].strip is not None
    assert page.total == 4


def test_of_a_long_trajectory_sixty_cells_are_left(store: Store) -> None:
    put(store, run("u" + "a" * 99, 1.0, name="long"), run("a", 0.0, name="other"))
    ran(store, "rtg", gamma=0.9)
    strip = rows(store, run="rtg")[0]["long"].strip
    assert strip is not None
    assert len(strip) == 60
    assert strip[-1] == max(cell for cell in strip if cell is not None) == 1.0


def test_the_number_of_queries_does_not_grow_with_the_rows(filled: Store) -> None:
    put(filled, *(run("ucrat", float(i % 3), name=f"more{i}", group=f"g{i // 4}") for i in range(60)))
    ran(filled, "rtg", gamma=0.5)
    sent = []
    for limit in (2, 60):
        with counted(filled) as statements:
            assert len(listed(filled, PROJECT, Filters(), limit=limit, run="rtg").items) == limit
        sent.append(len(statements))
    assert sent[0] == sent[1] > 3


def test_pages_follow_each_other(filled: Store) -> None:
    first = listed(filled, PROJECT, Filters(), sort="created", limit=2)
    second = listed(filled, PROJECT, Filters(), sort="created", limit=2, cursor=first.next)
    assert [row.external_id for row in (*first.items, *second.items)] == ["bad", "good", "open"]
    assert second.next is None


def test_what_cannot_be_listed_is_refused(filled: Store) -> None:
    with pytest.raises(InputError, match="limit 0: a page has 1 to 200 rows"):
        listed(filled, PROJECT, Filters(), limit=0)
    with pytest.raises(InputError, match="limit 201"):
        listed(filled, PROJECT, Filters(), limit=201)
    with pytest.raises(NotFoundError, match="no run 'shapley'"):
        listed(filled, PROJECT, Filters(), run="shapley")


def test_an_empty_project_is_an_empty_page(store: Store) -> None:
    page = listed(store, PROJECT, Filters())
    assert (page.items, page.next, page.total, page.total_exact) == ((), None, 0, True)


def test_boxes_offer_what_begins_so_the_most_frequent_first(filled: Store) -> None:
    once = run("ca", 1.0, name="x")
    put(filled, replace(once, spans=[replace(once.spans[0], name="late"), once.spans[1]]))
    assert suggested(filled, PROJECT) == ("look", "late")
    assert suggested(filled, PROJECT, "la") == ("late",)
    assert suggested(filled, PROJECT, most=1) == ("look",)
    assert suggested(filled, PROJECT, "z") == ()
    with pytest.raises(InputError, match="at most 1 to 200"):
        suggested(filled, PROJECT, most=0)
