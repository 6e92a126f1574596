"""The token record: one contiguous sequence of tokens the policy saw, from which every trainer's file is made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

import numpy as np

from trajcredit.arrays import F64, I64, U8
from trajcredit.errors import InputError

__all__ = [
    "SHARES",
    "Aligned",
    "Failure",
    "IdsSource",
    "MisalignedError",
    "OwnedTokens",
    "Share",
    "TokenRow",
    "check_possible",
    "checked",
]

IdsSource: TypeAlias = Literal["engine", "retokenized"]
"""engine: ids recorded when they were sampled; retokenized: made from the logged text by a tokenizer."""

Share: TypeAlias = Literal["copy", "divide", "last"]
"""How a span's number reaches its tokens: on each of them, divided by their count, or whole on the last."""
SHARES: tuple[Share, ...] = get_args(Share)

LARGEST_ID = 2**31 - 1
"""Trainers count ids in 32 bits."""


@dataclass(frozen=True, slots=True)
class OwnedTokens:
    """The sampled tokens of one span: `response_ids[start:end]`. Of one row they are in order and never overlap."""

    span: int
    """Index of the span in its trajectory."""
    turn: int
    start: int
    end: int
    advantage: float
    """The span's number before it was shared out."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenRow:
    """A sequence in which each later prompt extends what came before it, token by token.

    prompt_ids     i64[P]  everything before the first sampled token
    response_ids   i64[R]  from the first sampled token to the end, observations included
    response_mask  u8[R]   1 exactly on the tokens that are trained here; those of a turn that an earlier row trained,
                           and all that the policy did not sample, have 0
    advantages     f64[R]  what multiplies the log-prob gradient; exactly 0 where the mask is 0
    logprobs       f64[R]  of the sampling policy, 0 where the mask is 0; None where any trained token lacks one
    """

    uid: str
    """The group: rows compared with each other share it."""
    trajectory_id: str
    row: int
    """0, 1, ...: a trajectory has several rows where its context is not append-only."""
    prompt_ids: I64
    response_ids: I64
    response_mask: U8
    advantages: F64
    logprobs: F64 | None
    spans: tuple[OwnedTokens, ...]
    ids_source: IdsSource
    policy_version: str | None = None
    outcome: float | None = None

    @property
    def trained(self) -> int:
        """How many tokens the row trains."""
        return int(self.response_mask.sum())

    @property
    def token_ids(self) -> I64:
        """Prompt and response together."""
        return np.concatenate([self.prompt_ids, self.response_ids])


@dataclass(frozen=True, slots=True)
class Failure:
    """Where a trajectory's tokens could not be told apart or matched with its spans."""

    trajectory_id: str
    turn: int
    """-1 where it is about the whole trajectory."""
    span: int | None
    reason: str


class MisalignedError(InputError):
    """Ends the alignment of one trajectory; `align` makes a Failure of it."""

    def __init__(self, turn: int, span: int | None, reason: str) -> None:
        self.turn = turn
        self.span = span
        self.reason = reason
        super().__init__(reason)


@dataclass(frozen=True, slots=True, eq=False)
class Aligned:
    """What one trajectory became: its rows, or (then there are none) why it has none."""

    rows: tuple[TokenRow, ...]
    failures: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = field(default=())
    """What was cut or guessed, in sentences."""
    cut_tokens: int = 0
    """Tokens behind the budget, of all its rows, and of rows that it left nothing of."""
    cut_trained: int = 0
    """Those among them that would be trained."""


def check_possible(row: TokenRow, vocabulary: int | None) -> None:
    """MisalignedError where a row holds an id that no model has, or a log-prob above 0.

    `vocabulary` is how many ids the tokenizer has; None where nobody knows.
    """
    most = LARGEST_ID if vocabulary is None else min(LARGEST_ID, vocabulary - 1)
    ids, first = row.token_ids, len(row.prompt_ids)
    wrong = np.flatnonzero((ids < 0) | (ids > most))
    if len(wrong):
        at = int(wrong[0]) - first
        where = "in the prompt" if at < 0 else f"at response token {at}"
        raise _impossible(row, at, f"id {int(ids[first + at])} {where}: expected 0 to {most}")
    if row.logprobs is not None and len(above := np.flatnonzero(row.logprobs > 0)):
        at = int(above[0])
        raise _impossible(row, at, f"log-prob {float(row.logprobs[at]):g} at response token {at}: expected 0 or less")


def _impossible(row: TokenRow, at: int, reason: str) -> MisalignedError:
    """The reason with the first span that ends behind the place."""
    own = next((own for own in row.spans if own.end > at), row.spans[-1])
    return MisalignedError(own.turn, own.span, reason)


def checked(row: TokenRow) -> TokenRow:
    """The row, where it keeps the rules every trainer relies on; InputError names the row and the rule it breaks.

    Equal lengths; 0 or 1 in the mask; at least one trained token; finite numbers that float32 holds; exactly 0 where
    the mask is 0; every trained token owned by exactly one span.
    """
    where = f"row {row.row} of {row.trajectory_id}"
    n = len(row.response_ids)
    columns: dict[str, U8 | F64 | None] = {
        "response_mask": row.response_mask,
        "advantages": row.advantages,
        "logprobs": row.logprobs,
    }
    for name, column in columns.items():
        if column is not None and len(column) != n:
            raise InputError(f"{where}: {len(column)} {name} for {n} response ids")
    trained = row.response_mask == 1
    if not np.array_equal(trained, row.response_mask != 0):
        raise InputError(f"{where}: the mask holds something other than 0 and 1")
    if not trained.any():
        raise InputError(f"{where}: its mask is 0 throughout: nothing would be trained")
    for name in ("advantages", "logprobs"):
        column = columns[name]
        if column is None:
            continue
        with np.errstate(over="ignore"):  # what is too large becomes infinite, which is refused here
            narrow = column.astype(np.float32)
        if not np.isfinite(narrow).all():
            raise InputError(f"{where}: {name} hold a number that float32 cannot")
        if column[~trained].any():
            raise InputError(f"{where}: {name} are not 0 where the mask is 0")
    owners = np.zeros(n, dtype=np.int64)
    for owned in row.spans:
        if not 0 <= owned.start <= owned.end <= n:
            raise InputError(f"{where}: span {owned.span} owns tokens {owned.start} to {owned.end} of {n}")
        owners[owned.start : owned.end] += 1
    if not np.array_equal(owners, trained.astype(np.int64)):
        at = int(np.flatnonzero(owners != trained)[0])
        raise InputError(f"{where}: response token {at} has mask {int(trained[at])} and {int(owners[at])} owners")
    return row
