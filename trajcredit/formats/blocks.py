"""Content blocks of Anthropic messages, which several logs hold in places of their own -> spans."""

from __future__ import annotations

from typing import Any

from trajcredit.formats.parts import arguments_of, text_of
from trajcredit.formats.transcript import Transcript

__all__ = ["CALLS", "add_answer", "add_input", "block_list", "blocks_of"]

CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})


def block_list(content: Any) -> list[Any]:
    """The content of a message as a list of blocks."""
    return content if isinstance(content, list) else [] if content is None else [content]


def blocks_of(content: Any, *types: str) -> list[dict[str, Any]]:
    """The blocks of some types in the content of a message."""
    if isinstance(content, str):
        return []
    return [block for block in block_list(content) if isinstance(block, dict) and block.get("type") in types]


def add_answer(transcript: Transcript, content: Any, index: int | None, agent: str | None = None) -> None:
    """The spans of what a model wrote, in the order of the blocks; after a result of a server's own tool a new turn."""
    observed = False
    for block in block_list(content):
        kind = _word(block.get("type")) if isinstance(block, dict) else None
        if observed and not _is_result(kind):
            transcript.begin_turn()
        observed = _is_result(kind)
        if kind in ("thinking", "redacted_thinking"):
            transcript.add("reasoning", _text(block.get("thinking")), index, agent)
        elif kind in CALLS:
            arguments = arguments_of(block.get("input"))
            transcript.call(_word(block.get("name")), _word(block.get("id")), arguments, index, agent)
        elif _is_result(kind):
            _add_result(transcript, block, index)
        else:
            text, opaque = text_of([block])
            if text and not text.isspace():
                transcript.add("assistant", text, index, agent)
                if opaque:
                    transcript.opaque(opaque)


def add_input(
    transcript: Transcript, content: Any, index: int | None, kind: Any = "user", agent: str | None = None
) -> None:
    """The spans of what a model was told: results first come first, all text between them is one span."""
    others: list[Any] = []
    for block in block_list(content):
        if isinstance(block, dict) and _is_result(block.get("type")):
            _add_text(transcript, others, index, kind, agent)
            _add_result(transcript, block, index)
        else:
            others.append(block)
    _add_text(transcript, others, index, kind, agent)


def _add_text(transcript: Transcript, blocks: list[Any], index: int | None, kind: Any, agent: str | None) -> None:
    if blocks:
        text, opaque = text_of(blocks)
        blocks.clear()
        transcript.add(kind, text, index, agent)
        if opaque:
            transcript.opaque(opaque)


def _add_result(transcript: Transcript, block: dict[str, Any], index: int | None) -> None:
    """A block without the flag went well: the API says so."""
    content = block.get("content")
    text, opaque = text_of(content)
    flag = block.get("is_error")
    failed = flag if isinstance(flag, bool) else isinstance(content, dict) and "error_code" in content
    transcript.result(text, _word(block.get("tool_use_id")), None, failed, index)
    if opaque:
        transcript.opaque(opaque)


def _is_result(kind: Any) -> bool:
    return isinstance(kind, str) and kind.endswith("tool_result")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
