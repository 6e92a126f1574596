"""Filters over whole groups say what the groups counted in plain Python say."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.build import run
from tests.store.shelf import PROJECT, put
from tests.store.test_round_trip import one_store, project
from trajcredit.model import REWARD_SOURCES, Reward, Trajectory
from trajcredit.store import Store, pages
from trajcredit.store.filters import Filters

rewarded = st.none() | st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from(["verifier", "human", "judge"]))
rollouts = st.lists(st.tuples(st.sampled_from("gh"), rewarded), max_size=6)


def made(n: int, group: str, reward: tuple[float, str] | None) -> Trajectory:
    given = [] if reward is None else [Reward(reward[0], reward[1])]  # type: ignore[arg-type]  # a source
    return replace(run("ua", name=f"t{n}", group=group), rewards=given)


def found(store: Store, name: str, filters: Filters) -> list[str]:
    with store.read() as conn:
        page = pages.page(conn, name, filters, "created")
    assert page.total == len(page.trajectories)
    return [one.external_id for one in page.trajectories]


@one_store
@given(rows=rollouts)
def test_they_say_what_plain_python_says(store: Store, rows: list[tuple[str, tuple[float, str] | None]]) -> None:
    name = next(project)
    put(store, *(replace(made(n, *row), project=name) for n, row in enumerate(rows)), project=name)
    groups: dict[str, list[tuple[float, str] | None]] = defaultdict(list)
    for group, reward in rows:
        groups[group].append(reward)
    alone = [len(groups[group]) == 1 for group, _ in rows]
    alike = [is_alike(groups[group]) for group, _ in rows]
    for held, wanted in ((alone, "alone"), (alike, "zero_variance")):
        for value in (True, False):
            expected = [f"t{n}" for n, holds in enumerate(held) if holds is value]
            assert found(store, name, Filters(**{wanted: value})) == expected  # type: ignore[arg-type]  # both are flags


def is_alike(rewards: list[tuple[float, str] | None]) -> bool:
    given = [one for one in rewards if one is not None]
    read = min((one[1] for one in given), key=REWARD_SOURCES.index, default=None)
    values = [value for value, source in given if source == read]
    return len(values) > 1 and len(set(values)) == 1


@pytest.mark.parametrize(
    ("outcomes", "alike"),
    [
        pytest.param([1.0, 1.0], True, id="both passed"),
        pytest.param([1.0, 0.0], False, id="one of each"),
        pytest.param([1.0], False, id="alone"),
        pytest.param([1.0, None], False, id="one scored"),
        pytest.param([None, None], False, id="none scored"),
    ],
)
def test_a_group_by_hand(store: Store, outcomes: list[float | None], alike: bool) -> None:
    put(store, *(run("ua", outcome, name=f"t{n}") for n, outcome in enumerate(outcomes)))
    names = [f"t{n}" for n in range(len(outcomes))]
    assert found(store, PROJECT, Filters(zero_variance=True)) == (names if alike else [])
    assert found(store, PROJECT, Filters(alone=True)) == (names if len(outcomes) == 1 else [])
