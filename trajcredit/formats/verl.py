"""Rollout dumps of verl: decoded text of prompt and response, one rollout a line.

| key | is |
| --- | --- |
| `input`, `output` | what was read and written; borders of turns are guessed from the words of the chat template |
| `score` | the reward, from the verifier |
| `step` | the training step; rows with one `input` and step are a group |
| `gts`, `request_id` | the right answer, the id |

| note | says |
| --- | --- |
| `split-text` | the dump has no borders of turns: they are guessed from the words of the chat template |
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import msgspec

from trajcredit.errors import ParseError
from trajcredit.formats.document import Document, Match, trajectories
from trajcredit.formats.entries import Entry, Part
from trajcredit.formats.labels import Labels, labels_of, of_entries
from trajcredit.formats.parts import thought_and_text
from trajcredit.formats.split import Record
from trajcredit.formats.written import with_written_calls
from trajcredit.model import Note, SpanKind, Trajectory
from trajcredit.registry import formats

__all__ = ["Verl"]

FORMAT = "verl"
SPLIT = Note("split-text", "the dump has no borders of turns: they are guessed from the words of the chat template")
ROLES: dict[str, SpanKind] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool_result"}

_CHATML = re.compile(r"<\|im_start\|>(system|user|assistant|tool)\n")
_END = "<|im_end|>"
_WORDS = re.compile(r"(system|user|assistant|tool)\n")


class Row(Labels, gc=False):
    """One rollout."""

    input: str
    output: str
    score: float | bool | None = None
    gts: Any = None
    request_id: str | int | None = None


_decode = msgspec.json.Decoder(Row).decode


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class Verl:
    """verl rollout dumps: input, output and score of one rollout a line; turns and calls found in the text.

    Left out: reward columns beside `score`. A dump holds no token ids, masks or log-probs.
    """

    def sniff(self, document: Document) -> Match:
        """Its lines have these four keys, the first two text."""
        if not {"input", "output", "score", "step"} <= document.keys:
            return Match.NO
        return Match.YES if isinstance(document.peek("output"), str) else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory a line."""
        return trajectories(document, _decode, _trajectory)


def _trajectory(document: Document, record: Record, row: Row, notes: list[Note]) -> Trajectory:
    task = f"prompt-{sha256(row.input.encode()).hexdigest()[:12]}"
    labels = labels_of(row)
    labels.trajectory_id = labels.trajectory_id or row.request_id
    labels.task = labels.task if labels.task is not None else task
    labels.reward = row.score if row.score is not None else row.reward
    labels.answer = row.gts if row.gts is not None else row.answer
    entries = [*_turns(row.input, "user"), *_turns(row.output, "assistant")]
    return of_entries(with_written_calls(entries), labels, document, record, FORMAT, notes=[*notes, SPLIT])


def _turns(text: str, first: SpanKind) -> list[Entry]:
    """The turns of a text that begins with this kind; an assistant's turn that says nothing is no turn."""
    found: list[Entry] = []
    kind, start = first, 0
    for border in [*_borders(text), None]:
        said = text[start : border.start() if border else len(text)].replace(_END, "").strip()
        if said:
            found.append(_entry(kind, said))
        if border is not None:
            kind, start = ROLES[border[1]], border.end()
    return found


def _borders(text: str) -> Iterator[re.Match[str]]:
    """The words of the chat template: between its marks, else at the begin of a line or right behind a tag."""
    if "<|im_start|>" in text:
        yield from _CHATML.finditer(text)
        return
    for word in _WORDS.finditer(text):
        if word.start() == 0 or text[word.start() - 1] in "\n>":
            yield word


def _entry(kind: SpanKind, said: str) -> Entry:
    if kind != "assistant":
        return Entry([Part(kind, said)])
    thought, text = thought_and_text(said)
    parts = [Part("reasoning", thought, inferred=True)] if thought else []
    return Entry([*parts, Part("assistant", text)] if text else parts, acts=True)
