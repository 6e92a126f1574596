"""Advantages of a whole file made mean 0 and spread 1, as a trainer does it to its batch; it is never all in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from tempfile import TemporaryFile
from typing import IO, Literal, TypeAlias, get_args

import msgspec
import numpy as np

from trajcredit import kernels
from trajcredit.tokens import Counted, IdsSource, OwnedTokens, TokenRow

__all__ = ["WHITENINGS", "Whitening", "rewhitened", "whitened"]

Whitening: TypeAlias = Literal["none", "verl", "skyrl", "slime", "nemo", "openrlhf", "areal"]
WHITENINGS: tuple[Whitening, ...] = get_args(Whitening)


def whitened(rows: Iterator[TokenRow], whiten: Whitening, counted: Counted) -> Iterator[TokenRow]:
    """The rows with mean 0 and about unit spread on the trained tokens of all of them, as `kernels.whiten` says.

    Rows wait in a temporary file until the last one is seen. Equal advantages, and a single one, become 0.
    """
    if whiten == "none":
        yield from rows
        return
    of = kernels.moments(np.zeros(0), np.zeros(0, dtype=bool))
    with TemporaryFile() as spool:
        for row in rows:
            of = kernels.merged(of, kernels.moments(row.advantages, row.response_mask == 1))
            _put(spool, row)
        spool.seek(0)
        counted.advantage_sum = 0.0
        for row in _all(spool):
            whiter = rewhitened(row, whiten, of)
            counted.advantage_sum += float(whiter.advantages.sum())
            yield whiter


def rewhitened(row: TokenRow, whiten: Whitening, of: kernels.Moments) -> TokenRow:
    """One row of a file whose trained tokens have these moments."""
    if whiten == "none":
        return row
    advantages = kernels.whitened(row.advantages, row.response_mask == 1, of, kernels.WHITENING[whiten])
    return replace(row, advantages=advantages)


class _Kept(msgspec.Struct, array_like=True, gc=False):
    """A row as bytes: arrays as they lie in memory."""

    uid: str
    trajectory_id: str
    row: int
    prompt_ids: bytes
    response_ids: bytes
    response_mask: bytes
    advantages: bytes
    logprobs: bytes | None
    spans: list[tuple[int, int, int, int, float]]
    ids_source: IdsSource
    policy_version: str | None
    outcome: float | None


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(_Kept)


def _put(spool: IO[bytes], row: TokenRow) -> None:
    kept = _Kept(
        row.uid,
        row.trajectory_id,
        row.row,
        row.prompt_ids.tobytes(),
        row.response_ids.tobytes(),
        row.response_mask.tobytes(),
        row.advantages.tobytes(),
        None if row.logprobs is None else row.logprobs.tobytes(),
        [(own.span, own.turn, own.start, own.end, own.advantage) for own in row.spans],
        row.ids_source,
        row.policy_version,
        row.outcome,
    )
    packed = _encoder.encode(kept)
    spool.write(len(packed).to_bytes(8, "little"))
    spool.write(packed)


def _all(spool: IO[bytes]) -> Iterator[TokenRow]:
    while size := spool.read(8):
        kept = _decoder.decode(spool.read(int.from_bytes(size, "little")))
        yield TokenRow(
            uid=kept.uid,
            trajectory_id=kept.trajectory_id,
            row=kept.row,
            prompt_ids=np.frombuffer(kept.prompt_ids, np.int64),
            response_ids=np.frombuffer(kept.response_ids, np.int64),
            response_mask=np.frombuffer(kept.response_mask, np.uint8),
            advantages=np.frombuffer(kept.advantages),
            logprobs=None if kept.logprobs is None else np.frombuffer(kept.logprobs),
            spans=tuple(OwnedTokens(*own) for own in kept.spans),
            ids_source=kept.ids_source,
            policy_version=kept.policy_version,
            outcome=kept.outcome,
        )
