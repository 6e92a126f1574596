"""Rows for TRL's GRPOTrainer, which accepts advantages a token (B,T) from a subclass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar

from trajcredit.exporters.lines import float32, keys, optional, prompted, write_lines
from trajcredit.exporters.tokens import TokenExporter
from trajcredit.registry import exporters
from trajcredit.tokens import TokenRow

__all__ = ["Trl", "record"]


@exporters.register("trl")
@dataclass(frozen=True, slots=True)
class Trl(TokenExporter):
    """TRL (1.16): one JSON object a row, in the names a `rollout_func` returns.

    Read by `trajcredit.integrations.trl`, whose mix-in hands the advantages to GRPOTrainer.
    """

    suffix: ClassVar[str] = ".jsonl"

    def encode(self, rows: Iterator[TokenRow], out: BinaryIO) -> int:
        return write_lines(map(record, rows), out)


def record(row: TokenRow) -> dict[str, Any]:
    """What `rollout_func` returns of a row (trl 1.16.0, grpo_trainer.py:2210-2272): `env_mask` 1 on sampled tokens."""
    prompted(row)
    return {
        **keys(row),
        "prompt_ids": row.prompt_ids.tolist(),
        "completion_ids": row.response_ids.tolist(),
        "env_mask": row.response_mask.tolist(),
        "logprobs": optional(row.logprobs),
        "advantages": float32(row.advantages),
        "outcome": row.outcome,
    }
