"""Lists whose elements are told by numbers in dotted keys: `llm.input_messages.10.message.role`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from trajcredit.formats.said import Message, messages_of, unquoted

__all__ = ["Grouped", "Lists", "dicts", "elements", "grouped"]

LISTS = ("llm.", "gen_ai.prompt.", "gen_ai.completion.", "llm", "gen_ai.prompt", "gen_ai.completion")
"""How the keys begin that hold messages and tools."""
PLACES = {"user": ("llm.input_messages", "gen_ai.prompt"), "assistant": ("llm.output_messages", "gen_ai.completion")}
"""Where requests and answers stand: in OpenInference, in OpenLLMetry."""
LEVELS = 20

Fields: TypeAlias = tuple[tuple[str, Any], ...]
Grouped: TypeAlias = dict[str, dict[str, list[tuple[str, Any]]] | list[Any]]


def grouped(attributes: dict[str, Any]) -> Grouped:
    """Name of a list -> number of an element -> its keys behind the number, with their values; or the list itself."""
    found: Grouped = {}
    for key, value in attributes.items():
        if not key.startswith(LISTS):
            continue
        first, second, *rest = key.split(".", 3) if "." in key else (key, "")
        node = found.setdefault(f"{first}.{second}", {})
        if not rest and isinstance(value, list):
            found[f"{first}.{second}"] = value
        elif rest and isinstance(node, dict):
            node.setdefault(rest[0], []).append((rest[1] if len(rest) > 1 else "", value))
    return found


def elements(lists: Grouped, name: str) -> list[Any]:
    """The elements of a list, in the order of their numbers."""
    node = lists.get(name, [])
    return node if isinstance(node, list) else [_tree(tuple(node[number])) for number in _numbers(node)]


class Lists:
    """Messages in dotted keys that were read before: each request repeats those of the one before it."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, Fields], list[Message]] = {}

    def messages(self, lists: Grouped, role: str) -> list[Message]:
        """The messages of a request, or of an answer where the role is `assistant`."""
        for name in PLACES[role]:
            node = lists.get(name)
            if isinstance(node, list) and node:
                return [message for element in node for message in _read(element, role)]
            if node and isinstance(node, dict):
                return [message for number in _numbers(node) for message in self._message(tuple(node[number]), role)]
        return []

    def _message(self, fields: Fields, role: str) -> list[Message]:
        try:
            known = self._known.get((role, fields))
        except TypeError:  # a value that is a list or an object
            return _read(_tree(fields), role)
        if known is None:
            known = self._known[role, fields] = _read(_tree(fields), role)
        return known


def listed(node: Any) -> list[Any]:
    """A list that is one, or that keys 0, 1, ... 10 make, in the order of the numbers."""
    if isinstance(node, list):
        return node
    return [node[number] for number in _numbers(node)] if isinstance(node, dict) else []


def _numbers(node: dict[str, Any]) -> list[str]:
    return sorted((key for key in node if key.isdecimal() and key.isascii() and len(key) < 10), key=int)


def _tree(fields: Fields) -> Any:
    """The keys of one element taken apart at the dots; one without keys is its value."""
    if len(fields) == 1 and not fields[0][0]:
        return fields[0][1]
    tree: dict[str, Any] = {}
    for key, value in fields:
        node = tree
        *path, last = key.split(".")
        for part in path[:LEVELS]:
            inner = node.get(part)
            if not isinstance(inner, dict):
                inner = node[part] = {}
            node = inner
        if not isinstance(node.get(last), dict) or isinstance(value, dict):
            node[last] = value
    return tree


def _read(element: Any, role: str) -> list[Message]:
    """One message of OpenInference (under `message`) or OpenLLMetry."""
    if not isinstance(element, dict):
        return []
    node = element.get("message") or _bare(element)
    return messages_of(_plain(node, role), role) if isinstance(node, dict) else []


def _bare(node: dict[str, Any]) -> dict[str, Any]:
    """A message whose keys have the prefix that data frames leave on them."""
    return {key.removeprefix("message."): value for key, value in node.items()}


def _plain(node: dict[str, Any], role: str) -> dict[str, Any]:
    """A message in the form of OpenAI."""
    content = node.get("content")
    content = listed(content) if isinstance(content, dict) else content
    if isinstance(content, str) and content.startswith('[{"'):  # parts, written as JSON to fit into an attribute
        parts_of_it = unquoted(content)
        content = parts_of_it if _are_parts(parts_of_it) else content
    parts = [_content(part.get("message_content", part)) for part in dicts(listed(node.get("contents")))]
    calls = [_plain_call(call.get("tool_call", call)) for call in dicts(listed(node.get("tool_calls")))]
    if "function_call_name" in node:
        arguments = node.get("function_call_arguments_json")
        calls.append({"function": {"name": node["function_call_name"], "arguments": arguments}})
    told = node.get("role")
    message = {"role": told if isinstance(told, str) and told else role, "content": parts or content}
    message |= {key: node[key] for key in ("tool_call_id", "name", "reasoning", "reasoning_content") if key in node}
    return message | ({"tool_calls": calls} if calls else {})


def _are_parts(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(part, dict) and isinstance(part.get("type"), str) for part in value
    )


def _content(part: Any) -> Any:
    """One part of a message; what is no text keeps its type."""
    if isinstance(part, dict) and part.get("type") == "image":
        return {"type": "image"}
    return part


def _plain_call(call: Any) -> dict[str, Any]:
    call = call if isinstance(call, dict) else {}
    function = call.get("function") if isinstance(call.get("function"), dict) else call
    return {"id": call.get("id"), "function": {key: function.get(key) for key in ("name", "arguments")}}


def dicts(values: Iterable[Any]) -> Iterable[dict[str, Any]]:
    return (value for value in values if isinstance(value, dict))
