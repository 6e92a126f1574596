"""What is known of a request all the way: its id, in its answer and in the log, and whether all of it has come."""

from __future__ import annotations

from dataclasses import dataclass, field
from secrets import token_hex

from starlette.types import Message, Receive, Scope

__all__ = ["begin", "request_id", "wholly_read"]

_KEY = "trajcredit.request"


@dataclass(slots=True)
class _Known:
    """One object in all copies that are made of a scope."""

    id: str = field(default_factory=lambda: token_hex(8))
    whole: bool = False


def begin(scope: Scope, receive: Receive) -> Receive:
    """Give a request its id; the same `receive`, which notes when nothing more is to come."""
    known = scope[_KEY] = _Known()

    async def noted() -> Message:
        message = await receive()
        known.whole = not message.get("more_body", False)
        return message

    return noted


def request_id(scope: Scope) -> str:
    """The id of a request."""
    return _known(scope).id


def wholly_read(scope: Scope) -> bool:
    """Whether the body has ended, or its sender has left."""
    return _known(scope).whole


def _known(scope: Scope) -> _Known:
    found: _Known = scope[_KEY]
    return found
