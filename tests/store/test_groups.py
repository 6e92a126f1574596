"""Groups: who belongs to one, and how they did."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.build import run
from tests.store.shelf import PROJECT, put
from trajcredit.errors import NotFoundError
from trajcredit.model import LARGEST_NUMBER, Reward
from trajcredit.store import Store, groups, pages
from trajcredit.store.groups import Tally


def key_of(store: Store, name: str) -> str:
    with store.read() as conn:
        return next(one.group_key for one in pages.page(conn, PROJECT).trajectories if one.external_id == name)


def test_members_come_in_the_order_they_were_stored(store: Store) -> None:
    put(store, *(run("a", n % 2, name=f"t{n}", group="xy"[n % 3 == 0]) for n in range(6)))
    with store.read() as conn:
        found = groups.members(conn, PROJECT, key_of(store, "t1"))
    assert [one.external_id for one in found] == ["t1", "t2", "t4", "t5"]


def test_a_group_of_another_project_or_none_is_not_found(store: Store) -> None:
    put(store, run("a", name="a"))
    with store.read() as conn:
        for name, group in (("other", key_of(store, "a")), (PROJECT, "nothing")):
            with pytest.raises(NotFoundError, match="no group"):
                groups.members(conn, name, group)


@pytest.mark.parametrize(
    ("outcomes", "tally"),
    [
        pytest.param([1.0, 0.0, 1.0], Tally(3, 3, 2, 2 / 3), id="two of three pass"),
        pytest.param([None, None], Tally(2, 0, 0, None), id="nobody is scored"),
        pytest.param([None, 0.5], Tally(2, 1, 1, 0.5), id="the unscored stay out of the mean"),
        pytest.param([LARGEST_NUMBER] * 3, Tally(3, 3, 3, LARGEST_NUMBER), id="the largest numbers there are"),
    ],
)
def test_a_tally_by_hand(store: Store, outcomes: list[float | None], tally: Tally) -> None:
    put(store, *(run("a", outcome, name=f"t{n}") for n, outcome in enumerate(outcomes)))
    with store.read() as conn:
        assert list(groups.tallies(conn, PROJECT, [key_of(store, "t0"), "nothing"]).values()) == [tally]
        assert groups.tallies(conn, PROJECT, []) == {}


def test_a_mean_is_of_one_source(store: Store) -> None:
    late = replace(run("a", None, name="late"), rewards=[Reward(1.0, "human")])
    put(store, run("a", 0.0, name="t0"), run("a", 1.0, name="t1"), late)
    with store.read() as conn:
        assert groups.tallies(conn, PROJECT, [key_of(store, "t0")]) == {key_of(store, "t0"): Tally(3, 2, 1, 0.5)}


def test_role_and_step_tell_groups_apart_that_a_log_calls_the_same(store: Store) -> None:
    items = [run("a", name=f"t{n}", group="g") for n in range(4)]
    put(store, items[0], items[1], replace(items[2], step=1), replace(items[3], role="critic"))
    keys = [key_of(store, f"t{n}") for n in range(4)]
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3
