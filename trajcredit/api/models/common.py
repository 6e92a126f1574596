"""What several answers hold, and how errors look."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

__all__ = ["EdgeKind", "Kind", "Law", "NoteOut", "Out", "Problem", "RunState", "Source"]

Kind = Literal["system", "user", "assistant", "reasoning", "tool_call", "tool_result", "meta"]
EdgeKind = Literal["call", "turn", "value", "state", "control", "context", "explicit", "override"]
RunState = Literal["queued", "running", "done", "failed", "cancelled"]
Source = Literal["verifier", "human", "reward_model", "judge"]
Law = Literal["flat", "mask", "shared", "free"]
"""How a run's credits of one trajectory hang together: one number for all; that number times a mask; shares that add up
to it; none of these."""


class Out(BaseModel):
    """An answer."""

    model_config = ConfigDict(extra="forbid")


class Problem(Out):
    """RFC 9457: what is wrong, where, and what to do."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    field: str | None = None
    """The parameter or body field, where there is one."""
    file: str | None = None
    line: int | None = None
    byte: int | None = None
    instance: str | None = None
    """The request's id, as in the server's log."""


class NoteOut(Out):
    """One thing a reader or a batch guessed, repaired or left out."""

    code: str
    message: str
    span: int | None = None
    trajectory: str | None = None
    group: str | None = None
