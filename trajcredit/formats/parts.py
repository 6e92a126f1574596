"""Pieces that log formats share: content parts, reasoning in the text, arguments, tool declarations, usage, times."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import msgspec

from trajcredit.errors import InputError
from trajcredit.formats.repair import MAX_DEPTH, TOO_DEEP, mended, too_deep
from trajcredit.model import LARGEST_INTEGER, LARGEST_NUMBER, Tool

__all__ = ["Arguments", "arguments_of", "json_text", "text_of", "thought_and_text", "time_of", "tools_of", "usage_of"]

TEXT_KEYS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
"""Type of a content part that is text -> the key that holds it."""
THINK, THOUGHT = "<think>", "</think>"

DEEP = ("deep-arguments", f"arguments {TOO_DEEP}: kept as text")
MENDED = ("sanitised", "half a surrogate pair or a NUL in the arguments was replaced")

_decode = msgspec.json.Decoder().decode
_encoder = msgspec.json.Encoder()


def json_text(value: Any) -> str:
    """A value as compact JSON; InputError where it nests too deep."""
    if too_deep(value):
        raise InputError(TOO_DEEP)
    return _encoder.encode(value).decode()


def text_of(content: Any) -> tuple[str, list[str]]:
    """The text of a message's content, and the types of those parts that are none: a marker `[type]` holds their place.

    Text parts are joined by a line feed, so that no two words grow together; other JSON is kept as JSON.
    """
    if isinstance(content, str):
        return content, []
    if content is None:
        return "", []
    parts = [_part(part) for part in (content if isinstance(content, list) else [content])]
    return "\n".join(text for text, _ in parts if text), [kind for _, kind in parts if kind is not None]


def _part(part: Any) -> tuple[str, str | None]:
    if isinstance(part, str):
        return part, None
    kind = part.get("type", "text" if "text" in part else None) if isinstance(part, dict) else None
    if not isinstance(kind, str):
        return json_text(part), "JSON"
    if kind not in TEXT_KEYS:
        return f"[{kind}]", kind
    if TEXT_KEYS[kind] not in part:
        return json_text(part), "JSON"
    text = part[TEXT_KEYS[kind]]
    if text is None or isinstance(text, str):
        return text or "", None
    return json_text(text), "JSON"


def thought_and_text(text: str) -> tuple[str, str]:
    """The leading `<think>` block of an answer and what follows it; without the closing tag all of it is thought."""
    if THINK not in text[:64] or not text.lstrip().startswith(THINK):
        return "", text
    thought, _, rest = text.lstrip().removeprefix(THINK).partition(THOUGHT)
    return thought.strip(), rest.lstrip()


# ---------------------------------------------------------------- arguments


class Arguments(msgspec.Struct, gc=False):
    """A call's arguments: decoded, as logged (null where the log held a value), and what was wrong: code, sentence."""

    value: Any
    raw: str | None
    problem: tuple[str, str] | None = None


def arguments_of(logged: Any) -> Arguments:
    """Arguments from an object, JSON text, or JSON text inside JSON text; nothing at all is no arguments."""
    if isinstance(logged, str):
        return _from_text(logged)
    if too_deep(logged):
        raise InputError(f"arguments {TOO_DEEP}")
    return Arguments({} if logged is None else logged, None)


def _from_text(logged: str) -> Arguments:
    if len(logged) <= 2 * MAX_DEPTH and "\\u0000" not in logged:  # as most are: clean, and too short to nest too deep
        try:
            value = _decode(logged)
        except (msgspec.DecodeError, RecursionError):
            pass
        else:
            if not isinstance(value, str):
                return Arguments(value, logged)
    try:
        value, clean = _loads(logged)
        if isinstance(value, str):
            value, clean = _unwrapped(value, clean)
    except RecursionError:
        return Arguments(None, logged, DEEP)
    except msgspec.DecodeError as error:
        if not logged or logged.isspace():
            return Arguments({}, logged)
        return Arguments(None, logged, ("broken-arguments", f"arguments are not JSON: {error}"))
    if len(logged) > 2 * MAX_DEPTH and logged.count("{") + logged.count("[") > MAX_DEPTH and too_deep(value):
        return Arguments(None, logged, DEEP)
    return Arguments(value, logged, None if clean else MENDED)


def _loads(text: str) -> tuple[Any, bool]:
    """The value of a JSON text, and whether it was clean: no half surrogate pair, no NUL."""
    if "\\u0000" not in text:
        try:
            return _decode(text), True
        except msgspec.DecodeError:
            pass
    data = text.encode()
    return _decode(clean := mended(data)), clean == data


def _unwrapped(text: str, clean: bool) -> tuple[Any, bool]:
    """The object or array that a text holds as JSON, else the text itself."""
    try:
        value, inner = _loads(text)
    except msgspec.DecodeError:
        return text, clean
    return (value, clean and inner) if isinstance(value, dict | list) else (text, clean)


# ---------------------------------------------------------------- tools


@lru_cache(maxsize=64)
def tools_of(raw: bytes) -> tuple[Tool, ...]:
    """The tools that a `tools` or `functions` value declares: wrapped or bare, as a list or as its JSON text.

    A log repeats them in every row, so the answer is kept.
    """
    try:
        declared = _decode(raw)
        if isinstance(declared, str):
            declared = _decode(declared) if declared.strip() else None
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"tools cannot be decoded: {error}") from error
    if declared is not None and not isinstance(declared, list):
        raise InputError(f"tools must be a list, not {type(declared).__name__}")
    if too_deep(declared):
        raise InputError(f"tools {TOO_DEEP}")
    return tuple(_tool(item, index) for index, item in enumerate(_unfolded(declared or [])))


def _unfolded(declared: list[Any]) -> list[Any]:
    """Gemini declares several functions in one entry, and its own tools by a key without a name."""
    tools: list[Any] = []
    for item in declared:
        inner = item.get("functionDeclarations", item.get("function_declarations")) if isinstance(item, dict) else None
        if isinstance(inner, list):
            tools += inner
        elif isinstance(item, dict) and len(item) == 1 and isinstance(next(iter(item.values())), dict):
            tools += [item] if "function" in item else [next(iter(item))]
        else:
            tools.append(item)
    return tools


def _tool(declared: Any, index: int) -> Tool:
    if isinstance(declared, str):
        return Tool(declared)
    if not isinstance(declared, dict):
        raise InputError(f"tools[{index}] must be an object, not {type(declared).__name__}")
    inner = declared.get("function")
    bare = inner if isinstance(inner, dict) else declared
    name, description = bare.get("name", declared.get("type")), bare.get("description")
    if not isinstance(name, str):
        raise InputError(f"tools[{index}] has no name")
    keys = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema")
    return Tool(
        name=name,
        description=description if isinstance(description, str) else None,
        parameters=next((bare[key] for key in keys if key in bare), None),
        writes=_writes(bare.get("annotations") or declared.get("annotations")),
    )


def _writes(annotations: Any) -> bool | None:
    """What MCP hints say: read-only, or not; null where they say neither."""
    if not isinstance(annotations, dict):
        return None
    if isinstance(annotations.get("readOnlyHint"), bool):
        return not annotations["readOnlyHint"]
    return True if annotations.get("destructiveHint") is True else None


# ---------------------------------------------------------------- usage and times

USAGE = {
    "input_tokens": ("input_tokens", "prompt_tokens", "promptTokenCount", "prompt_token_count"),
    "output_tokens": ("output_tokens", "completion_tokens", "candidatesTokenCount", "candidates_token_count"),
    "reasoning_tokens": (
        "reasoning_tokens",
        "output_tokens_details.reasoning_tokens",
        "completion_tokens_details.reasoning_tokens",
        "thoughtsTokenCount",
        "thoughts_token_count",
    ),
    "cached_tokens": (
        "cached_tokens",
        "cache_read_input_tokens",
        "input_tokens_details.cached_tokens",
        "prompt_tokens_details.cached_tokens",
        "cachedContentTokenCount",
        "cached_content_token_count",
    ),
    "cache_creation_tokens": ("cache_creation_input_tokens",),
}
"""Our name -> where providers log it."""
_PLACES = [(name, *path.partition(".")[::2]) for name, paths in USAGE.items() for path in paths]


def usage_of(logged: Any, cost: Any = None) -> dict[str, int | float] | None:
    """Token counts of one model call by one name each, and its cost in US dollars; null where nothing is logged."""
    found: dict[str, int | float] = {}
    if isinstance(logged, dict):
        for name, outer, inner in _PLACES:
            if outer in logged and name not in found:
                number = _number(logged[outer], inner)
                if number is not None:
                    found[name] = number
    if isinstance(cost, int | float) and not isinstance(cost, bool) and abs(cost) <= LARGEST_NUMBER:
        found["cost"] = cost
    return found or None


def _number(value: Any, inner: str) -> int | None:
    if inner:
        value = value.get(inner) if isinstance(value, dict) else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value <= LARGEST_INTEGER else None


def time_of(logged: Any) -> str | None:
    """A time as ISO 8601: text as it stands, an epoch in seconds, milli-, micro- or nanoseconds as UTC; else null."""
    if isinstance(logged, str):
        if not logged.isdigit():
            return logged or None
        logged = int(logged) if len(logged) < 25 else None
    if not isinstance(logged, int | float) or isinstance(logged, bool) or not 0 < logged < 1e20:
        return None
    seconds = float(logged)
    while seconds > 1e11:  # the year 5138 in seconds
        seconds /= 1000
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
