"""Blocks of columns: laid out as the docstring says, taken apart in pieces, refused when they are not whole."""

from __future__ import annotations

import struct
from itertools import islice

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.build import run
from tests.laws import any_trajectory
from tests.store.shelf import named
from tests.store.test_round_trip import same
from trajcredit.batching import columns_of
from trajcredit.errors import StoreError
from trajcredit.graph import build_graphs
from trajcredit.model import Trajectory
from trajcredit.store import packing
from trajcredit.store.packing import Tools, packed_columns, tools_of, unpacked_columns


def encoded(tools: Tools) -> str:
    return msgspec.json.encode(tools).decode()


def test_one_block_by_hand() -> None:
    columns = columns_of(build_graphs([run("a", name="x"), run("cr", name="y", values=[0.5, None])]))
    block = packed_columns(columns)[1]
    words = struct.unpack("<2q2q2q2q2d", block[: 8 * 10])
    assert words[:8] == (0, 0, -1, 0, 0, 0, -1, -1)  # turn, result_of, tool, n_tokens
    assert words[8] == 0.5
    assert np.isnan(words[9])
    keys_and_degree = struct.unpack("<2Q2Q2q", block[8 * 10 : 8 * 16])
    assert keys_and_degree == (*columns.call_key[1:].tolist(), *columns.state_key[1:].tolist(), 0, 1)
    assert struct.unpack("<qd", block[8 * 16 : 8 * 18]) == (0, 1.0)  # the result's parent is the call
    assert block[8 * 18 :] == bytes([4, 5, 0, 0, 0, 0, 0, 0])  # kind, is_write, is_error, parent_kind, zeros


@given(items=st.lists(any_trajectory(), max_size=5), piece=st.sampled_from([1, 40, packing.PIECE]))
def test_blocks_taken_apart_in_pieces_of_any_size_are_the_columns(items: list[Trajectory], piece: int) -> None:
    columns = columns_of(build_graphs(named(items)))
    n, m = np.diff(columns.span_offsets), np.diff(columns.parent_offsets[columns.span_offsets])
    rows = iter(zip(map(encoded, tools_of(columns)), packed_columns(columns), strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "PIECE", piece)
        found = unpacked_columns(n, m, lambda count: list(islice(rows, count)))
    same(columns, found)


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda block: block[:-8], id="a word is missing"),
        pytest.param(lambda block: block + b"\0" * 8, id="a word too many"),
        pytest.param(lambda block: b"", id="nothing is there"),
    ],
)
def test_a_block_that_is_not_whole_is_refused(spoil) -> None:
    columns = columns_of(build_graphs([run("ucra", name="x")]))
    n, m = np.diff(columns.span_offsets), np.diff(columns.parent_offsets[columns.span_offsets])
    with pytest.raises(StoreError, match="db check"):
        unpacked_columns(n, m, lambda count: [(encoded(tools_of(columns)[0]), spoil(packed_columns(columns)[0]))])
    with pytest.raises(StoreError, match="db check"):
        unpacked_columns(n, m, lambda count: [])
