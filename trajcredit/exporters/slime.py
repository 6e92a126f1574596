"""Rows for slime: samples whose advantages travel beside the reward."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar

from trajcredit.exporters.lines import float32, keys, optional, prompted, write_lines
from trajcredit.exporters.tokens import TokenExporter
from trajcredit.registry import exporters
from trajcredit.tokens import TokenRow

__all__ = ["Slime", "record"]


@exporters.register("slime")
@dataclass(frozen=True, slots=True)
class Slime(TokenExporter):
    """slime (624b824a8): one JSON object a row, in the names of `Sample`; advantages one a response token.

    Read by `trajcredit.integrations.slime`.
    """

    suffix: ClassVar[str] = ".jsonl"

    def encode(self, rows: Iterator[TokenRow], out: BinaryIO) -> int:
        return write_lines(map(record, rows), out)


def record(row: TokenRow) -> dict[str, Any]:
    """A `Sample` (slime/utils/types.py, commit 624b824a8).

    `tokens` holds prompt and response; the lists of one entry a token cover the response alone.
    """
    prompted(row)
    return {
        **keys(row),
        "tokens": row.token_ids.tolist(),
        "response_length": len(row.response_ids),
        "loss_mask": row.response_mask.tolist(),
        "rollout_log_probs": optional(row.logprobs),
        "advantages": float32(row.advantages),
        "reward": row.outcome,
    }
