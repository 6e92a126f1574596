"""Long runs put together from short renderings, so that the work grows with the answers and not with their square.

A template that writes each message by itself writes the same whatever stood before it. And one that leaves the thinking
out of its history does so for all answers before the last user message: an answer has one form while nobody asked
anything new, and another one ever after. So with O the text of the messages before the first answer and G the
generation prompt,

    prompt of answer k = O + old(1) + ... + old(s - 1) + now(first of s) + ... + now(k - 1) + G

where segment s is what follows the last user message before k, now(j) is what an answer and what it observed add behind
the opening messages, and old(r) what a whole segment adds with the user message that ends it. Each is rendered once.
It counts only where prompts and answers rendered in whole are what was put together: answers 1, 2, 4, 8, ..., every
16th part of the run, and the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from trajcredit.tokens.record import MisalignedError

if TYPE_CHECKING:
    from trajcredit.tokens.rendered import Said, Script

__all__ = ["PutTogether", "put_together"]

LOOKS = 16
"""Parts of a run at whose ends it is rendered in whole."""


@dataclass(slots=True)
class PutTogether:
    """The answers of a run without their prompts, and what each prompt adds to the one before."""

    opening: str
    asks: str
    """The generation prompt."""
    said: list[Said] = field(default_factory=list)
    steps: list[tuple[bool, str]] = field(default_factory=list)
    """Of each answer: whether a segment ended before it, and the text of that segment or of the last exchange."""
    notes: list[str] = field(default_factory=list)

    def turns(self) -> Iterator[Said]:
        """The answers with their prompts."""
        old, now = self.opening, ""
        for said, (ended, text) in zip(self.said, self.steps, strict=True):
            old, now = (old + text, "") if ended else (old, now + text)
            yield replace(said, prompt=old + now + self.asks)

    def added(self, prompt: str) -> str | None:
        """What stands between the opening messages and the generation prompt."""
        end = len(prompt) - len(self.asks)
        if end < len(self.opening) or not (prompt.startswith(self.opening) and prompt.endswith(self.asks)):
            return None
        return prompt[len(self.opening) : end]


def put_together(script: Script, run: Sequence[int]) -> PutTogether | None:
    """The answers of a run (messages of one context, in order); None where whole renderings are needed after all."""
    try:
        return _put_together(script, run)
    except MisalignedError:
        return None  # the slow way says where and why, if it fails as well


def _put_together(script: Script, run: Sequence[int]) -> PutTogether | None:
    opening = script.context(run[0], run[0])
    first, before = script.prompt(run[0]), script.render(run[0], opening)
    if not first.startswith(before):
        return None
    made = PutTogether(before, first[len(before) :])
    parts, settled, begun = [before], 1, 0
    for n, i in enumerate(run):
        last = script.dicts[run[n - 1] : i] if n else []
        prompt = script.render(i, opening + last, prompt=True) if n else first
        ended = any(message["role"] == "user" for message in last)
        whole = prompt
        if ended and begun < n - 1:
            whole = script.render(i, opening + script.dicts[run[begun] : i], prompt=True)
        text = made.added(whole)
        said = script.said(i, prompt, script.with_marks(i, prompt, opening + last), made.notes)
        if text is None or said is None:
            return None
        made.said.append(replace(said, prompt=""))
        made.steps.append((ended, text))
        if ended:
            del parts[settled:]
            settled, begun = settled + 1, n
        parts.append(text)
        if _is_looked_at(n, len(run)) and not _is_so(script, i, "".join([*parts, made.asks]), said.text):
            return None
    return made


def _is_looked_at(n: int, of: int) -> bool:
    return n & (n + 1) == 0 or n == of - 1 or n % max(LOOKS, of // LOOKS) == 0


def _is_so(script: Script, i: int, prompt: str, answer: str) -> bool:
    """Whether this prompt and answer are what whole renderings have."""
    return prompt == script.prompt(i) and script.render(i, script.context(i, i + 1)).startswith(prompt + answer)
