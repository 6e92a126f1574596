"""What a critic said to a run: bit for bit as it was, only where one was asked, found again by what it was asked of."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select, update

from tests.build import run
from tests.laws import any_trajectory
from tests.store.scored import GRPO, forecast, scored
from tests.store.shelf import PROJECT, named, put
from tests.store.test_round_trip import one_store, project
from trajcredit.batching import Batch, assemble
from trajcredit.errors import InputError
from trajcredit.model import Reward, Trajectory
from trajcredit.store import (
    Store,
    batches,
    forecasts,
    rewards,
    run_credits,
    run_inputs,
    run_numbers,
    runs,
    trajectories,
)
from trajcredit.store.checking import check
from trajcredit.store.filters import Filters
from trajcredit.store.rewards import Given
from trajcredit.store.tables import credit_rows

values = st.sampled_from([np.nan, 0.0, -0.0, 0.1, -1e308, 5e-324])


def loaded(store: Store, name: str = PROJECT) -> tuple[tuple[str, ...], Batch]:
    with store.read() as conn:
        found = batches.load(conn, name, Filters())
    return found.ids, assemble(found.heads, found.columns, found.rewards)


@one_store
@given(items=st.lists(any_trajectory(), max_size=4), data=st.data())
def test_columns_come_back_bit_for_bit(store: Store, items: list[Trajectory], data: st.DataObject) -> None:
    name = next(project)
    put(store, *named(items, name), project=name)
    ids, batch = loaded(store, name)
    n = batch.n_spans
    said = np.array(data.draw(st.lists(values, min_size=3 * n, max_size=3 * n)), dtype=float).reshape(3, n)
    with store.write() as conn:
        made = runs.create(conn, name, GRPO).id
        runs.start(conn, made)
        runs.critic_asked(conn, made, "compatible", "f")
        run_credits.save(conn, made, ids, batch, np.zeros(n), np.zeros(n), said)
        runs.finish(conn, made)
    with store.read() as conn:
        found = runs.find(conn, name, made)
        assert (found.critic, found.critic_fingerprint) == ("compatible", "f")
        for some in (ids, ids[::-1], ids[:1]):
            kept = forecasts.said_to(conn, found, some)
            places = [ids.index(one) for one in some]
            parts = [said[:, batch.span_offsets[t] : batch.span_offsets[t + 1]] for t in places]
            assert kept is not None
            assert kept.tobytes() == np.concatenate([np.empty((3, 0)), *parts], axis=1).tobytes()


def test_the_columns_of_a_batch_are_taken_and_put_back(store: Store) -> None:
    put(store, run("ucra", 1.0, name="a", values=[None, 0.5, None, 0.25]))
    _, batch = loaded(store)
    said = np.arange(12.0).reshape(3, 4)
    filled = forecasts.with_forecasts(batch, said)
    np.testing.assert_array_equal(filled.values, [0, 1, 2, 3])
    np.testing.assert_array_equal(filled.q_values, [4, 5, 6, 7])
    np.testing.assert_array_equal(filled.advantage_forecast, [8, 9, 10, 11])
    assert forecasts.forecasts_of(filled).tobytes() == said.tobytes()
    same = {field.name for field in fields(batch) if getattr(filled, field.name) is getattr(batch, field.name)}
    assert {field.name for field in fields(batch)} - same == {"values", "q_values", "advantage_forecast"}


def test_a_run_is_read_again_with_what_its_critic_said(store: Store) -> None:
    put(store, run("ucra", 0.0, name="a"), run("ua", 1.0, name="b"))
    asked, flat = forecast(store), scored(store)
    with store.read() as conn:
        found, plain = runs.find(conn, PROJECT, asked), runs.find(conn, PROJECT, flat)
        ids = [member.id for member in run_inputs.members(conn, found)]
        seen = run_inputs.seen(conn, found, ids)
        assert seen.forecasts is not None
        np.testing.assert_array_equal(seen.forecasts[0], np.arange(6.0))
        np.testing.assert_array_equal(run_inputs.seen(conn, found, ids[1:]).forecasts, [[4, 5], [2, 2.5], [-4, -5]])
        assert (plain.critic, plain.critic_fingerprint) == (None, None)
        assert run_inputs.seen(conn, plain, ids).forecasts is None
        blocks = conn.scalars(select(credit_rows.c.forecasts).order_by(credit_rows.c.run, credit_rows.c.trajectory))
        assert [block if block is None else len(block) for block in blocks] == [96, 48, None, None]


def test_what_is_not_kept_is_named_and_never_guessed(store: Store) -> None:
    put(store, run("ucra", 0.0, name="a"), run("ua", 1.0, name="b"))
    made = forecast(store, "ext:a")
    with store.write() as conn:
        found = runs.find(conn, PROJECT, made)
        ids, _ = loaded(store)
        with pytest.raises(InputError, match=f"kept nothing of what its critic said of trajectory {ids[1]}"):
            run_inputs.seen(conn, found, ids)
        conn.execute(update(credit_rows).values(forecasts=None))
        with pytest.raises(InputError, match=f"trajectory {ids[0]}"):
            run_inputs.seen(conn, found, ids[:1])


def test_the_newest_run_that_scored_exactly_these_and_is_not_stale_is_found(store: Store) -> None:
    put(store, run("ucra", 0.0, name="a"), run("ua", 1.0, name="b"))
    ids, _ = loaded(store)

    def newest(critic: str = "compatible") -> list[float] | None:
        with store.read() as conn:
            found = run_inputs.newest_forecasts(conn, PROJECT, ids, lambda one: one.critic == critic)
        return None if found is None else found[0].tolist()

    assert newest() is None
    scored(store)
    forecast(store, "ext:a")
    assert newest() is None, "one of the two is not in it"
    first = forecast(store)
    assert newest() == [0, 1, 2, 3, 4, 5]
    assert newest("another") is None
    forecast(store, "ext:b", "ext:a")
    assert newest() == [2, 3, 4, 5, 0, 1], "numbered by how that run was asked, in the order of storage"
    with store.write() as conn:
        rewards.append(conn, PROJECT, [Given("ext:a", Reward(1.0, at="2999-01-01T00:00:00Z"))])
        assert runs.find(conn, PROJECT, first).stale is not None
    assert newest() is None


def test_a_run_begun_anew_has_asked_no_critic_yet(store: Store) -> None:
    put(store, run("ucra", 0.0, name="a"))
    with store.write() as conn:
        made = runs.create(conn, PROJECT, GRPO).id
        assert runs.critic_asked(conn, made, "compatible", "f") is None, "it does not run yet"
        runs.start(conn, made)
        assert runs.critic_asked(conn, made, "compatible", "f") is not None
        assert run_numbers.requeue(conn) == 1
        assert (lambda found: (found.critic, found.critic_fingerprint))(runs.find(conn, PROJECT, made)) == (None, None)


def test_a_trajectory_takes_what_was_said_of_it_along(store: Store) -> None:
    put(store, run("ucra", 0.0, name="a"), run("ua", 1.0, name="b"))
    made = forecast(store)
    with store.write() as conn:
        trajectories.delete(conn, PROJECT, "ext:a")
        found = runs.find(conn, PROJECT, made)
        [left] = run_inputs.members(conn, found)
        np.testing.assert_array_equal(run_inputs.seen(conn, found, [left.id]).forecasts, [[4, 5], [2, 2.5], [-4, -5]])


def test_a_block_that_is_cut_or_missing_is_told(store: Store) -> None:
    put(store, run("ucra", 0.0, name="a"), run("ua", 1.0, name="b"))
    made = forecast(store)
    ids, _ = loaded(store)
    with store.write() as conn:
        assert check(conn).problems == ()
        key = conn.scalar(select(credit_rows.c.trajectory).order_by(credit_rows.c.trajectory).limit(1))
        first = credit_rows.c.trajectory == key
        conn.execute(update(credit_rows).where(first).values(forecasts=b"12345678"))
        conn.execute(update(credit_rows).where(~first).values(forecasts=None))
        number = conn.scalar(select(credit_rows.c.run).limit(1))
        assert check(conn).problems == (
            f"trajectory {ids[0]}: the credit of run {number} is not as long as its spans",
            f"trajectory {ids[1]}: run {number} kept nothing of what its critic said",
        )
        assert runs.find(conn, PROJECT, made).critic == "compatible"
