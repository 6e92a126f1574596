"""Oracle transcripts in which every word is another, the same one everywhere: what is left where no word tells.

Words are runs of three or more letters that touch no digit; JSON's own words stay, and so do the names that the format
of a transcript gives to its parts.
"""

from __future__ import annotations

import hashlib
import json
import re
from functools import cache
from typing import Any

__all__ = ["reworded"]

_WORD = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{3,}(?![A-Za-z0-9])")
_OUTER = frozenset(("parameters", "properties", "required", "description", "title", "enum", "items", "type"))
"""Keys of a tool's declaration that say what stands under them."""


def reworded(line: bytes) -> bytes:
    """A transcript as the oracle bench has it, in other words."""
    row = json.loads(line)
    for tool in row.get("tools") or ():
        function = tool.get("function", tool)
        function["name"] = _text(function["name"].replace("_", " ")).replace(" ", "_")
        function["description"] = _text(function.get("description") or "")
        function["parameters"] = _declared(function.get("parameters") or {})
    for message in row["messages"]:
        if isinstance(message.get("content"), str):
            message["content"] = _text(message["content"])
        for named in (message, *(call["function"] for call in message.get("tool_calls") or ())):
            if named.get("name"):
                named["name"] = _text(named["name"].replace("_", " ")).replace(" ", "_")
            if "arguments" in named:
                named["arguments"] = json.dumps(_value(json.loads(named["arguments"])))
    return json.dumps(row, ensure_ascii=False).encode()


def _declared(schema: Any) -> Any:
    """A JSON schema, its own keys and types as they are."""
    if not isinstance(schema, dict):
        return _value(schema)
    properties = {_text(name): _declared(part) for name, part in schema.get("properties", {}).items()}
    rest = {k: v if k == "type" else _value(v) for k, v in schema.items() if k in _OUTER and k != "properties"}
    return rest | ({"properties": properties} if properties else {})


def _value(value: Any) -> Any:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return [_value(part) for part in value]
    return {_text(k): _value(v) for k, v in value.items()} if isinstance(value, dict) else value


def _text(text: str) -> str:
    return _WORD.sub(lambda found: _as(found.group()), text)


def _as(word: str) -> str:
    """The other word, in capitals as the word was."""
    if word in ("true", "false", "null"):
        return word
    other = _other(word.lower())
    return other.upper() if word.isupper() else other.capitalize() if word[0].isupper() else other


@cache
def _other(word: str) -> str:
    """Consonants and vowels in turn, as many as the word has letters."""
    drawn = hashlib.sha256(word.encode()).digest()
    letters = ("bcdfghjklmnprstvz", "aeiou")
    return "".join(letters[k % 2][drawn[k % 32] % len(letters[k % 2])] for k in range(len(word)))
