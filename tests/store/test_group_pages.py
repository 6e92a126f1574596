"""Lists of groups: the pages are the whole list, in order, whatever is sorted by."""

from __future__ import annotations

from math import inf
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.build import run
from tests.store.shelf import PROJECT, put
from tests.store.test_round_trip import one_store, project
from trajcredit.errors import InputError, NotFoundError
from trajcredit.model import LARGEST_NUMBER, Reward
from trajcredit.store import Store, groups
from trajcredit.store.group_pages import GroupSort, find_group, group_page


def names(store: Store, **asked: Any) -> list[str]:
    with store.read() as conn:
        return [one.name for one in group_page(conn, PROJECT, **asked).groups]


@pytest.fixture
def filled(store: Store) -> Store:
    """Stored one after the other: b of mean 1, a of mean 1/3, c without rewards, a's third member last."""
    put(
        store,
        run("a", 1.0, name="b0", group="b"),
        *(run("a", float(n), name=f"a{n}", group="a") for n in range(2)),
        run("a", None, name="c0", group="c"),
        run("a", 0.0, name="a2", group="a"),
    )
    return store


@pytest.mark.parametrize(
    ("sort", "found"),
    [("-created", "acb"), ("created", "bca"), ("mean", "abc"), ("-mean", "bac"), ("size", "bca"), ("-size", "acb")],
)
def test_groups_by_age_mean_and_size_those_without_a_reward_last(filled: Store, sort: str, found: str) -> None:
    assert names(filled, sort=sort) == list(found)


def test_a_group_says_what_all_its_members_share_and_when_the_newest_came(store: Store) -> None:
    put(store, *(replace(run("a", name=f"t{n}"), step=3, role="user", task="book") for n in range(2)))
    with store.read() as conn:
        [one] = group_page(conn, PROJECT).groups
        newest = max(member.created for member in groups.members(conn, PROJECT, one.key))
    assert (one.name, one.step, one.role, one.task, one.created) == ("g", 3, "user", "book", newest)


def test_names_begin_so_as_text(store: Store) -> None:
    put(store, *(run("a", name=name, group=name) for name in ("a%", "ab", "A", "b")))
    assert sorted(names(store, begins="a")) == ["a%", "ab"]
    assert names(store, begins="a%") == ["a%"]
    with store.read() as conn:
        page = group_page(conn, PROJECT, "a")
        assert (page.total, page.more, group_page(conn, "other").total) == (2, False, 0)


def test_the_mean_is_of_one_source_and_of_any_size(store: Store) -> None:
    low = replace(run("a", name="l", group="low"), rewards=[Reward(0.25), Reward(9.0, "human")])
    high = replace(run("a", name="h", group="high"), rewards=[Reward(1.0, "human")])
    huge = [run("a", LARGEST_NUMBER, name=f"x{n}", group="huge") for n in range(3)]
    put(store, low, high, *huge)
    assert names(store, sort="mean") == ["low", "high", "huge"]


@pytest.mark.parametrize(
    "asked",
    [{"sort": "name"}, {"limit": 0}, {"limit": 201}, {"cursor": "nonsense"}, {"cursor": "WyJtZWFuIiwxLDFd"}],
    ids=str,
)
def test_what_is_asked_wrongly_is_told(filled: Store, asked: dict[str, Any]) -> None:
    with filled.read() as conn, pytest.raises(InputError):
        group_page(conn, PROJECT, **asked)


def test_a_group_is_found_by_its_id_or_by_a_name_that_only_it_has(filled: Store) -> None:
    put(filled, replace(run("a", name="b1", group="b"), step=7))
    with filled.read() as conn:
        one = find_group(conn, PROJECT, "ext:a")
        assert find_group(conn, PROJECT, one.key) == one
        both = sorted(group.key for group in group_page(conn, PROJECT, "b").groups)
        with pytest.raises(InputError, match=rf"several groups are called 'b'.* {both[0]}, {both[1]}$"):
            find_group(conn, PROJECT, "ext:b")
        for name, ref in ((PROJECT, "a"), (PROJECT, "ext:nothing"), ("other", one.key)):
            with pytest.raises(NotFoundError, match="no group"):
                find_group(conn, name, ref)


rewards = st.lists(st.tuples(st.sampled_from("abcd"), st.none() | st.sampled_from([0.0, 1.0, -1.0, 0.5])), max_size=9)


@one_store
@given(members=rewards, sort=st.sampled_from(get_args(GroupSort)), n=st.integers(1, 4))
def test_pages_end_to_end_are_the_sorted_list(
    store: Store, members: list[tuple[str, float | None]], sort: GroupSort, n: int
) -> None:
    name = next(project)
    items = [replace(run("a", r, name=f"t{i}", group=g), project=name) for i, (g, r) in enumerate(members)]
    put(store, *items, project=name)
    found: list[str] = []
    cursor = None
    with store.read() as conn:
        while True:
            page = group_page(conn, name, "", sort, cursor, n)
            found += [one.name for one in page.groups]
            assert page.total == len({g for g, _ in members})
            cursor = page.next
            if cursor is None:
                break
    assert found == by_hand(members, sort)


def by_hand(items: list[tuple[str, float | None]], sort: str) -> list[str]:
    down = sort[0] == "-"

    def value(group: str) -> tuple[float, int]:
        own = [(at, reward) for at, (name, reward) in enumerate(items) if name == group]
        scored = [reward for _, reward in own if reward is not None]
        newest = max(at for at, _ in own)
        mean = sum(scored) / len(scored) if scored else (-inf if down else inf)
        return {"created": float(newest), "size": float(len(own)), "mean": mean}[sort.removeprefix("-")], newest

    return sorted({name for name, _ in items}, key=value, reverse=down)
