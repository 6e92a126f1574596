"""One trajectory as the state and control rules see it: its calls with what they do, name and came to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from trajcredit.graph.effects import (
    RUNS,
    Act,
    acknowledges,
    act_of,
    act_of_function,
    confirms,
    of_session,
    reports_tests,
)
from trajcredit.graph.variables import Variables, variables_of
from trajcredit.model import Span, Tool, Trajectory, body

__all__ = ["Call", "CallLog", "Resource", "read_calls"]

COMMAND_KEYS = ("command", "cmd", "args", "script", "code", "input")
CODE_KEYS = ("code", "script", "source", "python", "program")


_WORD = re.compile(r"[A-Za-z_]{1,48}")


class Resource(NamedTuple):
    """Something a call names: the number of its normal form, and the token."""

    form: int
    token: int
    whole: bool
    """It is a whole argument."""
    argument: bool
    """It is one, or the end of a path that is one."""
    file: bool
    """It looks like the name of a file."""


@dataclass(slots=True)
class Call:
    """One tool call on its way through the rules."""

    span: int
    turn: int
    round: int
    """User turns before it."""
    tool: str
    act: Act
    names: list[Resource]
    said: str
    """Its arguments as logged."""
    result: int | None = None
    failed: bool = False
    consumed: bool = False
    """A later span uses a value of its result."""

    from_user: bool = False
    """A whole argument names what a user turn gave."""
    command: str = ""
    """The argument that is a command line, where one is."""
    line: str = ""
    """The text that is its only argument."""
    code: Variables | None = None
    """The variables of its code, where it runs Python."""

    @property
    def commands(self) -> bool:
        """One of its arguments is a command line."""
        return self.command != ""

    @property
    def word(self) -> str:
        """Its command in lower case, where that is one word."""
        line = self.command.strip()
        return line.lower() if _WORD.fullmatch(line) else ""

    @property
    def stores(self) -> bool:
        """It stored what its arguments say: it changed something, and not by running."""
        return self.is_effect and self.code is None and self.act.verb not in RUNS

    @property
    def length(self) -> int:
        """Characters of its arguments."""
        return len(self.said)

    @property
    def is_effect(self) -> bool:
        """It changed something (a setter included) and did not fail."""
        return self.act.does in ("effect", "setter") and not self.failed


@dataclass(slots=True)
class CallLog:
    """A trajectory's spans in order, its calls, and which call each span is or answers."""

    trajectory: Trajectory
    calls: list[Call]
    by_span: dict[int, Call] = field(default_factory=dict)
    """Calls by their own span and by the span of their result."""
    rounds: list[int] = field(default_factory=list)
    """User turns up to and including each span."""
    asked: list[int | None] = field(default_factory=lambda: [None])
    """The last user turn after so many of them."""
    asks: dict[int, int] = field(default_factory=dict)
    """User turn -> the assistant text before it, where that asks a question."""


def read_calls(trajectory: Trajectory, first: int, failed: Sequence[bool], writes: Mapping[str, bool]) -> CallLog:
    """The calls of a trajectory whose spans start at `first`; what they name comes later (`Call.names`).

    `failed`: which results report a failure, counted through all trajectories; `writes`: what the project's settings
    say of tools.
    """
    tools = {tool.name: tool for tool in trajectory.tools}
    out = CallLog(trajectory, [])
    rounds, said = 0, -1
    for i, span in enumerate(trajectory.spans):
        if span.kind == "user":
            rounds += 1
            out.asked.append(i)
            if said >= 0 and "?" in trajectory.spans[said].text[-400:]:
                out.asks[i] = said
            said = -1
        elif span.kind == "assistant":
            said = i
        elif span.kind == "tool_call":
            said = -1
            name = span.name or ""
            command = _command(span)
            act = act_of(name, tools.get(name), command, writes)
            known = act or Act("unknown", "", "")
            call = Call(i, span.turn, rounds, name, known, [], body(span))
            call.code, call.command, call.line = variables_of(_code(span)), command, _line(span)
            runs = act is None or (known.verb in RUNS and known.basis not in ("declared", "settings"))
            if runs and call.code is not None and call.code.calls:
                call.act = act_of_function(call.code.calls) or known
            out.calls.append(call)
            out.by_span[i] = call
        elif span.kind == "tool_result" and span.result_of is not None:
            call = out.by_span[span.result_of]
            call.result, call.failed = i, failed[first + i]
            out.by_span[i] = call
        out.rounds.append(rounds)
    _judge_by_replies(out.calls, trajectory, tools)
    return out


def _judge_by_replies(calls: list[Call], trajectory: Trajectory, tools: Mapping[str, Tool]) -> None:
    """Tools that no word classifies: most of their calls run code (an effect), or most of their replies count tests (a
    check) or merely acknowledge (an effect; a setter where it opens the work, or says that it shapes later calls)."""
    replies: dict[str, list[int]] = {}
    unknown = [call for call in calls if call.act.does == "unknown"]
    opening = _opening(calls)
    for call in unknown:
        told = replies.setdefault(call.tool, [0, 0, 0, 0, 0])
        told[3] += 1
        told[4] += call.code is not None
        if call.result is None:
            continue
        reply = trajectory.spans[call.result].text
        told[2] += reports_tests(reply)
        if not call.failed:
            told[0] += acknowledges(reply)
            told[1] += 1
    for call in unknown:
        short, answered, tests, made, code = replies[call.tool]
        if 2 * code > made:
            call.act = Act("effect", "run", "code")
        elif 2 * tests > made:
            call.act = Act("check", "", "reply")
        elif 2 * short > answered:
            shapes = call.tool in tools and of_session(tools[call.tool].description or "")
            shapes = shapes or call.tool in opening
            call.act = Act("setter" if shapes else "effect", "", "acknowledgement")
        else:
            call.act = Act("read", "", "")
    _judge_by_lines([call for call in unknown if call.act.does == "read" and _head(call)], calls, trajectory)


def _judge_by_lines(unknown: list[Call], calls: list[Call], trajectory: Trajectory) -> None:
    """One tool for all, whose calls are lines that no word classifies: most replies to lines of one first word say no
    more than that it was done (an effect; a setter where such a line opens the work and none comes again)."""
    done: dict[tuple[str, str], list[int]] = {}
    for call in unknown:
        told = done.setdefault((call.tool, _head(call)), [0, 0, call.turn])
        if call.result is not None and not call.failed:
            told[0] += confirms(call.said, trajectory.spans[call.result].text)
            told[1] += 1
        told[2] = call.turn
    for call in unknown:
        confirmed, answered, last = done[call.tool, _head(call)]
        if 2 * confirmed > answered:
            call.act = Act("setter" if last == calls[0].turn else "effect", _head(call), "acknowledgement")


def _head(call: Call) -> str:
    """The first word of a call whose arguments are one line of several words, as a command is; else ""."""
    words = call.line.split(None, 1)
    return words[0] if len(words) == 2 and "\n" not in call.line else ""


def _opening(calls: list[Call]) -> set[str]:
    """Tools that are called in the first turn that calls any, and never again: as what opens a session is."""
    later = {call.tool for call in calls if call.turn != calls[0].turn}
    return {call.tool for call in calls} - later


def _command(span: Span) -> str:
    """The argument that is a command line: the one under a telling key, or arguments that are plain text."""
    arguments = span.arguments
    if isinstance(arguments, dict):
        told = next((arguments[key] for key in COMMAND_KEYS if key in arguments), None)
        return told if isinstance(told, str) else ""
    return (span.arguments_raw or "") if arguments is None else ""


def _line(span: Span) -> str:
    """The text that is the only argument; "" where there are more, or none."""
    values = list(span.arguments.values()) if isinstance(span.arguments, dict) else []
    return values[0] if len(values) == 1 and isinstance(values[0], str) else ""


def _code(span: Span) -> str:
    """The argument that is program text."""
    arguments = span.arguments if isinstance(span.arguments, dict) else {}
    told = next((arguments[key] for key in CODE_KEYS if key in arguments), None)
    if told is None:  # whatever it is called: a text beside which there is nothing, as where a file is written
        texts = [value for value in arguments.values() if isinstance(value, str)]
        told = texts[0] if len(texts) == 1 and "=" in texts[0] else None
    return told if isinstance(told, str) else ""
