"""Thinking that the policy wrote into the text of its answer, and that a reader made a span of its own of."""

from __future__ import annotations

from collections.abc import Sequence

from trajcredit.model import Span
from trajcredit.tokens.messages import ChatMessage
from trajcredit.tokens.territories import Piece

__all__ = ["INLINE", "rewritten"]

INLINE = "thinking that the policy wrote into its answer is written as the template writes thinking"
THINK, THOUGHT = "<think>", "</think>"
"""Around it: readers know no other markup."""


def rewritten(message: ChatMessage, spans: Sequence[Span], prompt: str, rest: str, pieces: Sequence[Piece]) -> bool:
    """Whether such thinking stands in a rendering in other markup than it had.

    `rest` follows the prompt, and `pieces` are the places of spans in it. White space is not compared: readers keep
    none around a text, and a template has its own.
    """
    if not any(part.field == "reasoning" and spans[part.span].inferred for part in message.parts):
        return False
    said = {part.span for part in message.parts if part.field != "call"}
    end = max((piece.end for piece in pieces if piece.span in said), default=0)
    begun = THINK if prompt.rstrip().endswith(THINK) else ""
    closed = THOUGHT if (message.content or "").strip() else ""  # a reader takes thinking without an end for the whole
    logged = f"{THINK}{message.reasoning}{closed}{message.content or ''}"
    return "".join((begun + rest[:end]).split()) != "".join(logged.split())
