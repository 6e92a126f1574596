"""Rows of a Parquet file -> JSON lines, so that every reader takes a table as it takes a log of the same rows.

A table gives each row the keys of all rows: one that is null stands for a key that the row does not have, and is left
out, at any depth. Bytes become base64, times ISO 8601.
"""

from __future__ import annotations

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
            for row in batch.to_pylist():
                lines += _encoder.encode(_without_nulls(row)) + b"\n"
                _within(len(lines), name, limit)
    except (pyarrow.ArrowException, OSError, ValueError, RecursionError, MemoryError, msgspec.MsgspecError) as error:
        raise ParseError(f"the Parquet file is damaged or cut off: {str(error)[:300]}", name) from error
    return bytes(lines)


def _within(size: int, name: str, limit: int) -> None:
    if size > limit:
        raise ParseError(f"decodes to more than {limit / 2**30:.3g} GiB: split it first", name)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value
