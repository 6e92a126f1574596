"""What the policy read and wrote in every turn, as text: rendered with the chat template, as an engine renders it.

Turn k answers `template(messages before it, add_generation_prompt=True)`; what follows that text in
`template(messages through it)`, up to and including the token that ends the turn, is what was sampled. Where each span
stands in it is seen by rendering the message once more with marks (characters for private use) around its texts and
before the names of its calls. A rendering with marks counts only if it is the one without them, marks taken out.
And it counts only with the words of the log in their order (`verbatim`): else the policy would be trained on others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from trajcredit.errors import InputError
from trajcredit.model import ACTION_KINDS, Trajectory
from trajcredit.tokens.contexts import guessed, restarts
from trajcredit.tokens.finding import (
    NotFoundInTextError,
    Wanted,
    found_in_order,
    wanted_of_message,
    with_arguments,
)
from trajcredit.tokens.inline import INLINE, rewritten
from trajcredit.tokens.long import put_together
from trajcredit.tokens.marks import MARK, MOST_MARKS, for_template, marked, settled, unmarked
from trajcredit.tokens.messages import ChatMessage, chat_messages, chat_tools
from trajcredit.tokens.record import MisalignedError
from trajcredit.tokens.territories import Piece
from trajcredit.tokens.tokenizer import Renderer
from trajcredit.tokens.verbatim import check_words, excerpts

__all__ = ["Said", "Script"]

FEW = 32
"""Answers of one context up to which every prompt is rendered from its first message on."""

BY_TEXT = "places of spans were found by their text: the chat template changes texts that bear marks"
REWRITTEN = "calls that the policy wrote as text are written as the template writes calls"
GUESSED = "a context restart was guessed from a message that begins like a summary of the conversation"
NO_TEXT = "parts that are no text are left out of prompts: markers such as [image_url] stand for them"
NO_TEXT_SAID = "parts of answers that are no text are trained as the markers that stand for them"
SILENT = "turns of which the log has no words are left out of prompts (an empty answer, say)"


@dataclass(frozen=True, slots=True)
class Said:
    """One answer of the policy. All places are characters of `text`."""

    turn: int
    whole: int
    """The span that owns everything where none of its spans says anything."""
    prompt: str
    text: str
    """What was sampled, with the token that ends the turn."""
    stop: int
    """Where that token begins; the length of the text where the template writes none."""
    pieces: tuple[Piece, ...]
    marked: tuple[tuple[int, int], ...] | None
    """What the template marks as generated; None where it marks nothing at all."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What follows a prompt in a rendering through its answer: places are those of this text."""

    text: str
    pieces: tuple[Piece, ...]
    marked: tuple[tuple[int, int], ...]
    wrong: NotFoundInTextError | None = None
    """Something stands there in other words, if marks change nothing else."""


class Script:
    """A trajectory as messages, and what they become; MisalignedError names the place where that fails."""

    def __init__(self, trajectory: Trajectory, renderer: Renderer) -> None:
        self.renderer = renderer
        self.trajectory = trajectory
        try:
            self.messages = chat_messages(trajectory)
            self.tools = chat_tools(trajectory)
            self.template = renderer.template(self.tools)
        except InputError as error:
            raise MisalignedError(-1, None, str(error)) from error
        key = renderer.reasoning_key(self.tools)
        self.dicts = [for_template(message, key) for message in self.messages]
        self._contexts = _contexts(self.messages, restarts(trajectory))

    def turns(self, notes: list[str]) -> Iterator[Said]:
        """The answers in order."""
        notes += self._remarks()
        for run in self._runs([i for i, message in enumerate(self.messages) if message.role == "assistant"]):
            made = put_together(self, run) if len(run) > FEW else None
            if made is None:
                yield from self._one_by_one(run, notes)
            else:
                notes += made.notes
                yield from made.turns()

    def rest(self) -> str | None:
        """The whole transcript as text, where something was observed after the last answer."""
        last = len(self.messages) - 1
        if last < 0 or self.messages[last].role == "assistant":
            return None
        return self.render(last, self.context(last, last + 1))

    def _remarks(self) -> list[str]:
        """What is to be said of the transcript before anything is rendered."""
        spans = self.trajectory.spans
        acts = {span.turn for span in spans if span.kind in ACTION_KINDS}
        held = {part.span for message in self.messages for part in message.parts if part.field == "content"}
        opaque = {note.span for note in self.trajectory.report if note.code == "opaque-part" and note.span is not None}
        acting = {i for i in opaque if i < len(spans) and spans[i].kind in ACTION_KINDS}
        said = {
            REWRITTEN: any(
                span.inferred and span.kind == "tool_call" and i not in held for i, span in enumerate(spans)
            ),
            GUESSED: bool(guessed(self.trajectory)),
            NO_TEXT: bool(opaque - acting),
            NO_TEXT_SAID: bool(acting),
            SILENT: any(span.turn >= 0 and span.turn not in acts for span in spans),
        }
        return [sentence for sentence, holds in said.items() if holds]

    # ---------------------------------------------------------------- all answers of a context

    def _runs(self, answers: Sequence[int]) -> Iterator[list[int]]:
        """The answers, parted where the context begins anew."""
        run: list[int] = []
        for i in answers:
            if run and len(self._contexts[i]) - len(self._contexts[run[0]]) != i - run[0]:
                yield run
                run = []
            run.append(i)
        if run:
            yield run

    def _one_by_one(self, run: Sequence[int], notes: list[str]) -> Iterator[Said]:
        """Every prompt rendered in whole: right for whatever a template does, and quadratic in the answers."""
        prompts: dict[int, str] = {}
        for n, i in enumerate(run):
            prompt = prompts.pop(i) if i in prompts else self.prompt(i)
            answer = self.with_marks(i, prompt, self.context(i, i))
            said = self.said(i, prompt, answer, notes)
            after = run[n + 1] if n + 1 < len(run) else None
            if after is not None:
                prompts[after] = self.prompt(after)
            # a later prompt that goes on with this text is a rendering without marks that has it: nothing more to check
            if after is None or said is None or not prompts[after].startswith(said.prompt + said.text):
                plain = self.render(i, self.context(i, i + 1))
                said = self._checked(i, prompt, said, answer, plain, notes)
            yield said

    # ---------------------------------------------------------------- one answer

    def _checked(
        self, i: int, prompt: str, said: Said | None, answer: _Answer | None, plain: str, notes: list[str]
    ) -> Said:
        """The answer as it is without marks."""
        if said is not None and plain.startswith(said.prompt + said.text):
            return said
        if not plain.startswith(prompt):
            at = next((at for at, (a, b) in enumerate(zip(prompt, plain, strict=False)) if a != b), len(plain))
            what = f"{prompt[at : at + 40]!r} in the prompt, {plain[at : at + 40]!r} once answered"
            raise self._failure(i, None, f"the answer as rendered does not go on with its prompt: {what}")
        rest = plain[len(prompt) :]
        if answer is not None and answer.wrong is not None and answer.text == rest:
            raise self._failure(i, answer.wrong.span, str(answer.wrong)) from answer.wrong
        wanted = [one for one in wanted_of_message(self.messages[i]) if one.text.strip()]
        try:
            pieces = found_in_order(rest, wanted)
        except NotFoundInTextError as error:
            missing = next(one for one in wanted if one.span == error.span)
            other = f"the chat template writes something else than the log has: {error}"
            reason = str(_left_out(rest, missing)) if missing.arguments is None else other
            raise self._failure(i, error.span, reason) from error
        try:
            check_words(rest, list(zip(wanted, pieces, strict=True)))
        except NotFoundInTextError as error:
            raise self._failure(i, error.span, str(error)) from error
        blocks: tuple[tuple[int, int], ...] = ()
        if self.template.marks:
            blocks = unmarked(self.render(i, self.context(i, i + 1), marking=True)[len(prompt) :])[1]
            if MARK.search(plain):
                raise self._failure(i, None, "the text holds characters of plane 16, by which generated text is marked")
        notes.append(BY_TEXT)
        made = self.said(i, prompt, _Answer(rest, tuple(pieces), blocks), notes)
        assert made is not None
        return made

    def said(self, i: int, prompt: str, answer: _Answer | None, notes: list[str]) -> Said | None:
        """The turn; None where marks spoilt its text, or other words than the policy's stand in it."""
        if answer is None or answer.wrong is not None:
            return None
        rest, pieces = answer.text, answer.pieces
        self._check_order(i, pieces)
        generated = answer.marked if self.template.marks else None
        stop, end = self._ending(rest, max((piece.end for piece in pieces), default=0), notes)
        if generated is not None:
            self._check_marks(i, generated, pieces, rest, end, notes)
        message = self.messages[i]
        if rewritten(message, self.trajectory.spans, prompt, rest, pieces):
            notes.append(INLINE)
        span = message.parts[0].span if message.parts else -1
        return Said(self.trajectory.spans[span].turn, span, prompt, rest[:end], stop, pieces, generated)

    def _check_order(self, i: int, pieces: Sequence[Piece]) -> None:
        """What was said first must stand first: advantages and prompts would be those of another answer."""
        inside = {part.span for part in self.messages[i].parts if part.field == "content"}
        spans = self.trajectory.spans
        own = [p.span for p in pieces if not (p.span in inside and spans[p.span].kind == "tool_call")]
        for first, then in pairwise(own):
            if then < first:
                order = f"{spans[first].kind} before {spans[then].kind}, which the log has the other way round"
                raise self._failure(i, first, f"the chat template writes {order}")

    def _ending(self, rest: str, said: int, notes: list[str]) -> tuple[int, int]:
        """Where the token that ends the turn begins and ends: the first behind what the spans say."""
        places = [(at, at + len(end)) for end in self.renderer.ends if (at := rest.find(end, said)) >= 0]
        if places:
            return min(places)
        tail = rest.rstrip()
        last = max((token for token in self.renderer.special if tail.endswith(token)), key=len, default=None)
        if last is not None and len(tail) - len(last) >= said:
            return len(tail) - len(last), len(tail)
        notes.append("the chat template ends answers with no special token: all that it writes is taken for sampled")
        return len(rest), len(rest)

    def _check_marks(
        self,
        i: int,
        marked: Sequence[tuple[int, int]],
        pieces: Sequence[Piece],
        rest: str,
        end: int,
        notes: list[str],
    ) -> None:
        """What the template marks as generated must hold what the spans say."""
        for piece in pieces:
            if not any(a <= piece.start and piece.end <= b for a, b in marked):
                raise self._failure(i, piece.span, "the template's generation marks leave out what the span says")
        if not marked:
            raise self._failure(i, None, "the template's generation marks leave this answer out")
        if rest[end : marked[-1][1]].strip():
            notes.append("the template marks text behind the token that ends the turn as generated: left out")
        if marked[0][0] > 0:
            notes.append(
                "the template's generation marks begin after the generation prompt: what is between is context"
            )

    # ---------------------------------------------------------------- rendering

    def context(self, start: int, end: int) -> list[dict[str, Any]]:
        """The messages before `end` that the policy saw when it wrote message `start`, or what follows it."""
        return [self.dicts[j] for j in self._contexts[start] if j < end] + self.dicts[start:end]

    def prompt(self, i: int) -> str:
        """What the policy answered with message i."""
        return self.render(i, self.context(i, i), prompt=True)

    def render(self, i: int, messages: Sequence[Mapping[str, Any]], prompt: bool = False, marking: bool = False) -> str:
        """The text of messages; MisalignedError says that it was wanted for message i."""
        try:
            text = self.renderer.render(messages, self.tools, prompt=prompt, marking=marking)
        except InputError as error:
            nothing = "" if messages else "nothing is logged before this answer, and "
            raise self._failure(i, None, f"{nothing}{error}") from error
        return text

    def with_marks(self, i: int, prompt: str, context: list[dict[str, Any]]) -> _Answer | None:
        """The answer rendered with marks; None where they did not come out as they went in."""
        message = self.messages[i]
        bearing, spans = marked(message, self.dicts[i])
        if 2 * len(spans) > MOST_MARKS:
            raise self._failure(i, None, f"an answer of {len(spans)} parts")
        try:
            text = self.render(i, [*context, bearing], marking=True)
        except MisalignedError:
            return None  # the rendering without marks says whether it is theirs
        plain, blocks, places = unmarked(text)
        n = len(prompt)
        if not plain.startswith(prompt):
            return None
        rest = plain[n:]
        blocks = tuple((max(0, a - n), b - n) for a, b in blocks if b > n)
        wanted = wanted_of_message(message)
        pieces: list[Piece] = []
        for number in spans:
            start, end = places.get(2 * number, []), places.get(2 * number + 1, [])
            call = wanted[number].arguments is not None
            if not start and not end and not call:  # the name of a call may stand in its id, which bears no mark
                return _Answer(rest, (), blocks, _left_out(rest, wanted[number]))
            if len(start) != 1 or len(end) != (0 if call else 1) or start[0] < n:
                return None
            pieces.append(Piece(number, start[0] - n, (start if call else end)[0] - n))
        pieces.sort(key=lambda piece: piece.start)
        found = list(settled(rest, pieces, wanted))
        try:
            whole = with_arguments(rest, found)
            check_words(rest, [(one, piece) for (one, _), piece in zip(found, whole, strict=True)])
        except NotFoundInTextError as error:
            return _Answer(rest, (), blocks, error)
        return _Answer(rest, tuple(whole), blocks)

    def _failure(self, i: int, span: int | None, reason: str) -> MisalignedError:
        at = self.messages[i].parts[0].span if self.messages[i].parts else None
        turn = -1 if at is None else self.trajectory.spans[at].turn
        return MisalignedError(turn, span if span is not None else at, reason)


def _left_out(text: str, one: Wanted) -> NotFoundInTextError:
    return NotFoundInTextError(one.span, excerpts(text, one.text.strip(), aligned=False))


def _contexts(messages: Sequence[ChatMessage], new: frozenset[int]) -> list[list[int]]:
    """For every message the earlier ones that stand before it: all, or after a compaction the opening system ones."""
    opening = next((i for i, message in enumerate(messages) if message.role != "system"), len(messages))
    found: list[list[int]] = []
    first = 0
    answered = False
    for i, message in enumerate(messages):
        if answered and not new.isdisjoint(message.spans):
            first, answered = i, False
        answered = answered or message.role == "assistant"
        again = messages[first].role == "system"  # the new context has a system message of its own
        found.append([*range(0 if again else min(opening, first)), *range(first, i)])
    return found
