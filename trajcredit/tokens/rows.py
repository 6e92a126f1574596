"""Turns -> rows: a turn goes on with a row where its prompt extends it, else it begins a row of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from trajcredit.arrays import F64
from trajcredit.errors import InputError
from trajcredit.model import Trajectory
from trajcredit.tokens.record import Aligned, IdsSource, MisalignedError, OwnedTokens, Share, TokenRow, checked
from trajcredit.tokens.territories import Piece

__all__ = ["Acted", "OpenRow", "Wish", "finished"]

STRAY = "a prompt that extends no row and leads to no answer was left out"
MASKED = "a row whose sampled tokens are all masked was left out"


@dataclass(frozen=True, slots=True)
class Acted:
    """What a turn adds to a row: its sampled ids, whose they are, and with which log-probs they were sampled.

    `owned` are pieces of `ids`, in order, not overlapping; ids outside of them are not trained.
    """

    turn: int
    ids: Sequence[int]
    owned: Sequence[Piece]
    logprobs: Sequence[float] | None = None
    policy_version: str | None = None


@dataclass(slots=True)
class OpenRow:
    """A row that later turns may extend."""

    ids: list[int] = field(default_factory=list)
    text: str = ""
    """Of the ids, where they were made from text."""
    prompt: int | None = None
    """Tokens before the first sampled one."""
    owned: list[tuple[int, Piece]] = field(default_factory=list)
    """Turn and piece; places in `ids`."""
    logprobs: dict[int, float] = field(default_factory=dict)
    versions: list[str] = field(default_factory=list)
    masked: bool = False
    """A turn in it sampled tokens, and trains none of them."""

    def observe(self, ids: Iterable[int], text: str = "") -> None:
        """Add tokens that the policy did not sample."""
        self.ids += ids
        self.text += text

    def act(self, acted: Acted, text: str = "") -> None:
        """Add a turn's sampled tokens."""
        start = len(self.ids)
        self.ids += acted.ids
        self.text += text
        if not acted.owned:
            self.masked = self.masked or bool(acted.ids)
            return
        if self.prompt is None:
            self.prompt = start + acted.owned[0].start
        for piece in acted.owned:
            self.owned.append((acted.turn, Piece(piece.span, start + piece.start, start + piece.end)))
            if acted.logprobs is not None:
                for at in range(piece.start, piece.end):
                    self.logprobs[start + at] = acted.logprobs[at]
        if acted.policy_version is not None and acted.policy_version not in self.versions:
            self.versions.append(acted.policy_version)


@dataclass(frozen=True, slots=True)
class Wish:
    """What the caller of `align` wants of every row."""

    uid: str
    share: Share
    max_tokens: int | None
    outcome: float | None


def finished(
    trajectory: Trajectory, opened: Sequence[OpenRow], advantages: F64, wish: Wish, source: IdsSource, notes: list[str]
) -> Aligned:
    """The rows that train something. MisalignedError where none does, or a number in one is not finite."""
    rows: list[TokenRow] = []
    cut = [_cut(row, wish.max_tokens) for row in opened if row.prompt is not None]
    for row in opened:
        if row.prompt is None:
            notes.append(MASKED if row.masked else STRAY)
            continue
        made = _row(trajectory, row, len(rows), advantages, wish, source, notes)
        if made is None:
            continue
        try:
            rows.append(checked(made))
        except InputError as error:
            raise MisalignedError(-1, None, str(error)) from error
    if not rows:
        raise MisalignedError(-1, None, f"nothing is left to train{': ' if notes else ''}{'; '.join(notes)}")
    tokens, trained = (sum(counts) for counts in zip(*cut, strict=True))
    return Aligned(tuple(rows), notes=tuple(dict.fromkeys(notes)), cut_tokens=tokens, cut_trained=trained)


def _cut(row: OpenRow, budget: int | None) -> tuple[int, int]:
    """How many tokens of a row are behind the budget, and how many of them would be trained."""
    kept = len(row.ids) if budget is None else budget
    trained = sum(max(0, piece.end - max(piece.start, kept)) for _, piece in row.owned)
    return max(0, len(row.ids) - kept), trained


def _row(
    trajectory: Trajectory,
    row: OpenRow,
    number: int,
    advantages: F64,
    wish: Wish,
    source: IdsSource,
    notes: list[str],
) -> TokenRow | None:
    """One row; None where the budget leaves nothing of what it trains."""
    prompt = row.prompt or 0
    n = len(row.ids)
    mask = np.zeros(n, dtype=np.uint8)
    for _, piece in row.owned:
        mask[piece.start : piece.end] = 1
    shared = _shared(row, advantages, wish.share)
    logprobs = _logprobs(row, mask, notes)
    kept = n if wish.max_tokens is None else min(n, wish.max_tokens)
    if kept < n:
        notes.append(f"rows of more than {kept} tokens are cut there")
        if not mask[:kept].any():
            return None
    spans = tuple(
        OwnedTokens(p.span, turn, p.start - prompt, min(p.end, kept) - prompt, float(advantages[p.span]))
        for turn, p in row.owned
        if p.start < kept
    )
    return TokenRow(
        uid=wish.uid,
        trajectory_id=trajectory.id,
        row=number,
        prompt_ids=np.array(row.ids[:prompt], dtype=np.int64),
        response_ids=np.array(row.ids[prompt:kept], dtype=np.int64),
        response_mask=mask[prompt:kept],
        advantages=shared[prompt:kept],
        logprobs=None if logprobs is None else logprobs[prompt:kept],
        spans=spans,
        ids_source=source,
        policy_version=_oldest(row.versions, notes) or trajectory.policy_version,
        outcome=wish.outcome,
    )


def _shared(row: OpenRow, advantages: F64, share: Share) -> F64:
    """f64[n] each span's number on its tokens, before anything is cut."""
    shared = np.zeros(len(row.ids))
    last = {piece.span: piece.end - 1 for _, piece in row.owned}
    count = Counter[int]()
    for _, piece in row.owned:
        count[piece.span] += piece.end - piece.start
    for _, piece in row.owned:
        number = float(advantages[piece.span])
        if share == "last":
            shared[last[piece.span]] = number
        else:
            shared[piece.start : piece.end] = number if share == "copy" else number / count[piece.span]
    return shared


def _logprobs(row: OpenRow, mask: np.ndarray[tuple[int], np.dtype[np.uint8]], notes: list[str]) -> F64 | None:
    if not row.logprobs:
        return None
    if len(row.logprobs) < int(mask.sum()):
        notes.append("log-probs are logged for some of the trained tokens only: left out")
        return None
    found = np.zeros(len(row.ids))
    found[list(row.logprobs)] = list(row.logprobs.values())
    return found


def _oldest(versions: Sequence[str], notes: list[str]) -> str | None:
    """The version that is furthest behind: the least where all are whole numbers, else the first that sampled."""
    if len(versions) < 2:
        return versions[0] if versions else None
    notes.append(f"a row was sampled by policy versions {', '.join(versions)}: it bears the oldest")
    return min(versions, key=int) if all(version.isdecimal() for version in versions) else versions[0]
