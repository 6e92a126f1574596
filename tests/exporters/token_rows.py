"""Token rows written by hand, small enough to be read: what tests of token exporters start from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from trajcredit.tokens import IdsSource, OwnedTokens, TokenRow, checked

__all__ = ["owned", "token_row", "two_turns"]


def owned(mask: Sequence[int], advantages: Sequence[float]) -> Iterator[OwnedTokens]:
    """One span for each run of trained tokens of one advantage: spans 1, 3, 5, ..., each in a turn of its own."""
    start = turn = 0
    for (trained, advantage), run in groupby(zip(mask, advantages, strict=True)):
        end = start + len(list(run))
        if trained:
            yield OwnedTokens(span=2 * turn + 1, turn=turn, start=start, end=end, advantage=advantage)
            turn += 1
        start = end


def token_row(
    prompt: Sequence[int],
    response: Sequence[int],
    mask: Sequence[int],
    advantages: Sequence[float],
    *,
    logprobs: Sequence[float] | None = None,
    spans: Sequence[OwnedTokens] | None = None,
    uid: str = "g",
    trajectory: str = "t",
    row: int = 0,
    ids_source: IdsSource = "engine",
    policy_version: str | None = None,
    outcome: float | None = 1.0,
) -> TokenRow:
    """A row that keeps every rule; its spans are those of `owned` unless given."""
    return checked(
        TokenRow(
            uid=uid,
            trajectory_id=trajectory,
            row=row,
            prompt_ids=np.array(prompt, dtype=np.int64),
            response_ids=np.array(response, dtype=np.int64),
            response_mask=np.array(mask, dtype=np.uint8),
            advantages=np.array(advantages, dtype=np.float64),
            logprobs=None if logprobs is None else np.array(logprobs, dtype=np.float64),
            spans=tuple(owned(mask, advantages) if spans is None else spans),
            ids_source=ids_source,
            policy_version=policy_version,
            outcome=outcome,
        )
    )


def two_turns() -> TokenRow:
    """Prompt 7 8; the policy samples 11 12, a tool answers 21 22 23, the policy samples 13."""
    return token_row(
        [7, 8],
        [11, 12, 21, 22, 23, 13],
        [1, 1, 0, 0, 0, 1],
        [0.5, 0.5, 0.0, 0.0, 0.0, -0.25],
        logprobs=[-0.5, -1.5, 0.0, 0.0, 0.0, -0.75],
        policy_version="4",
    )
