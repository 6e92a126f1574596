"""What the policy read and wrote in every turn, as text: rendered with the chat template, as an engine renders it.

Turn k answers `template(messages before it, add_generation_prompt=True)`; what follows that text in
`template(messages through it)`, up to and including the token that ends the turn, is what was sampled. Where each span
stands in it is seen by rendering the message once more with marks (characters for private use) around its texts and
before the names of its calls. A rendering with marks counts only if it is the one without them, marks taken out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from trajcredit.errors import InputError
from trajcredit.model import Trajectory
from trajcredit.tokens.contexts import restarts
from trajcredit.tokens.finding import (
    NotFoundInTextError,
    Wanted,
    found_in_order,
    wanted_of_message,
    with_arguments,
)
from trajcredit.tokens.messages import ChatMessage, chat_messages, chat_tools
from trajcredit.tokens.record import MisalignedError
from trajcredit.tokens.territories import Piece
from trajcredit.tokens.tokenizer import Renderer

__all__ = ["Said", "Script"]

MARKS = 0x100000
"""The first of the characters that mark spans: plane 16, for private use."""
MOST_MARKS = 0xF000
OPEN, CLOSE = "\U0010fff0", "\U0010fff1"
"""As `templates` puts them around generated text."""

_MARK = re.compile("[\U00100000-\U0010ffff]")
_decode = msgspec.json.Decoder().decode


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
    """A rendering through an answer: places are those of the whole text."""

    text: str
    pieces: tuple[Piece, ...]
    marked: tuple[tuple[int, int], ...]


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
        self._dicts = [_for_template(message, key) for message in self.messages]
        self._contexts = _contexts(self.messages, restarts(trajectory))

    def turns(self, notes: list[str]) -> Iterator[Said]:
        """The answers in order."""
        answers = [i for i, message in enumerate(self.messages) if message.role == "assistant"]
        prompts: dict[int, str] = {}
        for n, i in enumerate(answers):
            prompt = prompts.pop(i) if i in prompts else self._prompt(i)
            said = self._said(i, prompt, self._with_marks(i), notes)
            after = answers[n + 1] if n + 1 < len(answers) else None
            if after is not None:
                prompts[after] = self._prompt(after)
            # a later prompt that goes on with this text is a rendering without marks that has it: nothing more to check
            if after is None or said is None or not prompts[after].startswith(said.prompt + said.text):
                plain = self._render(i, self._context(i, i + 1))
                said = self._checked(i, prompt, said, plain, notes)
            yield said

    def rest(self) -> str | None:
        """The whole transcript as text, where something was observed after the last answer."""
        last = len(self.messages) - 1
        if last < 0 or self.messages[last].role == "assistant":
            return None
        return self._render(last, self._context(last, last + 1))

    # ---------------------------------------------------------------- one answer

    def _checked(self, i: int, prompt: str, said: Said | None, plain: str, notes: list[str]) -> Said:
        """The answer as it is without marks."""
        if said is not None and plain.startswith(said.prompt + said.text):
            return said
        if not plain.startswith(prompt):
            at = next((at for at, (a, b) in enumerate(zip(prompt, plain, strict=False)) if a != b), len(plain))
            what = f"{prompt[at : at + 40]!r} in the prompt, {plain[at : at + 40]!r} once answered"
            raise self._failure(i, None, f"the answer as rendered does not go on with its prompt: {what}")
        try:
            found = found_in_order(plain[len(prompt) :], wanted_of_message(self.messages[i]))
        except NotFoundInTextError as error:
            reason = f"the chat template writes something else than the span says: {error}"
            raise self._failure(i, error.span, reason) from error
        pieces = tuple(Piece(p.span, p.start + len(prompt), p.end + len(prompt)) for p in found)
        marked = (
            self._unmarked(self._render(i, self._context(i, i + 1), marking=True))[1] if self.template.marks else ()
        )
        if self.template.marks and _MARK.search(plain):
            raise self._failure(i, None, "the text holds characters of plane 16, by which generated text is marked")
        notes.append("places of spans were found by their text: the chat template changes texts that bear marks")
        made = self._said(i, prompt, _Answer(plain, pieces, marked), notes)
        assert made is not None
        return made

    def _said(self, i: int, prompt: str, answer: _Answer | None, notes: list[str]) -> Said | None:
        """The part of the text that follows the prompt; None where the marks spoilt it."""
        if answer is None or not answer.text.startswith(prompt):
            return None
        n = len(prompt)
        rest = answer.text[n:]
        pieces = tuple(Piece(p.span, p.start - n, p.end - n) for p in answer.pieces)
        if any(piece.start < 0 for piece in pieces):
            return None
        marked = tuple((max(0, a - n), b - n) for a, b in answer.marked if b > n) if self.template.marks else None
        stop, end = self._ending(rest, max((piece.end for piece in pieces), default=0), notes)
        if marked is not None:
            self._check_marks(i, marked, pieces, rest, end, notes)
        message = self.messages[i]
        span = message.parts[0].span if message.parts else -1
        return Said(self.trajectory.spans[span].turn, span, prompt, rest[:end], stop, pieces, marked)

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

    def _context(self, start: int, end: int) -> list[dict[str, Any]]:
        """The messages before `end` that the policy saw when it wrote message `start`, or what follows it."""
        return [self._dicts[j] for j in self._contexts[start] if j < end] + self._dicts[start:end]

    def _prompt(self, i: int) -> str:
        return self._render(i, self._context(i, i), prompt=True)

    def _render(
        self, i: int, messages: Sequence[Mapping[str, Any]], prompt: bool = False, marking: bool = False
    ) -> str:
        try:
            text = self.renderer.render(messages, self.tools, prompt=prompt, marking=marking)
        except InputError as error:
            nothing = "" if messages else "nothing is logged before this answer, and "
            raise self._failure(i, None, f"{nothing}{error}") from error
        return text

    def _with_marks(self, i: int) -> _Answer | None:
        """The rendering with marks; None where they did not come out as they went in."""
        message = self.messages[i]
        bearing, spans = _marked(message, self._dicts[i])
        if 2 * len(spans) > MOST_MARKS:
            raise self._failure(i, None, f"an answer of {len(spans)} parts")
        try:
            text = self._render(i, [*self._context(i, i), bearing], marking=True)
        except MisalignedError:
            return None  # the rendering without marks says whether it is theirs
        plain, marked, places = self._unmarked(text)
        wanted = wanted_of_message(message)
        pieces: list[Piece] = []
        for number in spans:
            start, end = places.get(2 * number, []), places.get(2 * number + 1, [])
            call = wanted[number].arguments is not None
            if len(start) != 1 or len(end) != (0 if call else 1):
                return None
            pieces.append(Piece(number, start[0], start[0] if call else end[0]))
        pieces.sort(key=lambda piece: piece.start)
        try:
            return _Answer(plain, tuple(with_arguments(plain, list(_settled(plain, pieces, wanted)))), marked)
        except NotFoundInTextError as error:
            raise self._failure(i, error.span, str(error)) from error

    def _unmarked(self, text: str) -> tuple[str, tuple[tuple[int, int], ...], dict[int, list[int]]]:
        """The text without marks, what stands between OPEN and CLOSE, and the places of the others."""
        kept: list[str] = []
        places: dict[int, list[int]] = {}
        blocks: list[tuple[int, int]] = []
        opened = length = at = 0
        for match in _MARK.finditer(text):
            kept.append(text[at : match.start()])
            length += match.start() - at
            at = match.end()
            if match[0] == OPEN:
                opened = length
            elif match[0] == CLOSE:
                blocks.append((opened, length))
            else:
                places.setdefault(ord(match[0]) - MARKS, []).append(length)
        return "".join([*kept, text[at:]]), tuple(blocks), places

    def _failure(self, i: int, span: int | None, reason: str) -> MisalignedError:
        at = self.messages[i].parts[0].span if self.messages[i].parts else None
        turn = -1 if at is None else self.trajectory.spans[at].turn
        return MisalignedError(turn, span if span is not None else at, reason)


# ---------------------------------------------------------------- messages


def _for_template(message: ChatMessage, reasoning_key: str) -> dict[str, Any]:
    """The message as templates expect it: arguments as objects, reasoning under the name that this template reads."""
    made = message.as_dict()
    made["content"] = message.content or ""
    if message.reasoning is not None:
        del made["reasoning_content"]
        made[reasoning_key] = message.reasoning
    for call in made.get("tool_calls", ()):
        call["function"]["arguments"] = _object(call["function"]["arguments"])
    return made


def _object(arguments: str) -> Any:
    try:
        value = _decode(arguments)
    except (msgspec.DecodeError, RecursionError):
        return arguments
    return value if isinstance(value, dict) else arguments


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


def _marked(message: ChatMessage, rendered: Mapping[str, Any]) -> tuple[dict[str, Any], list[int]]:
    """The message with a mark on either side of every text and before every name; which of its parts bear any."""
    fields = {"reasoning": message.reasoning or "", "content": message.content or ""}
    made = {"reasoning": "", "content": ""}
    at = {"reasoning": 0, "content": 0}
    bearing: list[int] = []
    calls = [dict(call, function=dict(call["function"])) for call in rendered.get("tool_calls", ())]
    unmarked = iter(calls)
    for number, part in enumerate(message.parts):
        left, right = chr(MARKS + 2 * number), chr(MARKS + 2 * number + 1)
        if part.field == "call":
            function = next(unmarked)["function"]
            function["name"] = left + function["name"]
            bearing.append(number)
            continue
        text = fields[part.field]
        said = text[part.start : part.end]
        made[part.field] += text[at[part.field] : part.start]
        at[part.field] = part.end
        if core := said.strip():
            where = said.index(core)
            said = said[:where] + left + core + right + said[where + len(core) :]
            bearing.append(number)
        made[part.field] += said
    key = next((key for key in rendered if rendered[key] == message.reasoning and key not in ("content", "role")), None)
    result = {**rendered, "content": made["content"] + fields["content"][at["content"] :]}
    if message.reasoning is not None and key is not None:
        result[key] = made["reasoning"] + fields["reasoning"][at["reasoning"] :]
    if calls:
        result["tool_calls"] = calls
    return result, bearing


def _settled(text: str, pieces: Sequence[Piece], wanted: Sequence[Wanted]) -> Iterator[tuple[Wanted, Piece]]:
    """Pieces by part, in order -> by span, with the white space that is theirs; of calls the names."""
    for n, piece in enumerate(pieces):
        one = wanted[piece.span]
        before = pieces[n - 1].end if n else 0
        after = pieces[n + 1].start if n + 1 < len(pieces) else len(text)
        start, end = piece.start, piece.end
        if one.arguments is not None:
            end = start + len(one.text)
        else:
            lead = one.text[: len(one.text) - len(one.text.lstrip())]
            trail = one.text[len(one.text.rstrip()) :]
            if text[max(before, start - len(lead)) : start] == lead:
                start -= len(lead)
            if text[end : min(after, end + len(trail))] == trail:
                end += len(trail)
        yield one, Piece(one.span, start, end)
