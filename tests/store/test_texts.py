"""What both databases hold alike: text without NUL and half surrogate pairs, finite floats, integers of 64 bits."""

from __future__ import annotations

import dataclasses
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from sqlalchemy import text
from sqlalchemy.exc import DataError, IntegrityError

from tests.build import run
from tests.databases import BOTH, new_url
from tests.store.shelf import PROJECT, put
from trajcredit.graph import build_graphs
from trajcredit.model import LARGEST_INTEGER, LARGEST_NUMBER, Note, Origin, Reward, Span, SpanTokens, Tool, Trajectory
from trajcredit.store import Store, batches, documents, keeping, open_store, rewards, tables, trajectories
from trajcredit.store.border import clean, misfit, sanitised
from trajcredit.store.filters import Filters
from trajcredit.store.rewards import Given
from trajcredit.store.trajectories import Added

HOSTILE = [
    pytest.param("nul\0nul", id="NUL"),
    pytest.param("half \ud83d pair", id="the first half of a pair"),
    pytest.param("\udc00\ud800", id="two halves the wrong way round"),
    pytest.param("\\u0000 and \\\\u0000 written out", id="the escape of a NUL as text"),
    pytest.param("\ufffe\uffff\U0010ffff\U000e0041", id="what is no character"),
    pytest.param("e\u0301 é \u202e\u200b\ufeff", id="combining, bidi, zero width, byte order"),
    pytest.param("'; DROP TABLE logs; --", id="SQL"),
    pytest.param("%_\\x00\\", id="patterns and backslashes"),
    pytest.param("\x01\x1b\x7f\x85\u2028\r\n\t", id="controls"),
    pytest.param("x" * 100_000, id="long"),
    pytest.param("", id="nothing"),
]
"""T08's corpus; the same on both databases."""


def everywhere(value: str, name: str) -> Trajectory:
    """A trajectory with the text in every field that holds one."""
    spans = [
        Span("user", -1, value, agent=value, started_at=value, usage={value: 1}),
        Span("tool_call", 0, "", call_id=value, name=value, arguments={value: [value]}, agent=value),
        Span("tool_result", 0, value, name=value, result_of=1, tokens=SpanTokens(n=3)),
    ]
    return Trajectory(
        id=name,
        dataset=value,
        task=value,
        role=value,
        group=value,
        trial=value,
        policy_version=value,
        answer=value,
        rewards=[Reward(1.0, name=value)],
        tools=[Tool(value, value, {value: value})],
        spans=spans,
        report=[Note(value, value, group=value)],
        source=Origin(value, value, 1, value),
    )


def keep(store: Store, item: Trajectory) -> Added:
    """Store it past the readers and the graph builder, which let no half pair through."""
    [graph] = build_graphs([sanitised(item)])
    with store.write() as conn:
        [added] = trajectories.add(conn, PROJECT, keeping.keep(PROJECT, [dataclasses.replace(graph, trajectory=item)]))
    return added


def everything(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, but for our own ids and times."""
    ours = {"id", "created", "received"}
    with open_store(url) as store, store.read() as conn:
        return {
            name: [
                tuple(value for column, value in row._mapping.items() if column not in ours)
                for row in conn.execute(table.select().order_by(*table.primary_key.columns))
            ]
            for name, table in tables.metadata.tables.items()
        }


@pytest.mark.parametrize("value", HOSTILE)
def test_both_databases_hold_the_same_text(value: str, tmp_path: Path) -> None:
    found = []
    for kind in BOTH:
        for url in new_url(kind, tmp_path):
            with open_store(url) as store:
                keep(store, everywhere(value, f"{value[:100]}!"))
                given = Given(f"ext:{value[:100]}!", Reward(0.5, "human", name=value, at="2026-01-01"))
                with store.write() as conn:
                    assert rewards.append(conn, PROJECT, [given])[0].status == "created"
            found.append(everything(url))
    assert found[0] == found[1]


@pytest.mark.parametrize("value", HOSTILE)
def test_text_comes_back_as_it_was_but_for_what_no_database_holds(store: Store, value: str) -> None:
    item = everywhere(value, f"{value[:100]}!")
    added = keep(store, item)
    assert added.external_id == clean(item.id)
    with store.read() as conn:
        found = documents.document(conn, PROJECT, added.id or "")
        assert documents.document(conn, PROJECT, f"ext:{item.id}") == found
        head = batches.load(conn, PROJECT, Filters()).heads[0]
        graph = documents.graph(conn, PROJECT, added.id or "")
    if clean(value) == value:
        assert found == item
    else:
        assert found == sanitised(item)
        assert [note.code for note in found.report] == [clean(value), "sanitised"]
    assert (head.id, head.task, head.answer) == (found.id, found.task, found.answer)
    for edge, _, _ in graph.edges():
        graph.evidence(edge)
    assert keep(store, item).status == "duplicate"


@given(st.text())
def test_clean_changes_nothing_but_nul_and_halves(value: str) -> None:
    cleaned = clean(value)
    cleaned.encode()
    assert len(cleaned) == len(value)
    for before, after in zip(value, cleaned, strict=True):
        assert after == {"\0": "\u2400"}.get(before, "\ufffd" if "\ud800" <= before <= "\udfff" else before)


@pytest.mark.parametrize("number", [LARGEST_NUMBER, -LARGEST_NUMBER, 5e-324, 1e-300, 0.1 + 0.2, -0.0, 1 / 3], ids=repr)
def test_floats_come_back_bit_for_bit(store: Store, number: float) -> None:
    put(store, replace(run("ua", number, name="a", truncated=True, bootstrap=number), step=LARGEST_INTEGER))
    with store.read() as conn:
        loaded = batches.load(conn, PROJECT, Filters())
    assert repr(loaded.rewards[0][0].value) == repr(loaded.heads[0].bootstrap) == repr(number)
    assert loaded.heads[0].step == LARGEST_INTEGER


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")], ids=repr)
@pytest.mark.parametrize("column", ["outcome", "bootstrap"])
def test_a_number_that_is_none_is_null_or_refused_by_the_database_itself(
    store: Store, column: str, number: float
) -> None:
    put(store, run("ua", 1.0, name="a"))
    try:
        with store.write() as conn:
            conn.execute(text(f"UPDATE trajectories SET {column} = :number"), {"number": number})
    except (IntegrityError, DataError):
        return
    with store.read() as conn:
        assert conn.scalar(text(f"SELECT {column} FROM trajectories")) is None


def test_what_is_stored_is_plain_sql_that_other_programs_read(sqlite_url: str) -> None:
    with open_store(sqlite_url) as store:
        put(store, run("ucra", 1.0, name="a"))
    conn = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))
    calls = conn.execute(
        "SELECT s.tool, count(*), avg(t.outcome) FROM spans s JOIN trajectories t ON t.key = s.trajectory "
        "WHERE s.kind = 'tool_call' GROUP BY s.tool"
    ).fetchall()
    conn.close()
    assert calls == [("look", 1, 1.0)]


def test_tokens_that_add_up_to_too_much_are_a_misfit() -> None:
    spans = [Span("assistant", n, tokens=SpanTokens(n=LARGEST_INTEGER)) for n in range(1024)]
    assert misfit(Trajectory(id="a", spans=spans)) == "the number of its tokens does not fit 64 bits"
    assert misfit(Trajectory(id="a", spans=spans[1:])) is None
