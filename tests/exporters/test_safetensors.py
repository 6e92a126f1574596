"""Flat tensors with offsets, read back by the layout as its documentation has it."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.exporters.token_rows import token_row, two_turns
from trajcredit.errors import InputError
from trajcredit.exporters import safetensors
from trajcredit.exporters.safetensors import Safetensors
from trajcredit.tokens import TokenRow

LAYOUTS = {"I64": "<i8", "F32": "<f4", "U8": "u1"}

Tensors = dict[str, npt.NDArray[Any]]


def exported(*rows: TokenRow) -> bytes:
    out = io.BytesIO()
    assert Safetensors().encode(iter(rows), out) == len(rows)
    return out.getvalue()


def opened(data: bytes) -> tuple[Tensors, dict[str, Any]]:
    """The tensors and the metadata; the body must be filled without gap or overlap."""
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    metadata: dict[str, str] = header.pop("__metadata__")
    tensors, at = {}, 0
    for name, told in header.items():
        begin, end = told["data_offsets"]
        assert begin == at
        layout = np.dtype(LAYOUTS[told["dtype"]])
        assert (start + begin) % layout.itemsize == 0
        tensors[name] = np.frombuffer(data[start + begin : start + end], layout).reshape(told["shape"])
        at = end
    assert start + at == len(data)
    return tensors, {name: text if name == "schema" else json.loads(text) for name, text in metadata.items()}


def test_rows_lie_one_after_the_other() -> None:
    second = token_row([9], [14, 15], [0, 1], [0.0, 2.0], logprobs=[0.0, -3.0], uid="h", trajectory="ü", row=1)
    tensors, metadata = opened(exported(two_turns(), second))
    lists = {name: tensor.tolist() for name, tensor in tensors.items()}
    assert lists == {
        "prompt_offsets": [0, 2, 3],
        "prompt_ids": [7, 8, 9],
        "response_offsets": [0, 6, 8],
        "response_ids": [11, 12, 21, 22, 23, 13, 14, 15],
        "advantages": [0.5, 0.5, 0.0, 0.0, 0.0, -0.25, 0.0, 2.0],
        "logprobs": [-0.5, -1.5, 0.0, 0.0, 0.0, -0.75, 0.0, -3.0],
        "response_mask": [1, 1, 0, 0, 0, 1, 0, 1],
    }
    assert metadata == {
        "schema": "trajcredit.tensors/1",
        "uids": ["g", "h"],
        "trajectory_ids": ["t", "ü"],
        "rows": [0, 1],
        "ids_sources": ["engine", "engine"],
        "policy_versions": ["4", None],
        "outcomes": [1.0, 1.0],
        "counts": {
            "rows": 2,
            "prompt_tokens": 3,
            "response_tokens": 8,
            "trained_tokens": 4,
            "rows_without_logprobs": 0,
        },
    }


def test_log_probs_no_row_has_are_left_out() -> None:
    tensors, metadata = opened(exported(token_row([7], [11], [1], [0.5])))
    assert "logprobs" not in tensors
    assert metadata["counts"]["rows_without_logprobs"] == 1


def test_log_probs_one_row_lacks_are_nan_there() -> None:
    bare = token_row([7], [11, 12], [1, 0], [0.5, 0.0])
    tensors, metadata = opened(exported(bare, two_turns()))
    np.testing.assert_array_equal(
        tensors["logprobs"], np.array([np.nan] * 2 + [-0.5, -1.5, 0, 0, 0, -0.75], np.float32)
    )
    assert metadata["counts"]["rows_without_logprobs"] == 1


def test_no_rows_are_a_file_without_numbers() -> None:
    tensors, metadata = opened(exported())
    assert sum(map(len, tensors.values())) == 0
    assert metadata["counts"]["rows"] == 0


def test_names_longer_than_a_header_may_be_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safetensors, "LARGEST_HEADER", 1000)
    with pytest.raises(InputError, match=r"the names of 50 rows take .* export fewer trajectories"):
        exported(*(token_row([7], [11], [1], [0.5], row=k) for k in range(50)))


def test_a_row_without_prompt_is_refused() -> None:
    with pytest.raises(InputError, match="row 0 of t has no prompt token"):
        exported(token_row([], [11], [1], [0.5]))
