"""Items of the OpenAI Responses API, which other logs hold too -> entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from trajcredit.errors import InputError
from trajcredit.formats.chat import logged_id
from trajcredit.formats.entries import Entry, Part
from trajcredit.formats.parts import Arguments, arguments_of, json_text, text_of
from trajcredit.model import SpanKind

__all__ = ["Item", "entries_of", "entry_of"]

ROLES: dict[str, SpanKind] = {"user": "user", "system": "system", "developer": "system", "assistant": "assistant"}
HOSTED = {
    "mcp_call": ("arguments", "output"),
    "web_search_call": ("action", "results"),
    "file_search_call": ("queries", "results"),
    "code_interpreter_call": ("code", "outputs"),
    "image_generation_call": ("revised_prompt", "result"),
}
"""Items that are a call and its result at once -> where they hold the arguments and the output."""
PLAIN = {"custom_tool_call": "input"}
"""Calls whose arguments are plain text -> where."""
OBJECTS = {
    "local_shell_call": "action",
    "computer_call": "action",
    "shell_call": "action",
    "apply_patch_call": "operation",
}
"""Calls of tools without a name -> where their arguments are."""

SILENT = (
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
    "compaction",
    "ghost_snapshot",
    "item_reference",
)
"""Known items that nobody said."""


class Item(msgspec.Struct, gc=False):
    """One item; without a type it is a message."""

    type: str | None = None
    role: str | None = None
    content: Any = None
    summary: Any = None
    id: Any = None
    call_id: Any = None
    name: Any = None
    arguments: Any = None
    input: Any = None
    output: Any = None
    action: Any = None
    operation: Any = None
    queries: Any = None
    results: Any = None
    code: Any = None
    outputs: Any = None
    revised_prompt: Any = None
    result: Any = None
    error: Any = None
    status: Any = None


def entries_of(items: Sequence[Item | dict[str, Any]]) -> list[Entry]:
    """One entry an item; items that the model produced one after the other belong together."""
    return [entry_of(item) for item in items]


def entry_of(logged: Item | dict[str, Any]) -> Entry:
    """What one item says; one that is not known is kept whole where it is given as an object."""
    item = logged if isinstance(logged, Item) else _item(logged)
    kind = item.type or "message"
    if kind == "message":
        return _message(item)
    if kind == "reasoning":
        return Entry([Part("reasoning", _thought(item))], acts=True, joins=True)
    if kind in HOSTED:
        return _hosted(item, *HOSTED[kind])
    if kind.endswith("_output"):
        return _output(item)
    if kind.endswith("_call"):
        return Entry([_call(item, kind)], acts=True, joins=True)
    note = ("unknown-item", f"an item of type {kind!r} says nothing that is known here: kept as JSON")
    return Entry(
        [Part("meta", json_text(logged if isinstance(logged, dict) else _fields(item)))],
        note=None if kind in SILENT else note,
    )


def _message(item: Item) -> Entry:
    role = ROLES.get(item.role or "user")
    text, opaque = text_of(item.content)
    if role == "assistant":
        parts = [Part(role, text, opaque=opaque or None)] if text.strip() else []
        return Entry(parts, acts=True, joins=True)
    if role is None:
        note = ("unknown-item", f"no role is called {item.role!r}: kept without credit")
        return Entry([Part("meta", text)], note=note)
    return Entry([Part(role, text, opaque=opaque or None)])


def _thought(item: Item) -> str:
    """The reasoning itself where the log has it, else the summary."""
    parts = next((parts for parts in (item.content, item.summary) if isinstance(parts, list) and parts), ())
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "\n\n".join(text for text in texts if isinstance(text, str))


def _call(item: Item, kind: str) -> Part:
    name = item.name if isinstance(item.name, str) else None
    if kind in PLAIN:
        text = item.input
        arguments = Arguments(None, text if isinstance(text, str) else json_text(text))
    elif kind in OBJECTS:
        arguments = arguments_of(getattr(item, OBJECTS[kind]))
        name = name or kind.removesuffix("_call")
    else:
        arguments = arguments_of(item.arguments)
    return Part("tool_call", call_id=_id(item), name=name, arguments=arguments)


def _output(item: Item) -> Entry:
    text, opaque = text_of(item.output)
    failed = True if item.error or item.status in ("failed", "incomplete") else None
    return Entry([Part("tool_result", text, _id(item), error=failed, opaque=opaque or None)])


def _hosted(item: Item, arguments: str, output: str) -> Entry:
    """A call of a tool that OpenAI ran, and what it gave."""
    kind = (item.type or "").removesuffix("_call")
    name = item.name if isinstance(item.name, str) else kind
    given, out = getattr(item, arguments), getattr(item, output)
    if arguments not in ("arguments", "action") and given is not None:
        given = {arguments: given}
    call = Part("tool_call", call_id=_id(item), name=name, arguments=arguments_of(given))
    if item.error is not None:
        return Entry([call, Part("tool_result", text_of(item.error)[0], _id(item), error=True)], acts=True, joins=True)
    if out is None and item.status not in ("completed", "failed") and item.type != "mcp_call":
        return Entry([call], acts=True, joins=True)
    text, opaque = text_of(out)
    failed = True if item.status == "failed" else False if item.status == "completed" else None
    result = Part("tool_result", text, _id(item), error=failed, opaque=opaque or None)
    return Entry([call, result], acts=True, joins=True)


def _id(item: Item) -> str | None:
    known = item.call_id if item.call_id is not None and item.call_id != "" else item.id
    return logged_id(known) if isinstance(known, str | int) else None


def _item(logged: dict[str, Any]) -> Item:
    try:
        return msgspec.convert(logged, Item)
    except msgspec.ValidationError as error:
        raise InputError(f"an item: {error}") from error


def _fields(item: Item) -> dict[str, Any]:
    return {name: value for name in Item.__struct_fields__ if (value := getattr(item, name)) is not None}
