"""The parquet table for verl: names, types, row groups of bounded size."""

from __future__ import annotations

import io
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from tests.exporters.token_rows import token_row, two_turns
from trajcredit.errors import InputError
from trajcredit.exporters import verl
from trajcredit.exporters.verl import Verl
from trajcredit.tokens import TokenRow


def exported(*rows: TokenRow) -> pyarrow.parquet.ParquetFile:
    out = io.BytesIO()
    assert Verl().encode(iter(rows), out) == len(rows)
    return pyarrow.parquet.ParquetFile(io.BytesIO(out.getvalue()))


def test_a_row_in_verls_names() -> None:
    [row] = exported(two_turns()).read().to_pylist()
    expected: dict[str, Any] = {
        "uid": "g",
        "trajectory_id": "t",
        "row": 0,
        "prompts": [7, 8],
        "responses": [11, 12, 21, 22, 23, 13],
        "response_mask": [1, 1, 0, 0, 0, 1],
        "rm_scores": [0.5, 0.5, 0.0, 0.0, 0.0, -0.25],
        "rollout_log_probs": [-0.5, -1.5, 0.0, 0.0, 0.0, -0.75],
        "policy_version": "4",
        "outcome": 1.0,
    }
    assert row == expected


def test_ids_and_masks_are_int64_and_numbers_float32() -> None:
    types = {
        field.name: str(field.type.value_type) for field in exported(two_turns()).schema_arrow if field.name[-1] == "s"
    }
    assert types == {
        "prompts": "int64",
        "responses": "int64",
        "rm_scores": "float",
        "rollout_log_probs": "float",
    }
    assert str(exported(two_turns()).schema_arrow.field("response_mask").type.value_type) == "int64"


def test_log_probs_the_log_lacks_are_null() -> None:
    [row] = exported(token_row([7], [11], [1], [0.5])).read().to_pylist()
    assert row["rollout_log_probs"] is None


def test_a_row_group_holds_so_many_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verl, "TOKENS_A_GROUP", 6)
    rows = [token_row([7], [11, 12], [1, 1], [0.5, 0.5], row=k) for k in range(5)]
    table = exported(*rows)
    assert [table.metadata.row_group(g).num_rows for g in range(table.num_row_groups)] == [2, 2, 1]
    assert table.read()["row"].to_pylist() == [0, 1, 2, 3, 4]


def test_a_row_without_prompt_is_refused() -> None:
    with pytest.raises(InputError, match="row 0 of t has no prompt token"):
        exported(token_row([], [11], [1], [0.5]))


def test_log_probs_of_some_rows_stay_with_theirs() -> None:
    bare = token_row([7], [11, 12], [1, 0], [0.5, 0.0])
    rows = exported(bare, two_turns(), bare).read().to_pylist()
    assert [row["rollout_log_probs"] for row in rows] == [None, [-0.5, -1.5, 0.0, 0.0, 0.0, -0.75], None]
    assert [row["rm_scores"] for row in rows] == [[0.5, 0.0], [0.5, 0.5, 0.0, 0.0, 0.0, -0.25], [0.5, 0.0]]
