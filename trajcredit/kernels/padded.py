"""The trainers' own shape: one row a response, padded, float32, a mask of the sampled tokens.

Arithmetic is in float64; only what is read and written is float32. Each public function allocates its result with
numpy, which asks for huge pages, and lets a kernel fill it: memory that numba allocates is faulted in 4 KB at a time,
which took longer than the arithmetic at 1024 x 8192.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from trajcredit.arrays import F64, I64
from trajcredit.kernels.jit import jit
from trajcredit.kernels.pieces import by_rows, row_pieces

__all__ = ["F32", "padded_broadcast", "padded_gae", "padded_sums"]

F32: TypeAlias = npt.NDArray[np.float32]


def padded_gae(rewards: F32, values: F32, mask: I64, gamma: float, lam: float) -> tuple[F32, F32]:
    """Generalized advantage estimation by token, whitened over the mask, as verl's `compute_gae_advantage_return`.

    rewards  f32[B, L]  reward after each token
    values   f32[B, L]  V before each token
    mask     i64[B, L]  1 on tokens the policy sampled; the others are stepped over, at no discount
    returns  f32[B, L]  (A - mean) / sqrt(var + 1e-8), mean and sample variance over the batch's mask; 0 off the mask
             f32[B, L]  A + V; 0 off the mask

    Schulman et al. 2016 (arXiv 1506.02438), eq. 16; verl 0.9.1, core_algos.py:216 and torch_functional.py:329, which
    refuses fewer than two sampled tokens: here they get 0.
    """
    advantages, returns = np.empty(rewards.shape, np.float32), np.empty(rewards.shape, np.float32)

    def fill(rows: slice) -> _Moments:
        return _Moments(
            *_gae_rows(rewards[rows], values[rows], mask[rows], gamma, lam, advantages[rows], returns[rows])
        )

    found = by_rows(rewards.shape, fill)
    first, n, mean, square = _joined(found)
    scale = 1.0 / np.sqrt(square / (n - 1) + 1e-8) if n > 1 else 0.0
    shift = {rows.start: mean + first - own.first for rows, own in zip(row_pieces(rewards.shape), found, strict=True)}
    by_rows(rewards.shape, lambda rows: _whiten_rows(advantages[rows], shift[rows.start], scale))
    return advantages, returns


def padded_broadcast(scalar: F64, mask: I64) -> F32:
    """One number a row on its sampled tokens, 0 elsewhere.

    scalar   f64[B]
    mask     i64[B, L]  1 on tokens the policy sampled
    returns  f32[B, L]
    """
    copied = np.empty(mask.shape, np.float32)
    by_rows(mask.shape, lambda rows: _fill_rows(scalar[rows], mask[rows], copied[rows]))
    return copied


def padded_sums(rewards: F32) -> F64:
    """Sum of each row.

    rewards  f32[B, L]  every position counts, masked ones too, as in verl
    returns  f64[B]     eight running sums a row, so that additions do not wait for each other
    """
    sums = np.zeros(len(rewards))
    by_rows(rewards.shape, lambda rows: _sum_rows(rewards[rows], sums[rows]))
    return sums


@jit
def _sum_rows(rewards: F32, sums: F64) -> None:
    """Fill the result."""
    part = np.zeros(8)
    for b in range(len(rewards)):
        row = rewards[b]
        whole = len(row) // 8 * 8
        part[:] = 0.0
        for j in range(0, whole, 8):
            for k in range(8):
                part[k] += row[j + k]
        sums[b] = part.sum()
        for j in range(whole, len(row)):
            sums[b] += row[j]


class _Moments(NamedTuple):
    """Of n numbers less the first one: their mean, and the sum of their squared deviations from it."""

    first: float
    n: int
    mean: float
    square: float


def _joined(pieces: list[_Moments]) -> _Moments:
    """The moments of all, less the first of all (Chan, Golub, LeVeque 1983)."""
    some = [one for one in pieces if one.n]
    if not some:
        return pieces[0]
    first, n = some[0].first, sum(one.n for one in some)
    mean = sum(one.n * (one.first - first + one.mean) for one in some) / n
    square = sum(one.square + one.n * (one.first - first + one.mean - mean) ** 2 for one in some)
    return _Moments(first, n, mean, square)


@jit
def _gae_rows(
    rewards: F32, values: F32, mask: I64, gamma: float, lam: float, advantages: F32, returns: F32
) -> tuple[float, int, float, float]:
    """Fill both results; the first A met, and count, mean and sum of squared deviations of what `advantages` then holds
    on the mask.

    That is A minus the first A met, and NaN off it: a large mean swallows a small variance neither in the sums nor in
    float32. Rows are walked from the last, so that memory is read in one direction throughout: it halves the
    time of short rows.
    """
    count = 0
    first = 0.0
    total = 0.0
    square = 0.0
    for b in range(len(rewards) - 1, -1, -1):
        reward_row, value_row, mask_row = rewards[b], values[b], mask[b]
        advantage_row, return_row = advantages[b], returns[b]
        next_value = 0.0
        running = 0.0
        for j in range(len(mask_row) - 1, -1, -1):
            if mask_row[j] == 0:
                advantage_row[j] = np.nan
                return_row[j] = 0.0
                continue
            value = np.float64(value_row[j])
            running = reward_row[j] + gamma * next_value - value + gamma * lam * running
            next_value = value
            return_row[j] = running + value
            if count == 0:
                first = running
            deviation = running - first
            advantage_row[j] = deviation
            count += 1
            total += deviation
            square += deviation * deviation
    mean = total / max(count, 1)
    return first, count, mean, square - total * mean


@jit
def _whiten_rows(advantages: F32, mean: float, scale: float) -> None:
    """In place: (a - mean) scale, 0 where a is NaN."""
    for b in range(advantages.shape[0]):
        for j in range(advantages.shape[1]):
            advantage = advantages[b, j]
            advantages[b, j] = 0.0 if np.isnan(advantage) else (advantage - mean) * scale


@jit
def _fill_rows(scalar: F64, mask: I64, copied: F32) -> None:
    """The row's number where the mask is not 0."""
    for b in range(mask.shape[0]):
        number = np.float32(scalar[b])
        for j in range(mask.shape[1]):
            copied[b, j] = number if mask[b, j] != 0 else np.float32(0.0)
