"""Answers that are a JSON object with what to type into a terminal: `commands`, each with its `keystrokes`.

All of them are typed before the terminal is looked at, so they are one call: its `command` is what was typed, in
order, its text as logged has the waiting times. What else the object says, and what stands around it, was said.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trajcredit.formats.entries import Part
from trajcredit.formats.marked import end_of_json, written_call
from trajcredit.formats.parts import Arguments, json_text

__all__ = ["KEYSTROKES", "typed_call"]

KEYSTROKES = '"keystrokes"'
TOOL = "bash_command"
"""No log names the tool; a terminal is what it is."""
MOST_STARTS = 20
"""Brackets at which the object may begin."""

_object = msgspec.json.Decoder(dict[str, Any]).decode


def typed_call(text: str) -> list[Part] | None:
    """What was said and the call, in this order; null where nothing is typed."""
    if KEYSTROKES not in text:
        return None
    start = text.find("{")
    for _ in range(MOST_STARTS):
        end = end_of_json(text, start) if start >= 0 else None
        if end is None:
            return None
        typed = _typed(text[start:end])
        if typed is not None:
            said, arguments = typed
            words = [piece.strip() for piece in (text[:start], said, text[end:])]
            around = "\n".join(word for word in words if word.strip("`").strip() not in ("", "json"))
            return [*([Part("assistant", around)] if around else []), written_call(TOOL, arguments)]
        start = text.find("{", start + 1)
    return None


def _typed(text: str) -> tuple[str, Arguments] | None:
    """The object without its commands, and these as the arguments of one call."""
    try:
        value = _object(text)
        commands = value.pop("commands", None)
        if not isinstance(commands, list) or not commands:
            return None
        keys = [command["keystrokes"] for command in commands if isinstance(command, dict)]
        if len(keys) < len(commands) or not all(isinstance(key, str) for key in keys):
            return None
    except (msgspec.DecodeError, RecursionError, KeyError):
        return None
    return json_text(value) if value else "", Arguments({"command": "".join(keys)}, json_text(commands))
