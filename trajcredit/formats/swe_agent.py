"""SWE-agent `.traj` files: the history, and the steps where a processor has cut the history.

| note | says |
| --- | --- |
| `demonstration` | messages of a demonstration are context: they get no credit |
| `restored-output` | outputs that a processor cut out of the history are taken from the steps |
| `run-error` | the run ended in an error of the program |
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from trajcredit.errors import ParseError
from trajcredit.formats.chat import Call, logged_id
from trajcredit.formats.document import Document, Match, trajectories
from trajcredit.formats.parts import Arguments, arguments_of, text_of
from trajcredit.formats.split import REFUSED, Record
from trajcredit.formats.transcript import Transcript
from trajcredit.model import Note, Trajectory
from trajcredit.registry import formats

__all__ = ["SWEAgent", "stem_of"]

FORMAT = "swe_agent"
CUT_OUTPUT = re.compile(r"Old environment output: \(\d+ lines omitted\)")
COMMANDS = frozenset(
    {
        "create",
        "edit",
        "exit_cost",
        "filemap",
        "find_file",
        "goto",
        "insert",
        "open",
        "scroll_down",
        "scroll_up",
        "search_dir",
        "search_file",
        "str_replace_editor",
        "submit",
        "view_image",
    }
)
"""Commands that are tools of their own where the model calls functions; all else it types into a shell."""
STOPPED = ("exit_cost", "exit_context", "exit_total_execution_time", "exit_command_timeout", "exit_format")


class Message(msgspec.Struct, gc=False):
    """One message of the history."""

    role: str
    content: Any = None
    agent: str | None = None
    message_type: str | None = None
    is_demo: bool | None = None
    thought: Any = None
    action: Any = None
    tool_calls: list[Call] | None = None
    tool_call_ids: list[str] | None = None
    thinking_blocks: Any = None


class Step(msgspec.Struct, gc=False):
    """One action and what came of it."""

    action: Any = None
    observation: Any = None


class Info(msgspec.Struct, gc=False):
    """How it ended."""

    exit_status: str | None = None


class Run(msgspec.Struct, gc=False):
    """The whole file."""

    history: list[Message]
    trajectory: list[Step] | None = None
    info: Info | None = None
    environment: Any = None
    replay_config: Any = None


_run = msgspec.json.Decoder(Run)


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class SWEAgent:
    """SWE-agent trajectories (`.traj`), with function calls or with commands as text; demonstrations get no credit.

    Left out: patches, states of the shell, costs, configuration. The reward is in a report beside it (`--rewards`).
    """

    def sniff(self, document: Document) -> Match:
        """A history whose messages name an agent, or steps beside it."""
        if "history" not in document.keys:
            return Match.NO
        history = document.peek("history")
        first = history[0] if isinstance(history, list) and history else None
        if not isinstance(first, dict) or "role" not in first or "content" not in first:
            return Match.NO
        told = "trajectory" in document.keys or {"agent", "message_type"} & first.keys()
        return Match.YES if told and "mistake_agent" not in document.keys else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory a file."""
        return trajectories(document, _run.decode, _trajectory)


def stem_of(document: Document) -> str:
    """What was attempted: the name of the file without its endings."""
    name = document.name.rpartition("/")[2]
    for end in (".gz", ".zst", ".json", ".jsonl", ".traj"):
        name = name.removesuffix(end)
    return name


def _trajectory(document: Document, record: Record, run: Run, notes: list[Note]) -> Trajectory:
    transcript = Transcript()
    outputs = [step.observation for step in run.trajectory or () if step.action is not None]
    done = demos = restored = 0
    waiting: int | None = None
    for index, message in enumerate(run.history):
        text, opaque = text_of(message.content)
        if message.is_demo:
            demos += 1
            transcript.add("system", text, index)
        elif message.role == "assistant":
            waiting = _act(transcript, message, text, index)
            done += 1
        elif message.role in ("tool", "user") and (message.role == "tool" or waiting is not None):
            if CUT_OUTPUT.search(text) and 0 < done <= len(outputs) and isinstance(outputs[done - 1], str):
                text = outputs[done - 1]
                restored += 1
            if waiting is not None:
                transcript.answer(waiting, text, None, index)
            else:
                ids = message.tool_call_ids or [""]
                transcript.result(text, logged_id(ids[0]), None, None, index)
            waiting = None
        else:
            transcript.add("user" if message.role == "user" else "system", text, index)
        if opaque and transcript.spans:
            transcript.opaque(opaque)
    if waiting is not None and done == len(outputs) and isinstance(outputs[-1], str):
        transcript.answer(waiting, outputs[-1], None, None)  # what the last step gave: no message holds it
    transcript.finish()
    if demos:
        notes = [*notes, Note("demonstration", f"messages of a demonstration stand as context: {demos}")]
    if restored:
        notes = [*notes, Note("restored-output", f"outputs cut out of the history, taken from the steps: {restored}")]
    status = run.info.exit_status if run.info else None
    if status is not None and "error" in status:
        notes = [*notes, Note("run-error", f"the run ended as {status}")]
    stopped = None if status is None else any(word in status for word in STOPPED)
    return Trajectory(
        id=document.name_of(record),
        dataset=document.given_dataset,
        task=stem_of(document),
        model=_model(run.replay_config),
        terminated=None if stopped is None else not stopped,
        truncated=stopped,
        spans=transcript.spans,
        report=notes + transcript.notes,
        source=document.origin_of(FORMAT, record),
    )


def _act(transcript: Transcript, message: Message, text: str, index: int) -> int | None:
    """One answer; the span of a command that stands in its text, whose output comes without an id."""
    transcript.begin_turn()
    for block in message.thinking_blocks if isinstance(message.thinking_blocks, list) else ():
        thought = block.get("thinking") if isinstance(block, dict) else None
        transcript.add("reasoning", thought if isinstance(thought, str) else "", index)
    if message.tool_calls:
        if text.strip():
            transcript.add("assistant", text, index)
        for call in message.tool_calls:
            function = call.function
            name = function.name if function else call.name
            arguments = arguments_of(function.arguments if function else call.arguments)
            transcript.call(name, logged_id(call.id), arguments, index)
        return None
    command = message.action if isinstance(message.action, str) else ""
    thought = message.thought if isinstance(message.thought, str) and command.strip() else text
    if thought.strip():
        transcript.add("assistant", thought, index)
    if not command.strip():
        return None
    first = command.split(maxsplit=1)[0]
    waiting = len(transcript.spans)
    transcript.call(first if first in COMMANDS else "bash", None, Arguments({"command": command}, None), index)
    transcript.mark(waiting, inferred=True)
    return waiting


def _model(config: Any) -> str | None:
    """The model that the configuration names, which is an object or its JSON text."""
    if isinstance(config, str):
        try:
            config = msgspec.json.decode(config)
        except REFUSED:
            return None
    for key in ("agent", "model", "name"):
        config = config.get(key) if isinstance(config, dict) else None
    return config if isinstance(config, str) else None
