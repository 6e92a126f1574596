"""What a log says of the sampled tokens of one trajectory: how many, how far from the reference, which mask."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from trajcredit.model import ACTION_KINDS, SpanTokens, Trajectory, body

__all__ = ["Sampled", "sampled_of"]

STEEPEST = 20.0
"""Log-ratios are cut here: exp of one broken log-prob would be the mean of all others."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """`tokens`: trained ones, null where the log does not say of every action; `characters` of the actions always.

    `kl`: the sum over `kl_tokens` sampled tokens of r - 1 - log r, r = reference / policy probability: unbiased for
    the divergence of the policy from its reference, and never negative (Schulman 2020, "Approximating KL divergence",
    k3): what trainers print. `kl_odd`: actions whose two lists of log-probs differ in length; they are left out.
    """

    tokens: int | None
    characters: int
    kl: float
    kl_tokens: int
    kl_odd: int
    masked: int
    """Observations whose logged mask trains at least one token."""


def sampled_of(trajectory: Trajectory) -> Sampled:
    """Counted over the action spans."""
    actions = [span for span in trajectory.spans if span.kind in ACTION_KINDS]
    kl, counted, odd = 0.0, 0, 0
    for tokens in (span.tokens for span in actions):
        if tokens is None or tokens.ref_logprobs is None or tokens.logprobs is None:
            continue
        if len(tokens.ref_logprobs) != len(tokens.logprobs):
            odd += 1
            continue
        gap = np.array(tokens.ref_logprobs) - np.array(tokens.logprobs)
        gap = gap[_kept(tokens, len(gap))].clip(-STEEPEST, STEEPEST)
        kl += float((np.expm1(gap) - gap).sum())
        counted += len(gap)
    return Sampled(
        tokens=_tokens(trajectory),
        characters=sum(len(body(span)) for span in actions),
        kl=kl,
        kl_tokens=counted,
        kl_odd=odd,
        masked=sum(any(_mask(span.tokens)) for span in trajectory.spans if span.kind not in ACTION_KINDS),
    )


def _mask(tokens: SpanTokens | None) -> list[int]:
    return [] if tokens is None or tokens.mask is None else tokens.mask


def _kept(tokens: SpanTokens, n: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    if tokens.mask is None or len(tokens.mask) != n:
        return np.ones(n, dtype=bool)
    return np.array(tokens.mask, dtype=bool)


def _tokens(trajectory: Trajectory) -> int | None:
    """Of the sampled ids of all turns where they are logged, else of all action spans that say something."""
    turns = {span.turn for span in trajectory.spans if span.kind in ACTION_KINDS}
    logged = {turn.turn: len(turn.sampled_ids) for turn in trajectory.turns if turn.sampled_ids is not None}
    if turns and turns <= logged.keys():
        return sum(logged[turn] for turn in turns)
    counts = list(_counts(trajectory))
    return None if None in counts or not counts else sum(n for n in counts if n is not None)


def _counts(trajectory: Trajectory) -> Iterator[int | None]:
    for span in trajectory.spans:
        if span.kind not in ACTION_KINDS:
            continue
        tokens = span.tokens
        if tokens is None:
            yield None if body(span) else 0
        elif tokens.mask is not None:
            yield sum(map(bool, tokens.mask))
        else:
            known = tokens.ids if tokens.ids is not None else tokens.logprobs
            yield tokens.n if tokens.n is not None else len(known) if known is not None else None
