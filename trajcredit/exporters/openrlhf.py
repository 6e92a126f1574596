"""Rows for OpenRLHF: per-token lists shifted by one, since place j holds what follows token j."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar

import numpy as np

from trajcredit.exporters.lines import float32, keys, prompted, write_lines
from trajcredit.exporters.tokens import TokenExporter
from trajcredit.registry import exporters
from trajcredit.tokens import TokenRow

__all__ = ["OpenRlhf", "record"]


@exporters.register("openrlhf")
@dataclass(frozen=True, slots=True)
class OpenRlhf(TokenExporter):
    """OpenRLHF (0.11): one JSON object a row, in the names of `Experience`; place j of T-1 belongs to token j+1.

    Read by `trajcredit.integrations.openrlhf`.
    """

    suffix: ClassVar[str] = ".jsonl"

    def encode(self, rows: Iterator[TokenRow], out: BinaryIO) -> int:
        return write_lines(map(record, rows), out)


def record(row: TokenRow) -> dict[str, Any]:
    """An `Experience` of one sample (openrlhf 0.11.2, trainer/ppo_utils/experience.py).

    `sequences` has T ids; `action_mask`, `rollout_log_probs` and `advantages` have T-1 entries: entry j is that of
    token j+1 (samples_generator.py:263).
    """
    prompted(row)
    before = np.zeros(len(row.prompt_ids) - 1)
    return {
        **keys(row),
        "sequences": row.token_ids.tolist(),
        "action_mask": [0] * len(before) + row.response_mask.tolist(),
        "rollout_log_probs": None if row.logprobs is None else float32(np.concatenate([before, row.logprobs])),
        "advantages": float32(np.concatenate([before, row.advantages])),
        "reward": row.outcome,
    }
