"""The lines of a Claude Code session as the tree they are: what belongs together, which branch is live at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from trajcredit.formats.blocks import CALLS, blocks_of
from trajcredit.model import Note

__all__ = ["Line", "Message", "families", "live"]

NOTHING = msgspec.Raw(b"null")


class Message(msgspec.Struct, gc=False):
    """An Anthropic message, of which a line holds one block."""

    content: Any = None
    id: str | None = None
    model: str | None = None
    usage: Any = None


class Line(msgspec.Struct, gc=False, rename="camel"):
    """One line; those of no message matter for the chain that goes through them."""

    type: str | None = None
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    session_id: str | None = None
    agent_id: str | None = None
    request_id: str | None = None
    timestamp: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    message: Message | None = None
    content: Any = None
    compact_metadata: Any = None
    tool_use_result: msgspec.Raw = NOTHING
    index: int = -1

    @property
    def speaks(self) -> bool:
        """Whether it is a line of the conversation."""
        return self.message is not None and self.type in ("user", "assistant")

    @property
    def is_boundary(self) -> bool:
        """Whether the context was compacted here."""
        return self.type == "system" and self.subtype == "compact_boundary"


def families(lines: list[Line]) -> Iterator[tuple[str | None, str | None, list[Line]]]:
    """Session, agent (null: the session itself) and the lines of each, sessions before their agents.

    A session that was resumed goes on from lines of another one in the same file: they are one.
    """
    own = [line for line in lines if line.uuid and not line.is_sidechain]
    sessions = {line.uuid: line.session_id for line in own}
    one = any(sessions.get(line.parent_uuid, line.session_id) != line.session_id for line in own)
    roots: dict[str, str] = {}
    found: dict[tuple[str | None, str | None], list[Line]] = {}
    for line in lines:
        if line.uuid is None:
            continue
        agent = None
        if line.is_sidechain:
            agent = line.agent_id or roots.get(line.parent_uuid or "", line.uuid)
            roots[line.uuid] = agent
        found.setdefault((None if one else line.session_id, agent), []).append(line)
    last = {agent: line.session_id for (_, agent), family in found.items() for line in family}
    for (_, agent), family in sorted(found.items(), key=lambda item: item[0][1] is not None):
        if any(line.speaks for line in family):
            yield last[agent] if one else family[-1].session_id, agent, family


def live(family: list[Line]) -> tuple[list[Line], list[Note]]:
    """The branch that the last message ends, in the order logged, the lines of one answer together; what is left out.

    Calls made in parallel chain from line to line, and each result hangs on its own call: those on no branch of their
    own belong to the answer.
    """
    notes: list[Note] = []
    kept = _ancestors(family, notes)
    _keep_siblings(family, kept)
    spoken = [line for line in family if line.speaks or line.is_boundary]
    left = [line for line in spoken if line.uuid not in kept]
    repeated = _ids_of(line for line in spoken if line.uuid in kept)
    if left:
        calls = len(_ids_of(left) - repeated)
        what = f"left out what is on abandoned branches: lines {len(left)}, calls {calls}"
        notes.append(Note("abandoned-branch", what))
    failed = sum(line.subtype == "api_error" for line in family)
    if failed:
        notes.append(Note("api-error", f"failed requests to the model, tried again: {failed}"))
    return _together([line for line in spoken if line.uuid in kept]), notes


def _ancestors(family: list[Line], notes: list[Note]) -> set[str | None]:
    """The last message and everything before it on its branch."""
    by_id = {line.uuid: line for line in family}
    spoken = [line for line in family if line.speaks]
    said_before: dict[str | None, Line | None] = {}
    last: Line | None = None
    for each in family:
        said_before[each.uuid] = last
        last = each if each.speaks else last
    kept: set[str | None] = set()
    line: Line | None = spoken[-1]
    gaps = 0
    while line is not None and line.uuid not in kept:
        kept.add(line.uuid)
        above = line.parent_uuid or line.logical_parent_uuid
        before = by_id.get(above) if above else None
        if before is None and (above or line.is_boundary):
            gaps += above is not None and not line.is_boundary
            before = said_before[line.uuid]
        line = before
    if gaps:
        notes.append(Note("broken-chain", f"lines that follow one that is not in the file, read in file order: {gaps}"))
    return kept


def _keep_siblings(family: list[Line], kept: set[str | None]) -> None:
    """The other calls of answers that are kept, and the results of calls that are."""
    messages = {line.message.id for line in family if line.uuid in kept and line.message is not None} - {None}
    calls = _ids_of(line for line in family if line.uuid in kept)
    answered = _answered(line for line in family if line.uuid in kept)
    for line in family:
        if line.uuid in kept or line.message is None:
            continue
        mine = _ids_of([line])
        results = _answered([line])
        if (line.message.id in messages and mine - calls) or (results and results <= calls - answered):
            kept.add(line.uuid)
            calls |= mine
            answered |= results


def _ids_of(lines: Iterable[Line]) -> set[str]:
    """The ids of the calls in some lines."""
    return _ids(lines, "id", *CALLS)


def _answered(lines: Iterable[Line]) -> set[str]:
    """The ids of the calls whose results are in some lines."""
    return _ids(lines, "tool_use_id", "tool_result")


def _ids(lines: Iterable[Line], key: str, *types: str) -> set[str]:
    found = (block.get(key) for line in lines if line.message for block in blocks_of(line.message.content, *types))
    return {name for name in found if isinstance(name, str)}


def _together(lines: list[Line]) -> list[Line]:
    """The lines of one answer where its first one stands, since all of it was written before any result came."""
    answers: dict[str, list[Line]] = {}
    for line in lines:
        if line.type == "assistant" and line.message is not None and line.message.id:
            answers.setdefault(line.message.id, []).append(line)
    ordered: list[Line] = []
    done: set[str] = set()
    for line in lines:
        name = line.message.id if line.type == "assistant" and line.message is not None else None
        if not name:
            ordered.append(line)
        elif name not in done:
            done.add(name)
            ordered += answers[name]
    return ordered
