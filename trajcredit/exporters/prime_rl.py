"""Advantages for prime-rl: what its orchestrator hands to the trainer, one sample a row.

Read for commit 559b44772: `transports/rollouts/types.py:23-76` (TrainingSample), `orchestrator/train_sink.py:36`
(tokens of advantage 0 leave the loss and its denominator).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar

from trajcredit.errors import InputError
from trajcredit.exporters.calls import check_logprobs, logprobs_of, whole_floats, whole_mask
from trajcredit.exporters.lines import keys, prompted, write_lines
from trajcredit.exporters.tokens import TokenExporter
from trajcredit.registry import exporters
from trajcredit.tokens import TokenRow

__all__ = ["PrimeRl", "sample"]


@exporters.register("prime_rl")
@dataclass(frozen=True, slots=True)
class PrimeRl(TokenExporter):
    """prime-rl: one TrainingSample a line; all lists have one entry a token, prompt included.

    Needs the log-probs of sampling. With `filter_zero_advantages` a token of advantage 0 is not trained, nor counted.
    """

    suffix: ClassVar[str] = ".jsonl"

    temperature: float = 1.0
    """What the rollouts were sampled at: prime-rl divides the logits by it."""
    env_name: str = ""
    """The environment that prime-rl's metrics name."""

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        TokenExporter.__post_init__(self)
        if not 0 < self.temperature < float("inf"):
            raise InputError(f"parameter temperature={self.temperature}: expected a number above 0")

    def check(self, rows: Sequence[TokenRow]) -> None:
        """MisalignedError where the log has no log-probs."""
        check_logprobs(rows, "prime-rl")

    def encode(self, rows: Iterator[TokenRow], out: BinaryIO) -> int:
        """One line a row."""
        return write_lines((sample(row, self.temperature, self.env_name) for row in rows), out)


def sample(row: TokenRow, temperature: float, env_name: str) -> dict[str, Any]:
    """The fields of a TrainingSample, and which row it is."""
    ids = prompted(row).token_ids.tolist()
    return {
        **keys(row),
        "token_ids": ids,
        "mask": [trained == 1 for trained in whole_mask(row)],
        "logprobs": whole_floats(row, logprobs_of(row, "prime-rl")),
        "temperatures": [temperature] * len(ids),
        "env_name": env_name,
        "advantages": whole_floats(row, row.advantages),
    }
