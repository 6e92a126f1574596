"""TRL data sets and completion logs, as JSON lines or Parquet.

Rows of `prompt` with `completion`, of `chosen` and `rejected`, or of `completions`, which are steps.

| key | is |
| --- | --- |
| `prompt`, `completion` | messages or plain text; arguments that are null are absent: data sets fill them in |
| `chosen`, `rejected` | two trajectories of one group; `score_chosen` and `score_rejected`, if logged, are rewards |
| `completions`, `labels` | steps of one answer, and whether each is right: rewards of the steps |
| `advantage` beside `step` | a log of GRPO: the other numbers are its rewards, rows of one prompt and step a group |
| `tools` | the declared tools, as a list or its JSON text |

| note | says |
| --- | --- |
| `preference` | the log prefers one answer to the other: an order, no figure, so neither has a reward |
| `summed-rewards` | several reward functions: they are added, the log does not say their weights |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import msgspec

from trajcredit.errors import InputError, ParseError
from trajcredit.formats.chat import Message, entry_of, finite
from trajcredit.formats.document import Document, Match, decoded
from trajcredit.formats.entries import Entry, Part
from trajcredit.formats.history import NULL
from trajcredit.formats.labels import Labels, labels_of, of_entries, several
from trajcredit.formats.parts import tools_of
from trajcredit.formats.split import Record
from trajcredit.formats.written import with_written_calls
from trajcredit.model import ACTION_KINDS, Note, Reward, SpanKind, Trajectory
from trajcredit.registry import formats

__all__ = ["Trl"]

FORMAT = "trl"
Said = str | list[Message]
_numbers = msgspec.json.Decoder(dict[str, Any]).decode


class Row(Labels, gc=False):
    """One row of any of these."""

    prompt: Said | None = None
    completion: Said | None = None
    chosen: Said | None = None
    rejected: Said | None = None
    score_chosen: float | None = None
    score_rejected: float | None = None
    completions: list[str] | None = None
    labels: list[bool | int | float | None] | None = None
    label: bool | None = None
    tools: msgspec.Raw = NULL
    advantage: float | None = None


_decode = msgspec.json.Decoder(Row).decode
OF_GRPO = frozenset(("step", "advantage"))
"""Columns that a GRPO log has beside its reward functions, one of which may be called `reward`."""
OWN = {"prompt", "completion", "completions", "advantage", "step", *Labels.__struct_fields__}


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class Trl:
    """TRL sets, Parquet too: prompt and completion, chosen and rejected, labelled steps, logs of GRPO completions.

    Left out: the logged advantage, which is computed anew; columns of a log that are no numbers.
    """

    def sniff(self, document: Document) -> Match:
        """`completion` beside `prompt`, or `chosen` beside `rejected`, or `completions` beside `labels`."""
        keys = document.keys
        if {"chosen", "rejected"} <= keys or {"prompt", "completions", "labels"} <= keys:
            return Match.YES
        ours = {"prompt", "completion"} <= keys and ("reward" not in keys or keys >= OF_GRPO)
        return Match.YES if ours else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory a row, two where it compares two answers."""
        return several(document, _decode, _trajectories)


def _trajectories(document: Document, record: Record, row: Row, notes: list[Note]) -> Iterator[Trajectory]:
    if row.chosen is not None and row.rejected is not None:
        yield from _pair(document, record, row, notes)
        return
    if row.completions is not None and row.labels is not None:
        yield _steps(document, record, row, notes)
        return
    if row.completion is None:
        raise InputError("neither `completion`, nor `chosen` and `rejected`, nor `completions` and `labels`")
    labels = labels_of(row)
    if row.label is not None and row.reward is None:
        labels = msgspec.structs.replace(labels, reward=row.label, reward_source="human")
    rewards: list[Reward] = []
    if row.advantage is not None:
        labels.group = labels.group or _group(row)
        rewards, more = _logged(decoded(document, record, _numbers)[0])
        notes = notes + more
    yield _read(document, record, row, row.completion, labels, notes, rewards)


def _pair(document: Document, record: Record, row: Row, notes: list[Note]) -> Iterator[Trajectory]:
    name = document.name_of(record)
    for which, said, score in (
        ("chosen", row.chosen, row.score_chosen),
        ("rejected", row.rejected, row.score_rejected),
    ):
        labels = labels_of(row)
        base = labels.trajectory_id or labels.id or name
        labels.trajectory_id, labels.group = f"{base}:{which}", labels.group_id or labels.group or str(base)
        labels.reward, labels.reward_source = score, "judge"
        other = f"{base}:{'rejected' if which == 'chosen' else 'chosen'}"
        order = f"preferred to {other!r}" if which == "chosen" else f"{other!r} is preferred to it"
        yield _read(
            document, record, row, said or "", labels, [*notes, Note("preference", f"{order}: an order, no reward")]
        )


def _steps(document: Document, record: Record, row: Row, notes: list[Note]) -> Trajectory:
    completions, verdicts = row.completions or [], row.labels or []
    if len(completions) != len(verdicts):
        raise InputError(f"labels holds {len(verdicts)} verdicts for {len(completions)} completions")
    prompt = _entries(row.prompt, "user")
    steps = [Entry([Part("assistant", text)], acts=True, joins=True) for text in completions]
    found = of_entries([*prompt, *steps], labels_of(row), document, record, FORMAT, notes=notes)
    first = next((i for i, span in enumerate(found.spans) if span.message_index == len(prompt)), 0)
    rewards = [
        Reward(float(finite(verdict, f"labels[{place}]")), "human", first + place)
        for place, verdict in enumerate(verdicts)
        if verdict is not None
    ]
    return msgspec.structs.replace(found, rewards=[*found.rewards, *rewards])


def _read(
    document: Document,
    record: Record,
    row: Row,
    said: Said,
    labels: Labels,
    notes: list[Note],
    rewards: list[Reward] | None = None,
) -> Trajectory:
    tools = tools_of(bytes(row.tools))
    entries = [*_entries(row.prompt, "user"), *_entries(said, "assistant")]
    entries = with_written_calls(entries, {tool.name for tool in tools})
    return of_entries(entries, labels, document, record, FORMAT, notes=notes, rewards=rewards or [], tools=tools)


def _entries(said: Said | None, kind: SpanKind) -> list[Entry]:
    if said is None or isinstance(said, str):
        return [Entry([Part(kind, said)], acts=kind in ACTION_KINDS)] if said else []
    entries = [entry_of(message) for message in said]
    for entry in entries:
        for part in entry.parts:
            if part.arguments is not None and part.arguments.raw is None:
                part.arguments.value = _without_nulls(part.arguments.value)
    return entries


def _without_nulls(value: Any) -> Any:
    """Arguments as they were before a table gave every row the keys of all."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return value


def _group(row: Row) -> str:
    prompt = msgspec.json.encode(row.prompt)
    return f"step-{row.step}-{sha256(prompt).hexdigest()[:12]}"


def _logged(columns: dict[str, Any]) -> tuple[list[Reward], list[Note]]:
    """The columns of a GRPO log that are numbers and none of ours: one a reward function."""
    numbers = {
        key: finite(value, key)
        for key, value in columns.items()
        if key not in OWN and isinstance(value, int | float) and not isinstance(value, bool)
    }
    if not numbers:
        return [], []
    names = ", ".join(sorted(numbers))
    several = Note("summed-rewards", f"{names} are added: the log does not say their weights")
    return [Reward(float(sum(numbers.values())), name="+".join(sorted(numbers)))], [several] if len(numbers) > 1 else []
