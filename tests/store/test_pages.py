"""Lists: the pages of a filter are the filtered list, in order, whatever the keys and whoever writes meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace as but
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.build import run
from tests.store.shelf import PROJECT, put
from tests.store.test_round_trip import one_store, project
from trajcredit.errors import InputError
from trajcredit.model import Reward, Trajectory
from trajcredit.store import Store, pages
from trajcredit.store.filters import PASS, Filters, tools
from trajcredit.store.pages import Listed, Sort

texts = st.sampled_from(["a", "A", "b", "%", "_", "a%", "é", "\U0001f600", "ab", "'", '"', "\\"])
outcomes = st.none() | st.sampled_from([0.0, 0.5, 1.0, -1.0, 0.25])


@st.composite
def lists(draw: st.DrawFn) -> list[Trajectory]:
    """Trajectories that share many values, so that filters and ties matter."""
    items = []
    for n in range(draw(st.integers(0, 12))):
        tool = draw(st.sampled_from(["look", "book", "LOOK"]))
        item = run(draw(st.sampled_from(["a", "ucra", "ua"])), draw(outcomes), name=f"{draw(texts)}{n}", group=None)
        spans = [replace(s, name=tool, error=draw(st.booleans())) if s.name else s for s in item.spans]
        items.append(
            replace(
                item,
                spans=spans,
                dataset=draw(st.none() | texts),
                task=draw(st.none() | texts),
                role=draw(st.none() | texts),
                policy_version=draw(st.none() | texts),
                model=draw(st.none() | texts),
                step=draw(st.none() | st.integers(-2, 3)),
            )
        )
    return items


steps = st.none() | st.integers(-3, 4)
filters = st.builds(
    Filters,
    id_prefix=st.none() | texts | st.just(""),
    dataset=st.none() | texts,
    task=st.none() | texts,
    role=st.none() | texts,
    policy_version=st.none() | texts,
    model=st.none() | texts,
    tool=st.none() | st.sampled_from(["look", "book", "nothing"]),
    has_error=st.none() | st.booleans(),
    result=st.none() | st.sampled_from(["pass", "fail", "unscored"]),
    outcome_min=st.none() | st.sampled_from([0.0, 0.25, 0.5]),
    outcome_max=st.none() | st.sampled_from([0.0, 0.5]),
    step_min=steps,
    step_max=steps,
)


def passes(item: Trajectory, outcome: float | None, f: Filters) -> bool:
    """The filter in plain Python."""
    calls = {span.name for span in item.spans if span.kind == "tool_call"}
    failed = any(span.kind == "tool_result" and span.error for span in item.spans)
    result = "unscored" if outcome is None else "pass" if outcome >= PASS else "fail"
    return (
        item.id.startswith(f.id_prefix or "")
        and all(
            getattr(f, name) is None or getattr(item, name) == getattr(f, name)
            for name in ("dataset", "task", "role", "policy_version", "model")
        )
        and (f.tool is None or f.tool in calls)
        and (f.has_error is None or f.has_error == failed)
        and (f.result is None or f.result == result)
        and within(outcome, f.outcome_min, f.outcome_max)
        and within(item.step, f.step_min, f.step_max)
    )


def within(value: float | None, low: float | None, high: float | None) -> bool:
    if value is None:
        return low is None and high is None
    return (low is None or value >= low) and (high is None or value <= high)


def ordered(items: list[tuple[int, Trajectory, float | None]], sort: Sort) -> list[str]:
    """The sort in plain Python: without an outcome last, equal ones in the order they were stored, or the reverse."""
    down = sort[0] == "-"
    last = -1e308 if down else 1e308
    keys: dict[str, Callable[[tuple[int, Trajectory, float | None]], Any]] = {
        "created": lambda one: one[0],
        "outcome": lambda one: (last if one[2] is None else one[2], one[0]),
        "spans": lambda one: (len(one[1].spans), one[0]),
    }
    return [one[1].id for one in sorted(items, key=keys[sort.removeprefix("-")], reverse=down)]


def every_page(store: Store, name: str, asked: Filters, sort: Sort, limit: int) -> list[list[Listed]]:
    found, cursor = [], None
    while True:
        with store.read() as conn:
            page = pages.page(conn, name, asked, sort, cursor, limit)
        found.append(list(page.trajectories))
        cursor = page.next
        if cursor is None:
            return found


@one_store
@given(items=lists(), asked=filters, sort=st.sampled_from(get_args(Sort)), limit=st.integers(1, 5))
def test_the_pages_are_the_list_filtered_and_sorted_in_python(
    store: Store, items: list[Trajectory], asked: Filters, sort: Sort, limit: int
) -> None:
    items = [replace(item, project=name) for item in items] if (name := next(project)) else []
    put(store, *items, project=name)
    outcome = [item.rewards[0].value if item.rewards else None for item in items]
    matching = [(n, item, o) for n, (item, o) in enumerate(zip(items, outcome, strict=True)) if passes(item, o, asked)]
    found = every_page(store, name, asked, sort, limit)
    assert [one.external_id for page in found for one in page] == ordered(matching, sort)
    assert all(len(page) == limit for page in found[:-1])
    with store.read() as conn:
        assert pages.page(conn, name, asked, sort).total == len(matching)


@pytest.mark.parametrize("sort", get_args(Sort))
def test_nothing_is_dropped_or_shown_twice_while_others_write(store: Store, sort: Sort) -> None:
    old = [run("a", (None, 0.0, 1.0)[n % 3], name=f"old{n}") for n in range(30)]
    put(store, *old)
    seen, cursor = [], None
    for n in range(100):
        with store.read() as conn:
            page = pages.page(conn, PROJECT, None, sort, cursor, 4)
        seen += [one.external_id for one in page.trajectories]
        put(store, run("a", 0.5, name=f"new{n}"), run("ua", name=f"more{n}"))
        cursor = page.next
        if cursor is None:
            break
    expected = ordered([(n, t, (None, 0.0, 1.0)[n % 3]) for n, t in enumerate(old)], sort)
    assert [name for name in seen if name.startswith("old")] == expected
    assert len(seen) == len(set(seen))


def test_a_total_is_counted_only_so_far(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    put(store, *(run("a", name=f"t{n}") for n in range(6)))
    with store.read() as conn:
        monkeypatch.setattr(pages, "COUNTED", 6)
        assert (pages.page(conn, PROJECT).total, pages.page(conn, PROJECT).more) == (6, False)
        monkeypatch.setattr(pages, "COUNTED", 5)
        assert (pages.page(conn, PROJECT).total, pages.page(conn, PROJECT).more) == (5, True)


def test_the_tools_of_a_project_are_those_that_were_called(store: Store) -> None:
    put(store, run("ucra", name="a"), run("a", name="b"))
    with store.read() as conn:
        assert tools(conn, PROJECT) == ["look"]
        assert tools(conn, "other") == []


def test_a_group_is_filtered_by_its_key_and_an_id_by_ours(store: Store) -> None:
    added = put(store, run("a", name="x", group="g"), run("ua", name="y", group="g"), run("a", name="z", group="h"))
    with store.read() as conn:
        [z, y, x] = pages.page(conn, PROJECT).trajectories
        assert (x.group_name, y.group_key, z.group_name) == ("g", x.group_key, "h")
        in_group = pages.page(conn, PROJECT, Filters(group=x.group_key)).trajectories
        by_prefix = pages.page(conn, PROJECT, Filters(id_prefix=added[1].id)).trajectories
        by_ids = pages.page(conn, PROJECT, Filters(ids=(added[0].id or "", added[2].id or "", "nobody"))).trajectories
    assert [one.external_id for one in in_group] == ["y", "x"]
    assert [one.external_id for one in by_prefix] == ["y"]
    assert [one.external_id for one in by_ids] == ["z", "x"]


GARBAGE = [
    "",
    "x",
    "é",
    "AAAA",
    "W10",
    "WyJvdXRjb21lIiwgMSwgMV0",
    "=" * 9,
    "\0",
    "a" * 10_000,
    "WyItY3JlYXRlZCIsMWU0MDAsMV0",
]


@pytest.mark.parametrize("cursor", GARBAGE)
def test_a_cursor_that_is_none_of_ours_is_refused(store: Store, cursor: str) -> None:
    with store.read() as conn, pytest.raises(InputError, match=r"page begins|cursor belongs"):
        pages.page(conn, PROJECT, None, "-created", cursor)


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"sort": "name"}, id="a sort that is not on the list"),
        pytest.param({"sort": "key; drop table logs"}, id="SQL for a sort"),
        pytest.param({"limit": 0}, id="no rows"),
        pytest.param({"limit": 10**9}, id="all rows"),
        pytest.param({"filters": Filters(step_min=1 << 70)}, id="an integer beyond 64 bits"),
        pytest.param({"filters": Filters(outcome_min=float("nan"))}, id="NaN"),
        pytest.param({"filters": but(Filters(), result="won")}, id="a result that is not on the list"),  # type: ignore[arg-type]  # what a client may send
    ],
)
def test_what_no_list_can_be_is_refused(store: Store, wrong: dict[str, Any]) -> None:
    with store.read() as conn, pytest.raises(InputError):
        pages.page(conn, PROJECT, **wrong)


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "x" * 100_000, "'; --", "%_\\"])
def test_any_text_may_be_looked_for(store: Store, text: str) -> None:
    put(store, replace(run("a", 1.0, name="x"), rewards=[Reward(1.0)]))
    asked = Filters(id_prefix=text, dataset=text, tool=text, group=text, policy_version=text, model=text)
    with store.read() as conn:
        assert pages.page(conn, PROJECT, asked).trajectories == ()
        assert pages.page(conn, text).trajectories == ()
