"""Late rewards: appended, the newest counts, sent again they change nothing, runs know that they are out of date."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.build import run
from tests.store.shelf import PROJECT, put
from trajcredit.batching import assemble
from trajcredit.model import Reward
from trajcredit.store import Store, batches, documents, rewards
from trajcredit.store.filters import Filters
from trajcredit.store.rewards import Given


def give(store: Store, *given: tuple[str, Reward], project: str = PROJECT) -> list[str]:
    with store.write() as conn:
        return [one.status for one in rewards.append(conn, project, [Given(*one) for one in given])]


def outcome(store: Store, ref: str) -> tuple[float | None, str | None]:
    with store.read() as conn:
        listed = documents.head(conn, PROJECT, ref).listed
    return listed.outcome, listed.outcome_source


def test_a_verdict_that_comes_later_is_the_outcome(store: Store) -> None:
    [a] = put(store, run("ucra", name="a"))
    assert outcome(store, "ext:a") == (None, None)
    assert give(store, ("ext:a", Reward(0.5, "judge")), (a.id or "", Reward(1.0))) == ["created", "created"]
    assert outcome(store, "ext:a") == (1.0, "verifier")


def test_a_later_verdict_without_a_time_is_newer_than_one_with(store: Store) -> None:
    put(store, run("ucra", name="a"))
    give(store, ("ext:a", Reward(0.0, at="2020-01-01T00:00:00Z")))
    give(store, ("ext:a", Reward(1.0)))
    assert outcome(store, "ext:a") == (1.0, "verifier")
    give(store, ("ext:a", Reward(0.25, at="2021-01-01T00:00:00Z")))
    assert outcome(store, "ext:a") == (1.0, "verifier")


def test_a_verdict_without_a_time_is_newer_than_one_of_the_future(store: Store) -> None:
    put(store, replace(run("ua", None, name="a"), rewards=[Reward(1.0, at="2199-01-01T00:00:00+09:00")]))
    give(store, ("ext:a", Reward(0.0)))
    assert outcome(store, "ext:a") == (0.0, "verifier")


def test_what_is_scored_is_what_the_list_shows(store: Store) -> None:
    put(store, run("ucra", 0.0, name="a"), run("ucra", 1.0, name="b"))
    give(store, ("ext:a", Reward(0.25, span=1)), ("ext:a", Reward(0.5, span=3)))
    with store.read() as conn:
        loaded = batches.load(conn, PROJECT, Filters())
    batch = assemble(loaded.heads, loaded.columns, loaded.rewards)
    assert batch.outcome.tolist() == [0.75, 1.0]
    assert [outcome(store, ref)[0] for ref in ("ext:a", "ext:b")] == [0.75, 1.0]


def test_sending_rewards_again_changes_nothing(store: Store) -> None:
    put(store, run("ucra", name="a"))
    timed, untimed = ("ext:a", Reward(1.0, at="2026-01-01")), ("ext:a", Reward(0.5, span=1, name="step"))
    assert give(store, timed, untimed, timed) == ["created", "created", "duplicate"]
    assert give(store, untimed, timed) == ["duplicate", "duplicate"]
    with store.read() as conn:
        assert rewards.watermark(conn, PROJECT) == 2


def test_a_verdict_taken_back_and_given_again_counts_each_time(store: Store) -> None:
    put(store, run("ucra", name="a"))
    for value in (1.0, 0.0, 1.0):
        assert give(store, ("ext:a", Reward(value))) == ["created"]
        assert outcome(store, "ext:a") == (value, "verifier")


@pytest.mark.parametrize(
    ("ref", "reward", "why"),
    [
        pytest.param("ext:nobody", Reward(1.0), "no trajectory 'ext:nobody'", id="an unknown trajectory"),
        pytest.param("ext:a", Reward(1.0, span=4), "the trajectory has 4", id="a span beyond the last"),
        pytest.param("ext:a", Reward(1.0, span=-1), "names span -1", id="a span before the first"),
        pytest.param("ext:a", Reward(float("nan")), "nan", id="NaN"),
        pytest.param("ext:a", Reward(float("-inf")), "-inf", id="infinity"),
        pytest.param("ext:a", Reward(1e200), "beyond", id="a number whose square overflows"),
        pytest.param("ext:a", Reward(1.0, "oracle"), "no reward source", id="an unknown source"),  # type: ignore[arg-type]
    ],
)
def test_a_reward_that_cannot_be_is_rejected_and_the_rest_goes_on(store: Store, ref: str, reward: Reward, why) -> None:
    put(store, run("ucra", name="a"))
    with store.write() as conn:
        bad, good = rewards.append(conn, PROJECT, [Given(ref, reward), Given("ext:a", Reward(1.0))])
    assert (bad.status, good.status) == ("rejected", "created")
    assert why in (bad.reason or "")


def test_another_projects_trajectory_gets_no_reward(store: Store) -> None:
    put(store, run("ucra", name="a"))
    assert give(store, ("ext:a", Reward(1.0)), project="other") == ["rejected"]


def test_the_watermark_only_grows(store: Store) -> None:
    seen = []
    for n in range(3):
        put(store, run("a", float(n), name="a"), replace=True)
        with store.read() as conn:
            seen.append(rewards.watermark(conn, PROJECT))
            assert rewards.watermark(conn, "other") == 0
    assert seen == sorted(set(seen))
