"""Token records as they are, for a trainer of one's own: one JSON object a line, schema `trajcredit.tokens/1`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar

from trajcredit.exporters.lines import float32, keys, optional, write_lines
from trajcredit.exporters.tokens import TokenExporter
from trajcredit.registry import exporters
from trajcredit.tokens import Share, TokenRow

__all__ = ["SCHEMA", "Tokens", "record"]

SCHEMA = "trajcredit.tokens/1"


@exporters.register("tokens")
@dataclass(frozen=True, slots=True)
class Tokens(TokenExporter):
    """The token record itself, whoever trains on it: ids, mask, advantages, and which span each token belongs to."""

    suffix: ClassVar[str] = ".jsonl"

    def encode(self, rows: Iterator[TokenRow], out: BinaryIO) -> int:
        return write_lines((record(row, self.share) for row in rows), out)


def record(row: TokenRow, share: Share = "copy") -> dict[str, Any]:
    """One line. Lists of a token each have the length of `response_ids`; `start` and `end` of a span count in it.

    `token_rewards` is there where each span's number lies whole on its last token (share=last): a reward for trainers
    that sum up returns themselves.
    """
    advantages = float32(row.advantages)
    return {
        "schema": SCHEMA,
        **keys(row),
        "prompt_ids": row.prompt_ids.tolist(),
        "response_ids": row.response_ids.tolist(),
        "response_mask": row.response_mask.tolist(),
        "logprobs": optional(row.logprobs),
        "advantages": advantages,
        **({"token_rewards": advantages} if share == "last" else {}),
        "spans": [
            {"span_id": own.span, "turn": own.turn, "start": own.start, "end": own.end, "advantage": own.advantage}
            for own in row.spans
        ],
        "ids_source": row.ids_source,
        "policy_version": row.policy_version,
        "outcome": row.outcome,
    }
