"""Advantages for Tinker: the parts of a Datum, shifted left by one.

Read for tinker 0.38.0, `types/datum.py`, and rLLM 9beb6e0f, `trainer/tinker/transform.py` lines 81-104, which builds
the same four inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar

from trajcredit.exporters.calls import check_logprobs, logprobs_of, whole_floats, whole_mask
from trajcredit.exporters.lines import keys, prompted, write_lines
from trajcredit.exporters.tokens import TokenExporter
from trajcredit.registry import exporters
from trajcredit.tokens import TokenRow

__all__ = ["Tinker", "datum"]


@exporters.register("tinker")
@dataclass(frozen=True, slots=True)
class Tinker(TokenExporter):
    """Tinker: one Datum a line: `model_input` and `loss_fn_inputs`, whose lists predict the next token.

    Needs the log-probs of sampling. `mask` is for your metrics: the service takes a Datum without it
    (`trajcredit.integrations.tinker.for_loss`).
    """

    suffix: ClassVar[str] = ".jsonl"

    def check(self, rows: Sequence[TokenRow]) -> None:
        """MisalignedError where the log has no log-probs."""
        check_logprobs(rows, "Tinker")

    def encode(self, rows: Iterator[TokenRow], out: BinaryIO) -> int:
        """One line a row."""
        return write_lines(map(datum, rows), out)


def datum(row: TokenRow) -> dict[str, Any]:
    """All lists have P + R - 1 entries: entry j of a loss input is about token j + 1, which `target_tokens` holds.

    InputError where the row has no prompt or the log no log-probs.
    """
    prompted(row)
    ids = row.token_ids.tolist()
    return {
        **keys(row),
        "model_input": ids[:-1],
        "loss_fn_inputs": {
            "target_tokens": ids[1:],
            "logprobs": whole_floats(row, logprobs_of(row, "Tinker"))[1:],
            "advantages": whole_floats(row, row.advantages)[1:],
            "mask": [float(trained) for trained in whole_mask(row)[1:]],
        },
    }
