"""Token rows cut into calls of the policy: what trainers name a step, an interaction, a transition or a triplet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, TypeAlias, get_args

import numpy as np

from trajcredit.arrays import F64
from trajcredit.errors import InputError
from trajcredit.exporters.lines import float32, prompted
from trajcredit.tokens import MisalignedError, TokenRow

__all__ = [
    "REDUCES",
    "PolicyCall",
    "Reduce",
    "by_trajectory",
    "calls",
    "check_logprobs",
    "check_one_number",
    "logprobs_of",
    "one_number",
    "version_of",
    "whole_floats",
    "whole_mask",
]

Reduce: TypeAlias = Literal["stop", "mean"]
"""Where a trainer takes one number a call and its tokens have several: stop the export, or take their mean."""
REDUCES: tuple[Reduce, ...] = get_args(Reduce)


@dataclass(frozen=True, slots=True, eq=False)
class PolicyCall:
    """Trained tokens of one turn without a gap: `row.response_ids[start:end]`, sampled after all that is before."""

    row: TokenRow
    turn: int
    start: int
    end: int

    @property
    def context_ids(self) -> list[int]:
        """Everything before the first sampled token, as ids."""
        ids: list[int] = np.concatenate([self.row.prompt_ids, self.row.response_ids[: self.start]]).tolist()
        return ids

    @property
    def sampled_ids(self) -> list[int]:
        """The sampled tokens."""
        ids: list[int] = self.row.response_ids[self.start : self.end].tolist()
        return ids

    @property
    def advantages(self) -> list[float]:
        """One number a sampled token, float32."""
        return float32(self.row.advantages[self.start : self.end])

    @property
    def place(self) -> str:
        """For people."""
        return f"{self.row.trajectory_id}, row {self.row.row}, turn {self.turn}"

    def misaligned(self, reason: str) -> MisalignedError:
        """Why no record can hold this call, with its place."""
        own = next(own for own in self.row.spans if own.end > self.start)
        return MisalignedError(self.turn, own.span, reason.removeprefix(f"{self.place}: "))


def calls(row: TokenRow) -> Iterator[PolicyCall]:
    """The calls that a row trains, in order: a new one where the turn changes, and after tokens that are not trained.

    A turn in two pieces (a tool that the server ran in the middle of it) is two calls: the second was sampled after
    tokens that the policy did not write. InputError where the row has no prompt.
    """
    turn, start, end = -1, 0, 0
    for owned in prompted(row).spans:
        if owned.start == owned.end:
            continue
        if start != end and (owned.turn != turn or owned.start != end):
            yield PolicyCall(row, turn, start, end)
            start = end = owned.start
        if start == end:
            start = owned.start
        turn, end = owned.turn, owned.end
    if start != end:
        yield PolicyCall(row, turn, start, end)


def one_number(call: PolicyCall, reduce: Reduce, trainer: str) -> tuple[float, bool]:
    """The number of a call, and whether it had to be reduced: its tokens had several.

    float32. InputError where they had and `reduce` is "stop".
    """
    values = call.row.advantages[call.start : call.end].astype(np.float32)
    if (values == values[0]).all():
        return float(values[0]), False
    if reduce == "stop":
        raise InputError(
            f"{call.place}: its tokens have advantages from {values.min():g} to {values.max():g}, and {trainer} takes "
            "one number a call: reduce=mean takes their mean"
        )
    return float(np.float32(values.mean(dtype=np.float64))), True


def check_one_number(rows: Iterable[TokenRow], reduce: Reduce, trainer: str) -> None:
    """MisalignedError where `one_number` of a call fails."""
    for call in (call for row in rows for call in calls(row)):
        try:
            one_number(call, reduce, trainer)
        except InputError as error:
            raise call.misaligned(str(error)) from error


def logprobs_of(row: TokenRow, trainer: str) -> F64:
    """f64[R]; InputError where the log has none, which a trainer that weighs by them cannot do without."""
    if row.logprobs is None:
        raise InputError(f"{row.trajectory_id}, row {row.row}: {_no_logprobs(trainer)}")
    return row.logprobs


def check_logprobs(rows: Iterable[TokenRow], trainer: str) -> None:
    """MisalignedError where `logprobs_of` a row fails."""
    for row in rows:
        if row.logprobs is None:
            raise MisalignedError(row.spans[0].turn, row.spans[0].span, f"row {row.row}: {_no_logprobs(trainer)}")


def _no_logprobs(trainer: str) -> str:
    return (
        f"the log has no log-probs of the sampled tokens, and {trainer} divides new by old ones; a stand-in would "
        "change the gradient without a word"
    )


def by_trajectory(rows: Iterator[TokenRow]) -> Iterator[list[TokenRow]]:
    """The rows of one trajectory together; an exporter gets them one after the other."""
    for _, together in groupby(rows, key=lambda row: row.trajectory_id):
        yield list(together)


def whole_floats(row: TokenRow, response: F64) -> list[float]:
    """A response column over prompt and response: 0 on the prompt."""
    return float32(np.concatenate([np.zeros(len(row.prompt_ids)), response]))


def whole_mask(row: TokenRow) -> list[int]:
    """1 on trained tokens, over prompt and response."""
    mask: list[int] = np.concatenate([np.zeros(len(row.prompt_ids), dtype=np.int64), row.response_mask]).tolist()
    return mask


def version_of(row: TokenRow) -> int | None:
    """The policy version where it is a whole number, which is all that trainers count with."""
    version = row.policy_version
    return int(version) if version is not None and version.isascii() and version.isdigit() else None
