"""Rows for SkyRL, whose generators may return a reward a token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar

from trajcredit.exporters.lines import float32, keys, optional, prompted, write_lines
from trajcredit.exporters.tokens import TokenExporter
from trajcredit.registry import exporters
from trajcredit.tokens import TokenRow

__all__ = ["SkyRL", "record"]


@exporters.register("skyrl")
@dataclass(frozen=True, slots=True)
class SkyRL(TokenExporter):
    """SkyRL (0.3): one JSON object a row, in the names of `GeneratorOutput`; advantages travel as rewards a token.

    Read by `trajcredit.integrations.skyrl`. Lists are not padded: SkyRL aligns them at the right end itself.
    """

    suffix: ClassVar[str] = ".jsonl"

    def encode(self, rows: Iterator[TokenRow], out: BinaryIO) -> int:
        return write_lines(map(record, rows), out)


def record(row: TokenRow) -> dict[str, Any]:
    """One entry of each list of `GeneratorOutput` (skyrl 0.3.0, train/generators/base.py:36).

    `loss_masks` is the mask of sampled tokens; the response mask, observations included, SkyRL makes itself.
    """
    prompted(row)
    return {
        **keys(row),
        "prompt_token_ids": row.prompt_ids.tolist(),
        "response_ids": row.response_ids.tolist(),
        "loss_masks": row.response_mask.tolist(),
        "rewards": float32(row.advantages),
        "rollout_logprobs": optional(row.logprobs),
    }
