"""Rows for verl as a parquet table: advantages travel in `rm_scores`, the one column an estimator of ours can read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

import numpy as np
import numpy.typing as npt

from trajcredit.arrays import offsets_of
from trajcredit.exporters.lines import prompted
from trajcredit.exporters.tokens import TokenExporter
from trajcredit.registry import exporters
from trajcredit.tokens import TokenRow

if TYPE_CHECKING:
    import pyarrow

__all__ = ["TOKENS_A_GROUP", "Verl", "table"]

TOKENS_A_GROUP = 1 << 20
"""Tokens of a row group of the table: bounds memory, here and where the file is read."""


@exporters.register("verl")
@dataclass(frozen=True, slots=True)
class Verl(TokenExporter):
    """verl (0.9): a parquet table in the names of its batch; `rm_scores` holds the advantages, one a response token.

    Read by `trajcredit.integrations.verl`, whose estimator `trajcredit_external` returns them unchanged.
    """

    suffix: ClassVar[str] = ".parquet"

    def encode(self, rows: Iterator[TokenRow], out: BinaryIO) -> int:
        from pyarrow.parquet import ParquetWriter

        written = 0
        with ParquetWriter(out, _schema()) as writer:
            for piece in _pieces(map(prompted, rows)):
                writer.write_table(table(piece))
                written += len(piece)
        return written


def table(rows: Sequence[TokenRow]) -> pyarrow.Table:
    """Rows of the driver's batch, not padded (verl 0.9.1, trainer/ppo/v1/trainer_base.py:1743).

    `response_mask` 1 on sampled tokens; `rm_scores` 0 elsewhere; `rollout_log_probs` null where the log has none.
    """
    import pyarrow

    columns = {
        "uid": [row.uid for row in rows],
        "trajectory_id": [row.trajectory_id for row in rows],
        "row": [row.row for row in rows],
        "prompts": _lists([row.prompt_ids for row in rows], np.int64),
        "responses": _lists([row.response_ids for row in rows], np.int64),
        "response_mask": _lists([row.response_mask for row in rows], np.int64),
        "rm_scores": _lists([row.advantages for row in rows], np.float32),
        "rollout_log_probs": _lists([row.logprobs for row in rows], np.float32),
        "policy_version": [row.policy_version for row in rows],
        "outcome": [row.outcome for row in rows],
    }
    return pyarrow.table(columns, schema=_schema())


def _lists(columns: Sequence[npt.NDArray[Any] | None], kind: type[np.int64 | np.float32]) -> pyarrow.Array:
    """A list a row, null for None."""
    import pyarrow

    there = [column for column in columns if column is not None]
    values = np.concatenate([np.zeros(0, kind), *(column.astype(kind) for column in there)])
    offsets = offsets_of(0 if column is None else len(column) for column in columns).astype(np.int32)
    absent = np.array([column is None for column in columns])
    return pyarrow.ListArray.from_arrays(offsets, values, mask=pyarrow.array(absent))


def _pieces(rows: Iterator[TokenRow]) -> Iterator[list[TokenRow]]:
    """Consecutive rows of so many tokens together, at least one."""
    piece: list[TokenRow] = []
    tokens = 0
    for row in rows:
        piece.append(row)
        tokens += len(row.prompt_ids) + len(row.response_ids)
        if tokens >= TOKENS_A_GROUP:
            yield piece
            piece, tokens = [], 0
    if piece:
        yield piece


def _schema() -> pyarrow.Schema:
    import pyarrow

    ids, floats = pyarrow.list_(pyarrow.int64()), pyarrow.list_(pyarrow.float32())
    return pyarrow.schema(
        [
            ("uid", pyarrow.string()),
            ("trajectory_id", pyarrow.string()),
            ("row", pyarrow.int64()),
            ("prompts", ids),
            ("responses", ids),
            ("response_mask", ids),
            ("rm_scores", floats),
            ("rollout_log_probs", floats),
            ("policy_version", pyarrow.string()),
            ("outcome", pyarrow.float64()),
        ]
    )
