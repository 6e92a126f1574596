"""ToolBench answers: a search tree whose every leaf is one attempt at the task.

| in the log | is |
| --- | --- |
| a path from the root to a leaf | a trajectory; paths of one file are a group and share their beginning |
| `Thought` | what the model says; `Action` and the `Action Input` below it are a call, `observation` its result |
| `observation_code` | 0 and 3: no error; 4: given up; others: an error of the tool |
| `win`, for the path that ends in the final answer | 1, else 0: the reward |
| system and user prompt | those of `train_messages` |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from trajcredit.errors import InputError, ParseError
from trajcredit.formats.chat import Message, entry_of
from trajcredit.formats.document import Document, Match
from trajcredit.formats.entries import Entry, Part, bounded
from trajcredit.formats.history import NULL
from trajcredit.formats.labels import Labels, of_entries, several
from trajcredit.formats.parts import arguments_of, text_of, tools_of
from trajcredit.formats.split import Record
from trajcredit.model import Note, Trajectory
from trajcredit.registry import formats

__all__ = ["ToolBench"]

FORMAT = "toolbench"
FINISHED, GIVEN_UP = 3, 4


class Node(msgspec.Struct, gc=False):
    """One node of the tree."""

    node_type: str = ""
    description: Any = None
    observation: Any = None
    observation_code: int | None = None
    children: list[Node] = []


class Tree(msgspec.Struct, gc=False):
    """The search."""

    tree: Node | None = None


class Answer(msgspec.Struct, gc=False):
    """What came of it."""

    query: str | None = None
    final_answer: Any = None
    finish_type: str | None = None
    function: msgspec.Raw = NULL
    train_messages: list[list[Message]] = []


class File(msgspec.Struct, gc=False):
    """One task."""

    win: bool | None = None
    tree: Tree | None = None
    answer_generation: Answer = msgspec.field(default_factory=Answer)


_decode = msgspec.json.Decoder(File).decode


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class ToolBench:
    """ToolBench answer files: every path of the search tree is an attempt, all of one group; `win` is the reward.

    Left out: ratings of nodes (`Elo`), candidates that were compared, costs.
    """

    def sniff(self, document: Document) -> Match:
        """These two keys."""
        return Match.YES if {"answer_generation", "tree"} <= document.keys else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory a path of the tree."""
        return several(document, _decode, _attempts)


def _attempts(document: Document, record: Record, file: File, notes: list[Note]) -> Iterator[Trajectory]:
    answer = file.answer_generation
    name, tools = document.name_of(record), tools_of(bytes(answer.function))
    paths = _paths(file.tree.tree) if file.tree is not None and file.tree.tree is not None else []
    if not any(paths):
        messages = answer.train_messages[-1] if answer.train_messages else []
        if not messages:
            raise InputError("`tree` and `train_messages` are empty: nothing was attempted")
        won = Labels(trajectory_id=name, task=name, group=name, reward=file.win)
        yield of_entries(
            [entry_of(m) for m in messages],
            won,
            document,
            record,
            FORMAT,
            notes=notes,
            tools=tools_of(bytes(answer.function)),
        )
        return
    prompts = _prompts(answer)
    for number, path in enumerate(paths, 1):
        reward = None if file.win is None else float(file.win and _is_answer(path, answer, len(paths)))
        labels = Labels(
            trajectory_id=name if len(paths) == 1 else f"{name}:path-{number}",
            task=name,
            group=name,
            trial=number,
            reward=reward,
        )
        entries = [*prompts, *_entries(path)]
        yield of_entries(entries, labels, document, record, FORMAT, notes=notes, tools=tools)


def _prompts(answer: Answer) -> list[Entry]:
    """What came before the first action."""
    prompts: list[Entry] = []
    for message in answer.train_messages[0] if answer.train_messages else ():
        if message.role in ("assistant", "function", "tool"):
            break
        prompts.append(entry_of(message))
    return prompts or ([Entry([Part("user", answer.query)])] if answer.query else [])


def _paths(root: Node) -> list[list[Node]]:
    """Every way from below the root to a leaf, in the order of the search; by hand, as trees may be deep."""
    paths: list[list[Node]] = []
    longest = 0
    waiting: list[tuple[Node, tuple[Any, ...]]] = [(root, ())]
    while waiting:
        node, above = waiting.pop()
        if not node.children:
            path: list[Node] = [node]
            while above:
                above, one = above
                path.append(one)
            longest = max(longest, len(path))
            bounded(len(paths), longest, "paths")
            paths.append([one for one in reversed(path) if one is not root])
        waiting += [(child, (above, node)) for child in reversed(node.children)]
    return paths


def _entries(path: list[Node]) -> list[Entry]:
    """A thought, the action after it and its input are one message; what was observed is the next."""
    entries: list[Entry] = []
    parts: list[Part] = []
    name: str | None = None
    for node in path:
        text = text_of(node.description)[0]
        if node.node_type == "Action":
            name = text or None
        elif node.node_type == "Action Input":
            parts.append(Part("tool_call", name=name, arguments=arguments_of(text)))
            entries.append(Entry(parts, acts=True))
            if node.observation is not None:
                code = node.observation_code
                failed = None if code is None or code == GIVEN_UP else code not in (0, FINISHED)
                entries.append(Entry([Part("tool_result", text_of(node.observation)[0], name=name, error=failed)]))
            parts, name = [], None
        elif text.strip():
            parts.append(Part("assistant", text))
    if name is not None:
        parts.append(Part("tool_call", name=name, arguments=arguments_of(None)))
    return [*entries, Entry(parts, acts=True)] if parts else entries


def _is_answer(path: list[Node], answer: Answer, n_paths: int) -> bool:
    """Whether this path is the one that gave the final answer."""
    last = path[-1]
    if n_paths == 1:
        return True
    given = text_of(answer.final_answer)[0]
    return last.observation_code == FINISHED and (not given or text_of(last.description)[0] == given)
