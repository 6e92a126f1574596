"""Large batches in pieces: cut by shape alone, the same bits on any number of threads, the same numbers as in one."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from trajcredit import kernels
from trajcredit.kernels import padded_gaps, pieces
from trajcredit.kernels.padded import _joined, _Moments

ROWS, LENGTH = 23, 40


def batch() -> tuple[Any, ...]:
    """Rows with gaps, some without any sampled token, the first piece among them; a mean far from 0."""
    random = np.random.default_rng(3)
    mask = (random.random((ROWS, LENGTH)) < 0.7).astype(np.int64)
    mask[:4] = 0
    mask[11] = 0
    rewards = (random.standard_normal((ROWS, LENGTH)) + 300).astype(np.float32)
    values = random.standard_normal((ROWS, LENGTH)).astype(np.float32)
    return rewards, values, mask, random.standard_normal(ROWS)


def every(rewards: Any, values: Any, mask: Any, bootstrap: Any) -> list[Any]:
    """What each kernel over rows gives."""
    turn = np.broadcast_to(np.arange(LENGTH) // 7, mask.shape).copy()
    return [
        *kernels.padded_gae(rewards, values, mask, 0.9, 0.95),
        kernels.padded_sums(rewards),
        kernels.padded_broadcast(bootstrap, mask),
        *padded_gaps.padded_advantages(rewards, values, mask, bootstrap, 0.9, 0.95, "openrlhf"),
        *padded_gaps.padded_advantages_by_turn(rewards, values, mask, turn, bootstrap, 0.9, 0.95),
        padded_gaps.padded_returns(rewards, mask, 0.9, "openrlhf"),
    ]


def test_as_many_threads_as_there_are_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "PIECE", 3 * LENGTH)
    assert len(pieces.row_pieces((ROWS, LENGTH))) == 8
    monkeypatch.setattr(pieces, "threads", lambda: 1)
    alone = every(*batch())
    monkeypatch.setattr(pieces, "threads", lambda: 4)
    for one, other in zip(alone, every(*batch()), strict=True):
        assert one.tobytes() == other.tobytes()


def test_in_pieces_the_numbers_are_those_of_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = every(*batch())
    monkeypatch.setattr(pieces, "PIECE", 3 * LENGTH)
    cut = every(*batch())
    for one, other in zip(whole[:1], cut[:1], strict=True):  # whitened over all, by moments that were joined
        np.testing.assert_allclose(other, one, rtol=2e-6, atol=2e-6)
    for one, other in zip(whole[1:], cut[1:], strict=True):  # row by row
        assert one.tobytes() == other.tobytes()


def test_moments_of_pieces_are_those_of_all() -> None:
    random = np.random.default_rng(0)
    numbers = random.standard_normal(1000) * 3 + 1e6
    parts = [numbers[:10], numbers[10:10], numbers[10:700], numbers[700:]]
    found = _joined(
        [_Moments(p[0], len(p), (p - p[0]).mean(), p.var() * len(p)) if len(p) else _Moments(0, 0, 0, 0) for p in parts]
    )
    assert (found.first, found.n) == (numbers[0], 1000)
    assert found.first + found.mean == pytest.approx(numbers.mean(), rel=1e-14)
    assert found.square == pytest.approx(numbers.var() * 1000, rel=1e-9)
    nothing = _Moments(0.0, 0, 0.0, 0.0)
    assert _joined([nothing, nothing]) == nothing


@pytest.mark.parametrize("shape", [(0, 5), (1, 0), (1, 1 << 22), (1024, 8192), (4096, 393), (7, 1 << 20)])
def test_pieces_cover_the_rows_once_and_are_even(shape: tuple[int, int]) -> None:
    found = pieces.row_pieces(shape)
    assert [row for piece in found for row in range(piece.start, piece.stop)] == list(range(shape[0]))
    sizes = {piece.stop - piece.start for piece in found}
    assert max(sizes) - min(sizes) <= 1


def test_pieces_are_worked_on_at_once_and_what_fails_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "PIECE", 10)
    monkeypatch.setattr(pieces, "threads", lambda: 2)
    both = threading.Barrier(2, timeout=10)
    assert pieces.by_rows((2, 10), lambda rows: both.wait() >= 0) == [True, True]

    def fails(rows: slice) -> None:
        raise ValueError(rows.start)

    with pytest.raises(ValueError, match="0"):
        pieces.by_rows((2, 10), fails)
