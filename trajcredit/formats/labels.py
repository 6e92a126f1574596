"""The keys that logs of any chat form write beside their messages: ids, group, reward, how it ended.

| key | is |
| --- | --- |
| `trajectory_id`, else `id` | the id, else file name and record number |
| `group_id`, else `group` | the rollouts it is compared with |
| `task_id`, else `task`; `trial`; `step`; `policy_version` | what was attempted, which time, when, by which policy |
| `reward` | the verdict on the whole: a number, true or false; null is none |
| `reward_source` | who gave it: `verifier` (also where it is absent), `human`, `reward_model` or `judge` |
| `reward_at` | when, as text (ISO 8601): of one source the latest counts |
| `terminated`, `truncated` | how it ended |
| `answer` | the known right answer |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec.structs import replace

from trajcredit.errors import InputError, ParseError
from trajcredit.formats.chat import logged_id, outcome_of
from trajcredit.formats.document import Document, decoded
from trajcredit.formats.entries import Entry, write_all
from trajcredit.formats.parts import json_text
from trajcredit.formats.split import Bytes, Record
from trajcredit.formats.transcript import Transcript
from trajcredit.model import LARGEST_INTEGER, Note, Reward, RewardSource, Tool, Trajectory, TurnTokens

__all__ = ["Id", "Labels", "labelled", "labels_of", "of_entries", "several"]

Id = str | int | None
T = TypeVar("T")


class Labels(msgspec.Struct, gc=False, kw_only=True):
    """What stands beside the messages; a reader's row adds the messages."""

    trajectory_id: Id = None
    id: Id = None
    group_id: Id = None
    group: Id = None
    task_id: Id = None
    task: Id = None
    reward: float | bool | None = None
    reward_source: RewardSource | None = None
    reward_at: str | None = None
    policy_version: str | int | float | None = None
    trial: Id = None
    step: Annotated[int, msgspec.Meta(ge=-LARGEST_INTEGER, le=LARGEST_INTEGER)] | None = None
    terminated: bool | None = None
    truncated: bool | None = None
    answer: Any = None


def labels_of(row: Labels) -> Labels:
    """What stands beside the messages of a row, by itself."""
    return Labels(**{name: getattr(row, name) for name in Labels.__struct_fields__})


def several(
    document: Document,
    decode: Callable[[Bytes], T],
    build: Callable[[Document, Record, T, list[Note]], Iterable[Trajectory]],
) -> Iterator[Trajectory | ParseError]:
    """Any number of trajectories a record, or the error in its place."""
    for record in document.records:
        try:
            if isinstance(record, ParseError):
                raise record
            value, notes = decoded(document, record, decode)
            yield from build(document, record, value, notes)
        except ParseError as error:
            yield error
        except InputError as error:
            yield document.error(str(error), record if isinstance(record, Record) else None)


def labelled(
    labels: Labels,
    document: Document,
    record: Record | None,
    format: str,
    transcript: Transcript,
    *,
    notes: Sequence[Note] = (),
    rewards: Sequence[Reward] = (),
    tools: Iterable[Tool] = (),
    turns: Sequence[TurnTokens] = (),
    model: str | None = None,
) -> Trajectory:
    """The trajectory of a finished transcript, with what its row says of it."""
    answer = labels.answer
    found = Trajectory(  # with more than 15 names a call takes thrice the time: the rarest follow
        id=_either(labels.trajectory_id, labels.id) or document.name_of(record),
        dataset=document.dataset_of(record),
        task=_either(labels.task_id, labels.task),
        group=_either(labels.group_id, labels.group),
        trial=logged_id(labels.trial),
        step=labels.step,
        model=model,
        terminated=labels.terminated,
        truncated=labels.truncated,
        answer=answer if answer is None or isinstance(answer, str) else json_text(answer),
        rewards=[*outcome_of(labels.reward, labels.reward_source, labels.reward_at), *rewards],
        tools=list(tools),
        spans=transcript.spans,
        report=[*notes, *transcript.notes],
        source=document.origin_of(format, record),
    )
    if not turns and labels.policy_version is None:
        return found
    version = None if labels.policy_version is None else str(labels.policy_version)
    return replace(found, turns=list(turns), policy_version=version)


def _either(first: Id, second: Id) -> str | None:
    """The first id, else the second; empty ones are none."""
    if first is None or first == "":
        first = second
    return None if first is None or first == "" else str(first)


def of_entries(
    entries: Iterable[Entry],
    labels: Labels,
    document: Document,
    record: Record | None,
    format: str,
    *,
    system: Iterable[Entry] = (),
    notes: Sequence[Note] = (),
    rewards: Sequence[Reward] = (),
    tools: Iterable[Tool] = (),
    model: str | None = None,
) -> Trajectory:
    """The trajectory of entries; what `system` says is in no list of the log."""
    transcript = Transcript()
    write_all(transcript, system, None)
    turns = write_all(transcript, entries)
    transcript.finish()
    return labelled(
        labels,
        document,
        record,
        format,
        transcript,
        notes=notes,
        rewards=rewards,
        tools=tools,
        turns=turns,
        model=model,
    )
