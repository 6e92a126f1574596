"""Token records as JSON lines, one at a time: what the exporters of most trainers share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO

import msgspec
import numpy as np

from trajcredit.arrays import F64
from trajcredit.errors import InputError
from trajcredit.tokens import TokenRow

__all__ = ["float32", "keys", "optional", "prompted", "write_lines"]

_encoder = msgspec.json.Encoder()


def write_lines(records: Iterable[Mapping[str, Any]], out: BinaryIO) -> int:
    """Write each record as one line; how many. None becomes null."""
    written = 0
    for record in records:
        out.write(_encoder.encode(record))
        out.write(b"\n")
        written += 1
    return written


def keys(row: TokenRow) -> dict[str, Any]:
    """What tells a record from all others, by which plug-ins find it again."""
    return {"uid": row.uid, "trajectory_id": row.trajectory_id, "row": row.row}


def float32(values: F64) -> list[float]:
    """The numbers as float32 holds them: what a trainer reads is what the file says."""
    rounded: list[float] = values.astype(np.float32).tolist()
    return rounded


def optional(values: F64 | None) -> list[float] | None:
    """`float32` of a column that may be missing."""
    return None if values is None else float32(values)


def prompted(row: TokenRow) -> TokenRow:
    """The row; InputError where it has no prompt: a first token that follows nothing has no log-prob to be trained."""
    if not len(row.prompt_ids):
        raise InputError(
            f"row {row.row} of {row.trajectory_id} has no prompt token, so its first sampled token cannot be trained; "
            "expected at least one token before it"
        )
    return row
