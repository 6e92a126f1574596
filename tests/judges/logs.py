"""Small transcripts for rules: spans written one by one, turns and results placed by order."""

from __future__ import annotations

from typing import Any

from trajcredit.batching import Finding
from trajcredit.graph import build_graphs
from trajcredit.judges.rules import findings
from trajcredit.model import Reward, Span, Tool, Trajectory

__all__ = ["call", "found", "log", "names", "result", "said", "user"]

TOOLS = (Tool(name="look", writes=False), Tool(name="book", writes=True))


def user(text: str) -> Span:
    """A request."""
    return Span(kind="user", turn=-1, text=text)


def said(text: str) -> Span:
    """Words of the agent."""
    return Span(kind="assistant", turn=0, text=text)


def call(name: str, raw: str | None = None, **arguments: Any) -> Span:
    """A call; `raw` where its arguments are no JSON."""
    return Span(kind="tool_call", turn=0, name=name, arguments=arguments if raw is None else None, arguments_raw=raw)


def result(text: str, *, error: bool | None = False, answers: bool = True) -> Span:
    """A result of the call before it, or (answers=False) of no call."""
    return Span(kind="tool_result", turn=0, text=text, error=error, result_of=0 if answers else None)


def log(*spans: Span, tools: tuple[Tool, ...] = TOOLS, outcome: float | None = 0.0, name: str = "t") -> Trajectory:
    """A trajectory of these spans: a turn begins at each action after an observation."""
    placed: list[Span] = []
    turn, acted, last = -1, False, None
    for i, span in enumerate(spans):
        acts = span.kind in ("assistant", "tool_call")
        turn += acts and not acted
        acted = acts
        last = i if span.kind == "tool_call" else last
        answers = last if span.result_of is not None else None
        named = placed[answers].name if answers is not None else span.name
        placed.append(
            Span(
                kind=span.kind,
                turn=turn,
                text=span.text,
                name=named,
                arguments=span.arguments,
                arguments_raw=span.arguments_raw,
                result_of=answers,
                error=span.error,
            )
        )
    rewards = [] if outcome is None else [Reward(outcome)]
    return Trajectory(id=name, group=name, terminated=True, tools=list(tools), spans=placed, rewards=rewards)


def found(*spans: Span, tools: tuple[Tool, ...] = TOOLS) -> list[Finding]:
    """What the rules find in a log of these spans."""
    return findings(build_graphs([log(*spans, tools=tools)])[0])


def names(*spans: Span, tools: tuple[Tool, ...] = TOOLS) -> list[tuple[int, str]]:
    """(span, rule) of each finding."""
    return [(one.span, one.rule) for one in found(*spans, tools=tools)]
