"""Session files of Claude Code: one line a content block, a tree of lines, sub-agents in lines or files of their own.

| note | says |
| --- | --- |
| `abandoned-branch` | the user went back and asked again: what followed the first time is left out |
| `broken-chain` | a line names a line before it that is not in the file: the one logged before it is taken |
| `api-error` | requests to the model failed and were tried again |
| `sub-agent` | a call started an agent: its work is a trajectory of its own, where its lines are among the logs |
| `several-models` | several models answered: no one of them is named |
| `lost-message` | a line could not be read: the trajectory goes on without it |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from trajcredit.errors import InputError, ParseError
from trajcredit.formats.blocks import add_answer, add_input, block_list
from trajcredit.formats.claude_tree import Line, Message, families, live
from trajcredit.formats.document import Document, Match, decoded
from trajcredit.formats.parts import usage_of
from trajcredit.formats.transcript import Transcript
from trajcredit.model import Note, SpawnedBy, Trajectory
from trajcredit.registry import formats

__all__ = ["ClaudeCode"]

FORMAT = "claude_code"
KEYS = {"uuid", "parentUuid", "sessionId"}
MOST_SESSIONS = 64
"""Files looked through for the session that started an agent, where none is named after it."""
SYNTHETIC = "<synthetic>"
"""The model that is named where Claude Code itself reports an error in an answer's place."""
ROLE = "sub-agent"

_line = msgspec.json.Decoder(Line)
_agent_of = msgspec.json.Decoder(dict[str, Any])


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class ClaudeCode:
    """Claude Code session files (JSONL), each sub-agent a trajectory that names the call which started it.

    Left out: lines that are no conversation (progress, queues, snapshots), structured copies of results, what was
    abandoned. A session holds no reward.
    """

    def sniff(self, document: Document) -> Match:
        """Its lines are chained by these keys."""
        chained = any(seen.fields.keys() >= KEYS and not seen.is_list for seen in document.head)
        return Match.YES if chained else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """The session, then the sub-agents whose lines are in the file."""
        lines, notes, errors = _lines(document)
        yield from errors
        started: dict[str, SpawnedBy] = {}
        prompts: dict[str, SpawnedBy] = {}
        roles: dict[SpawnedBy, str] = {}
        for session, agent, family in families(lines):
            try:
                made = _made(family)
            except InputError as error:
                yield document.error(str(error))
                continue
            called = session or document.name
            parent = None
            if agent is not None:
                known = started.get(agent) or prompts.get(made.first_words)
                parent = known or _starter(document, session, agent, roles)
                called = f"{called}/agent-{agent}"
            _note_starts(made, called, started, prompts, roles)
            yield Trajectory(
                id=called,
                dataset=document.dataset_of(None),
                role=None if agent is None else roles.get(parent, ROLE) if parent else ROLE,
                model=_only(made.models),
                parent=parent,
                spans=made.transcript.spans,
                report=notes + made.transcript.notes,
                source=document.origin_of(FORMAT, None),
            )
            notes = []


def _lines(document: Document) -> tuple[list[Line], list[Note], list[ParseError]]:
    """Every line that can be read, notes about the others, and the errors in their place."""
    lines: list[Line] = []
    notes: list[Note] = []
    errors: list[ParseError] = []
    for index, record in enumerate(document.records):
        try:
            if isinstance(record, ParseError):
                raise record
            line, mended = decoded(document, record, _line.decode)
            line.index = index
            if line.type is None and line.uuid is None and line.session_id is None:
                raise document.error("neither `type` nor `uuid` nor `sessionId`: no line of Claude Code", record)
            if line.speaks and line.uuid is None:  # rewritten by other software
                line.uuid, line.parent_uuid = f"line {index}", lines[-1].uuid if lines else None
            lines.append(line)
            notes += mended
        except ParseError as error:
            errors.append(error)
            notes.append(Note("lost-message", f"{error.reason}: left out"))
    return lines, notes, errors


@dataclass(slots=True)
class _Made:
    """The transcript of one chain of lines, and what links it to others."""

    transcript: Transcript
    models: list[str]
    started: dict[str, tuple[int, str]]
    """Agent -> the call that started it, and the kind of agent."""
    first_words: str


def _made(family: list[Line]) -> _Made:
    """The transcript of the branch that is live at the end."""
    transcript = Transcript()
    chain, remarks = live(family)
    made = _Made(transcript, [], {}, "")
    turn: str | None = None
    start = 0
    for line in chain:
        first = len(transcript.spans)
        message = line.message
        if line.type == "assistant" and message is not None and message.model == SYNTHETIC:
            add_input(transcript, message.content, line.index, "meta")
        elif line.type == "assistant" and message is not None:
            mine = message.id or line.request_id or turn or line.uuid or ""
            if mine != turn:
                transcript.begin_turn()
                start = first
            turn = mine
            add_answer(transcript, message.content, line.index)
            transcript.count(usage_of(message.usage), start)  # each line repeats it, the last one has it in full
            if message.model and message.model not in made.models:
                made.models.append(message.model)
        elif line.type == "user" and message is not None:
            turn = None
            kind = "meta" if line.is_compact_summary else "system" if line.is_meta else "user"
            add_input(transcript, message.content, line.index, kind)
            made.first_words = made.first_words or _words(message)
            _note_agent(made, line)
        elif line.is_boundary:
            turn = None
            transcript.add("meta", _boundary(line), line.index)
        transcript.mark(first, started_at=line.timestamp)
    transcript.notes += remarks
    if len(made.models) > 1:
        transcript.notes.append(Note("several-models", f"answered by {', '.join(made.models)}"))
    transcript.finish()
    return made


def _words(message: Message) -> str:
    """What the first user line says: a sub-agent's is the prompt of the call that started it."""
    blocks = block_list(message.content)
    texts = [block.get("text") if isinstance(block, dict) else block for block in blocks]
    return "\n".join(text for text in texts if isinstance(text, str)).strip()


def _boundary(line: Line) -> str:
    """What the log says about a compaction."""
    text = line.content if isinstance(line.content, str) else "Conversation compacted"
    facts = line.compact_metadata if isinstance(line.compact_metadata, dict) else {}
    said = [f"{key} {facts[key]}" for key in ("trigger", "preTokens") if isinstance(facts.get(key), str | int)]
    return f"{text} ({', '.join(said)})" if said else text


def _note_agent(made: _Made, line: Line) -> None:
    """Which agent the call was that this line answers, where the log's structured copy of the result says so."""
    if b'"agentId"' not in bytes(line.tool_use_result):
        return
    try:
        agent = _agent_of.decode(line.tool_use_result).get("agentId")
    except (msgspec.DecodeError, RecursionError):
        return
    call = made.transcript.spans[-1].result_of if made.transcript.spans else None
    if isinstance(agent, str) and call is not None:
        given = made.transcript.spans[call].arguments
        kind = given.get("subagent_type") if isinstance(given, dict) else None
        made.started[agent] = (call, kind if isinstance(kind, str) and kind else ROLE)


def _note_starts(
    made: _Made,
    session: str,
    started: dict[str, SpawnedBy],
    prompts: dict[str, SpawnedBy],
    roles: dict[SpawnedBy, str],
) -> None:
    """The calls that may have started agents: by the agent's id, and by the prompt given to it."""
    place = _places(made.transcript)
    for agent, (call, kind) in made.started.items():
        started[agent] = SpawnedBy(session, place(call))
        roles[started[agent]] = kind
        made.transcript.note("sub-agent", f"started agent {agent}, a trajectory of its own", place(call))
    for index, span in enumerate(made.transcript.spans):
        prompt = span.arguments.get("prompt") if isinstance(span.arguments, dict) else None
        if span.kind == "tool_call" and isinstance(prompt, str):
            by = SpawnedBy(session, index)
            prompts.setdefault(prompt.strip(), by)
            kind = span.arguments.get("subagent_type")
            roles[by] = kind if isinstance(kind, str) and kind else ROLE


def _places(transcript: Transcript) -> Callable[[int], int]:
    """Where a span stands now that the transcript is finished."""
    return lambda call: call if transcript.moved is None else transcript.moved[call]


def _starter(document: Document, session: str | None, agent: str, roles: dict[SpawnedBy, str]) -> SpawnedBy | None:
    """The call that started an agent with a file of its own; without the session's file only the session."""
    for main in _sessions(document, session):
        if f'"{agent}"'.encode() not in main.data:
            continue
        for name, other, family in families(_lines(main)[0]):
            if other is None and name == session:
                made = _made(family)
                if agent in made.started:
                    call, kind = made.started[agent]
                    by = SpawnedBy(session or main.name, _places(made.transcript)(call))
                    roles[by] = kind
                    return by
    return None if session is None else SpawnedBy(session)


def _sessions(document: Document, session: str | None) -> Iterator[Document]:
    """The files that may hold the session: by its name first, else those in the folder and, of sub-agents, above."""
    folders = (".", "..", "../..")
    if session is not None and "/" not in session:
        named = [f"{folder}/{session}.jsonl{end}" for folder in folders for end in ("", ".gz", ".zst")]
        main = document.beside(*named)
        if main is not None:
            yield main
            return
    if document.siblings is not None:
        names = [name for folder in folders[:2] for name in document.siblings.names(folder)]
        for name in [name for name in names if ".jsonl" in name][:MOST_SESSIONS]:
            main = document.beside(name)
            if main is not None and main.data != document.data:
                yield main


def _only(models: list[str]) -> str | None:
    return models[0] if len(models) == 1 else None
