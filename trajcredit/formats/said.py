"""What was said, in the message form of any framework -> pieces, each of which can become a span.

Span exports hold requests and answers as the framework wrote them: OpenAI chat and Responses, Anthropic, Gemini, the
parts of the OpenTelemetry conventions, LangChain (plain and serialised), Vercel. A piece knows by what it is recognised
when a later request repeats it (`key`); ids are not part of that, since writers change them on the way.

| note | says |
| --- | --- |
| `unknown-role` | a message has a role that none of the known forms has: kept as something the agent was told |
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import msgspec

from trajcredit.formats.parts import Arguments, arguments_of, json_text, text_of, thought_and_text
from trajcredit.formats.repair import mended
from trajcredit.model import SpanKind

__all__ = ["Message", "Piece", "loads", "messages_of", "piece", "unquoted"]

ROLES: dict[str, SpanKind] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool_result",
    "function": "tool_result",
}
"""Role, or LangChain's type of a message -> kind of its text."""
LANGCHAIN = {"SystemMessage": "system", "HumanMessage": "user", "AIMessage": "assistant", "AIMessageChunk": "assistant"}
LANGCHAIN |= {"ToolMessage": "tool", "FunctionMessage": "function", "ChatMessage": ""}
SPOKEN = ("content", "parts", "tool_calls", "function_call", "additional_kwargs", "reasoning_content", "reasoning")
"""Keys of which a message has at least one; an object without any of them is kept as JSON."""
TEXT = ("text", "input_text", "output_text", "refusal")
THOUGHT = ("reasoning", "thinking", "redacted_thinking")
CALL = ("tool_call", "tool_use", "function_call", "custom_tool_call", "server_tool_use", "mcp_tool_use", "tool-call")
RESULT = ("tool_call_response", "tool_result", "function_call_output", "custom_tool_call_output", "tool-result")
ITEMS = (*CALL, *RESULT, "reasoning")
"""Types of OpenAI Responses items that stand among the messages."""
FAILED = ("error", "failed")

Key: TypeAlias = tuple[str, ...]

_decode = msgspec.json.Decoder().decode
_sorted = msgspec.json.Encoder(order="deterministic")


class Piece(msgspec.Struct, frozen=True, gc=False):
    """A text, a thought, a call or a result."""

    kind: SpanKind
    text: str = ""
    call_id: str | None = None
    name: str | None = None
    """Of a call or result the tool, else who speaks."""
    arguments: Arguments | None = None
    error: bool | None = None
    opaque: tuple[str, ...] = ()
    """What in it is no text."""
    key: Key | None = None
    """Equal for the same piece said again in a later request; null: it may be left out there, and is not compared."""
    odd_role: str | None = None
    inferred: bool = False
    """Thinking that stood in a text."""


Message: TypeAlias = tuple[Piece, ...]


def piece(
    kind: SpanKind,
    text: str = "",
    call_id: str | None = None,
    name: str | None = None,
    arguments: Arguments | None = None,
    error: bool | None = None,
    opaque: tuple[str, ...] = (),
    odd_role: str | None = None,
) -> Piece:
    """A piece, and the key it is recognised by."""
    key: Key | None = (kind, text.strip())
    if kind == "reasoning":
        key = None
    elif arguments is not None:
        value = arguments.value
        key = (kind, name or "", arguments.raw or "" if value is None else _sorted.encode(value).decode())
    return Piece(kind, text, call_id, name, arguments, error, opaque, key, odd_role)


def loads(text: str) -> Any:
    """The value of a JSON text; half a surrogate pair or a NUL in it as U+FFFD or U+2400."""
    if "\\u0000" not in text:
        try:
            return _decode(text)
        except msgspec.DecodeError:
            pass
    return _decode(mended(text.encode()))


def unquoted(value: Any) -> Any:
    """The value of a JSON text, also of JSON text inside JSON text; other text, and other values, as they are."""
    for _ in range(3):
        if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
            break
        try:
            value = loads(value)
        except (msgspec.DecodeError, RecursionError):
            break
    return value


def messages_of(value: Any, role: str = "user") -> list[Message]:
    """Every message in a request or an answer, in order; what has no role was said by `role`."""
    found: list[Message] = []
    calls: set[str] = set()
    for message in _messages(unquoted(value), role, calls):
        calls.update(piece.name for piece in message if piece.kind == "tool_call" and piece.name)
        if message:
            found.append(message)
    return found


# ---------------------------------------------------------------- containers


def _messages(value: Any, role: str, calls: set[str]) -> Iterator[Message]:
    if isinstance(value, list):
        parts = bool(value) and all(isinstance(item, dict) and _is_part(item) for item in value)
        if parts:  # content blocks without a message around them
            yield _message({"role": role, "content": value}, role, calls)
            return
        for item in value:
            yield from _messages(item, role, calls)
    elif isinstance(value, dict):
        yield from _of_object(value, role, calls)
    elif value is not None and value != "":
        text = value if isinstance(value, str) else json_text(value)
        yield _message({"role": role, "content": text}, role, calls)


def _of_object(value: dict[str, Any], role: str, calls: set[str]) -> Iterator[Message]:
    content = value.get("content")
    if isinstance(content, dict) and ("parts" in content or "role" in content):  # what Gemini answers
        yield _message(content, role, calls)
        return
    system = _given(value, SYSTEM_KEYS)
    config = value.get("config")
    if system is None and isinstance(config, dict):
        system = config.get("system_instruction")
    inner = next((key for key in CONTAINERS if key in value and "role" not in value), None)
    if inner is None or _is_item(value):
        yield _message(value, role, calls)
        return
    if system is not None:
        yield _message({"role": "system", "content": _content(system)}, "system", calls)
    yield from _messages(_listed(value[inner], inner), ANSWERS.get(inner, role), calls)


SYSTEM_KEYS = ("system", "instructions", "system_instruction", "systemInstruction")
CONTAINERS = ("messages", "choices", "generations", "candidates", "contents", "input", "output", "prompt", "message")
"""Keys that hold messages in requests and answers, the first of them that is there."""
ANSWERS = {"choices": "assistant", "generations": "assistant", "candidates": "assistant", "output": "assistant"}


def _listed(value: Any, key: str) -> Any:
    """Choices, generations and candidates are looked through; other samples than the first are not this run's."""
    value = unquoted(value) if key in ("input", "output", "messages", "prompt") else value
    if key == "generations" and isinstance(value, list) and value and isinstance(value[0], list):
        value = value[0]
    if key in ("choices", "generations", "candidates") and isinstance(value, list):
        first = next((item for item in value if isinstance(item, dict)), None)
        if first is None:
            return value
        return first.get("message") or first.get("content") or first.get("text")
    return value


def _is_part(item: dict[str, Any]) -> bool:
    return "role" not in item and item.get("type") in (*TEXT, *THOUGHT, "tool_use", "tool_result", "tool-call")


def _is_item(value: dict[str, Any]) -> bool:
    """Whether it is a message or an item itself, though it has a key that containers have."""
    return value.get("type") in ITEMS or value.get("lc") == 1 or "toolName" in value


def _content(value: Any) -> Any:
    """The content of a system prompt, which may be a message, parts, or text."""
    if isinstance(value, dict):
        return value.get("parts") or value.get("content") or value.get("text")
    return value


# ---------------------------------------------------------------- one message


def _message(value: dict[str, Any], role: str, calls: set[str]) -> Message:
    """The pieces of one message, item or serialised message, in the order they were said."""
    value = _unwrapped(value)
    if value.get("type") in ITEMS or "toolName" in value:
        return tuple(_block(value, "assistant") or ())
    told = _str(value, "role") or (_str(value, "type") if _str(value, "type") in ROLES else "") or role
    kind: SpanKind | None = ROLES.get(told)
    if kind is None and told in calls:  # LangGraph's JavaScript writer puts the tool's name there
        kind, value = "tool_result", {"name": told, **value}
    odd = None if kind is not None else told
    speaker = value.get("name") if isinstance(value.get("name"), str) else None
    content = value.get("content", value.get("parts"))
    if not any(key in value for key in SPOKEN):
        content = json_text(value)
    if kind == "tool_result":
        return () if _declares(content) else tuple(_result(value, content))
    thoughts, texts, calls_made = _sorted_out(content, kind or "user", speaker, odd)
    thoughts += [piece("reasoning", text) for key in ("reasoning_content", "reasoning") if (text := _str(value, key))]
    if kind == "assistant":
        calls_made += [_call(call) for call in _tool_calls(value)]
    return (*thoughts, *texts, *calls_made)


def _unwrapped(value: dict[str, Any]) -> dict[str, Any]:
    """A serialised LangChain message as a plain one."""
    kwargs = value.get("kwargs")
    if not isinstance(kwargs, dict):
        return value
    path = value.get("id")
    name = path[-1] if isinstance(path, list) and path else None
    role = LANGCHAIN.get(name, "") if isinstance(name, str) else ""
    return {"role": role, **kwargs} if role else kwargs


def _sorted_out(
    content: Any, kind: SpanKind, speaker: str | None, odd: str | None
) -> tuple[list[Piece], list[Piece], list[Piece]]:
    """Thoughts, texts and calls of a message's content; results stand among the texts, where they were put."""
    thoughts: list[Piece] = []
    texts: list[Piece] = []
    calls: list[Piece] = []
    plain: list[Any] = []

    def flush() -> None:
        text, opaque = text_of(plain[0] if len(plain) == 1 and isinstance(plain[0], str) else plain)
        if kind == "assistant" and text and not thoughts:
            thought, text = thought_and_text(text)
            thoughts.extend([msgspec.structs.replace(piece("reasoning", thought), inferred=True)] if thought else [])
        if text.strip() or opaque or (kind != "assistant" and plain):
            texts.append(piece(kind, text, name=speaker, opaque=tuple(opaque), odd_role=odd))
        plain.clear()

    for part in content if isinstance(content, list) else [content]:
        blocks = _block(part, kind) if isinstance(part, dict) else None
        if blocks is None:
            plain.extend([] if part is None else [_plain(part)])
            continue
        if any(block.kind == "tool_result" for block in blocks):
            flush()
        for block in blocks:
            {"reasoning": thoughts, "tool_call": calls}.get(block.kind, texts).append(block)
    flush()
    return thoughts, texts, calls


def _plain(part: Any) -> Any:
    """A part of text in the form that `text_of` reads; the conventions call its text `content`."""
    if isinstance(part, dict) and part.get("type") in TEXT and "content" in part and "text" not in part:
        return {"type": "text", "text": part["content"]}
    return part


def _block(part: dict[str, Any], kind: SpanKind) -> list[Piece] | None:
    """The pieces of a part that is no text; null where it is text, or unknown."""
    type_ = part.get("type")
    if type_ in THOUGHT or part.get("thought") is True:
        return [piece("reasoning", text)] if (text := _thought(part)) else []
    response = _inside(part, RESULT_KEYS)
    if type_ in RESULT or response:
        return _result(response or part, None)
    call = _inside(part, CALL_KEYS)
    if type_ in CALL or call or "toolName" in part:
        return [_call(call or part)]
    return None


def _thought(part: dict[str, Any]) -> str:
    """The text of a thought, which may be a summary, or hidden."""
    for key in ("content", "thinking", "text", "reasoning", "summary"):
        if part.get(key):
            return text_of(part[key])[0]
    return ""


# ---------------------------------------------------------------- calls and results


def _tool_calls(value: dict[str, Any]) -> list[dict[str, Any]]:
    """The calls beside the content: OpenAI's, or LangChain's, which may hold both."""
    more = value.get("additional_kwargs")
    lists = (value.get("tool_calls"), more.get("tool_calls") if isinstance(more, dict) else None)
    found = next((calls for calls in lists if isinstance(calls, list) and calls), [])
    legacy = value.get("function_call")
    return [unquoted(call) for call in found if isinstance(unquoted(call), dict)] or (
        [legacy] if isinstance(legacy, dict) else []
    )


def _call(call: dict[str, Any]) -> Piece:
    wrapped = call.get("function")
    inner = wrapped if isinstance(wrapped, dict) else call
    logged = next((inner[key] for key in ("arguments", "args", "input") if key in inner), None)
    call_id = _given(call, ("call_id", "id", "toolCallId", "toolUseId"))
    name = next((inner[key] for key in ("name", "toolName") if isinstance(inner.get(key), str)), None)
    return piece("tool_call", "", None if call_id is None else str(call_id), name, arguments_of(logged))


def _result(value: dict[str, Any], content: Any) -> list[Piece]:
    """A result; its parts in the conventions' form may hold several."""
    if isinstance(content, list):
        blocks = [block for part in content if isinstance(part, dict) for block in _block(part, "tool_result") or ()]
        if any(block.kind == "tool_result" for block in blocks):
            return blocks
    if content is None:
        key = next((key for key in ("response", "result", "output", "content") if key in value), "content")
        content = value.get(key)
        if isinstance(content, list) and not all(isinstance(part, dict) and part.keys() & PARTS for part in content):
            content = json_text(content)  # a list that a tool returned, not parts of a message
    text, opaque = text_of([_plain(part) for part in content] if isinstance(content, list) else content)
    call_id = _given(value, RESULT_IDS)
    name = value.get("name") or value.get("toolName")
    return [
        piece(
            "tool_result",
            text,
            None if call_id is None else str(call_id),
            name if isinstance(name, str) else None,
            error=_failed(value, content),
            opaque=tuple(kind for kind in opaque if kind != "JSON"),
        )
    ]


RESULT_IDS = ("tool_call_id", "call_id", "tool_use_id", "toolCallId", "toolUseId", "id")
CALL_KEYS = ("function_call", "functionCall", "toolUse")
RESULT_KEYS = ("function_response", "functionResponse", "toolResult")
"""What parts with a call or a result in them call that: Gemini's, Bedrock's."""
PARTS = {"type", "text"}
"""A part of a message has one of these."""


def _failed(value: dict[str, Any], content: Any) -> bool | None:
    """What the log says about a result; null where it says nothing."""
    flag = value.get("is_error")
    if isinstance(flag, bool):
        return flag
    if value.get("status") in FAILED or value.get("error"):
        return True
    if isinstance(content, dict) and content.get("error"):
        return True
    return False if value.get("status") == "success" else None


def _declares(content: Any) -> bool:
    """Whether a message of a tool is the tool's declaration, as LangGraph logs it."""
    return isinstance(content, dict) and content.get("type") == "function" and isinstance(content.get("function"), dict)


def _given(value: dict[str, Any], keys: Sequence[str]) -> Any:
    """What stands under the first of these keys that is not empty; null where all are."""
    for key in keys:
        if found := value.get(key):
            return found
    return None


def _inside(value: dict[str, Any], keys: Sequence[str]) -> dict[str, Any] | None:
    """The object under the first of these keys that has one."""
    for key in keys:
        if isinstance(found := value.get(key), dict):
            return found
    return None


def _str(value: dict[str, Any], key: str) -> str:
    text = value.get(key)
    return text if isinstance(text, str) else ""
