"""Chat messages as templates take them, and with marks: characters for private use that show where each span stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from trajcredit.tokens.finding import Wanted
from trajcredit.tokens.messages import ChatMessage
from trajcredit.tokens.territories import Piece

__all__ = ["MARK", "MOST_MARKS", "for_template", "marked", "settled", "unmarked"]

MARKS = 0x100000
"""The first of the characters that mark spans: plane 16, for private use."""
MOST_MARKS = 0xF000
OPEN, CLOSE = "\U0010fff0", "\U0010fff1"
"""As `templates` puts them around generated text."""
MARK = re.compile("[\U00100000-\U0010ffff]")

_decode = msgspec.json.Decoder().decode


def for_template(message: ChatMessage, reasoning_key: str) -> dict[str, Any]:
    """The message as templates expect it: arguments as objects, reasoning under the name that this template reads."""
    made = message.as_dict()
    made["content"] = message.content or ""
    if message.reasoning is not None:
        del made["reasoning_content"]
        made[reasoning_key] = message.reasoning
    for call in made.get("tool_calls", ()):
        call["function"]["arguments"] = _object(call["function"]["arguments"])
    return made


def _object(arguments: str) -> Any:
    try:
        value = _decode(arguments)
    except (msgspec.DecodeError, RecursionError):
        return arguments
    return value if isinstance(value, dict) else arguments


def marked(message: ChatMessage, rendered: Mapping[str, Any]) -> tuple[dict[str, Any], list[int]]:
    """The message with a mark on either side of every text and before every name; which of its parts bear any."""
    fields = {"reasoning": message.reasoning or "", "content": message.content or ""}
    made = {"reasoning": "", "content": ""}
    at = {"reasoning": 0, "content": 0}
    bearing: list[int] = []
    calls = [dict(call, function=dict(call["function"])) for call in rendered.get("tool_calls", ())]
    bare = iter(calls)
    for number, part in enumerate(message.parts):
        left, right = chr(MARKS + 2 * number), chr(MARKS + 2 * number + 1)
        if part.field == "call":
            function = next(bare)["function"]
            function["name"] = left + function["name"]
            bearing.append(number)
            continue
        text = fields[part.field]
        said = text[part.start : part.end]
        made[part.field] += text[at[part.field] : part.start]
        at[part.field] = part.end
        if core := said.strip():
            where = said.index(core)
            said = said[:where] + left + core + right + said[where + len(core) :]
            bearing.append(number)
        made[part.field] += said
    key = next((key for key in rendered if rendered[key] == message.reasoning and key not in ("content", "role")), None)
    result = {**rendered, "content": made["content"] + fields["content"][at["content"] :]}
    if message.reasoning is not None and key is not None:
        result[key] = made["reasoning"] + fields["reasoning"][at["reasoning"] :]
    if calls:
        result["tool_calls"] = calls
    return result, bearing


def settled(text: str, pieces: Sequence[Piece], wanted: Sequence[Wanted]) -> Iterator[tuple[Wanted, Piece]]:
    """Pieces by part, in order -> by span, with the white space that is theirs; of calls the names."""
    for n, piece in enumerate(pieces):
        one = wanted[piece.span]
        before = pieces[n - 1].end if n else 0
        after = pieces[n + 1].start if n + 1 < len(pieces) else len(text)
        start, end = piece.start, piece.end
        if one.arguments is not None:
            end = start + len(one.text)
        else:
            lead = one.text[: len(one.text) - len(one.text.lstrip())]
            trail = one.text[len(one.text.rstrip()) :]
            if text[max(before, start - len(lead)) : start] == lead:
                start -= len(lead)
            if text[end : min(after, end + len(trail))] == trail:
                end += len(trail)
        yield one, Piece(one.span, start, end)


def unmarked(text: str) -> tuple[str, tuple[tuple[int, int], ...], dict[int, list[int]]]:
    """The text without marks, what stands between OPEN and CLOSE, and the places of the others."""
    kept: list[str] = []
    places: dict[int, list[int]] = {}
    blocks: list[tuple[int, int]] = []
    opened = length = at = 0
    for match in MARK.finditer(text):
        kept.append(text[at : match.start()])
        length += match.start() - at
        at = match.end()
        if match[0] == OPEN:
            opened = length
        elif match[0] == CLOSE:
            blocks.append((opened, length))
        else:
            places.setdefault(ord(match[0]) - MARKS, []).append(length)
    return "".join([*kept, text[at:]]), tuple(blocks), places
