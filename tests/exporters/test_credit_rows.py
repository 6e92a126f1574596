"""Credit rows: the same in JSON lines and parquet, exact, in order, null where nothing was scored."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.build import batch_of, group_of, run
from trajcredit.arrays import F64
from trajcredit.batching import Batch
from trajcredit.exporters import COLUMNS, SCHEMA, Credit, Jsonl, Parquet
from trajcredit.registry import exporters
from trajcredit.service.plugins import exporter_for


def credit_of(batch: Batch, name: str = "flat", values: F64 | None = None) -> Credit:
    """Every action's position as its credit, half of it as its advantage; or the values given."""
    found = np.where(batch.action_mask, np.arange(batch.n_spans, dtype=float), np.nan) if values is None else values
    return Credit(batch, name, {}, found, found / 2)


def json_rows(scored: Iterable[Credit]) -> list[dict[str, Any]]:
    out = io.BytesIO()
    Jsonl()(scored, out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def parquet_rows(scored: Iterable[Credit]) -> list[dict[str, Any]]:
    out = io.BytesIO()
    Parquet()(scored, out)
    rows: list[dict[str, Any]] = pyarrow.parquet.read_table(io.BytesIO(out.getvalue())).to_pylist()
    return rows


both = pytest.mark.parametrize("rows", [pytest.param(json_rows, id="jsonl"), pytest.param(parquet_rows, id="parquet")])


@both
def test_a_row_has_every_key_in_the_order_of_the_contract(rows: Any) -> None:
    batch = batch_of(run("sucra", 1.0, name="t", group="g"))
    got = rows([credit_of(batch)])
    assert [list(row) for row in got] == [list(COLUMNS)] * 5
    assert got[2] == {
        "schema": SCHEMA,
        "trajectory_id": "t",
        "group_id": "g",
        "project": "default",
        "role": None,
        "agent": None,
        "span_index": 2,
        "message_index": None,
        "tool_call_id": None,
        "kind": "tool_call",
        "turn": 0,
        "name": "look",
        "is_action": True,
        "attributor": "flat",
        "run_id": None,
        "credit": 2.0,
        "advantage": 1.0,
        "reward": 0.0,
        "outcome": 1.0,
    }


@both
def test_not_scored_is_null_and_a_zero_stays_a_zero(rows: Any) -> None:
    batch = batch_of(run("uca", 0.0), run("ca", None))
    got = rows([credit_of(batch, values=np.array([np.nan, 0.0, 0.0, np.nan, np.nan]))])
    assert [row["credit"] for row in got] == [None, 0.0, 0.0, None, None]
    assert [row["advantage"] for row in got] == [None, 0.0, 0.0, None, None]
    assert [row["reward"] for row in got] == [None, 0.0, 0.0, None, None]
    assert [row["outcome"] for row in got] == [0.0, 0.0, 0.0, None, None]


@both
def test_rewards_stand_on_actions_and_add_up_to_the_outcome(rows: Any) -> None:
    got = rows([credit_of(batch_of(run("ucrca", rewards={2: 0.25, 4: 0.5})))])
    assert [row["reward"] for row in got] == [None, 0.25, None, 0.0, 0.5]
    assert {row["outcome"] for row in got} == {0.75}


@both
def test_attributors_come_in_the_order_asked_each_over_the_whole_input(rows: Any) -> None:
    batch = batch_of(*group_of(0.0, 1.0))
    got = rows([credit_of(batch, "z"), credit_of(batch, "a")])
    assert [(row["attributor"], row["trajectory_id"]) for row in got] == [
        ("z", "t0"),
        ("z", "t1"),
        ("a", "t0"),
        ("a", "t1"),
    ]


@both
def test_span_index_starts_again_in_every_trajectory(rows: Any) -> None:
    got = rows([credit_of(batch_of(run("uca"), run(""), run("ua")))])
    assert [(row["trajectory_id"], row["span_index"]) for row in got] == [
        ("t0", 0),
        ("t0", 1),
        ("t0", 2),
        ("t2", 0),
        ("t2", 1),
    ]


@both
def test_credits_of_two_batches_go_into_one_file(rows: Any) -> None:
    got = rows([credit_of(batch_of(run("a", name="x"))), credit_of(batch_of(run("ua", name="y")))])
    assert [row["trajectory_id"] for row in got] == ["x", "y", "y"]


@both
def test_no_credit_at_all_is_a_readable_file_without_rows(rows: Any) -> None:
    assert rows([]) == []
    assert rows([credit_of(batch_of())]) == []


@pytest.mark.parametrize("exporter", [Jsonl(), Parquet()], ids=["jsonl", "parquet"])
def test_the_number_of_rows_is_told(exporter: Any) -> None:
    batch = batch_of(run("uca"))
    assert exporter([credit_of(batch), credit_of(batch)], io.BytesIO()).rows == 6


def test_parquet_columns_have_the_types_of_the_json_keys() -> None:
    out = io.BytesIO()
    Parquet()([credit_of(batch_of(run("uca", 1.0)))], out)
    types = {field.name: field.type for field in pyarrow.parquet.read_schema(io.BytesIO(out.getvalue()))}
    assert list(types) == list(COLUMNS)
    assert {types[name] for name in ("credit", "advantage", "reward", "outcome")} == {pyarrow.float64()}
    assert {types[name] for name in ("span_index", "message_index", "turn")} == {pyarrow.int64()}
    assert types["is_action"] == pyarrow.bool_()
    assert {types[name] for name in COLUMNS if name.endswith("_id")} == {pyarrow.string()}


numbers = st.floats(allow_nan=True, allow_infinity=False)


@given(st.lists(numbers, min_size=1, max_size=20))
def test_every_float_comes_back_bit_for_bit_from_both_files(values: list[float]) -> None:
    batch = batch_of(run("a" * len(values), 1.0))
    scored = [Credit(batch, "any", {}, np.array(values), np.array(values[::-1]))]
    in_json, in_parquet = json_rows(scored), parquet_rows(scored)
    assert in_json == in_parquet
    for value, row in zip(values, in_json, strict=True):
        assert row["credit"] is None if math.isnan(value) else repr(row["credit"]) == repr(value)


def test_rows_are_the_same_whatever_the_size_of_a_write(monkeypatch: pytest.MonkeyPatch) -> None:
    scored = [credit_of(batch_of(run("ucrca", 1.0), run("ua", 0.0)))]
    whole = json_rows(scored)
    monkeypatch.setattr("trajcredit.exporters.jsonl.ROWS_A_WRITE", 2)
    assert json_rows(scored) == whole


def test_exporters_are_registered_under_their_ending() -> None:
    suffixes = {name: plugin.suffix for name, plugin in exporters.items().items()}
    assert (suffixes["jsonl"], suffixes["parquet"]) == (".jsonl", ".parquet")
    for ending, name in ((".jsonl", "jsonl"), (".parquet", "parquet"), (".safetensors", "safetensors")):
        assert exporter_for(Path(f"a{ending}")) == name, "an ending alone means credit rows where there are any"
