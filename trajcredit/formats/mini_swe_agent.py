"""mini-swe-agent `.traj.json` files: chat messages with what the program adds, commands as calls or as fenced text.

| note | says |
| --- | --- |
| `unknown-role` | a message of a role that the format does not have is kept |
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from trajcredit.errors import ParseError
from trajcredit.formats.chat import Call, logged_id
from trajcredit.formats.document import Document, Match, Seen, trajectories
from trajcredit.formats.entries import write_all
from trajcredit.formats.items import entries_of
from trajcredit.formats.parts import Arguments, arguments_of, text_of, time_of, usage_of
from trajcredit.formats.split import Record
from trajcredit.formats.swe_agent import stem_of
from trajcredit.formats.transcript import Transcript
from trajcredit.model import Note, Trajectory
from trajcredit.registry import formats

__all__ = ["MiniSWEAgent"]

FORMAT = "mini_swe_agent"
FENCE = re.compile(r"```(?:mswea_bash_command|bash)[ \t]*\r?\n(.*?)\r?\n?```", re.DOTALL)
RETURNED = re.compile(r"<returncode>(-?\d+)</returncode>")
COMMAND = re.compile(r"```mswea_bash_command[ \t]*\r?\n")
"""What only this program asks its model for."""


class Message(msgspec.Struct, gc=False):
    """A message; with the Responses API a whole response, or an item."""

    role: str | None = None
    content: Any = None
    tool_calls: list[Call] | None = None
    tool_call_id: str | int | None = None
    reasoning_content: Any = None
    extra: Any = None
    object: str | None = None
    output: Any = None
    usage: Any = None
    type: str | None = None
    call_id: Any = None


class Info(msgspec.Struct, gc=False):
    """How it ended, and how it was set up."""

    exit_status: str | None = None
    config: Any = None


class Run(msgspec.Struct, gc=False):
    """The whole file."""

    messages: list[Message]
    info: Info | None = None
    instance_id: str | None = None


_decode = msgspec.json.Decoder(Run | list[Message]).decode


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class MiniSWEAgent:
    """mini-swe-agent trajectories (`.traj.json`), all versions; a return code that is not 0 is an error.

    Left out: raw responses, configuration, submissions. The reward is in a report beside it (`--rewards`).
    """

    def sniff(self, document: Document) -> Match:
        """It names its form; older files are told by what stands beside the messages, or in them."""
        form = document.peek("trajectory_format")
        if isinstance(form, str) and form.startswith("mini-swe-agent"):
            return Match.YES
        if "messages" in document.keys and "info" in document.keys:
            info = document.peek("info")
            known = isinstance(info, dict) and {"mini_version", "model_stats"} & info.keys()
            return Match.YES if known else Match.NO
        listed = document.shape == "array" and "role" in document.keys
        said = [(_peek(seen, "role"), _peek(seen, "content")) for seen in document.head] if listed else []
        asks = any(role == "assistant" and COMMAND.search(text) for role, text in said)
        told = any(role != "assistant" and text.startswith("<returncode>") for role, text in said)
        return Match.YES if asks and told else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory a file."""
        if document.shape == "array":  # the file is the list itself
            document = document.inside([document.data])
        return trajectories(document, _decode, _trajectory)


def _trajectory(document: Document, record: Record, run: Run | list[Message], notes: list[Note]) -> Trajectory:
    run = Run(run) if isinstance(run, list) else run
    transcript = Transcript()
    waiting: int | None = None
    status = run.info.exit_status if run.info else None
    for index, message in enumerate(run.messages):
        first = len(transcript.spans)
        extra = message.extra if isinstance(message.extra, dict) else {}
        if message.role is None:
            _add_items(transcript, message, index)
        elif message.role == "assistant":
            waiting = _act(transcript, message, extra, index)
        elif message.role == "tool":
            text, opaque = text_of(message.content)
            transcript.result(text, logged_id(message.tool_call_id), None, _failed(extra, text), index)
            if opaque:
                transcript.opaque(opaque)
        elif message.role == "user" and waiting is not None:
            text, _ = text_of(message.content)
            transcript.answer(waiting, text, _failed(extra, text), index)
            waiting = None
        else:
            status = _add_other(transcript, message, extra, index) or status
        transcript.mark(first, started_at=time_of(extra.get("timestamp")))
    transcript.finish()
    task = run.instance_id or stem_of(document)
    stopped = None if not status else "Limit" in status or "Time" in status
    return Trajectory(
        id=run.instance_id or document.name_of(record),
        dataset=document.given_dataset,
        task=task,
        model=_model(run.info.config if run.info else None),
        terminated=None if stopped is None else not stopped,
        truncated=stopped,
        spans=transcript.spans,
        report=notes + transcript.notes,
        source=document.origin_of(FORMAT, record),
    )


def _act(transcript: Transcript, message: Message, extra: dict[str, Any], index: int) -> int | None:
    """One answer; the span of a command that stands in its text, whose output comes without an id."""
    first = len(transcript.spans)
    transcript.begin_turn()
    text, opaque = text_of(message.content)
    if isinstance(message.reasoning_content, str) and message.reasoning_content:
        transcript.add("reasoning", message.reasoning_content, index)
    fences = [] if message.tool_calls else FENCE.findall(text)
    said = FENCE.sub("", text).strip() if len(fences) == 1 else text
    if said.strip():
        transcript.add("assistant", said, index)
        if opaque:
            transcript.opaque(opaque)
    for call in message.tool_calls or ():
        name = call.function.name if call.function else call.name
        given = call.function.arguments if call.function else call.arguments
        transcript.call(name, logged_id(call.id), arguments_of(given), index)
    waiting = None
    if len(fences) == 1:  # with none or several the program runs nothing and says so
        waiting = len(transcript.spans)
        transcript.call("bash", None, Arguments({"command": fences[0]}, None), index)
        transcript.mark(waiting, inferred=True)
    response = extra.get("response")
    usage = response.get("usage") if isinstance(response, dict) else None
    transcript.count(usage_of(usage, extra.get("cost")), first)
    return waiting


def _add_items(transcript: Transcript, message: Message, index: int) -> None:
    """The output of a response, or one item."""
    items = message.output if message.object == "response" else [msgspec.to_builtins(message)]
    given = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    first = len(transcript.spans)
    write_all(transcript, entries_of(given), None)
    transcript.mark(first, message_index=index)
    transcript.count(usage_of(message.usage), first)


def _add_other(transcript: Transcript, message: Message, extra: dict[str, Any], index: int) -> str | None:
    """A message that is neither answer nor output; how the run ended, where it says so."""
    text, opaque = text_of(message.content)
    kind = message.role if message.role in ("user", "system") else "meta"
    transcript.add("user" if kind == "user" else "system" if kind == "system" else "meta", text, index)
    if opaque:
        transcript.opaque(opaque)
    if message.role not in ("user", "system", "exit"):
        transcript.note("unknown-role", f"a message of the role {message.role!r}")
    status = extra.get("exit_status")
    return status if isinstance(status, str) else None


def _failed(extra: dict[str, Any], text: str) -> bool | None:
    """What the program noted, or wrote above the output."""
    code = extra.get("returncode")
    if isinstance(code, int):
        return code != 0 or bool(extra.get("exception_info"))
    found = RETURNED.match(text)
    return int(found[1]) != 0 if found else None


def _peek(seen: Seen, key: str) -> str:
    """The text under a key of a message, if it is text."""
    try:
        return msgspec.json.decode(seen.fields.get(key, b'""'), type=str)
    except msgspec.DecodeError:
        return ""


def _model(config: Any) -> str | None:
    model = config.get("model") if isinstance(config, dict) else None
    name = model.get("model_name") if isinstance(model, dict) else None
    return name if isinstance(name, str) else None
