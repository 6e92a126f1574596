"""Rows from the ids that the engine logged: they are taken as they are, and never made again from text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from trajcredit.arrays import F64
from trajcredit.model import ACTION_KINDS, SpanTokens, Trajectory, TurnTokens
from trajcredit.tokens.contexts import restarts
from trajcredit.tokens.cutting import Cutter, masked
from trajcredit.tokens.record import MisalignedError, Share
from trajcredit.tokens.rows import Acted, OpenRow
from trajcredit.tokens.territories import Piece
from trajcredit.tokens.tokenizer import Renderer

__all__ = ["NoPromptError", "has_ids", "recorded"]


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
        cuts: list[Piece] = []
        for i in which:
            tokens = spans[i].tokens
            if tokens is None or tokens.ids is None:
                raise MisalignedError(turn, i, self._why_none(turn))
            cuts.append(Piece(i, len(sampled), len(sampled) + len(tokens.ids)))
            sampled += tokens.ids
            self._begin(turn, logged.prompt_ids if logged is not None and first else None, i)
            first = False
            self.seen = i + 1
            self.current = self.current or self._opened(OpenRow())
            owned = masked([Piece(i, 0, len(tokens.ids))], tokens.mask)
            if not self.current.ids and owned and owned[0].start == 0:
                raise NoPromptError(turn, i, "the log has no ids of what this turn answers")
            version = self.trajectory.policy_version if logged is None else logged.policy_version
            self.current.act(Acted(turn, tokens.ids, owned, tokens.logprobs, version))
        self.cutter.check_spelled(sampled, which)
        self.cutter.compare_arguments(sampled, cuts)

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
