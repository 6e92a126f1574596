"""Credits of a run: bit for bit, once a trajectory, summed up as a slow loop would."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.build import run
from tests.laws import any_trajectory
from tests.store.scored import GRPO, scored
from tests.store.shelf import PROJECT, named, put
from tests.store.test_round_trip import one_store, project
from trajcredit.arrays import F64
from trajcredit.batching import Batch, assemble
from trajcredit.errors import InputError, NotFoundError
from trajcredit.model import Trajectory
from trajcredit.store import Store, batches, run_credits, runs
from trajcredit.store.filters import Filters
from trajcredit.store.run_credits import Extreme, Summary
from trajcredit.store.scores import CELLS, ToolSums, strip


def loaded(store: Store, name: str = PROJECT) -> tuple[tuple[str, ...], Batch]:
    with store.read() as conn:
        found = batches.load(conn, name, Filters())
    return found.ids, assemble(found.heads, found.columns, found.rewards)


def save(store: Store, name: str, ids: Sequence[str], batch: Batch, credit: F64, advantage: F64) -> str:
    with store.write() as conn:
        made = runs.create(conn, name, GRPO).id
        runs.start(conn, made)
        assert run_credits.save(conn, made, ids, batch, credit, advantage) == len(ids)
        runs.finish(conn, made)
    return made


def naive_summary(batch: Batch, t: int, credit: list[float]) -> tuple[int, Extreme | None, Extreme | None]:
    """Lowest and highest of one trajectory, one span after the other."""
    low: Extreme | None = None
    high: Extreme | None = None
    n, first = 0, int(batch.span_offsets[t])
    for span, value in enumerate(credit):
        if math.isnan(value):
            continue
        n += 1
        code = int(batch.tool[first + span])
        tool = batch.tool_names[code] if code >= 0 else None
        if low is None or value < low.credit:
            low = Extreme(span, tool, value)
        if high is None or value > high.credit:
            high = Extreme(span, tool, value)
    return n, low, high


def naive_tools(batch: Batch, credit: F64) -> dict[str, ToolSums]:
    found: dict[str, ToolSums] = {}
    for i, code in enumerate(batch.tool.tolist()):
        if batch.kind[i] != 4 or code < 0:
            continue
        scored = not math.isnan(credit[i])
        value = float(credit[i]) if scored else 0.0
        own = ToolSums(1, int(scored), value, min(value, 0.0), int(batch.is_error[i]))
        name = batch.tool_names[code]
        found[name] = found[name] + own if name in found else own
    return found


values = st.sampled_from([math.nan, 0.0, -0.0, 1.0, -1.0, 0.25, -0.25])


@one_store
@given(items=st.lists(any_trajectory(), max_size=4), data=st.data())
def test_credits_come_back_bit_for_bit_with_their_summaries(
    store: Store, items: list[Trajectory], data: st.DataObject
) -> None:
    items = named(items, name := next(project))
    put(store, *items, project=name)
    ids, batch = loaded(store, name)
    n = batch.n_spans
    credit = np.array(data.draw(st.lists(values, min_size=n, max_size=n)), dtype=float)
    made = save(store, name, ids, batch, credit, -credit)
    with store.read() as conn:
        every = list(run_credits.each(conn, name, made))
        shown = run_credits.summaries(conn, name, made, ids)
        tools = run_credits.by_tool(conn, name, made)
    assert [one.id for one in every] == list(ids)
    assert [one.external_id for one in every] == [item.id for item in items]
    assert b"".join(one.credit.tobytes() for one in every) == credit.tobytes()
    assert b"".join(one.advantage.tobytes() for one in every) == (-credit).tobytes()
    for t, (id_, one) in enumerate(zip(ids, every, strict=True)):
        summary = shown[id_]
        assert summary.group_name == one.group_name == batch.group_ids[batch.group[t]]
        assert (summary.n_scored, summary.low, summary.high) == naive_summary(batch, t, one.credit.tolist())
        assert summary.strip == strip(one.credit)
    assert tools == naive_tools(batch, credit)


def test_what_a_run_says_of_one_trajectory(store: Store) -> None:
    put(store, run("ucra", 0.0, name="a"), run("ucra", 1.0, name="b"))
    made = scored(store, "ext:a", "ext:b")
    with store.read() as conn:
        found = run_credits.credits_of(conn, PROJECT, made, "ext:a")
        assert found.external_id == "a"
        np.testing.assert_array_equal(found.credit, [np.nan, -0.5, np.nan, -0.5])
        assert found.advantage[1] < -0.7
        for ref, name in (("ext:a", "nobody"), ("ext:nobody", made)):
            with pytest.raises(NotFoundError):
                run_credits.credits_of(conn, PROJECT, name, ref)
        assert run_credits.summaries(conn, "other", made, [found.id]) == {}
        assert list(run_credits.each(conn, "other", made)) == []


def test_saving_a_part_again_changes_nothing(store: Store) -> None:
    put(store, *(run("ucra", n / 4, name=f"t{n}") for n in range(5)))
    ids, batch = loaded(store)
    credit = np.where(batch.action_mask, 1.0, np.nan)
    with store.write() as conn:
        made = runs.create(conn, PROJECT, GRPO).id
        runs.start(conn, made)
        assert run_credits.save(conn, made, ids, batch, credit, credit) == 5
        assert run_credits.save(conn, made, ids, batch, -credit, credit) == 0
        assert [one.credit[1] for one in run_credits.each(conn, PROJECT, made)] == [1.0] * 5
        assert run_credits.by_tool(conn, PROJECT, made) == {"look": ToolSums(5, 5, 5.0, 0.0, 0)}


def test_batch_after_batch_adds_up(store: Store) -> None:
    put(store, *(run("ucra", n / 4, name=f"t{n}") for n in range(7)))
    with store.write() as conn:
        made = runs.create(conn, PROJECT, GRPO).id
        runs.start(conn, made)
        for refs in (["ext:t0", "ext:t1"], ["ext:t1", "ext:t2", "ext:t3"], ["ext:t4", "ext:t5", "ext:t6"]):
            found = batches.load(conn, PROJECT, refs)
            batch = assemble(found.heads, found.columns, found.rewards)
            credit = np.where(batch.action_mask, -1.0, np.nan)
            run_credits.save(conn, made, found.ids, batch, credit, credit)
        assert [one.external_id for one in run_credits.each(conn, PROJECT, made)] == [f"t{n}" for n in range(7)]
        assert run_credits.by_tool(conn, PROJECT, made) == {"look": ToolSums(7, 7, -7.0, -7.0, 0)}


def test_each_reads_a_long_run_piece_by_piece(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    put(store, *(run("a", 1.0, name=f"t{n}") for n in range(7)))
    made = scored(store)
    monkeypatch.setattr(run_credits, "CHUNK", 3)
    with store.read() as conn:
        assert [one.external_id for one in run_credits.each(conn, PROJECT, made)] == [f"t{n}" for n in range(7)]


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_an_infinite_credit_is_refused_by_name(store: Store, value: float) -> None:
    put(store, run("ucra", name="a"), run("ucra", name="b"))
    ids, batch = loaded(store)
    fine = np.zeros(8)
    broken = fine.copy()
    broken[5] = value
    with store.write() as conn:
        made = runs.create(conn, PROJECT, GRPO).id
        runs.start(conn, made)
        for pair in ((broken, fine), (fine, broken)):
            with pytest.raises(InputError, match="span 1 of trajectory 'b'"):
                run_credits.save(conn, made, ids, batch, *pair)


def test_sums_beyond_all_numbers_are_not_said(store: Store) -> None:
    put(store, run("uccrr", name="a"))
    ids, batch = loaded(store)
    credit = np.array([np.nan, -1.7e308, -1.7e308, np.nan, np.nan])
    made = save(store, PROJECT, ids, batch, credit, credit)
    with store.read() as conn:
        summary = run_credits.summaries(conn, PROJECT, made, ids)[ids[0]]
        assert (summary.low, summary.abs_sum) == (Extreme(1, "look", -1.7e308), None)
        assert run_credits.by_tool(conn, PROJECT, made) == {"look": ToolSums(2, 2, None, None, 0)}


def test_nothing_is_saved_to_a_run_that_does_not_run(store: Store) -> None:
    put(store, run("a", name="a"))
    ids, batch = loaded(store)
    with store.write() as conn:
        made = runs.create(conn, PROJECT, GRPO).id
        for _ in range(2):
            with pytest.raises(InputError, match="does not run"):
                run_credits.save(conn, made, ids, batch, np.zeros(1), np.zeros(1))
            runs.cancel(conn, PROJECT, made)


def test_tools_that_rows_cannot_tell_apart_are_summed_up_together(store: Store) -> None:
    item = run("uccrr", name="a")
    long = [replace(s, name="x" * 300 + str(i)) if s.name else s for i, s in enumerate(item.spans)]
    put(store, replace(item, spans=long, tools=[]))
    ids, batch = loaded(store)
    made = save(store, PROJECT, ids, batch, np.ones(5), np.ones(5))
    with store.read() as conn:
        assert run_credits.by_tool(conn, PROJECT, made) == {"x" * 200: ToolSums(2, 2, 2.0, 0.0, 0)}


# ---------------------------------------------------------------- the strip


@pytest.mark.parametrize(
    ("credit", "cells", "expected"),
    [
        pytest.param([], 3, (), id="no spans, no cells"),
        pytest.param([0.5, math.nan], 3, (0.5, None), id="fewer spans than cells: one each"),
        pytest.param([1, -2, 0, 0, math.nan, math.nan], 3, (-2, 0, None), id="the furthest stands for its cell"),
        pytest.param([1, -1, 3, 2, 2], 2, (1, 3), id="of equal ones the first; the last cell takes the rest"),
    ],
)
def test_the_strip_by_hand(credit: list[float], cells: int, expected: tuple[float | None, ...]) -> None:
    assert strip(np.array(credit, dtype=float), cells) == expected


@given(st.lists(values | st.floats(-5, 5), max_size=300))
def test_the_strip_keeps_the_span_furthest_from_zero(credit: list[float]) -> None:
    cells = strip(np.array(credit, dtype=float))
    assert len(cells) == min(len(credit), CELLS)
    scored = [abs(v) for v in credit if not math.isnan(v)]
    assert max((abs(v) for v in cells if v is not None), default=None) == max(scored, default=None)


def test_the_top_span_is_the_furthest_from_zero_and_the_first_of_equal_ones() -> None:
    low, high, late = Extreme(3, "a", -1.0), Extreme(1, None, 0.5), Extreme(4, "b", 1.0)
    assert Summary("g", 2, low, high, 1.5, ()).top == low
    assert Summary("g", 2, low, late, 2.0, ()).top == low
    assert Summary("g", 0, None, None, None, ()).top is None
