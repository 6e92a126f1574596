"""Divides what a turn sampled among its spans, by the ids that the log has, and holds the two to each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trajcredit.arrays import F64
from trajcredit.errors import InputError
from trajcredit.model import Trajectory, TurnTokens
from trajcredit.tokens.finding import NotFoundInTextError, found_in_order, wanted_of_call, wanted_of_turn
from trajcredit.tokens.record import MisalignedError, Share
from trajcredit.tokens.rows import Acted
from trajcredit.tokens.territories import Piece, owners, territories
from trajcredit.tokens.tokenizer import Renderer
from trajcredit.tokens.verbatim import holds_arguments

__all__ = ["Cutter", "masked"]

SHOWN = 40
"""Characters of an excerpt in a message."""

UNCUT = "the spans of a turn have one advantage: its tokens stand under the first of them, which changes no number"
OTHER = "the ids of a call spell other arguments than the log has, or in a way nobody knows: they are taken as sampled"
UNFIT = "log-probs of a span that are not one for each id sampled in its turn: left out"


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
        cuts = self._by_ids(sampled, which)
        mask: list[int] | None = None
        if cuts is None:
            if self._leaves_none(len(sampled), which):
                return Acted(logged.turn, sampled, (), None, version)
            self._check_unmasked(which)
            cuts = self._by_text(logged.turn, sampled, which)
        else:
            mask = self._mask(sampled, cuts)
            self.check_spelled(sampled, which)
            self.compare_arguments(sampled, cuts)
        if logprobs is None:
            logprobs = self._of_spans(len(sampled), which)
        return Acted(logged.turn, sampled, masked(cuts, mask), logprobs, version)

    def _by_ids(self, sampled: list[int], which: Sequence[int]) -> list[Piece] | None:
        """The cuts of the log itself, masked tokens included; None where it has none.

        MisalignedError names a span whose ids stand nowhere in those of its turn.
        """
        known = [self.trajectory.spans[i].tokens for i in which]
        ids = [tokens.ids if tokens is not None else None for tokens in known]
        for i, own in zip(which, ids, strict=True):
            if own is not None and not _stands_in(own, sampled):
                what = f"the {len(own)} ids of this span do not stand among the {len(sampled)} that its turn sampled"
                raise MisalignedError(self.trajectory.spans[i].turn, i, what)
        if len(which) == 1 and (ids[0] in (None, sampled) or known[0] is None or known[0].mask is None):
            return [Piece(which[0], 0, len(sampled))]
        if any(each is None for each in ids) or [i for each in ids if each for i in each] != sampled:
            return None
        cuts: list[Piece] = []
        at = 0
        for i, own in zip(which, ids, strict=True):
            size = len(own or ())
            cuts.append(Piece(i, at, at + size))
            at += size
        return cuts

    def _mask(self, sampled: list[int], cuts: Sequence[Piece]) -> list[int] | None:
        """The masks of the spans that own these pieces, one after the other; None where the log has none."""
        known = [(piece, self.trajectory.spans[piece.span].tokens) for piece in cuts]
        masks = [tokens.mask if tokens is not None else None for _, tokens in known]
        if not any(mask is not None for mask in masks):
            return None
        whole: list[int] = []
        for piece, mask in zip(cuts, masks, strict=True):
            whole += [1] * (piece.end - piece.start) if mask is None else mask
        if len(whole) != len(sampled):
            what = f"{len(sampled)} ids were sampled, and the mask has {len(whole)} entries: expected as many"
            raise MisalignedError(self.trajectory.spans[cuts[0].span].turn, cuts[0].span, what)
        return whole

    def _of_spans(self, n: int, which: Sequence[int]) -> list[float] | None:
        """The log-probs of a turn that its spans hold; None, and a note, where they are not one for each id."""
        known = [tokens.logprobs for i in which if (tokens := self.trajectory.spans[i].tokens) is not None]
        whole = [number for numbers in known if numbers is not None for number in numbers]
        if len(known) == len(which) and None not in known and len(whole) == n:
            return whole
        if whole:
            self.notes.append(UNFIT)
        return None

    def _leaves_none(self, n: int, which: Sequence[int]) -> bool:
        """Whether a mask as long as the turn is 0 throughout: none of it is trained, wherever its spans end."""
        known = [self.trajectory.spans[i].tokens for i in which]
        masks = [tokens.mask for tokens in known if tokens is not None and tokens.ids is None and tokens.mask]
        return any(len(mask) == n and not any(mask) for mask in masks)

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

    def compare_arguments(self, sampled: list[int], cuts: Sequence[Piece]) -> None:
        """A note where the ids of a call do not spell its arguments, in any way that is known of writing them.

        A token may hold the end of one span and the beginning of the next, so one on either side is read with it.
        """
        if self.renderer is None:
            return
        for piece in cuts:
            if self.trajectory.spans[piece.span].kind == "tool_call":
                self._compare(self.renderer.decode(sampled[max(0, piece.start - 1) : piece.end + 1]), piece.span)

    def _compare(self, text: str, call: int) -> None:
        assert self.renderer is not None
        one = wanted_of_call(call, self.trajectory.spans[call])
        assert one.arguments is not None
        before, _, after = text.partition(one.text) if one.text else ("", "", text)
        if not text or holds_arguments(before, after, one):
            return
        try:
            able = holds_arguments("", self.renderer.decode(self.renderer.ids(one.arguments[0])), one)
        except InputError:
            able = False
        if able:  # else the tokenizer cannot write them at all
            self.notes.append(OTHER)

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
                divided = territories(text, pieces, which[0])
                for piece in divided:
                    if spans[piece.span].kind == "tool_call":
                        self._compare(text[piece.start : piece.end], piece.span)
                return owners(starts, divided)
        except InputError as error:
            raise MisalignedError(turn, which[0], str(error)) from error
        assert lost is not None
        raise MisalignedError(turn, lost.span, str(lost)) from lost


def _stands_in(ids: list[int], whole: list[int]) -> bool:
    """Whether one sequence is a slice of the other."""
    n = len(ids)
    return not n or any(whole[at] == ids[0] and whole[at : at + n] == ids for at in range(len(whole) - n + 1))


def masked(owned: Sequence[Piece], mask: Sequence[int] | None) -> list[Piece]:
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
