"""Rows for NeMo-RL, whose advantages span the whole sequence, prompt included."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar

import numpy as np

from trajcredit.exporters.lines import float32, keys, prompted, write_lines
from trajcredit.exporters.tokens import TokenExporter
from trajcredit.registry import exporters
from trajcredit.tokens import TokenRow

__all__ = ["NemoRl", "record"]


@exporters.register("nemo_rl")
@dataclass(frozen=True, slots=True)
class NemoRl(TokenExporter):
    """NeMo-RL (7ea279abf): one JSON object a row, in the names of its train data, one entry a token from the prompt on.

    Read by `trajcredit.integrations.nemo_rl`.
    """

    suffix: ClassVar[str] = ".jsonl"

    def encode(self, rows: Iterator[TokenRow], out: BinaryIO) -> int:
        return write_lines(map(record, rows), out)


def record(row: TokenRow) -> dict[str, Any]:
    """A row of the train data (nemo_rl/algorithms/grpo.py:3166, commit 7ea279abf).

    Every list has S entries, prompt and response; nothing is shifted: the loss itself drops entry 0.
    """
    prompted(row)
    prompt = np.zeros(len(row.prompt_ids))
    return {
        **keys(row),
        "input_ids": row.token_ids.tolist(),
        "token_mask": [0] * len(prompt) + row.response_mask.tolist(),
        "generation_logprobs": None if row.logprobs is None else float32(np.concatenate([prompt, row.logprobs])),
        "advantages": float32(np.concatenate([prompt, row.advantages])),
        "reward": row.outcome,
    }
