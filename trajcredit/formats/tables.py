"""Rows of a Parquet file -> JSON lines, so that every reader takes a table as it takes a log of the same rows.

A table gives each row the keys of all rows: one that is null stands for a key that the row does not have, and is left
out, at any depth. Bytes become base64, times ISO 8601, maps objects; a number that is none (NaN, infinity) stays one,
so that its row is refused as it is in JSON.
"""

from __future__ import annotations

from math import isfinite, isnan
from typing import Any

import msgspec

from trajcredit.errors import ParseError

__all__ = ["PARQUET", "lines_of_table"]

PARQUET = b"PAR1"
"""The first and the last bytes of a Parquet file."""
MOST_ROWS = 1024
"""Decoded at a time."""

_encoder = msgspec.json.Encoder(enc_hook=str)


def lines_of_table(data: bytes, name: str, limit: int) -> bytes:
    """One JSON object a row, in order; ParseError where the file is damaged, or holds more than `limit` bytes."""
    import pyarrow
    from pyarrow.parquet import ParquetFile

    lines = bytearray()
    try:
        file = ParquetFile(pyarrow.BufferReader(data))
        groups = [file.metadata.row_group(place).total_byte_size for place in range(file.num_row_groups)]
        _within(sum(groups), name, limit)
        # of one value that stands once in the file every row may have a copy
        rows = max(1, min(MOST_ROWS, limit // max(1, *groups, 1)))
        for batch in file.iter_batches(batch_size=rows, use_threads=False):
            for row in batch.to_pylist(maps_as_pydicts="strict"):
                lines += _encoder.encode(_plain(row)) + b"\n"
                _within(len(lines), name, limit)
    except (pyarrow.ArrowException, OSError, ValueError, RecursionError, MemoryError, msgspec.MsgspecError) as error:
        raise ParseError(f"the Parquet file is damaged or cut off: {str(error)[:300]}", name) from error
    return bytes(lines)


def _within(size: int, name: str, limit: int) -> None:
    if size > limit:
        raise ParseError(f"decodes to more than {limit / 2**30:.3g} GiB: split it first", name)


def _plain(value: Any) -> Any:
    """The value as JSON has it."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not isfinite(value):
        return msgspec.Raw(b"NaN" if isnan(value) else b"Infinity" if value > 0 else b"-Infinity")
    return value
