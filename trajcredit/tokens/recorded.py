"""Rows from the ids that the engine logged: they are taken as they are, and never made again from text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from trajcredit.arrays import F64
from trajcredit.errors import InputError
from trajcredit.model import ACTION_KINDS, SpanTokens, Trajectory, TurnTokens
from trajcredit.tokens.contexts import restarts
from trajcredit.tokens.finding import NotFoundInTextError, found_in_order, wanted_of_turn
from trajcredit.tokens.record import MisalignedError, Share
from trajcredit.tokens.rows import Acted, OpenRow
from trajcredit.tokens.territories import Piece, owners, territories
from trajcredit.tokens.tokenizer import Renderer

__all__ = ["Cutter", "NoPromptError", "has_ids", "recorded"]

SHOWN = 40
"""Characters of an excerpt in a message."""

UNCUT = "the spans of a turn have one advantage: its tokens stand under the first of them, which changes no number"
UNFIT = "log-probs of a span that are not one for each id sampled in its turn: left out"


class NoPromptError(MisalignedError):
    """What was sampled is logged, and not in answer to what."""


def has_ids(trajectory: Trajectory) -> bool:
    """Whether the log has ids of anything the policy sampled."""
    if any(turn.sampled_ids is not None for turn in trajectory.turns):
        return True
    return any(
        span.kind in ACTION_KINDS and span.tokens is not None and span.tokens.ids is not None
        for span in trajectory.spans
    )


def recorded(
    trajectory: Trajectory, advantages: F64, renderer: Renderer | None, share: Share, notes: list[str]
) -> list[OpenRow]:
    """The rows of a trajectory whose log has ids.

    A turn's prompt is its `prompt_ids`; where those are missing, the row so far and the ids of the observations since.
    MisalignedError names the turn whose ids are missing or contradict each other; NoPromptError where only prompts are.
    """
    _check_masks(trajectory)
    cutter = Cutter(trajectory, advantages, renderer, share, notes)
    walk = _Walk(trajectory, cutter)
    logged: dict[int, TurnTokens] = {}
    for tokens in trajectory.turns:
        if tokens.turn in logged:
            raise MisalignedError(tokens.turn, None, "the log has two records of ids for this turn")
        logged[tokens.turn] = tokens
    acting = {span.turn for span in trajectory.spans if span.kind in ACTION_KINDS}
    for turn in sorted(acting | logged.keys()):
        walk.take(turn, logged.get(turn))
    walk.observe(len(trajectory.spans), at_end=True)
    return walk.rows


@dataclass(slots=True)
class _Walk:
    """The rows as turn follows turn."""

    trajectory: Trajectory
    cutter: Cutter
    rows: list[OpenRow] = field(default_factory=list)
    current: OpenRow | None = None
    seen: int = 0
    """Spans whose tokens are in the current row, or were not asked for."""
    lacking: int | None = None
    """The first observation since the last turn whose ids are not logged."""

    def take(self, turn: int, logged: TurnTokens | None) -> None:
        spans = self.trajectory.spans
        which = [i for i in range(self.seen, len(spans)) if spans[i].turn == turn and spans[i].kind in ACTION_KINDS]
        if logged is None or (logged.sampled_ids is None and (which or logged.prompt_ids is None)):
            self._of_spans(turn, which, logged)
            return
        if which:
            self._begin(turn, logged.prompt_ids, which[0])
            self.seen = which[-1] + 1
        elif logged.prompt_ids is not None:
            self._prompt(logged.prompt_ids)
            while self.seen < len(spans) and spans[self.seen].turn < turn:
                self.seen += 1  # they are in that prompt
        sampled = logged.sampled_ids or []
        if not sampled:
            said = next((i for i in which if spans[i].text.strip() or spans[i].kind == "tool_call"), None)
            if said is not None:
                raise MisalignedError(
                    turn, said, "the log has no sampled ids of this turn, and the span says something"
                )
            return
        if not which:
            raise MisalignedError(turn, None, f"{len(sampled)} ids were sampled in this turn, and no span is of it")
        acted = self.cutter.cut(logged, sampled, which)
        if self.current is None:
            raise NoPromptError(turn, which[0], "the log has no ids of what this turn answers")
        self.current.act(acted)

    def _of_spans(self, turn: int, which: Sequence[int], logged: TurnTokens | None) -> None:
        """A turn whose ids are logged span by span."""
        spans = self.trajectory.spans
        first = True
        sampled: list[int] = []
        for i in which:
            tokens = spans[i].tokens
            if tokens is None or tokens.ids is None:
                raise MisalignedError(turn, i, self._why_none(turn))
            sampled += tokens.ids
            self._begin(turn, logged.prompt_ids if logged is not None and first else None, i)
            first = False
            self.seen = i + 1
            self.current = self.current or self._opened(OpenRow())
            owned = _masked([Piece(i, 0, len(tokens.ids))], tokens.mask)
            if not self.current.ids and owned and owned[0].start == 0:
                raise NoPromptError(turn, i, "the log has no ids of what this turn answers")
            version = self.trajectory.policy_version if logged is None else logged.policy_version
            self.current.act(Acted(turn, tokens.ids, owned, tokens.logprobs, version))
        self.cutter.check_spelled(sampled, which)

    def _why_none(self, turn: int) -> str:
        """Why a turn has no ids: what its reader says that it left out, if it does."""
        spans = self.trajectory.spans
        for note in self.trajectory.report:
            if note.code == "lost-tokens" and note.span is not None and spans[note.span].turn == turn:
                return f"the ids of this turn do not fit the rest of what is logged: {note.message}"
        return "the log has ids of other turns, and none of what was sampled here"

    def _begin(self, turn: int, prompt: list[int] | None, first: int) -> None:
        """Whatever precedes the answer that begins at this span."""
        if prompt is not None:
            self._prompt(prompt)
            return
        self.observe(first)
        if self.lacking is not None:
            kind = self.trajectory.spans[self.lacking].kind
            raise NoPromptError(
                turn, self.lacking, f"neither prompt ids of this turn nor ids of the {kind} before it are logged"
            )

    def observe(self, end: int, at_end: bool = False) -> None:
        """Add the observations before this span, by their own ids."""
        new = restarts(self.trajectory)
        for i in range(self.seen, end):
            span = self.trajectory.spans[i]
            if span.kind in ACTION_KINDS:
                continue
            if i in new and self.rows:
                self.lacking = i if self.lacking is None else self.lacking
            if span.tokens is None or span.tokens.ids is None:
                self.lacking = i if self.lacking is None else self.lacking
            elif self.lacking is None:
                self.current = self.current or self._opened(OpenRow())
                self.current.observe(span.tokens.ids)
        if not at_end:
            self.seen = max(self.seen, end)

    def _prompt(self, prompt: list[int]) -> None:
        """Go on with the latest row that this prompt begins with, or open one."""
        self.lacking = None
        for row in reversed(self.rows):
            if prompt[: len(row.ids)] == row.ids:
                row.observe(prompt[len(row.ids) :])
                self.current = row
                return
        self.current = self._opened(OpenRow(list(prompt)))

    def _opened(self, row: OpenRow) -> OpenRow:
        self.rows.append(row)
        return row


# ---------------------------------------------------------------- the spans of a turn


@dataclass(frozen=True, slots=True)
class Cutter:
    """Divides what a turn sampled among its spans."""

    trajectory: Trajectory
    advantages: F64
    renderer: Renderer | None
    share: Share
    notes: list[str]

    def cut(self, logged: TurnTokens, sampled: list[int], which: Sequence[int]) -> Acted:
        """The sampled ids with their owners.

        By the ids of each span where the log cuts there, else by the text that the ids decode to; without a tokenizer
        only where it makes no difference. MisalignedError names the span that cannot be found.
        """
        logprobs = logged.logprobs
        if logprobs is not None and len(logprobs) != len(sampled):
            what = f"{len(logprobs)} log-probs are logged for {len(sampled)} sampled ids"
            raise MisalignedError(logged.turn, None, what)
        version = logged.policy_version if logged.policy_version is not None else self.trajectory.policy_version
        owned = self._by_ids(sampled, which)
        if owned is None:
            self._check_unmasked(which)
            owned = self._by_text(logged.turn, sampled, which)
        else:
            self.check_spelled(sampled, which)
        if logprobs is None:
            logprobs = self._of_spans(len(sampled), which)
        return Acted(logged.turn, sampled, owned, logprobs, version)

    def _by_ids(self, sampled: list[int], which: Sequence[int]) -> list[Piece] | None:
        """The cuts of the log itself; None where it has none."""
        spans = self.trajectory.spans
        known = [spans[i].tokens for i in which]
        ids = [tokens.ids if tokens is not None else None for tokens in known]
        if len(which) == 1 and ids[0] in (None, sampled):
            mask = known[0].mask if known[0] is not None else None
            if mask is not None and len(mask) != len(sampled):
                what = f"{len(sampled)} ids were sampled, and the mask has {len(mask)} entries: expected as many"
                raise MisalignedError(spans[which[0]].turn, which[0], what)
            return _masked([Piece(which[0], 0, len(sampled))], mask)
        if any(each is None for each in ids) or [i for each in ids if each for i in each] != sampled:
            return None
        owned: list[Piece] = []
        at = 0
        mask = []
        for i, tokens in zip(which, known, strict=True):
            assert tokens is not None
            assert tokens.ids is not None
            owned.append(Piece(i, at, at + len(tokens.ids)))
            mask += tokens.mask if tokens.mask is not None else [1] * len(tokens.ids)
            at += len(tokens.ids)
        return _masked(owned, mask)

    def _of_spans(self, n: int, which: Sequence[int]) -> list[float] | None:
        """The log-probs of a turn that its spans hold; None, and a note, where they are not one for each id."""
        known = [tokens.logprobs for i in which if (tokens := self.trajectory.spans[i].tokens) is not None]
        whole = [number for numbers in known if numbers is not None for number in numbers]
        if len(known) == len(which) and None not in known and len(whole) == n:
            return whole
        if whole:
            self.notes.append(UNFIT)
        return None

    def _check_unmasked(self, which: Sequence[int]) -> None:
        """A mask without ids that cut the turn says nothing where the spans of a turn are told apart by their text."""
        for i in which:
            tokens = self.trajectory.spans[i].tokens
            if tokens is not None and tokens.mask is not None:
                ids = "no ids are" if tokens.ids is None else "its ids are not those of the turn"
                what = f"a mask is logged for this span and {ids}: which of the turn's tokens it leaves out is unknown"
                raise MisalignedError(self.trajectory.spans[i].turn, i, what)

    def check_spelled(self, sampled: list[int], which: Sequence[int]) -> None:
        """The ids of a turn read as what its spans say, as far as the tokenizer can write that at all.

        Of a call its name is looked for. Nothing is checked without a tokenizer.
        """
        if self.renderer is None:
            return
        text: str | None = None
        for i in which:
            span = self.trajectory.spans[i]
            said = (span.name or "") if span.kind == "tool_call" else span.text.strip()
            if not said:
                continue
            try:
                text = self.renderer.spelled(sampled)[0] if text is None else text
                able = said in text or said in self.renderer.decode(self.renderer.ids(said))
            except InputError as error:
                raise MisalignedError(span.turn, i, str(error)) from error
            if said not in text and able:
                what = f"the ids of this turn spell {text[:SHOWN]!r}, and the log has {said[:SHOWN]!r}"
                raise MisalignedError(span.turn, i, what)

    def _by_text(self, turn: int, sampled: list[int], which: Sequence[int]) -> list[Piece]:
        if self.renderer is None:
            if self.share == "copy" and len({float(self.advantages[i]) for i in which}) == 1:
                self.notes.append(UNCUT)
                return [Piece(which[0], 0, len(sampled))]
            what = f"{len(which)} spans were sampled in one piece, and the log does not say where each ends"
            raise MisalignedError(turn, which[0], f"{what}: pass a tokenizer")
        spans = self.trajectory.spans
        lost: NotFoundInTextError | None = None
        try:
            text, starts = self.renderer.spelled(sampled)
            for wanted in wanted_of_turn(spans, which):
                try:
                    pieces = found_in_order(text, wanted)
                except NotFoundInTextError as error:
                    lost = lost or error
                    continue
                return owners(starts, territories(text, pieces, which[0]))
        except InputError as error:
            raise MisalignedError(turn, which[0], str(error)) from error
        assert lost is not None
        raise MisalignedError(turn, lost.span, str(lost)) from lost


def _masked(owned: Sequence[Piece], mask: Sequence[int] | None) -> list[Piece]:
    """The pieces without the tokens whose mask is 0; a span with a gap in it has several."""
    if mask is None:
        return [piece for piece in owned if piece.end > piece.start]
    kept: list[Piece] = []
    trained = np.concatenate([[0], np.array(mask, dtype=np.int64), [0]])
    begins, ends = np.flatnonzero(np.diff(trained) == 1), np.flatnonzero(np.diff(trained) == -1)
    for piece in owned:
        for begin, stop in zip(begins.tolist(), ends.tolist(), strict=True):
            start, end = max(begin, piece.start), min(stop, piece.end)
            if start < end:
                kept.append(Piece(piece.span, start, end))
    return kept


# ---------------------------------------------------------------- what the log says of itself


def _check_masks(trajectory: Trajectory) -> None:
    """Ids, mask and log-probs of a span run in parallel, and a mask leaves something to train."""
    action: int | None = None
    trained = False
    sampled = {turn.turn for turn in trajectory.turns if turn.sampled_ids}
    for i, span in enumerate(trajectory.spans):
        tokens = span.tokens or SpanTokens()
        _check_columns(span.turn, i, tokens)
        acts = span.kind in ACTION_KINDS
        if not acts and tokens.mask is not None and any(tokens.mask):
            raise MisalignedError(span.turn, i, f"the mask of a {span.kind} has ones: the policy did not sample it")
        if acts and (tokens.ids or (tokens.ids is None and span.turn in sampled)):
            action = i if action is None else action
            trained = trained or tokens.mask is None or any(tokens.mask)
    if action is not None and not trained:
        what = "the logged mask is 0 throughout, although the policy acted: nothing would be trained"
        raise MisalignedError(trajectory.spans[action].turn, action, what)


def _check_columns(turn: int, span: int, tokens: SpanTokens) -> None:
    """Lengths where the span has ids of its own, and 0 or 1 in any mask."""
    for name, column in (("mask", tokens.mask), ("log-probs", tokens.logprobs)):
        if tokens.ids is not None and column is not None and len(column) != len(tokens.ids):
            what = f"{len(tokens.ids)} token ids and {len(column)} entries of {name}: expected as many"
            raise MisalignedError(turn, span, what)
    if tokens.mask is not None and any(entry not in (0, 1) for entry in tokens.mask):
        raise MisalignedError(turn, span, "the mask holds something other than 0 and 1")
