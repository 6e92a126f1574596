"""Credit rows as a parquet table, one row group an attributor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, BinaryIO, ClassVar, TypeAlias

import numpy as np

from trajcredit.arrays import F64, I64, U8
from trajcredit.batching import Batch
from trajcredit.exporters.credit import Credit
from trajcredit.exporters.rows import COLUMNS, SCHEMA, Exported, span_columns
from trajcredit.model import KIND_CODES
from trajcredit.registry import exporters

if TYPE_CHECKING:
    import pyarrow

    Columns: TypeAlias = dict[str, pyarrow.Array]

__all__ = ["Parquet"]

REPEATING = ("schema", "trajectory_id", "group_id", "project", "role", "agent", "kind", "name", "attributor", "run_id")
"""Text that repeats down the rows: dictionary encoded. Call ids hardly do, and floats must stay plain."""
INTEGERS = ("span_index", "message_index", "turn")
FLAGS = ("is_action",)
FLOATS = ("credit", "advantage", "reward", "outcome")


@exporters.register("parquet")
@dataclass(frozen=True, slots=True)
class Parquet:
    """A parquet table with the columns of the JSON rows, same names, same types, null where nothing was scored."""

    suffix: ClassVar = ".parquet"

    def __call__(self, scored: Iterable[Credit], out: BinaryIO) -> Exported:
        import pyarrow
        from pyarrow.parquet import ParquetWriter

        schema, written, batch, shared = _schema(), 0, None, {}
        with ParquetWriter(
            out,
            schema,
            use_dictionary=list(REPEATING),
            write_statistics=[*INTEGERS, *FLAGS, *FLOATS],  # those of text cost a quarter of the time and help nobody
            store_schema=False,  # so that a reader gets plain text columns, not dictionaries
        ) as writer:
            for credit in scored:
                if credit.batch is not batch:
                    batch, shared = credit.batch, _shared_columns(credit.batch)
                columns = shared | _scored_columns(credit)
                writer.write_table(pyarrow.table([columns[name] for name in COLUMNS], schema=schema))
                written += credit.batch.n_spans
        return Exported(written)


@cache
def _schema() -> pyarrow.Schema:
    import pyarrow

    types = (
        dict.fromkeys(REPEATING, pyarrow.dictionary(pyarrow.int32(), pyarrow.string()))
        | dict.fromkeys(INTEGERS, pyarrow.int64())
        | dict.fromkeys(FLOATS, pyarrow.float64())
        | dict.fromkeys(FLAGS, pyarrow.bool_())
        | {"tool_call_id": pyarrow.string()}
    )
    return pyarrow.schema([(name, types[name]) for name in COLUMNS])


def _shared_columns(batch: Batch) -> Columns:
    """The columns that every attributor's rows share."""
    import pyarrow

    columns = span_columns(batch)
    owner = columns.owner
    return {
        "schema": _constant(SCHEMA, batch.n_spans),
        "trajectory_id": _by_code(owner, batch.trajectory_ids),
        "group_id": _by_code(batch.group[owner], batch.group_ids),
        "project": _owned(owner, columns.projects),
        "role": _owned(owner, columns.roles),
        "agent": _text(columns.agents),
        "span_index": pyarrow.array(columns.span_index),
        "message_index": pyarrow.array(columns.message_indices, pyarrow.int64()),
        "tool_call_id": pyarrow.array(columns.call_ids, pyarrow.string()),
        "kind": _by_code(columns.kind, tuple(KIND_CODES)),
        "turn": pyarrow.array(columns.turn),
        "name": _by_code(columns.tool, batch.tool_names),
        "is_action": pyarrow.array(columns.is_action),
        "reward": _numbers(columns.reward),
        "outcome": _numbers(columns.outcome),
    }


def _scored_columns(credit: Credit) -> Columns:
    return {
        "attributor": _constant(credit.attributor, credit.batch.n_spans),
        "run_id": _constant(credit.run_id, credit.batch.n_spans) if credit.run_id else _nothing(credit.batch.n_spans),
        "credit": _numbers(credit.credit),
        "advantage": _numbers(credit.advantage),
    }


def _numbers(values: F64) -> pyarrow.Array:
    """NaN becomes null."""
    import pyarrow

    return pyarrow.array(values, mask=~np.isfinite(values))


def _by_code(codes: I64 | U8, names: Sequence[str]) -> pyarrow.Array:
    """Text from its code; a negative one is null."""
    import pyarrow

    absent = codes < 0
    indices = pyarrow.array(codes.astype(np.int32), mask=absent if absent.any() else None)
    return pyarrow.DictionaryArray.from_arrays(indices, pyarrow.array(names, pyarrow.string()))


def _constant(text: str, n: int) -> pyarrow.Array:
    return _by_code(np.zeros(n, dtype=np.int64), (text,))


def _owned(owner: I64, values: Sequence[str | None]) -> pyarrow.Array:
    """A value of each trajectory on each of its spans."""
    names: dict[str | None, int] = {None: -1}
    codes = np.array([names.setdefault(value, len(names) - 1) for value in values], dtype=np.int64)
    return _by_code(codes[owner], [name for name in names if name is not None])


def _text(values: Sequence[str | None]) -> pyarrow.Array:
    import pyarrow

    if values.count(None) == len(values):  # whole columns of nothing are common, and a tenth of the time
        return _nothing(len(values))
    return pyarrow.array(values, pyarrow.string()).dictionary_encode()


def _nothing(n: int) -> pyarrow.Array:
    """Text that is null throughout."""
    import pyarrow

    return pyarrow.nulls(n, pyarrow.dictionary(pyarrow.int32(), pyarrow.string()))
